"""Consumers that share a client instance: what one of them may rely on when others start, fail and leave."""

from __future__ import annotations

from collections.abc import Iterator

from ..model.client_instance import (
    ClientInstanceState,
    Group,
    Instance,
    PushConsumer,
    ServiceState,
    Step,
    at_work,
    client_instance,
    group_of,
)
from ..model.kernel import BoolLike, IntLike, all_of, any_of, implies, not_, same
from .claim import Claim, Constants, claims_of
from .property import Property, always, eventually, sometimes
from .verdict import Verdict


def _runs(s: ClientInstanceState, c: IntLike) -> BoolLike:
    """Whether the start of a consumer has returned, and its shutdown has not begun."""
    return all_of(s.service[c] == ServiceState.RUNNING, s.step[c] == Step.IDLE)


def _failed(s: ClientInstanceState, c: IntLike) -> BoolLike:
    """Whether the start of a consumer has failed."""
    return all_of(s.service[c] == ServiceState.START_FAILED, s.step[c] == Step.IDLE)


def _left(s: ClientInstanceState, g: IntLike) -> BoolLike:
    """Whether the broker lists the client in a group of which no consumer is in a table, or on its way."""

    def there(c: IntLike) -> BoolLike:
        return all_of(same(group_of(s, c), g), any_of(s.registered[c], s.step[c] != Step.IDLE))

    return all_of(s.listed.has(g), not_(s.exists(PushConsumer, there)))


@always("started-consumer-is-served", "ST-13", "ST-16")
def served(s: ClientInstanceState, c: PushConsumer) -> BoolLike:
    """A consumer whose start has returned is in the table of a client instance that runs: it is rebalanced, pulls, and
    persists its offsets, until it is shut down itself.
    """
    return implies(_runs(s, c), all_of(s.registered[c], s.state[s.uses[c]] == ServiceState.RUNNING))


@always("one-consumer-of-a-group-per-instance", "ST-12")
def no_second(s: ClientInstanceState, i: Instance, g: Group) -> BoolLike:
    """A client instance never serves two consumers of one group: the second one is refused."""

    def served_for(c: IntLike) -> BoolLike:
        return all_of(s.registered[c], same(s.uses[c], i), same(group_of(s, c), g))

    return s.count(PushConsumer, served_for) <= 1


@sometimes("group-returns", "ST-10")
def returns(s: ClientInstanceState) -> BoolLike:
    """After the last consumer of a client id has left, another one gets a new client instance, and runs."""
    return s.exists(PushConsumer, lambda c: all_of(_runs(s, c), s.uses[c] == 1, s.registered[c]))


@always("one-client-instance-at-work", "ST-10", "ST-16")
def one_at_work(s: ClientInstanceState) -> BoolLike:
    """Of the client instances with one client id, at most one has running timers and threads."""
    return s.count(Instance, lambda i: at_work(s, i)) <= 1


@always("nothing-runs-without-a-consumer", "ST-14", "ST-16")
def ends_with_the_last(s: ClientInstanceState, i: Instance) -> BoolLike:
    """The threads of a client instance end with its last consumer: they run only while one runs, starts or stops."""

    def needs_it(c: IntLike) -> BoolLike:
        return all_of(same(s.uses[c], i), any_of(_runs(s, c), s.step[c] != Step.IDLE))

    return implies(at_work(s, i), s.exists(PushConsumer, needs_it))


@always("failed-start-takes-no-share", "ST-2", "ST-14")
def no_share(s: ClientInstanceState, g: Group) -> BoolLike:
    """A consumer whose start has failed is no member of its group, so it gets no queues."""
    others = s.exists(PushConsumer, lambda c: all_of(same(group_of(s, c), g), not_(_failed(s, c))))
    return implies(s.listed.has(g), others)


@sometimes("failed-start-may-take-a-share", "ST-14")
def takes_share(s: ClientInstanceState) -> BoolLike:
    """A client instance that failed to start may go on sending heartbeats, for a consumer that consumes nothing."""
    return s.exists(PushConsumer, lambda c: all_of(_failed(s, c), s.listed.has(group_of(s, c))))


@always("failed-start-harms-no-other", "ST-2", "ST-11", "ST-14")
def own_failures_only(s: ClientInstanceState) -> BoolLike:
    """For each thing that goes wrong, the start of one consumer fails, for good, and those of others can succeed."""
    faults: IntLike = 0
    if s.failed_starts:
        faults = s.failed_starts - s.failed_starts_left
    if s.bad_settings:
        faults = faults + s.bad_settings - s.bad_settings_left
    return same(s.count(PushConsumer, lambda c: _failed(s, c)), faults)


@always("start-that-throws-leaves-nothing-running", "ST-15")
def no_half_start(s: ClientInstanceState, c: PushConsumer) -> BoolLike:
    """If a start throws, its consumer does not run."""
    return implies(_runs(s, c), not_(s.threw[c]))


@always("left-group-is-no-member", "ST-6", "ST-17")
def no_member(s: ClientInstanceState, g: Group) -> BoolLike:
    """Once the consumer of a group has been shut down, the broker no longer lists its client there."""
    return not_(_left(s, g))


@eventually("left-group-is-forgotten", "ST-6", "ST-17", after=lambda s: s.exists(Group, lambda g: _left(s, g)))
def forgotten(s: ClientInstanceState) -> BoolLike:
    """If the broker lists a client in a group that it has left, it drops this entry 120 s later."""
    return not_(s.exists(Group, lambda g: _left(s, g)))


@always("running-consumer-stays-listed", "ST-1", "ST-4", assuming=("a broker answers the heartbeat of its start",))
def is_member(s: ClientInstanceState, c: PushConsumer) -> BoolLike:
    """The broker lists a consumer whose start has returned in its group, as long as it runs."""
    return implies(_runs(s, c), s.listed.has(group_of(s, c)))


@always("groups-share-an-entry-while-both-are-listed", "ST-17")
def entry_of_both(s: ClientInstanceState) -> BoolLike:
    """A group that has left, and is listed again by a late heartbeat, has an entry of its own."""
    return implies(s.one_entry, s.forall(Group, s.listed.has))


@eventually(
    "started-consumer-becomes-a-member",
    "ST-1",
    "ST-4",
    after=lambda s: s.exists(PushConsumer, lambda c: _runs(s, c)),
)
def becomes_member(s: ClientInstanceState) -> BoolLike:
    """A consumer that runs is listed by the broker in its group, without which it gets no queues."""
    return s.forall(PushConsumer, lambda c: implies(_runs(s, c), s.listed.has(group_of(s, c))))


@eventually(
    "start-and-shutdown-return",
    "ST-11",
    "ST-16",
    after=lambda s: s.exists(PushConsumer, lambda c: s.step[c] != Step.IDLE),
)
def return_(s: ClientInstanceState) -> BoolLike:
    """Calls of start and shutdown return."""
    return s.forall(PushConsumer, lambda c: s.step[c] == Step.IDLE)


_STEPS: tuple[tuple[tuple[ServiceState, Step], tuple[ServiceState, Step]], ...] = (
    ((ServiceState.CREATE_JUST, Step.IDLE), (ServiceState.START_FAILED, Step.STARTING)),
    ((ServiceState.CREATE_JUST, Step.IDLE), (ServiceState.START_FAILED, Step.IDLE)),
    ((ServiceState.START_FAILED, Step.STARTING), (ServiceState.CREATE_JUST, Step.IDLE)),
    ((ServiceState.START_FAILED, Step.STARTING), (ServiceState.START_FAILED, Step.REGISTERED)),
    ((ServiceState.START_FAILED, Step.REGISTERED), (ServiceState.START_FAILED, Step.IDLE)),
    ((ServiceState.START_FAILED, Step.REGISTERED), (ServiceState.RUNNING, Step.ANNOUNCING)),
    ((ServiceState.RUNNING, Step.ANNOUNCING), (ServiceState.RUNNING, Step.IDLE)),
    ((ServiceState.RUNNING, Step.ANNOUNCING), (ServiceState.RUNNING, Step.UNREGISTERED)),
    ((ServiceState.RUNNING, Step.IDLE), (ServiceState.RUNNING, Step.UNREGISTERED)),
    ((ServiceState.RUNNING, Step.UNREGISTERED), (ServiceState.SHUTDOWN_ALREADY, Step.IDLE)),
    ((ServiceState.RUNNING, Step.UNREGISTERED), (ServiceState.RUNNING, Step.STOPPING)),
    ((ServiceState.RUNNING, Step.STOPPING), (ServiceState.SHUTDOWN_ALREADY, Step.IDLE)),
)
"""What may follow upon what, for one consumer."""


@always("consumer-starts-once", "ST-8", "ST-11", "ST-12")
def starts_once(s: ClientInstanceState, c: PushConsumer) -> BoolLike:
    """A consumer is started once and shut down once: after a failed start, or a shutdown, it can never be started
    again. Only one that was refused for another of its group can.
    """

    def at(service: IntLike, step: IntLike, where: tuple[ServiceState, Step]) -> BoolLike:
        return all_of(service == where[0], step == where[1])

    was, now = (s.was.service[c], s.was.step[c]), (s.service[c], s.step[c])
    unchanged = all_of(same(was[0], now[0]), same(was[1], now[1]))
    return any_of(unchanged, *(all_of(at(*was, before), at(*now, after)) for before, after in _STEPS))


@always("shutdown-unregisters-at-once", "ST-8")
def unregisters(s: ClientInstanceState, c: PushConsumer) -> BoolLike:
    """A consumer that is shut down is taken off the list of its group at once, not only when an entry expires."""
    now = all_of(s.was.step[c] != Step.UNREGISTERED, s.step[c] == Step.UNREGISTERED)
    return implies(now, not_(s.listed.has(group_of(s, c))))


@always("stopped-instance-stays-stopped", "ST-13")
def stays_stopped(s: ClientInstanceState, i: Instance) -> BoolLike:
    """A client instance that has stopped is never started again."""
    stopped = ServiceState.SHUTDOWN_ALREADY
    return implies(s.was.state[i] == stopped, s.state[i] == stopped)


SHARED: Constants = {"groups": 2}
THREE: Constants = {"consumers": 3, "groups": 2}
AT_ONCE: Constants = {"calls": "at-once"}
ANSWERED: Constants = {"groups": 2, "first_heartbeat": "arrives"}
FAILED: Constants = {"groups": 2, "failed_starts": 1}
REFUSED: Constants = {"refused_filters": 1}
STEPS: Constants = {
    "calls": "at-once",
    "bad_settings": 1,
    "failed_starts": 1,
    "fails": "early",
    "refused_filters": 1,
    "watch_steps": 1,
}

_CLAIMED: tuple[tuple[Constants, tuple[Property, ...]], ...] = (
    ({}, (served, no_second, returns, one_at_work, ends_with_the_last, no_member, becomes_member, return_)),
    (THREE, (served, no_second, ends_with_the_last, becomes_member, return_)),
    (AT_ONCE, (no_second, one_at_work, ends_with_the_last, return_)),
    (SHARED, (entry_of_both,)),
    (ANSWERED, (is_member, forgotten)),
    ({**SHARED, "entry": "of-group"}, (forgotten,)),
    ({"bad_settings": 1}, (own_failures_only, ends_with_the_last)),
    ({**FAILED, "fails": "early"}, (served, no_share, ends_with_the_last, return_)),
    ({"consumers": 1, "failed_starts": 1}, (own_failures_only, takes_share)),
    (REFUSED, (no_half_start, served)),
    (STEPS, (starts_once, unregisters, stays_stopped)),
)
_FALSE: tuple[tuple[Property, Constants, str], ...] = (
    (
        served,
        AT_ONCE,
        (
            "A consumer that is started while the last one of its client id is shut down can get a client instance "
            "that stops: start returns, and nothing is ever consumed. Do the two in turn."
        ),
    ),
    (
        becomes_member,
        AT_ONCE,
        "A consumer that is left with a stopped client instance sends no heartbeats: its state is RUNNING, no more.",
    ),
    (
        no_member,
        SHARED,
        "A heartbeat under way when a group leaves lists it again, if its client lives on for another group.",
    ),
    (
        forgotten,
        SHARED,
        (
            "Groups that one heartbeat has listed share an entry at the broker, so that the heartbeats of one keep the "
            "other, which has left: its share of the queues stays without a consumer (apache/rocketmq#10435)."
        ),
    ),
    (
        no_share,
        FAILED,
        (
            "A client instance that fails to start leaves its timers running, and shutdown does nothing: the consumer "
            "is announced, gets queues, and consumes nothing until the process ends."
        ),
    ),
    (ends_with_the_last, FAILED, "Nothing stops the timers of a client instance that failed to start."),
    (
        own_failures_only,
        FAILED,
        (
            "A client instance that failed to start is handed out to every later consumer with its client id, and "
            "their starts fail as well: end the process."
        ),
    ),
    (
        no_half_start,
        {**REFUSED, "version": "4.9.8"},
        "In 4.9.8, a consumer consumes although its start has thrown: a broker refused its filter expression.",
    ),
)


def claims() -> Iterator[Claim]:
    """All claims about consumers that share a client instance, naive ones last."""
    yield from claims_of(client_instance, _CLAIMED)
    for property, constants, lesson in _FALSE:
        yield Claim(
            property=property, machine=client_instance, constants=constants, expected=Verdict.VIOLATED, lesson=lesson
        )

"""Start and stop of consumers that share a client instance (ST-10 to ST-16).

All consumers of a process with the same client id have one ``MQClientInstance``: one connection, one set of timers, one
rebalance thread. It is made when the first of them asks for it, and it ends with the last. By default each clustering
consumer has a client id of its own (EN-7); those that broadcast, or that are given an instance name, share one.

Each consumer goes through ``start`` and ``shutdown`` step by step. What a heartbeat says is collected at one moment and
reaches the broker at another. Queues and messages are not followed.
"""

from __future__ import annotations

from enum import IntEnum

from .kernel import (
    BoolLike,
    Constants,
    Domain,
    Int,
    IntLike,
    Machine,
    MemberSet,
    SetOf,
    State,
    all_of,
    any_of,
    constant,
    ite,
    not_,
    same,
    variable,
)


class PushConsumer(Domain, size="consumers", label="c"):
    """Consumer objects of the process, dealt out to the groups in turn."""


class Group(Domain, size="groups", label="g"):
    """Consumer groups that have consumers in this process."""


class Instance(Domain, size="instances", label="i"):
    """Client instances with this client id, one after the other."""


class ServiceState(IntEnum):
    """``ServiceState``, of a consumer and of a client instance."""

    CREATE_JUST = 0
    RUNNING = 1
    SHUTDOWN_ALREADY = 2
    START_FAILED = 3


class Step(IntEnum):
    """How far a call of ``start`` or ``shutdown`` is.

    STARTING: it has its client instance. REGISTERED: the instance knows it. ANNOUNCING: its state is RUNNING, and the
    broker is asked and told about it. UNREGISTERED: the instance and the broker have dropped it. STOPPING: it has found
    that nobody else uses the instance.
    """

    IDLE = 0
    STARTING = 1
    REGISTERED = 2
    ANNOUNCING = 3
    UNREGISTERED = 4
    STOPPING = 5


client_instance = Machine(
    "client_instance", doc="Consumers of one process that share a client id, from their start to their shutdown."
)


def shares_entries(k: Constants) -> bool:
    """Whether two groups may have one and the same entry in the broker's tables."""
    return bool(k.groups == 2 and k.entry == "of-heartbeat")


@client_instance.state
class ClientInstanceState(State):
    """Consumers, client instances, and what the broker knows of them."""

    consumers = constant(2, low=1, high=3, doc="consumer objects with this client id")
    groups = constant(1, low=1, high=2, doc="groups to which they belong")
    instances = constant(2, low=1, high=3, doc="client instances that there may be, one after the other")
    calls = constant("in-turn", choices=("in-turn", "at-once"), doc="whether start and shutdown may overlap")
    entry = constant("of-heartbeat", choices=("of-heartbeat", "of-group"), doc="ClientChannelInfo at the broker")
    bad_settings = constant(0, high=1, doc="how many starts find a setting that they refuse")
    bad_settings_left: IntLike
    failed_starts = constant(0, high=1, doc="how often the start of a client instance may fail")
    failed_starts_left: IntLike
    fails = constant("late", choices=("early", "late"), doc="whether it fails before or after the timers start")
    first_heartbeat = constant(
        "may-fail", choices=("may-fail", "arrives"), doc="whether a start returns without an answer to its heartbeat"
    )
    refused_filters = constant(0, high=1, doc="how often a broker may refuse the filter of a consumer that starts")
    version = constant("5.3.3", choices=("5.3.3", "4.9.8"), doc="release of the client")
    watch_steps = constant(0, high=1, doc="1 to keep the states of the consumers before the last step")
    service = variable(ServiceState, PushConsumer, doc="serviceState of the consumer")
    step = variable(Step, PushConsumer)
    uses = variable(Int(0, lambda k: k.instances - 1), PushConsumer, doc="the client instance that it asked for")
    registered = variable(bool, PushConsumer, doc="it is in the consumerTable of that instance")
    threw = variable(bool, PushConsumer, when=lambda k: k.refused_filters > 0, doc="its start ended with an exception")
    state = variable(ServiceState, Instance, doc="serviceState of the client instance")
    heartbeat = variable(SetOf(Group), doc="groups of which a heartbeat tells that is under way")
    listed = variable(SetOf(Group), doc="groups in which the broker lists the client id")
    one_entry = variable(bool, when=shares_entries, doc="both groups were listed by the same heartbeat")


client_instance.remember("service", "step", "state", when=lambda k: k.watch_steps == 1)


def group_of(s: ClientInstanceState, c: IntLike) -> IntLike:
    """The group of a consumer."""
    return c % s.groups


def at_work(s: ClientInstanceState, i: IntLike) -> BoolLike:
    """Whether the timers of a client instance run."""
    half_started = s.state[i] == ServiceState.START_FAILED if s.failed_starts and s.fails == "late" else False
    return any_of(s.state[i] == ServiceState.RUNNING, half_started)


def knows(s: ClientInstanceState, g: IntLike) -> BoolLike:
    """Whether a client instance whose timers run has a consumer of the group in its table."""
    return s.exists(PushConsumer, lambda c: all_of(same(group_of(s, c), g), s.registered[c], at_work(s, s.uses[c])))


@client_instance.definition
def current(s: ClientInstanceState) -> IntLike:
    """ST-10: the instance that ``MQClientManager`` hands out: the one of that client id, or a new one.

    A stopped instance is no longer in its table; one whose start failed stays there.
    ``MQClientManager#getOrCreateMQClientInstance``, ``#removeClientFactory``.
    """
    return s.count(Instance, lambda i: s.state[i] == ServiceState.SHUTDOWN_ALREADY)


def may_call(s: ClientInstanceState, c: IntLike) -> BoolLike:
    """Whether the application calls ``start`` or ``shutdown`` of ``c`` now."""
    idle = s.step[c] == Step.IDLE
    return idle if s.calls == "at-once" else s.forall(PushConsumer, lambda o: s.step[o] == Step.IDLE)


# --- start ----------------------------------------------------------------------------------------------------------


@client_instance.action(tells="{c} is started, and asks for its client instance")
def start(s: ClientInstanceState, c: PushConsumer) -> None:
    """ST-11: only a new consumer can be started; in every other state, ``start`` throws.

    While it is being started, its state is START_FAILED (``DefaultMQPushConsumerImpl#start``).
    """
    s.require(may_call(s, c), s.service[c] == ServiceState.CREATE_JUST, current(s) < s.instances)
    s.service[c] = ServiceState.START_FAILED
    s.step[c] = Step.STARTING
    s.uses[c] = current(s)


@client_instance.action(budget="bad_settings", tells="the start of {c} refuses a setting")
def refuse_setting(s: ClientInstanceState, c: PushConsumer) -> None:
    """ST-2: ``checkConfig`` throws before there is anything to undo; the state stays START_FAILED."""
    s.require(s.service[c] == ServiceState.CREATE_JUST)
    s.service[c] = ServiceState.START_FAILED


@client_instance.definition
def has_place(s: ClientInstanceState, c: IntLike) -> BoolLike:
    """ST-12: whether the instance has no other consumer of the group (``MQClientInstance#registerConsumer``)."""

    def takes_it(o: IntLike) -> BoolLike:
        return all_of(s.registered[o], same(s.uses[o], s.uses[c]), same(group_of(s, o), group_of(s, c)))

    return not_(s.exists(PushConsumer, takes_it))


@client_instance.action(fair=True, tells="{c} is registered with its client instance")
def register(s: ClientInstanceState, c: PushConsumer) -> None:
    """ST-12: the heartbeats and rebalance passes of an instance that runs already include it from now on."""
    s.require(s.step[c] == Step.STARTING, has_place(s, c))
    s.registered[c] = True
    s.step[c] = Step.REGISTERED


@client_instance.action(fair=True, tells="{c} is refused: its group has a consumer in this client instance")
def refuse_second(s: ClientInstanceState, c: PushConsumer) -> None:
    """ST-12: the state goes back to CREATE_JUST, so it may be started again later."""
    s.require(s.step[c] == Step.STARTING, not_(has_place(s, c)))
    s.service[c] = ServiceState.CREATE_JUST
    s.step[c] = Step.IDLE


@client_instance.action(fair=True, tells="{c} finds its client instance running, or starts it")
def start_instance(s: ClientInstanceState, c: PushConsumer) -> None:
    """ST-13: an instance that is new is started. One that runs is left as it is, and so is one that has stopped.

    ``MQClientInstance#start`` throws only if an earlier start failed; in the states RUNNING and SHUTDOWN_ALREADY it
    does nothing.
    """
    state = s.state[s.uses[c]]
    s.require(s.step[c] == Step.REGISTERED, state != ServiceState.START_FAILED)
    s.state[s.uses[c]] = ite(state == ServiceState.CREATE_JUST, ServiceState.RUNNING, state)
    s.service[c] = ServiceState.RUNNING
    s.step[c] = Step.ANNOUNCING


@client_instance.action(budget="failed_starts", tells="the client instance of {c} fails to start")
def fail_to_start(s: ClientInstanceState, c: PushConsumer) -> None:
    """ST-14: for example, there is no memory for another thread. Nothing that was started is stopped."""
    s.require(s.step[c] == Step.REGISTERED, s.state[s.uses[c]] == ServiceState.CREATE_JUST)
    s.state[s.uses[c]] = ServiceState.START_FAILED
    s.step[c] = Step.IDLE


@client_instance.action(
    fair=True, tells="{c} gets a client instance that failed to start", when=lambda k: k.failed_starts > 0
)
def find_failed(s: ClientInstanceState, c: PushConsumer) -> None:
    """ST-14: the failed instance is still handed out, and refuses to be started: the start of ``c`` fails, too."""
    s.require(s.step[c] == Step.REGISTERED, s.state[s.uses[c]] == ServiceState.START_FAILED)
    s.step[c] = Step.IDLE


@client_instance.action(fair=True, tells="the start of {c} ends")
def announce(s: ClientInstanceState, c: PushConsumer) -> None:
    """ST-1: the last part of a start is a heartbeat to every broker, which the start waits for, but does not depend
    on.
    """
    s.require(s.step[c] == Step.ANNOUNCING)
    if s.first_heartbeat == "arrives":
        s.require(s.listed.has(group_of(s, c)))
    s.step[c] = Step.IDLE


@client_instance.definition
def undo_start(s: ClientInstanceState, c: IntLike) -> None:
    """ST-15: a consumer whose filter is refused is shut down before its start throws; not so in 4.9.8."""
    if s.version != "4.9.8":
        _unregister(s, c)


@client_instance.action(budget="refused_filters", tells="a broker refuses the filter of {c}, and its start throws")
def refuse_filter(s: ClientInstanceState, c: PushConsumer) -> None:
    """ST-15: ``MQClientInstance#checkClientInBroker`` throws, with the consumer already RUNNING."""
    s.require(s.step[c] == Step.ANNOUNCING)
    s.threw[c] = True
    undo_start(s, c)


# --- shutdown -------------------------------------------------------------------------------------------------------


def _unregister(s: ClientInstanceState, c: IntLike) -> None:
    s.registered[c] = False
    s.listed = s.listed.remove(group_of(s, c))
    s.step[c] = Step.UNREGISTERED
    if shares_entries(s.constants):
        s.one_entry = False


@client_instance.action(tells="{c} is shut down, and unregistered at its client instance and at the broker")
def shut_down(s: ClientInstanceState, c: PushConsumer) -> None:
    """ST-8 (3): only the group of this consumer is unregistered. In any other state, ``shutdown`` does nothing.

    ``MQClientInstance#unregisterConsumer``, ``DefaultMQPushConsumerImpl#shutdown``.
    """
    s.require(may_call(s, c), s.service[c] == ServiceState.RUNNING)
    _unregister(s, c)


@client_instance.definition
def in_use(s: ClientInstanceState, i: IntLike) -> BoolLike:
    """ST-16: whether a client instance has a consumer in its table (``MQClientInstance#shutdown``)."""
    return s.exists(PushConsumer, lambda c: all_of(s.registered[c], same(s.uses[c], i)))


def _end(s: ClientInstanceState, c: IntLike) -> None:
    s.service[c] = ServiceState.SHUTDOWN_ALREADY
    s.step[c] = Step.IDLE


@client_instance.action(fair=True, tells="{c} leaves its client instance to others, and its shutdown returns")
def leave_running(s: ClientInstanceState, c: PushConsumer) -> None:
    """ST-16: an instance that others use goes on."""
    s.require(s.step[c] == Step.UNREGISTERED, in_use(s, s.uses[c]))
    _end(s, c)


@client_instance.action(fair=True, tells="{c} finds that nobody uses its client instance")
def find_unused(s: ClientInstanceState, c: PushConsumer) -> None:
    """ST-16: the tables are read without the lock under which consumers are registered."""
    s.require(s.step[c] == Step.UNREGISTERED, not_(in_use(s, s.uses[c])))
    s.step[c] = Step.STOPPING


@client_instance.action(fair=True, tells="{c} stops its client instance, and its shutdown returns")
def stop_instance(s: ClientInstanceState, c: PushConsumer) -> None:
    """ST-16: the instance ends, whoever was registered since; its connection closes, so the broker drops its entries.

    ``MQClientInstance#shutdown``, ``ConsumerManager#doChannelCloseEvent``.
    """
    s.require(s.step[c] == Step.STOPPING)
    with s.when(s.state[s.uses[c]] == ServiceState.RUNNING):
        s.state[s.uses[c]] = ServiceState.SHUTDOWN_ALREADY
        s.heartbeat = s.empty(Group)
        s.listed = s.empty(Group)
        if shares_entries(s.constants):
            s.one_entry = False
    _end(s, c)


# --- heartbeats -----------------------------------------------------------------------------------------------------


@client_instance.action(fair=True, tells="a heartbeat is sent")
def send_heartbeat(s: ClientInstanceState) -> None:
    """ST-4: it names the groups of all consumers in the table, whatever their state (``prepareHeartbeatData``).

    An earlier one that has not arrived by then is lost.
    """
    s.require(s.exists(Group, lambda g: knows(s, g)))
    s.heartbeat = MemberSet(s.elements(Group), lambda g: knows(s, g))


@client_instance.action(fair=True, tells="the heartbeat reaches the broker")
def receive_heartbeat(s: ClientInstanceState) -> None:
    """ST-4, ST-17: the broker lists the client in these groups, also in one that it has left since.

    Groups that are new to the broker get one entry between them (``ClientManageProcessor#heartBeat``).
    """
    s.require(s.exists(Group, lambda g: s.heartbeat.has(g)))
    s.listed = s.listed | s.heartbeat
    s.heartbeat = s.empty(Group)
    if shares_entries(s.constants):
        all_new = s.forall(Group, lambda g: all_of(s.heartbeat.has(g), not_(s.listed.has(g))))
        s.one_entry = any_of(s.one_entry, all_new)


@client_instance.definition
def refreshed(s: ClientInstanceState, g: IntLike) -> BoolLike:
    """ST-17: whether heartbeats renew the time of the entry that a group has.

    Two groups may have the same entry, so that the heartbeats of one keep the other (apache/rocketmq#10435).
    """
    return any_of(knows(s, g), s.heartbeat.has(g), s.one_entry if shares_entries(s.constants) else False)


@client_instance.action(fair=True, tells="the broker drops the entry of {g}, which no heartbeat names")
def expire(s: ClientInstanceState, g: Group) -> None:
    """ST-6 (d): after 120 s (``ConsumerManager#scanNotActiveChannel``)."""
    s.require(s.listed.has(g), not_(refreshed(s, g)))
    s.listed = s.listed.remove(g)
    if shares_entries(s.constants):
        s.one_entry = False


@client_instance.mutant(
    "F6",
    "shared-client-closed-early",
    of=in_use,
    killed_by="started-consumer-is-served",
    constants={"groups": 2},
)
def never_in_use(s: ClientInstanceState, i: IntLike) -> BoolLike:
    """The first consumer that is shut down stops the client that others still use.

    apache/rocketmq#576, apache/rocketmq-client-go#728.
    """
    return False


@client_instance.mutant(
    "F6-kept",
    "stopped-client-is-handed-out-again",
    of=current,
    killed_by="started-consumer-is-served",
)
def always_the_first(s: ClientInstanceState) -> IntLike:
    """A client that was stopped stays in the table of clients, and the next consumer gets it.

    apache/rocketmq-client-go#497, apache/rocketmq#1924.
    """
    return 0

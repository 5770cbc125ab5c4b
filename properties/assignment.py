"""What may be relied on about who owns which queue, and what may not (guarantee G1)."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

from ..model.assignment import assignment
from ..model.group import GroupState
from ..model.kernel import UNBOUNDED, BoolLike, IntLike, Predicate, all_of, any_of, implies, not_, same
from ..model.lock import holds_lock
from ..model.membership import Consumer, Life, alive
from ..model.rebalance import idle, owner, settled, wanted
from ..model.route import Queue, queues_in_view, readable_queues, written_queues
from ..model.share import STRATEGIES, eligible
from ..model.subscription import subscribes
from .claim import Claim, claim_about
from .member_steps import nothing_while_gone
from .property import Kind, Property, always, eventually, settles, sometimes


def owners(s: GroupState, q: IntLike) -> IntLike:
    """How many running consumers have queue ``q``."""
    return s.count(Consumer, lambda c: owner(s, c, q))


def overlap(s: GroupState) -> BoolLike:
    """Some queue has two owners."""
    return s.exists(Queue, lambda q: owners(s, q) >= 2)


def gap(s: GroupState) -> BoolLike:
    """Some readable queue that the strategy gives to some client has no owner."""
    return s.exists(Queue, lambda q: all_of(_must_be_owned(s, q), owners(s, q) == 0))


def _must_be_owned(s: GroupState, q: IntLike) -> BoolLike:
    k = s.constants
    if k.strategy == "CONFIG":  # The configured lists partition the queues among the configured consumers.
        return all_of(q < readable_queues(s), alive(s, q % k.consumers))
    return all_of(q < readable_queues(s), eligible(k, q))


def _works_on(s: GroupState, c: Consumer, q: IntLike) -> BoolLike:
    """Whether listeners of ``c`` may run for ``q``: a stopping client has stopped them before it drops its queues."""
    return all_of(s.life[c] == Life.UP, s.owns[c, q], not_(s.paused[c]) if s.pauses else True)


def _owns_its_share(s: GroupState, c: Consumer) -> BoolLike:
    # If a lock was refused, or a queue is being repaired, a part of the share is missing for a while.
    exactly = not (s.orderly or s.repairs)

    def as_divided(q: IntLike) -> BoolLike:
        return same(s.owns[c, q], wanted(s, c, q)) if exactly else implies(s.owns[c, q], wanted(s, c, q))

    return implies(subscribes(s, c), s.forall(Queue, as_divided))


def _unread(s: GroupState) -> BoolLike:
    """Some queue that producers write to has no owner."""

    def unread(q: IntLike) -> BoolLike:
        must_be = _must_be_owned(s, q) if s.strategy in ("CONFIG", "MACHINE_ROOM") else True
        return all_of(q < written_queues(s), must_be, owners(s, q) == 0)

    return s.exists(Queue, unread)


@always("one-queue-one-consumer", "RB-30", "G1")
def one_owner(s: GroupState) -> BoolLike:
    """A queue is never owned by two consumers of a group."""
    return not_(overlap(s))


@always("every-queue-owned", "RB-30", "ST-6")
def no_orphan(s: GroupState) -> BoolLike:
    """A readable queue always has an owner."""
    return not_(gap(s))


@always(
    "partition-lemma",
    "RB-6",
    "RB-20",
    "RB-30",
    "G1",
    assuming=("distinct client ids", "one strategy with equal parameters", "every member subscribes to the topic"),
)
def partition_lemma(s: GroupState) -> BoolLike:
    """Once all running consumers have applied the same true view, every queue has exactly one owner."""
    return implies(settled(s), all_of(not_(overlap(s)), not_(gap(s))))


@always("owns-its-share", "RB-5", "RB-30")
def owns_its_share(s: GroupState, c: Consumer) -> BoolLike:
    """Between two passes, a consumer owns exactly what the strategy gives it for its last view."""
    return implies(all_of(alive(s, c), idle(s, c)), _owns_its_share(s, c))


@always(
    "no-orphan-once-agreed",
    "RB-30",
    "G1",
    assuming=("one strategy with equal parameters", "every member subscribes to the topic"),
)
def no_orphan_once_agreed(s: GroupState) -> BoolLike:
    """Once all running consumers have applied the same true view, no queue is left without an owner."""
    return implies(settled(s), not_(gap(s)))


@always(
    "written-queues-owned",
    "EN-5",
    "G1",
    assuming=("as many read queues as write queues", "one strategy", "every member subscribes to the topic"),
)
def written_queues_owned(s: GroupState) -> BoolLike:
    """Once all running consumers have applied the same true view, each queue that is written to has an owner."""
    return implies(settled(s), not_(_unread(s)))


@settles(
    "disagreement-ends",
    "RB-1",
    "ST-3",
    "ST-6",
    assuming=("weak fairness of heartbeats, scans, route refreshes and rebalance passes",),
)
def disagreement_ends(s: GroupState) -> BoolLike:
    """Once the group stops changing, every disagreement about who owns what ends, and none begins again."""
    return any_of(settled(s), s.forall(Consumer, lambda c: not_(alive(s, c))))


@eventually(
    "overlap-heals",
    "RB-1",
    after=overlap,
    assuming=("weak fairness of heartbeats, scans, route refreshes and rebalance passes",),
)
def overlap_heals(s: GroupState) -> BoolLike:
    """A queue with two owners eventually has only one again."""
    return not_(overlap(s))


@always(
    "orderly-lock-excludes",
    "RB-30",
    "OR-1",
    "U10",
    assuming=("no broker forgets its locks", "no client is suspended for as long as a lock lasts"),
)
def orderly_lock(s: GroupState, q: Queue) -> BoolLike:
    """With the broker's lock (orderly), two consumers never work on one queue at a time."""
    return s.count(Consumer, lambda c: _works_on(s, c, q)) <= 1


@eventually(
    "broadcasting-client-gets-every-queue",
    "RB-7",
    "G8",
    after=lambda s: s.exists(Consumer, lambda c: s.life[c] == Life.UP),
    assuming=("weak fairness of route refreshes and rebalance passes",),
)
def every_queue(s: GroupState) -> BoolLike:
    """In broadcasting, every client that runs eventually has every queue of the topic."""
    return s.forall(Consumer, lambda c: implies(s.life[c] == Life.UP, _has_all(s, c)))


def _has_all(s: GroupState, c: Consumer) -> BoolLike:
    return s.forall(Queue, lambda q: implies(q < readable_queues(s), s.owns[c, q]))


@always("same-id-never-heals", "EN-2", "RB-20", "G1")
def same_id_overlaps(s: GroupState) -> BoolLike:
    """Two running consumers with one client id own the same queues whenever the group has settled."""
    return implies(all_of(settled(s), alive(s, 0), alive(s, 1)), overlap(s))


def _different_routes(s: GroupState) -> BoolLike:
    def differ(c: Consumer, d: Consumer) -> BoolLike:
        return all_of(alive(s, c), alive(s, d), not_(same(queues_in_view(s, c), queues_in_view(s, d))))

    return s.exists(Consumer, lambda c: s.exists(Consumer, lambda d: differ(c, d)))


def _witness(name: str, statement: str, what: str, *rules: str) -> Property:
    situations: dict[str, Predicate] = {
        "overlap": overlap,
        "gap": gap,
        "route overlap": lambda s: all_of(_different_routes(s), overlap(s)),
        "route gap": lambda s: all_of(_different_routes(s), gap(s)),
        "settled overlap": lambda s: all_of(settled(s), overlap(s)),
        "settled gap": lambda s: all_of(settled(s), gap(s)),
    }
    return Property(id=name, statement=statement, kind=Kind.SOMETIMES, holds=situations[what], rules=("G1", *rules))


@sometimes("paused-owner", "RB-3", "G1")
def paused_owner(s: GroupState) -> BoolLike:
    """A queue can stay with a consumer that is paused or hung, while all views agree."""

    def only_paused(q: IntLike) -> BoolLike:
        return all_of(owners(s, q) > 0, s.forall(Consumer, lambda c: implies(owner(s, c, q), s.paused[c])))

    return all_of(settled(s), s.exists(Queue, only_paused))


@sometimes("orderly-gap", "RB-30", "OR-1", "G1")
def locked_out(s: GroupState, q: Queue, c: Consumer) -> BoolLike:
    """A dead owner's lock keeps a queue away from the member it was allocated to."""
    held_by_another = all_of(s.holder[q] != 0, not_(holds_lock(s, c, q)))
    return all_of(alive(s, c), wanted(s, c, q), held_by_another, owners(s, q) == 0)


JOIN: dict[str, int | str] = {"consumers": 2, "running": 1}
LEAVE: dict[str, int | str] = {"consumers": 2, "running": 2, "leaves": 1}
DEATH: dict[str, int | str] = {"consumers": 2, "running": 2, "crashes": 1}
TWO_BROKERS: dict[str, int | str] = {"consumers": 2, "running": 1, "brokers": 2}
BROKER_RESTART: dict[str, int | str] = {"consumers": 2, "running": 2, "broker_restarts": 1}
ROUTE_CHANGE: dict[str, int | str] = {"consumers": 2, "running": 2, "queues": 5, "route_changes": 1}
SAME_ID: dict[str, int | str] = {"consumers": 3, "running": 1, "same_id": 1}
MIXED: dict[str, int | str] = {"consumers": 2, "running": 1, "last_strategy": "AVG_BY_CIRCLE"}
UNSUBSCRIBED: dict[str, int | str] = {"consumers": 2, "running": 1, "unsubscribed": 1}
UNSUBSCRIBES: dict[str, int | str] = {"consumers": 2, "running": 2, "unsubscribes": 1}
REPAIR: dict[str, int | str] = {"consumers": 2, "running": 1, "repairs": 1}
PAUSED: dict[str, int | str] = {"consumers": 2, "running": 2, "pauses": 1}
BROADCASTING: dict[str, int | str] = {
    "consumers": 2,
    "running": 0,
    "queues": 2,
    "mode": "broadcasting",
    "crashes": 1,
    "route_changes": 1,
}
ORDERLY: dict[str, int | str] = {"consumers": 3, "running": 2, "orderly": 1, "crashes": 1, "leaves": 1}
CUT: dict[str, int | str] = {"consumers": 2, "running": 2, "brokers": 2, "cuts": 1}
EVERYTHING: dict[str, int | str] = {
    "consumers": 3,
    "running": 2,
    "brokers": 2,
    "leaves": 1,
    "crashes": 1,
    "broker_restarts": 1,
    "cuts": 1,
}
# No consumer runs initially, so that the initial owners need no formula of the number of queues.
ANY_QUEUES: dict[str, int | str] = {
    "consumers": 3,
    "running": 0,
    "queues": UNBOUNDED,
    "brokers": 2,
    "leaves": 1,
    "crashes": 1,
    "broker_restarts": 1,
    "cuts": 1,
}
FINE: dict[str, int | str] = {
    "consumers": 3,
    "running": 2,
    "brokers": 2,
    "leaves": 1,
    "crashes": 1,
    "steps": "fine",
}

# All ways to an overlap or a gap, each in a configuration in which nothing else can happen.
_ROWS: tuple[tuple[Property, dict[str, int | str]], ...] = (
    (
        _witness("join-overlap", "A new member takes queues before their old owner drops them.", "overlap", "RB-30"),
        JOIN,
    ),
    (_witness("join-gap", "An old owner drops queues before the new member takes them.", "gap", "RB-30"), JOIN),
    (_witness("leave-gap", "After a graceful leave its queues have no owner for a while.", "gap", "ST-8"), LEAVE),
    (
        _witness(
            "leave-overlap", "A leaving member has unregistered but not yet dropped its queues.", "overlap", "ST-9"
        ),
        LEAVE,
    ),
    (_witness("death-gap", "A dead member's queues have no owner until brokers forget it.", "gap", "ST-6"), DEATH),
    (
        _witness("brokers-overlap", "Members read lists of different brokers: two owners.", "overlap", "RB-4"),
        CUT,
    ),
    (_witness("brokers-gap", "Members read lists of different brokers: no owner.", "gap", "RB-4"), CUT),
    (
        _witness(
            "restart-overlap", "After a broker restart the first member back takes everything.", "overlap", "EN-1"
        ),
        BROKER_RESTART,
    ),
    (
        _witness("restart-gap", "After a broker restart a member not yet listed drops everything.", "gap", "RB-20"),
        BROKER_RESTART,
    ),
    (
        _witness("route-overlap", "Members divide different numbers of queues: two owners.", "route overlap", "EN-5"),
        ROUTE_CHANGE,
    ),
    (_witness("route-gap", "Members divide different numbers of queues: no owner.", "route gap", "EN-5"), ROUTE_CHANGE),
    (
        _witness(
            "same-id-overlap", "One client id twice: both take the first share, for good.", "settled overlap", "EN-2"
        ),
        SAME_ID,
    ),
    (
        _witness("same-id-gap", "One client id twice: the second share has no owner, for good.", "settled gap", "EN-2"),
        SAME_ID,
    ),
    (_witness("mixed-overlap", "Two strategies in a group: two owners, for good.", "settled overlap", "RB-27"), MIXED),
    (_witness("mixed-gap", "Two strategies in a group: no owner, for good.", "settled gap", "RB-27"), MIXED),
    (
        _witness("unsubscribed-gap", "A member that does not subscribe keeps its share idle, for good.", "settled gap"),
        UNSUBSCRIBED,
    ),
    (paused_owner, PAUSED),
    (locked_out, ORDERLY),
)


_claim = partial(claim_about, assignment)


def claims() -> Iterator[Claim]:
    """All claims about the assignment machine, naive ones first."""
    yield _claim(one_owner, JOIN, "Nobody waits for the old owner: a join is enough for a queue to have two owners.")
    yield _claim(no_orphan, JOIN, "An old owner may let go before the new one has taken over.")
    for strategy in STRATEGIES:
        yield _claim(partition_lemma, {**EVERYTHING, "strategy": strategy})
    # It is inductive by itself; with a lemma, no others are searched.
    yield Claim(property=partition_lemma, machine=assignment, constants=ANY_QUEUES, lemmas=(nothing_while_gone,))
    yield _claim(partition_lemma, FINE)
    yield _claim(partition_lemma, {**ROUTE_CHANGE, "crashes": 1})
    yield _claim(partition_lemma, ORDERLY)
    for constants in (BROKER_RESTART, {**EVERYTHING, "strategy": "AVG"}, FINE, ORDERLY, UNSUBSCRIBES, REPAIR):
        yield _claim(owns_its_share, constants)
    yield _claim(written_queues_owned, {**ROUTE_CHANGE, "crashes": 1})
    yield _claim(
        written_queues_owned,
        {"consumers": 1, "running": 0, "unread_queues": 1},
        "Producers use the write count, consumers the read count: nobody reads what is written above it.",
    )
    for constants, lesson in (
        (SAME_ID, "The lemma needs distinct ids: list position, not identity, decides the share."),
        (MIXED, "The lemma needs one strategy for all."),
        (UNSUBSCRIBES, "A member that unsubscribes keeps its place in the division, so its share has no reader."),
        (UNSUBSCRIBED, "The lemma needs every member to subscribe: members are counted for a group, not for a topic."),
    ):
        yield _claim(partition_lemma, constants, lesson)
    yield _claim(no_orphan_once_agreed, {**EVERYTHING, "strategy": "AVG"})
    yield Claim(
        property=no_orphan_once_agreed,
        machine=assignment,
        constants={**SAME_ID, "strategy": "CONSISTENT_HASH"},
        lesson="On the ring a doubled id leaves no gap.",
    )
    yield _claim(same_id_overlaps, SAME_ID)
    yield _claim(every_queue, BROADCASTING)
    yield _claim(nothing_while_gone, BROADCASTING)
    yield _claim(orderly_lock, ORDERLY)
    yield _claim(
        orderly_lock,
        {**ORDERLY, "broker_restarts": 1},
        "Locks live in the broker's memory: after its restart another member gets a lock that is still in use.",
    )
    yield _claim(
        orderly_lock,
        {**ORDERLY, "pauses": 1},
        "A client that was suspended for longer than a lock lasts continues as if it still had the lock.",
    )
    for witness, constants in _ROWS:
        yield _claim(witness, constants)
    for constants in (
        TWO_BROKERS,
        {**DEATH, "leaves": 1},
        BROKER_RESTART,
        ROUTE_CHANGE,
        {**CUT, "heals": 1},
        UNSUBSCRIBES,
        REPAIR,
        {**FINE, "brokers": 1, "leaves": 0},
    ):
        yield _claim(disagreement_ends, constants)
    yield _claim(disagreement_ends, {**JOIN, "periodic": 0})
    for constants, lesson in (
        (
            {**JOIN, "periodic": 0, "lost_notices": 1},
            "Notifications alone are not enough: if one is lost, only the 20 s timer repairs it.",
        ),
        (
            {**DEATH, "periodic": 0},
            "A silent death is removed without a notification: without the timer nobody takes over.",
        ),
        (
            {**JOIN, "periodic": 0, "crashes": 1},
            "A notification starts one pass: whoever was told of a new member is not told of its silent death later.",
        ),
        (
            {**CUT, "heals": 0},
            "While a client is cut off from one broker, the views of the group keep changing.",
        ),
    ):
        yield _claim(disagreement_ends, constants, lesson)
    yield _claim(overlap_heals, EVERYTHING)

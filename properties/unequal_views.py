"""What breaks if clients of a group do not allocate from the same input: claims about whole groups of clients.

For each mistake there is the naive claim that the queues are nevertheless divided, to be refuted by the smallest group
of clients that run real strategies, each from its own view. What exactly holds then is here for CONSISTENT_HASH, and as
theorems in ``allocation_inputs`` for strategies that are arithmetic.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import TypeVar

from ..model.allocation import Averagely, AveragelyByCircle, ConsistentHash, MessageQueue, Strategy, sorted_ids
from .verdict import Verdict

Item = TypeVar("Item")


@dataclass(frozen=True)
class View:
    """What one running client allocates from."""

    client: str  # name of the running client; two of them may have the same id
    own_id: str  # its client id
    # the queues of the topic as it sees them, in the order in which it passes them to the strategy
    queues: tuple[MessageQueue, ...]
    ids: tuple[str, ...]  # the client ids of the group as it sees them, in that order
    strategy: Strategy


@dataclass(frozen=True)
class Division:
    """How a group of running clients divides the queues from its views."""

    queues: tuple[MessageQueue, ...]  # all queues of the topic, sorted
    views: tuple[View, ...]  # one for each running client
    shares: tuple[frozenset[MessageQueue], ...]  # what each of them takes

    def owners(self, queue: MessageQueue) -> list[str]:
        """Running clients that take ``queue``."""
        return [view.client for view, share in zip(self.views, self.shares, strict=True) if queue in share]


def divide(queues: Sequence[MessageQueue], views: Sequence[View]) -> Division:
    """Let every client allocate from its own view."""
    shares = tuple(frozenset(view.strategy.allocate(view.own_id, view.queues, view.ids)) for view in views)
    return Division(tuple(queues), tuple(views), shares)


@dataclass(frozen=True, kw_only=True)
class GroupClaim:
    """A statement about groups of clients with certain views, for an exhaustive search from the smallest group up."""

    id: str  # short name with dashes
    statement: str  # one sentence a user of RocketMQ understands
    expected: Verdict  # VIOLATED for a naive claim, HOLDS for an exact one
    groups: Callable[[int, int], Iterator[Division]]  # the groups with a given number of queues and consumers
    wrong: Callable[[Division], str]  # what contradicts the claim, in words; nothing if it holds
    rules: tuple[str, ...] = ()  # ids of the rules of RocketMQ on which it rests
    except_for: str = ""  # what a search of all groups of a size leaves out, in words


def topic(queues: int) -> tuple[MessageQueue, ...]:
    """The queues of a topic on one broker, sorted."""
    return tuple(MessageQueue("TopicTest", "broker-a", number) for number in range(queues))


def client_ids(consumers: int) -> tuple[str, ...]:
    """Distinct client ids, sorted."""
    return tuple(sorted_ids(f"c{number}" for number in range(consumers)))


def not_divided(division: Division) -> str:
    """Which queues have two owners and which none; empty for a partition."""
    return "; ".join(_ownership(division, [queue for queue in division.queues if len(division.owners(queue)) != 1]))


def tell_division(division: Division) -> str:
    """Which client sees and takes what, one client per line."""
    return "\n".join(
        f"{view.client} runs {view.strategy.name} as {view.own_id or 'nobody'} on queues "
        f"{_short(view.queues) or 'none'} and ids {' '.join(view.ids) or 'none'}: "
        f"takes {_short(sorted(share)) or 'nothing'}"
        for view, share in zip(division.views, division.shares, strict=True)
    )


def sorted_differently(
    strategy: Strategy, *, queues_too: bool, ids_too: bool
) -> Callable[[int, int], Iterator[Division]]:
    """Groups in which the last client has its queues, its ids or both in some other order."""

    def groups(queues: int, consumers: int) -> Iterator[Division]:
        all_queues, ids = topic(queues), client_ids(consumers)
        for other_queues in _orders(all_queues) if queues_too else [all_queues]:
            for other_ids in _orders(ids) if ids_too else [ids]:
                if (other_queues, other_ids) != (all_queues, ids):
                    views = [View(own, own, all_queues, ids, strategy) for own in ids[:-1]]
                    views.append(View(ids[-1], ids[-1], tuple(other_queues), tuple(other_ids), strategy))
                    yield divide(all_queues, views)

    return groups


def with_duplicate_id(strategy: Strategy) -> Callable[[int, int], Iterator[Division]]:
    """Groups in which two running clients have one id: the id is listed twice (EN-2)."""

    def groups(queues: int, consumers: int) -> Iterator[Division]:
        for twin in range(consumers - 1):
            own = [*client_ids(consumers - 1)]
            own.insert(twin, own[twin])
            views = [
                View(
                    f"{own_id} (process {place - twin + 1})" if own_id == own[twin] else own_id,
                    own_id,
                    topic(queues),
                    tuple(own),
                    strategy,
                )
                for place, own_id in enumerate(own)
            ]
            yield divide(topic(queues), views)

    return groups


def with_absent_id(strategy: Strategy, *, absent_for_all: bool) -> Callable[[int, int], Iterator[Division]]:
    """Groups in which one client is missing from the ids that it sees itself, or from those that all clients see."""

    def groups(queues: int, consumers: int) -> Iterator[Division]:
        ids = client_ids(consumers)
        for missing in ids if consumers > 1 else ():
            rest = tuple(own for own in ids if own != missing)
            yield divide(
                topic(queues),
                [
                    View(own, own, topic(queues), rest if absent_for_all or own == missing else ids, strategy)
                    for own in ids
                ],
            )

    return groups


def with_mixed_strategies(first: Strategy, other: Strategy) -> Callable[[int, int], Iterator[Division]]:
    """Groups in which the first clients still run one strategy while the others run another; at least one client runs
    each.
    """

    def groups(queues: int, consumers: int) -> Iterator[Division]:
        ids = client_ids(consumers)
        for changed in range(1, consumers):
            yield divide(
                topic(queues),
                [
                    View(own, own, topic(queues), ids, first if place < changed else other)
                    for place, own in enumerate(ids)
                ],
            )

    return groups


def unlike_sorted(division: Division) -> str:
    """The queues that a client takes but would not take from sorted lists, and the ones it does not take but would."""
    return "; ".join(
        f"{view.client} would take {_short(sorted(usual)) or 'nothing'} from sorted lists"
        for view, share in zip(division.views, division.shares, strict=True)
        if share != (usual := frozenset(view.strategy.allocate(view.own_id, division.queues, sorted_ids(view.ids))))
    )


def not_shared_by_twins(division: Division) -> str:
    """Queues without owner, or with two that do not have the same id."""
    ids = {view.client: view.own_id for view in division.views}
    often = {own for own in ids.values() if list(ids.values()).count(own) > 1}

    def as_it_should(queue: MessageQueue) -> bool:
        owners = {ids[client] for client in division.owners(queue)}
        return len(owners) == 1 and len(division.owners(queue)) == (2 if owners <= often else 1)

    return "; ".join(_ownership(division, [queue for queue in division.queues if not as_it_should(queue)]))


GROUP_CLAIMS: tuple[GroupClaim, ...] = (
    GroupClaim(
        id="queues-sorted-differently",
        statement="Naive: it does not matter in which order a client has its queues.",
        expected=Verdict.VIOLATED,
        groups=sorted_differently(Averagely(), queues_too=True, ids_too=False),
        wrong=not_divided,
        rules=("RB-6", "RB-21"),
    ),
    GroupClaim(
        id="ids-sorted-differently",
        statement="Naive: it does not matter in which order a client has the client ids.",
        expected=Verdict.VIOLATED,
        groups=sorted_differently(Averagely(), queues_too=False, ids_too=True),
        wrong=not_divided,
        rules=("RB-6", "RB-21"),
    ),
    GroupClaim(
        id="consistent-hash-ignores-order",
        statement="With CONSISTENT_HASH and no equal hashes, the order of queues and ids does not matter.",
        expected=Verdict.HOLDS,
        groups=sorted_differently(ConsistentHash(), queues_too=True, ids_too=True),
        wrong=lambda division: not_divided(division) or unlike_sorted(division),
        rules=("RB-26",),
        except_for="of five or more items, only two other orders",
    ),
    GroupClaim(
        id="duplicate-client-id",
        statement="Naive: two clients with one client id still divide the queues.",
        expected=Verdict.VIOLATED,
        groups=with_duplicate_id(Averagely()),
        wrong=not_divided,
        rules=("EN-2", "RB-20", "RB-21"),
    ),
    GroupClaim(
        id="consistent-hash-duplicate-client-id",
        statement="Naive: with CONSISTENT_HASH two clients with one client id still divide the queues.",
        expected=Verdict.VIOLATED,
        groups=with_duplicate_id(ConsistentHash()),
        wrong=not_divided,
        rules=("EN-2", "RB-26"),
    ),
    GroupClaim(
        id="consistent-hash-duplicate-id-leaves-no-gap",
        statement="With CONSISTENT_HASH every queue of a duplicated client id has both clients as owners, every other "
        "queue one owner.",
        expected=Verdict.HOLDS,
        groups=with_duplicate_id(ConsistentHash()),
        wrong=not_shared_by_twins,
        rules=("EN-2", "RB-26"),
    ),
    GroupClaim(
        id="own-id-absent",
        statement="Naive: a client that is missing from its own list of ids leaves no gap.",
        expected=Verdict.VIOLATED,
        groups=with_absent_id(Averagely(), absent_for_all=False),
        wrong=not_divided,
        rules=("RB-20", "RB-21"),
    ),
    GroupClaim(
        id="own-id-absent-for-all",
        statement=(
            "A client that is missing from the list that all see takes nothing, and the others divide the queues."
        ),
        expected=Verdict.HOLDS,
        groups=with_absent_id(Averagely(), absent_for_all=True),
        wrong=lambda division: not_divided(division) or _takes_though_absent(division),
        rules=("RB-20", "RB-21"),
    ),
    GroupClaim(
        id="mixed-strategies",
        statement="Naive: clients with AVG and clients with AVG_BY_CIRCLE divide the queues between them.",
        expected=Verdict.VIOLATED,
        groups=with_mixed_strategies(Averagely(), AveragelyByCircle()),
        wrong=not_divided,
        rules=("RB-21", "RB-22"),
    ),
    GroupClaim(
        id="mixed-virtual-nodes",
        statement="Naive: clients with CONSISTENT_HASH of 10 and of 20 virtual nodes divide the queues between them.",
        expected=Verdict.VIOLATED,
        groups=with_mixed_strategies(ConsistentHash(), ConsistentHash(virtual_nodes=20)),
        wrong=not_divided,
        rules=("RB-26",),
    ),
)
"""Claims about clients with different views, each with the verdict it is expected to get."""


def _orders(items: tuple[Item, ...]) -> Iterator[tuple[Item, ...]]:
    # All orders of a few items; longer lists are only reversed and rotated, so that larger groups stay searchable.
    if len(items) <= 4:
        yield from itertools.permutations(items)
    else:
        yield from (items, items[::-1], (*items[1:], items[0]))


def _ownership(division: Division, queues: Sequence[MessageQueue]) -> Iterator[str]:
    for queue in queues:
        owners = division.owners(queue)
        count = "no owner" if not owners else f"{len(owners)} owner{'s' * (len(owners) > 1)}, {' and '.join(owners)}"
        yield f"queue q{queue.queue_id} has {count}"


def _takes_though_absent(division: Division) -> str:
    return "; ".join(
        f"{view.client} takes queues though it is not listed"
        for view, share in zip(division.views, division.shares, strict=True)
        if share and view.own_id not in view.ids
    )


def _short(queues: Sequence[MessageQueue]) -> str:
    return " ".join(f"q{queue.queue_id}" for queue in queues)

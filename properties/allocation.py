"""What allocation strategies promise if all clients of a group see the same: theorems for any numbers of queues and
clients.

Each group of theorems is made by a function of the rule it is about, so that the same statements can be tried on
another rule: a mutated one, or a user's own.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from ..model.allocation import (
    Sharing,
    averagely_count,
    averagely_owner,
    averagely_owns,
    averagely_start,
    circle_count,
    circle_owner,
    circle_owns,
    config_takes,
    machine_room_count,
    machine_room_owner,
    machine_room_owns,
    machine_room_takes,
    nearby_sharing,
)
from ..model.kernel import BoolLike, IntLike, all_of, any_of, implies, ite, not_, same
from .theorem import Function, Relation, Theorem, counted, exactly_one, exists, forall, formula_counts

Taken = Callable[[IntLike], BoolLike]
Numbering = Callable[[IntLike], IntLike]


@dataclass(frozen=True)
class Shares:
    """A strategy that divides positions, and the formulas that a proof about it needs.

    Attributes:
        name: name of the strategy, with which the ids of its theorems begin.
        rule: id of the rule of RocketMQ.
        owns: ``(queue, index, queues, consumers)`` → whether the consumer at that index gets the queue.
        owner: ``(queue, queues, consumers)`` → index of the consumer that gets it.
        count: ``(index, queues, consumers)`` → number of queues it gets.
        nth: ``(number, index, queues, consumers)`` → the queue with that number in its share, counted from 0.
        number: ``(queue, index, queues, consumers)`` → the number of a queue in its share.
    """

    name: str
    rule: str
    owns: Callable[[IntLike, IntLike, IntLike, IntLike], BoolLike]
    owner: Callable[[IntLike, IntLike, IntLike], IntLike]
    count: Callable[[IntLike, IntLike, IntLike], IntLike]
    nth: Callable[[IntLike, IntLike, IntLike, IntLike], IntLike]
    number: Callable[[IntLike, IntLike, IntLike, IntLike], IntLike]


AVERAGELY = Shares(
    name="averagely",
    rule="RB-21",
    owns=averagely_owns,
    owner=averagely_owner,
    count=averagely_count,
    nth=lambda number, index, queues, consumers: averagely_start(index, queues, consumers) + number,
    number=lambda queue, index, queues, consumers: queue - averagely_start(index, queues, consumers),
)

CIRCLE = Shares(
    name="circle",
    rule="RB-22",
    owns=circle_owns,
    owner=circle_owner,
    count=circle_count,
    nth=lambda number, index, queues, consumers: index + number * consumers,
    number=lambda queue, index, queues, consumers: queue // consumers,
)

MACHINE_ROOM = Shares(
    name="machine-room",
    rule="RB-24",
    owns=machine_room_owns,
    owner=machine_room_owner,
    count=machine_room_count,
    nth=lambda number, index, queues, consumers: ite(
        number < queues // consumers, index * (queues // consumers) + number, consumers * (queues // consumers) + index
    ),
    number=lambda queue, index, queues, consumers: ite(
        queue < consumers * (queues // consumers), queue - index * (queues // consumers), queues // consumers
    ),
)


def partition(shares: Shares) -> Theorem:
    """Every queue goes to exactly one consumer."""
    return Theorem(
        id=f"{shares.name}-partition",
        statement="Consumers that see the same sorted queues and ids take every queue, and none of them twice.",
        given=lambda queue, queues, consumers: all_of(consumers >= 1, 0 <= queue, queue < queues),
        claim=lambda queue, queues, consumers: exactly_one(
            0,
            consumers,
            lambda index: shares.owns(queue, index, queues, consumers),
            witness=shares.owner(queue, queues, consumers),
        ),
        tells=lambda queue, queues, consumers: (
            f"{crowd(queues, consumers)}, queue {queue} goes to "
            f"{takers(consumers, lambda index: shares.owns(queue, index, queues, consumers))}"
        ),
        rules=(shares.rule, "U1"),
    )


def owner(shares: Shares) -> Theorem:
    """The inverse formula is right, and queues that do not exist go to nobody."""
    return Theorem(
        id=f"{shares.name}-owner",
        statement=(
            "A queue goes to the consumer that the formula for its owner names. A queue that does not exist "
            "goes to nobody."
        ),
        given=lambda queue, index, queues, consumers: all_of(
            queues >= 0, consumers >= 1, 0 <= index, index < consumers, 0 <= queue
        ),
        claim=lambda queue, index, queues, consumers: same(
            shares.owns(queue, index, queues, consumers),
            all_of(queue < queues, same(shares.owner(queue, queues, consumers), index)),
        ),
        tells=lambda queue, index, queues, consumers: (
            f"{crowd(queues, consumers)}, queue {queue} goes to "
            f"{takers(consumers, lambda other: shares.owns(queue, other, queues, consumers))}, the formula says "
            f"consumer {shares.owner(queue, queues, consumers)}"
        ),
        rules=(shares.rule, "U1"),
    )


def share_size(shares: Shares) -> Theorem:
    """The formula for the number of queues of a share is right."""
    return Theorem(
        id=f"{shares.name}-share-size",
        statement="A consumer gets as many queues as the formula for its share says.",
        given=lambda index, queues, consumers: all_of(queues >= 0, consumers >= 1, 0 <= index, index < consumers),
        claim=lambda index, queues, consumers: all_of(
            _formula_counts(shares, index, queues, consumers),
            same(_size(shares, index, queues, consumers), shares.count(index, queues, consumers)),
        ),
        tells=lambda index, queues, consumers: (
            f"{crowd(queues, consumers)}, consumer {index} gets "
            f"{_size(shares, index, queues, consumers)} queues, the formula says "
            f"{shares.count(index, queues, consumers)}"
        ),
        rules=(shares.rule, "U2"),
    )


def balanced(shares: Shares) -> Theorem:
    """Shares differ by one queue at most; if there are no more queues than consumers, no consumer gets two (U2)."""

    def claim(first: IntLike, second: IntLike, queues: IntLike, consumers: IntLike) -> BoolLike:
        more, less = (_size(shares, index, queues, consumers) for index in (first, second))
        return all_of(
            *(_formula_counts(shares, index, queues, consumers) for index in (first, second)),
            more <= less + 1,
            implies(queues <= consumers, more <= 1),
        )

    return Theorem(
        id=f"{shares.name}-balanced",
        statement="Shares differ by at most one queue; with no more queues than consumers, nobody has two.",
        given=lambda first, second, queues, consumers: all_of(
            queues >= 0, consumers >= 1, 0 <= first, first < consumers, 0 <= second, second < consumers
        ),
        claim=claim,
        tells=lambda first, second, queues, consumers: (
            f"{crowd(queues, consumers)}, consumer {first} gets {_size(shares, first, queues, consumers)} queues and "
            f"consumer {second} gets {_size(shares, second, queues, consumers)}"
        ),
        rules=(shares.rule, "U2"),
    )


def contiguous(shares: Shares) -> Theorem:
    """A share has no gap: every queue between two queues of a consumer is its own too (U2)."""

    def claim(
        first: IntLike, queue: IntLike, last: IntLike, index: IntLike, queues: IntLike, consumers: IntLike
    ) -> BoolLike:
        at_first, between, at_last = (shares.owns(place, index, queues, consumers) for place in (first, queue, last))
        return implies(all_of(at_first, at_last), between)

    return Theorem(
        id=f"{shares.name}-contiguous",
        statement="The queues of one consumer are neighbours in the sorted list.",
        given=lambda first, queue, last, index, queues, consumers: all_of(
            consumers >= 1, 0 <= index, index < consumers, 0 <= first, first <= queue, queue <= last, last < queues
        ),
        claim=claim,
        tells=lambda first, queue, last, index, queues, consumers: (
            f"{crowd(queues, consumers)}, consumer {index} gets queues {first} and {last} but not {queue}"
        ),
        rules=(shares.rule, "U2"),
    )


Takes = Callable[[IntLike, BoolLike, IntLike, IntLike, IntLike, IntLike], BoolLike]
"""(queue, whether it is eligible, its place among the eligible, index, number of eligible queues, consumers)."""


def machine_room_partition(takes: Takes = machine_room_takes) -> Theorem:
    """Every eligible queue goes to exactly one consumer, every other queue to nobody (U1)."""

    def given(
        queue: IntLike,
        place: IntLike,
        eligible: Callable[[IntLike], BoolLike],
        eligible_queues: IntLike,
        queues: IntLike,
        consumers: IntLike,
    ) -> BoolLike:
        # With unknown numbers nothing is counted, and less is assumed: only that an eligible queue has a place.
        return all_of(
            consumers >= 1,
            0 <= queue,
            queue < queues,
            same(eligible_queues, counted(0, queues, eligible, formula=eligible_queues)),
            same(place, counted(0, queues, lambda other: all_of(eligible(other), other < queue), formula=place)),
            0 <= place,
            implies(eligible(queue), place < eligible_queues),
        )

    def taken_by(case: tuple[IntLike, BoolLike, IntLike, IntLike, IntLike], index: IntLike) -> BoolLike:
        queue, eligible, place, eligible_queues, consumers = case
        return takes(queue, eligible, place, index, eligible_queues, consumers)

    def claim(
        queue: IntLike,
        place: IntLike,
        eligible: Callable[[IntLike], BoolLike],
        eligible_queues: IntLike,
        consumers: IntLike,
    ) -> BoolLike:
        case = (queue, eligible(queue), place, eligible_queues, consumers)
        owner = machine_room_owner(place, eligible_queues, consumers)
        once = exactly_one(0, consumers, lambda index: taken_by(case, index), witness=owner)
        never = forall(0, consumers, lambda index: not_(taken_by(case, index)))
        return ite(eligible(queue), once, never)

    def tells(
        queue: int, place: int, eligible: Callable[[int], bool], eligible_queues: int, queues: int, consumers: int
    ) -> str:
        case = (queue, eligible(queue), place, eligible_queues, consumers)
        rooms = names("queue", [other for other in range(queues) if eligible(other)])
        return (
            f"{crowd(queues, consumers)}, in the given rooms {rooms}: queue {queue} goes to "
            f"{takers(consumers, lambda index: taken_by(case, index))}"
        )

    return Theorem(
        id="machine-room-partition",
        statement="Queues in the given machine rooms go to exactly one consumer each, all other queues to nobody.",
        symbols={"eligible": Relation()},
        given=given,
        claim=claim,
        tells=tells,
        rules=("RB-24", "U1"),
    )


def config_partition(takes: Callable[[BoolLike, BoolLike], BoolLike] = config_takes) -> Theorem:
    """The answers divide the queues exactly when the configured lists do; the strategy adds and removes nothing."""

    def answer(listed: Callable[[IntLike, IntLike], BoolLike], offered: BoolLike, queue: IntLike) -> Taken:
        return lambda client: takes(listed(client, queue), offered)

    return Theorem(
        id="config-partition",
        statement="A queue has exactly one consumer if and only if it is in the list of exactly one consumer.",
        sizes=("consumers",),
        symbols={"listed": Relation(2), "offered": Relation()},
        given=lambda consumers: consumers >= 0,
        claim=lambda queue, listed, offered, consumers: same(
            exactly_one(0, consumers, answer(listed, offered(queue), queue)),
            exactly_one(0, consumers, lambda client: listed(client, queue)),
        ),
        tells=lambda queue, listed, offered, consumers: (
            f"queue {queue}, {'offered' if offered(queue) else 'not offered'}, is in the lists of "
            f"{takers(consumers, lambda client: listed(client, queue))} and goes to "
            f"{takers(consumers, answer(listed, offered(queue), queue))}"
        ),
        covers="every number of consumers, and any lists",
        rules=("RB-23",),
    )


def nearby_partition(sharing: Callable[[IntLike, IntLike, IntLike], IntLike] = nearby_sharing) -> Theorem:
    """A queue goes to one consumer exactly when the inner strategy, asked for its room, gives it to one (U1)."""

    def taken(
        room: IntLike, in_room: IntLike, room_of: Numbering, among_room: Taken, among_all: Taken, client: IntLike
    ) -> BoolLike:
        how = sharing(room_of(client), room, in_room)
        return any_of(
            all_of(same(how, Sharing.ROOM), among_room(client)), all_of(same(how, Sharing.EVERYONE), among_all(client))
        )

    def given(room: IntLike, in_room: IntLike, room_of: Numbering, consumers: IntLike) -> BoolLike:
        def here(client: IntLike) -> BoolLike:
            return same(room_of(client), room)

        return all_of(
            consumers >= 1,
            same(in_room, counted(0, consumers, here, formula=in_room)),
            in_room >= 0,
            same(in_room > 0, exists(0, consumers, here)),
        )

    def claim(
        room: IntLike, in_room: IntLike, room_of: Numbering, among_room: Taken, among_all: Taken, consumers: IntLike
    ) -> BoolLike:
        def in_own_room(client: IntLike) -> BoolLike:
            return all_of(same(room_of(client), room), among_room(client))

        return same(
            exactly_one(0, consumers, lambda client: taken(room, in_room, room_of, among_room, among_all, client)),
            ite(in_room > 0, exactly_one(0, consumers, in_own_room), exactly_one(0, consumers, among_all)),
        )

    return Theorem(
        id="nearby-partition",
        statement=(
            "MACHINE_ROOM_NEARBY gives a queue to exactly one consumer if and only if its inner strategy does, "
            "which divides the queues of that room among the consumers there (among all, if there are none)."
        ),
        sizes=("consumers",),
        symbols={"room_of": Function(), "among_room": Relation(), "among_all": Relation()},
        given=given,
        claim=claim,
        tells=lambda room, in_room, room_of, among_room, among_all, consumers: (
            f"a queue in room {room}, consumers in rooms {', '.join(str(room_of(c)) for c in range(consumers))}; the "
            f"inner strategy gives it, among the room, to {takers(consumers, among_room)} and, among all, to "
            f"{takers(consumers, among_all)}; it goes to "
            + takers(consumers, lambda client: taken(room, in_room, room_of, among_room, among_all, client))
        ),
        covers="every number of consumers and rooms, and any inner strategy",
        rules=("RB-25", "U1"),
    )


ALLOCATION_THEOREMS: tuple[Theorem, ...] = (
    partition(AVERAGELY),
    owner(AVERAGELY),
    share_size(AVERAGELY),
    balanced(AVERAGELY),
    contiguous(AVERAGELY),
    partition(CIRCLE),
    owner(CIRCLE),
    share_size(CIRCLE),
    balanced(CIRCLE),
    machine_room_partition(),
    owner(MACHINE_ROOM),
    share_size(MACHINE_ROOM),
    balanced(MACHINE_ROOM),
    config_partition(),
    nearby_partition(),
)
"""What holds for AVG, AVG_BY_CIRCLE, MACHINE_ROOM, CONFIG and MACHINE_ROOM_NEARBY; all are expected to be proven."""


def crowd(queues: int, consumers: int) -> str:
    """How many queues and consumers a case has, as the beginning of a sentence."""
    return f"with {queues} queue{'s' * (queues != 1)} and {consumers} consumer{'s' * (consumers != 1)}"


def names(kind: str, numbers: list[int]) -> str:
    """Numbered things in words: ``nobody``, ``consumer 0``, ``consumers 0 and 2``."""
    if not numbers:
        return "nobody" if kind == "consumer" else f"no {kind}"
    *others, last = (str(number) for number in numbers)
    return f"{kind}s {', '.join(others)} and {last}" if others else f"{kind} {last}"


def takers(consumers: int, takes: Callable[[int], BoolLike]) -> str:
    """Which consumers take something, in words."""
    return names("consumer", [index for index in range(consumers) if takes(index)])


def _size(shares: Shares, index: IntLike, queues: IntLike, consumers: IntLike) -> IntLike:
    return counted(
        0,
        queues,
        lambda queue: shares.owns(queue, index, queues, consumers),
        formula=shares.count(index, queues, consumers),
    )


def _formula_counts(shares: Shares, index: IntLike, queues: IntLike, consumers: IntLike) -> BoolLike:
    return formula_counts(
        0,
        queues,
        lambda queue: shares.owns(queue, index, queues, consumers),
        formula=shares.count(index, queues, consumers),
        nth=lambda number: shares.nth(number, index, queues, consumers),
        number=lambda queue: shares.number(queue, index, queues, consumers),
    )

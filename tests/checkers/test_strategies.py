"""Check of any strategy: RocketMQ's own pass, broken ones get the smallest case, and no answer is not a pass."""

import time
from collections.abc import Callable, Sequence

import pytest

from rocketproof.checkers.strategies import FURTHER_LAWS, REQUIRED_LAWS, StrategyReport, check_strategy
from rocketproof.checkers.user_strategies import FunctionStrategy
from rocketproof.model.allocation import (
    Averagely,
    AveragelyByCircle,
    ByConfig,
    ByMachineRoom,
    ConsistentHash,
    MachineRoomNearby,
    MachineRooms,
    MessageQueue,
    Strategy,
)
from rocketproof.properties.verdict import Verdict

Queues = list[MessageQueue]


def check(function: Callable[[str, Queues, list[str]], Sequence[MessageQueue]]) -> StrategyReport:
    return check_strategy(FunctionStrategy("mine", function), max_queues=5, max_consumers=5)


def violated(report: StrategyReport) -> dict[str, str]:
    return {
        result.property.removeprefix("strategy-"): result.explanation
        for result in (*report.required, *report.further)
        if result.verdict is Verdict.VIOLATED
    }


ROOM = ByMachineRoom(frozenset({"r"}))
NEARBY = MachineRoomNearby(Averagely(), MachineRooms(lambda q: q.broker_name, lambda c: "ab"[int(c[1:]) % 2]))
MOVES = "with 2 queues and 3 consumers, when c0 joins c1, c2, q1 moves from c2 to c1"


@pytest.mark.parametrize(
    ("strategy", "brokers", "questions", "further"),
    [
        (Averagely(), ("broker-a", "broker-b"), 886, {"joiner-only-takes": MOVES}),
        (AveragelyByCircle(), ("broker-a",), 886, {"joiner-only-takes": MOVES}),
        (ROOM, ("r@b",), 886, {"joiner-only-takes": MOVES}),
        (
            ConsistentHash(),
            ("b",),
            2212,
            {"balanced": "with 2 queues and 2 consumers, c1 gets 2 queues and c0 gets 0"},
        ),
        (
            NEARBY,
            ("a", "b"),
            1048,
            {
                "balanced": "with 6 queues and 3 consumers, c1 gets 3 queues and c2 gets 1",
                "joiner-only-takes": "with 3 queues and 5 consumers, when c0 joins c1, c2, c3, c4, q1 moves from c4 "
                "to c2",
            },
        ),
    ],
    ids=lambda value: getattr(value, "name", None),
)
def test_rocketmq_strategies_keep_the_required_laws(
    strategy: Strategy, brokers: tuple[str, ...], questions: int, further: dict[str, str]
) -> None:
    report = check_strategy(strategy, brokers=brokers)
    assert (report.strategy, report.verdict, report.smallest) == (strategy.name, Verdict.HOLDS, None)
    assert {result.bounds for result in report.required} == {"every size up to 8 queues and 8 consumers"}
    assert report.required[0].figures == {"questions": questions}
    assert violated(report) == further
    assert [result.bounds for result in report.further[2:]] == ["one question"] * 4


def test_machine_room_owes_only_its_eligible_queues() -> None:
    brokers = ("r@b", "s@b")
    assert violated(check_strategy(ROOM, brokers=brokers))["no-gap"] == (
        "with 2 queues and 1 consumer, q1 goes to nobody (c0: q0)"
    )
    assert check_strategy(ROOM, brokers=brokers, expected=ROOM.eligible).verdict is Verdict.HOLDS


def test_config_is_no_partition() -> None:
    report = check_strategy(ByConfig((MessageQueue("TopicTest", "broker-a", 0),)))
    assert violated(report)["one-owner"] == "with 1 queue and 2 consumers, q0 goes to c0 and c1 (c0: q0, c1: q0)"
    assert report.smallest is not None
    assert report.smallest.property == "strategy-no-gap"


def test_laws_are_named_once_and_have_a_statement() -> None:
    laws = (*REQUIRED_LAWS, *FURTHER_LAWS)
    assert len({law.id for law in laws}) == len(laws) == 13
    assert all(law.statement.endswith(".") for law in laws)


def own_share(own: str, queues: Queues, ids: list[str]) -> Queues:
    return [queue for place, queue in enumerate(queues) if place % len(ids) == ids.index(own)]


def test_a_right_function_passes() -> None:
    report = check(own_share)
    assert report.verdict is Verdict.HOLDS
    assert violated(report) == {
        "joiner-only-takes": MOVES,
        "refuses-no-queues": "asked for 'c0' with 0 queues and the ids ['c0'] it answers with 0 queues, where "
        "RocketMQ's own strategies fail",
        "absent-id-gets-nothing": "asked for 'c1' with 1 queue and the ids ['c0']: c1 gets no answer: ValueError: "
        "'c1' is not in list",
    }


def test_rounding_down_leaves_a_gap() -> None:
    def rounded(own: str, queues: Queues, ids: list[str]) -> Queues:
        size = len(queues) // len(ids)
        return queues[ids.index(own) * size :][:size]

    report = check(rounded)
    assert report.smallest is not None
    assert report.smallest.explanation == ("with 1 queue and 2 consumers, q0 goes to nobody (c0: nothing, c1: nothing)")
    assert report.smallest.figures["queues"] == 1
    assert report.smallest.figures["consumers"] == 2
    assert report.required[0].verdict is Verdict.HOLDS


def test_indexes_of_the_filtered_list_in_the_unfiltered_one() -> None:
    def wrong_list(own: str, queues: Queues, ids: list[str]) -> Queues:
        eligible = [queue for queue in queues if ROOM.eligible(queue)]
        mine = ROOM.allocate(own, eligible, ids) if eligible else []
        return [queues[eligible.index(queue)] for queue in mine]

    report = check_strategy(FunctionStrategy("old", wrong_list), brokers=("a@b", "r@b"), expected=ROOM.eligible)
    assert violated(report)["no-gap"] == "with 2 queues and 1 consumer, q1 goes to nobody (c0: q0)"


def test_unsigned_underflow_with_more_consumers_than_queues() -> None:
    def unsigned(own: str, queues: Queues, ids: list[str]) -> Queues:
        index, longer = ids.index(own), len(queues) % len(ids)
        size = 1 if len(queues) <= len(ids) else len(queues) // len(ids) + (index < longer)
        start = index * size if index < longer else index * size + longer
        if len(queues) - start < 0:
            raise OverflowError("attempt to subtract with overflow")
        return queues[start : start + size]

    report = check(unsigned)
    assert violated(report)["answers"] == (
        "with 1 queue and 2 consumers, c1 gets no answer: OverflowError: attempt to subtract with overflow"
    )
    assert {result.verdict for result in report.required[1:]} == {Verdict.UNKNOWN}
    assert report.required[1].explanation == (
        "not judged where the strategy gave no answer, first with 1 queue and 2 consumers"
    )


def test_answers_that_are_no_answers() -> None:
    assert violated(check(lambda own, queues, ids: 3))["answers"] == (  # type: ignore[arg-type, return-value]
        "with 1 queue and 1 consumer, c0 gets no answer: it returned 3 (int); return a list of MessageQueue objects."
    )
    assert violated(check(lambda own, queues, ids: ["q0"]))["answers"] == (  # type: ignore[list-item]
        "with 1 queue and 1 consumer, c0 gets no answer: its list holds 'q0' (str); return MessageQueue objects of the "
        "list given."
    )


def test_strange_and_repeated_queues() -> None:
    def strange(own: str, queues: Queues, ids: list[str]) -> Queues:
        return [*own_share(own, queues, ids), MessageQueue("Other", "b", 0)]

    found = violated(check(strange))
    assert found["offered-queues-only"] == (
        "with 1 queue and 1 consumer, c0 gets MessageQueue [topic=Other, brokerName=b, queueId=0], which was not given"
    )
    assert violated(check(lambda own, queues, ids: own_share(own, queues, ids) * 2))["no-repeats"] == (
        "with 1 queue and 1 consumer, c0 gets q0 q0"
    )


def test_a_strategy_with_a_memory() -> None:
    calls: list[str] = []

    def alternating(own: str, queues: Queues, ids: list[str]) -> Queues:
        calls.append(own)
        return queues if len(calls) % 2 else []

    assert violated(check(alternating))["same-answer-again"] == (
        "with 1 queue and 1 consumer, c0 gets q0, and asked again nothing"
    )


def test_a_strategy_that_minds_who_asked_before() -> None:
    asked: dict[tuple[int, int], list[str]] = {}

    def jealous(own: str, queues: Queues, ids: list[str]) -> Queues:
        before = asked.setdefault((len(queues), len(ids)), [])
        last_other = next((other for other in reversed(before) if other != own), "")
        before.append(own)
        return own_share(own, queues, ids) if last_other < own else []

    assert violated(check(jealous))["any-asking-order"] == (
        "with 1 queue and 2 consumers, c0 gets q0, and asked after the consumers behind it nothing"
    )


def test_a_strategy_may_change_its_arguments() -> None:
    class Greedy:
        name = "greedy"

        def allocate(self, own_id: str, queues: Sequence[MessageQueue], ids: Sequence[str]) -> Queues:
            mine = own_share(own_id, list(queues), list(ids))
            for given in (queues, ids):
                assert isinstance(given, list)
                given.clear()
            return mine

    assert check_strategy(Greedy()).verdict is Verdict.HOLDS


def test_no_time_is_unknown() -> None:
    report = check_strategy(Averagely(), timeout_seconds=-1)
    assert report.verdict is Verdict.UNKNOWN
    assert {result.verdict for result in (*report.required, *report.further)} == {Verdict.UNKNOWN}
    assert report.required[0].bounds == ("0 of 64 sizes up to 8 queues and 8 consumers; the time limit of -1 s was hit")


def test_what_was_found_before_the_time_was_up_is_kept() -> None:
    def slow(own: str, queues: Queues, ids: list[str]) -> Queues:
        if len(queues) > 1:
            time.sleep(0.6)
        return queues * 2

    report = check_strategy(FunctionStrategy("slow", slow), timeout_seconds=0.5)
    assert report.verdict is Verdict.VIOLATED
    assert violated(report) == {"no-repeats": "with 1 queue and 1 consumer, c0 gets q0 q0"}
    assert report.required[0].verdict is Verdict.UNKNOWN
    assert report.required[0].bounds == (
        "1 of 64 sizes up to 8 queues and 8 consumers; the time limit of 0.5 s was hit"
    )


def test_larger_groups_are_judged_as_well() -> None:
    def only_few(own: str, queues: Queues, ids: list[str]) -> Sequence[MessageQueue]:
        return queues[ids.index(own) :: len(ids)] if len(queues) <= 8 else []

    strategy = FunctionStrategy("mine", only_few)
    assert "no-gap" not in violated(check_strategy(strategy))
    report = check_strategy(strategy, larger=[(9, 2)])
    assert violated(report)["no-gap"] == "with 9 queues and 2 consumers, q0 goes to nobody (c0: nothing, c1: nothing)"
    right = check_strategy(Averagely(), max_queues=2, max_consumers=2, larger=[(9, 2), (20, 3)])
    assert right.required[0].bounds == "every size up to 2 queues and 2 consumers, 9 and 2, 20 and 3"

"""Calls with several messages of which some fail: an ackIndex in the middle (CC-10 to CC-13)."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path

import pytest

from rocketproof.traces.conformance import Conformance
from rocketproof.traces.format.kinds import Kind
from rocketproof.traces.format.schema import Group, Header

from .recorded import event_of, of_events, whys

HEADER = Header(
    source="a test",
    evidence=frozenset(Kind),
    release="5.3.3",
    groups={"billing": Group()},
)


def batch(*lines: str, size: int = 4, results: str = "ok ok later later") -> list[str]:
    """A call with the messages from 0 on, all of one pull, and what comes of it."""
    return [
        "assign c0 offset=0 epoch=1",
        "pull c0 offset=0 epoch=1",
        f"pull_result c0 result=found offset=0 next={size} count={size} epoch=1",
        *(f"deliver c0 offset={m} count={size} epoch=1" for m in range(size)),
        *(f"result c0 offset={m} result={word} epoch=1" for m, word in enumerate(results.split())),
        *lines,
    ]


def sent(*offsets: int, result: str = "ok") -> Iterable[str]:
    """What of a call is sent back, by request 36; what cannot be is produced."""
    for m in offsets:
        yield f"send_back c0 offset={m} path=request result={result} epoch=1"
        if result != "ok":
            yield f"send_back c0 offset={m} path=fallback result={result} epoch=1"


def left(*offsets: int, mark: int) -> list[str]:
    """What leaves the window together."""
    return [f"removed c0 offset={m} next={mark} epoch=1" for m in offsets]


def follow(folder: Path, lines: list[str], *, mode: str = "clustering") -> Conformance:
    header = replace(HEADER, groups={"billing": Group(mode=mode)})
    return of_events(header, [event_of(number, line) for number, line in enumerate(lines)], folder)


LITERAL = "ok ok ok ok"
"""The listener has returned CONSUME_SUCCESS, recorded of each message."""


SINGLE = (("deliver", "count=1"), ("result", "result=ok"))
"""A call with one message."""


@pytest.mark.parametrize("results", ["ok ok later later", LITERAL, "timeout timeout timeout timeout"])
def test_what_is_behind_the_ack_index_is_sent_back_and_all_is_removed_at_once(results: str, tmp_path: Path) -> None:
    lines = batch(*sent(2, 3), *left(0, 1, 2, 3, mark=4), "commit_memory c0 offset=4", results=results)
    answer = follow(tmp_path, lines)
    assert (whys(answer), answer.followed) == ([], len(lines))


def test_what_was_acknowledged_holds_the_mark_until_the_rest_was_sent_back(tmp_path: Path) -> None:
    """CC-13: a call that ends meanwhile leaves an offset in front of all of the first one."""
    lines = [
        "assign c0 offset=0 epoch=1",
        "pull c0 offset=0 epoch=1",
        "pull_result c0 result=found offset=0 next=4 count=4 epoch=1",
        *(f"deliver c0 offset={m} count=2 epoch=1" for m in range(4)),
        *(f"result c0 offset={m} result={'later' if m == 1 else 'ok'} epoch=1" for m in range(4)),
        *sent(1),
        *left(2, 3, mark=0),
        "commit_memory c0 offset=0",
        *left(0, 1, mark=4),
        "commit_memory c0 offset=4",
    ]
    answer = follow(tmp_path, lines)
    assert (whys(answer), answer.followed) == ([], len(lines))
    early = [line.replace("mark=0", "mark=1").replace("next=0 epoch", "next=1 epoch") for line in lines]
    assert whys(follow(tmp_path, early)) == ["the low-water mark is 0"]


@pytest.mark.parametrize("results", ["ok ok later later", LITERAL])
def test_what_cannot_be_sent_back_stays_and_comes_again_in_one_call(results: str, tmp_path: Path) -> None:
    again = [
        "deliver c0 offset=2 count=2 epoch=1",
        "deliver c0 offset=3 count=2 epoch=1",
        "result c0 offset=2 result=ok epoch=1",
        "result c0 offset=3 result=ok epoch=1",
        *left(2, 3, mark=4),
    ]
    refused = sent(2, 3, result="failed")
    kept = batch(*refused, *left(0, 1, mark=2), "commit_memory c0 offset=2", *again, results=results)
    assert whys(follow(tmp_path, kept)) == []


def test_of_those_that_come_again_some_may_have_been_sent_back(tmp_path: Path) -> None:
    again = ["deliver c0 offset=1 count=2 epoch=1", "deliver c0 offset=3 count=2 epoch=1"]
    mixed = [*sent(1, result="failed"), *sent(2), *sent(3, result="failed")]
    lines = batch(*mixed, *left(0, 2, mark=1), *again, results="ok later later later")
    assert whys(follow(tmp_path, lines)) == []


@pytest.mark.parametrize("results", ["ok ok later later", LITERAL, "later later later later"])
def test_in_broadcasting_what_failed_is_dropped(results: str, tmp_path: Path) -> None:
    lines = batch(*left(0, 1, 2, 3, mark=4), "commit_memory c0 offset=4", results=results)
    assert whys(follow(tmp_path, lines, mode="broadcasting")) == []


@pytest.mark.parametrize("results", ["ok ok later later", LITERAL])
def test_a_drop_in_the_middle_of_the_send_backs(results: str, tmp_path: Path) -> None:
    """CC-12, G3-8: what is sent back comes twice, and the offset does not move."""
    for place in (0, 1):
        back = [*sent(2, 3)]
        back.insert(place, "revoke c0 path=rebalance epoch=1")
        assert whys(follow(tmp_path, batch(*back, results=results))) == []


def test_clients_of_one_group_may_have_calls_of_different_sizes(tmp_path: Path) -> None:
    told = [
        "assign c1 offset=4 epoch=1",
        "pull c1 offset=4 epoch=1",
        "pull_result c1 result=found offset=4 next=6 count=2 epoch=1",
        *(f"{word} c1 offset={m} {how} epoch=1" for m in (4, 5) for word, how in SINGLE),
    ]
    handed_over = ["commit c0 offset=4", "revoke c0 path=rebalance epoch=1", *told]
    given = batch(*sent(2, 3), *left(0, 1, 2, 3, mark=4), *handed_over)
    assert whys(follow(tmp_path, given)) == []


def test_what_is_in_front_of_the_ack_index_is_not_sent_back(tmp_path: Path) -> None:
    """Of a call with one message success is success: see C2 and D7 of the known bugs."""
    assert whys(follow(tmp_path, batch(*sent(1, 2, 3)))) == ["its listener returned ok"]
    alone = batch(*sent(0), size=1, results="ok")
    assert whys(follow(tmp_path, alone)) == ["its listener returned ok"]


def test_what_failed_and_was_not_sent_back_does_not_leave(tmp_path: Path) -> None:
    lines = batch(*sent(2), *left(0, 1, 2, 3, mark=4))
    assert whys(follow(tmp_path, lines)) == ["the message has failed, and was not sent back"]


def test_other_threads_go_on_while_a_call_leaves_the_window(tmp_path: Path) -> None:
    of_two = (f"deliver c0 offset={m} count=2 epoch=1" for m in (2, 3))
    first, second = left(0, 1, mark=2)
    lines = [*batch(size=2, results="later later")[:2], "pull_result c0 result=found offset=0 next=4 count=4 epoch=1"]
    lines += [*batch(size=2, results="later later")[3:], *sent(0, 1), first, *of_two, second]
    assert whys(follow(tmp_path, lines)) == []


def window(start: int, *sizes: int) -> list[str]:
    """Messages of one pull, called in tasks of these sizes, which all succeed."""
    end = start + sum(sizes)
    lines = [
        f"pull c0 offset={start} epoch=1",
        f"pull_result c0 result=found offset={start} next={end} count={sum(sizes)} epoch=1",
    ]
    for size in sizes:
        task = range(start, start := start + size)
        lines += [f"deliver c0 offset={m} count={size} epoch=1" for m in task]
        lines += [f"result c0 offset={m} result=ok epoch=1" for m in task]
        lines += [*left(*task, mark=start), f"commit_memory c0 offset={start}"]
    return lines


def test_the_size_of_tasks_may_be_set_between_two_pulls(tmp_path: Path) -> None:
    lines = ["assign c0 offset=0 epoch=1", *window(0, 4, 4, 2), *window(10, 2, 2, 1)]
    answer = follow(tmp_path, lines)
    assert (whys(answer), answer.followed) == ([], len(lines))


def test_a_later_window_may_pull_less_than_an_earlier_one(tmp_path: Path) -> None:
    """Its offset was lost: the tasks of the earlier window say nothing about those of the later one."""
    lines = [
        "assign c0 offset=0 epoch=1",
        *window(0, 4),
        "revoke c0 path=removal epoch=1",
        "assign c0 offset=0 epoch=2",
        "pull c0 offset=0 epoch=2",
        "pull_result c0 result=found offset=0 next=2 count=2 epoch=2",
        *(f"deliver c0 offset={m} count=2 epoch=2" for m in range(2)),
    ]
    answer = follow(tmp_path, lines)
    assert (whys(answer), answer.followed) == ([], len(lines))


def test_messages_of_one_pull_are_in_tasks_of_one_size(tmp_path: Path) -> None:
    answer = follow(tmp_path, ["assign c0 offset=0 epoch=1", *window(0, 4, 3, 4)])
    assert whys(answer) == ["the task has 4 messages (CC-1)"]

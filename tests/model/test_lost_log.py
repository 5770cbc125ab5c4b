"""Retention, logs that lose their tail, topics that are created again."""

import pytest

from rocketproof.model.consumption import consumption

from .walk import Walk


def test_retention_may_be_limited_to_what_was_consumed() -> None:
    assert "delete_oldest(q0)" in Walk(consumption, messages=1, retentions=1).possible()
    run = Walk(consumption, messages=1, consumers=1, retentions=1, retention="consumed")
    assert "delete_oldest(q0)" not in run.possible()
    run("take(c0, q0)", "pull(c0, q0)", "begin(c0, q0, m0)", "succeed(c0, q0, m0)", "commit(c0, q0)")
    run("delete_oldest(q0)")
    assert run["log_start[q0]"] == 1


def test_a_message_in_a_window_is_not_lost_and_the_next_at_its_offset_is_another() -> None:
    run = Walk(consumption, messages=1, arriving=1, consumers=1, truncations=1)("produce(q0)", "take(c0, q0)")
    run("pull(c0, q0)")
    assert "lose_tail(q0)" not in run.possible()
    run("begin(c0, q0, m0)", "succeed(c0, q0, m0)", "commit(c0, q0)", "lose_tail(q0)", "produce(q0)")
    assert (run["handled[q0, m0]"], run["committed[q0]"], run["log_end[q0]"]) == (0, 1, 1)


@pytest.mark.parametrize(("version", "offset"), [("5.3.3", -1), ("4.9.8", 1)])
def test_a_deleted_topic_takes_its_offsets_along_in_5(version: str, offset: int) -> None:
    run = Walk(consumption, messages=1, arriving=1, consumers=1, moves=1, recreations=1, version=version)
    run("produce(q0)", "take(c0, q0)")
    assert "recreate(q0)" not in run.possible()
    run("drop(c0, q0)")
    committed = run["committed[q0]"]
    run("recreate(q0)")
    assert (run["log_end[q0]"], run["committed[q0]"]) == (0, offset if version == "5.3.3" else committed)


def test_a_pull_goes_past_a_message_whose_bytes_are_gone() -> None:
    run = Walk(consumption, messages=2, consumers=1, removals=1)("take(c0, q0)", "pull_removed(c0, q0)")
    assert (run["next_offset[c0, q0]"], run["memory[c0, q0]"], run["handled[q0, m0]"]) == (1, 1, 0)

"""Where windows begin: stored offsets, the broker's own answer, ConsumeFromWhere, queries that fail."""

import pytest

from rocketproof.model.consumption import consumption

from .walk import Walk


@pytest.mark.parametrize(
    ("from_where", "head_in_memory", "offset"),
    [
        ("LAST_OFFSET", 0, 3),
        ("LAST_OFFSET", 1, 0),
        ("FIRST_OFFSET", 0, 0),
        ("FIRST_OFFSET", 1, 0),
        ("TIMESTAMP", 0, 2),
        ("TIMESTAMP", 1, 0),
    ],
)
def test_a_new_group_starts_where_the_table_says(from_where: str, head_in_memory: int, offset: int) -> None:
    run = Walk(
        consumption,
        messages=3,
        group="new",
        from_where=from_where,
        head_in_memory=head_in_memory,
        timestamp_offset=2,
    )("take(c0, q0)")
    assert (run["next_offset[c0, q0]"], run["memory[c0, q0]"], run["committed[q0]"]) == (offset, offset, -1)


@pytest.mark.parametrize(("from_where", "offset"), [("LAST_OFFSET", 0), ("FIRST_OFFSET", 0), ("TIMESTAMP", 1)])
def test_the_retry_queue_starts_at_its_end_with_a_timestamp_only(from_where: str, offset: int) -> None:
    run = Walk(
        consumption,
        queues=2,
        messages=2,
        retry_room=1,
        copies=1,
        failures=1,
        consumers=1,
        group="scaled",
        from_where=from_where,
    )
    run("take(c0, q0)", "pull(c0, q0)", "begin(c0, q0, m0)", "fail(c0, q0, m0)")
    run("send_back_by_request(c0, q0, m0)", "ripen(k0)", "deliver(k0)", "take(c0, q1)")
    assert (run["log_end[q1]"], run["next_offset[c0, q1]"]) == (1, offset)


def test_a_stored_offset_decides_whatever_was_chosen() -> None:
    run = Walk(consumption, messages=2, consumers=1, moves=1, group="new", head_in_memory=1)("take(c0, q0)")
    run("pull(c0, q0)", "begin(c0, q0, m0)", "succeed(c0, q0, m0)", "drop(c0, q0)", "take(c0, q0)")
    assert run["next_offset[c0, q0]"] == 1


ADDED: dict[str, int | str] = {
    "queues": 2,
    "group": "scaled",
    "messages": 1,
    "arriving": 1,
    "consumers": 1,
    "head_in_memory": 1,
    "starts": "steps",
}


def test_what_is_stored_between_query_and_choice_is_skipped_since_5_1() -> None:
    run = Walk(consumption, **ADDED)
    assert "take(c0, q1)" not in run.possible()
    run("find_no_offset(c0, q1)", "produce(q1)")
    assert "take(c0, q1)" in run.possible()  # a query sent only now is answered with 0
    run("take_where_chosen(c0, q1)")
    assert run["next_offset[c0, q1]"] == 1


def test_in_4_9_8_an_empty_queue_is_answered_with_0() -> None:
    run = Walk(consumption, **{**ADDED, "version": "4.9.8", "head_in_memory": 0})("take(c0, q1)", "produce(q1)")
    assert run["next_offset[c0, q1]"] == 0


def test_an_error_leaves_the_queue_out_in_5_and_jumps_to_the_end_in_4() -> None:
    constants: dict[str, int | str] = {"messages": 2, "consumers": 1, "failed_queries": 1}
    run = Walk(consumption, **constants)("query_fails(c0, q0)")
    assert run["owns[c0, q0]"] == 0
    run = Walk(consumption, **constants, version="4.9.8")("query_fails(c0, q0)")
    assert (run["owns[c0, q0]"], run["next_offset[c0, q0]"], run["committed[q0]"]) == (1, 2, 0)


def test_a_first_offset_below_the_queue_is_corrected_by_the_first_pull() -> None:
    """PL-25: FIRST_OFFSET is 0, not the minimum: dropped and added again without any change of the group."""
    run = Walk(consumption, messages=2, consumers=1, group="new", from_where="FIRST_OFFSET", retentions=1)
    run("delete_oldest(q0)", "take(c0, q0)")
    assert run["next_offset[c0, q0]"] == 0
    run("correct_offset(c0, q0)", "take(c0, q0)")
    assert (run["committed[q0]"], run["next_offset[c0, q0]"]) == (1, 1)

"""Pulling: requests under way, answers that come late, flow control, offsets outside the queue."""

from rocketproof.model.consumption import consumption

from .walk import Walk


def fine(**constants: int | str) -> Walk:
    return Walk(consumption, messages=2, pulls="fine", moves=2, **constants)("take(c0, q0)")


def test_a_window_has_one_request_under_way() -> None:
    run = fine()("send_pull(c0, q0)")
    assert "send_pull(c0, q0)" not in run.possible()
    run("answer_found(c0, q0)")
    assert (run["next_offset[c0, q0]"], run["asked[c0, q0]"]) == (1, 0)


def test_the_answer_for_a_dropped_window_changes_nothing_in_the_new_one() -> None:
    run = fine()("send_pull(c0, q0)", "drop(c0, q0)", "take(c0, q0)")
    assert (run["stale[c0, q0]"], run["asked[c0, q0]"]) == (0, 0)
    run("answer_stale(c0, q0)")
    assert (run["next_offset[c0, q0]"], run["memory[c0, q0]"], run["stale[c0, q0]"]) == (0, 0, -1)


def test_nothing_new_for_an_empty_dead_window_moves_the_offset_of_the_new_one() -> None:
    """PL-24: the callback does not ask whether its window was dropped."""
    run = fine(lost_commits=1)
    for offset in ("m0", "m1"):
        run("send_pull(c0, q0)", "answer_found(c0, q0)", f"begin(c0, q0, {offset})", f"succeed(c0, q0, {offset})")
    run("send_pull(c0, q0)", "drop_losing_commit(c0, q0)", "take(c0, q0)")
    assert (run["committed[q0]"], run["memory[c0, q0]"]) == (0, 0)
    run("answer_stale(c0, q0)")
    assert run["memory[c0, q0]"] == 2


def test_one_slow_message_stops_the_pulls_of_its_queue() -> None:
    run = Walk(consumption, messages=3, span=1)("take(c0, q0)", "pull(c0, q0)", "pull(c0, q0)", "pull(c0, q0)")
    assert run["next_offset[c0, q0]"] == 3
    run = Walk(consumption, messages=4, span=1)("take(c0, q0)", *["pull(c0, q0)"] * 3)
    assert "pull(c0, q0)" not in run.possible()
    run("begin(c0, q0, m1)", "succeed(c0, q0, m1)")
    assert "pull(c0, q0)" not in run.possible(), "only the lowest message narrows the span"
    run("begin(c0, q0, m0)", "succeed(c0, q0, m0)")
    assert "pull(c0, q0)" in run.possible()


def test_a_pull_below_the_queue_is_corrected_by_a_drop() -> None:
    run = Walk(consumption, messages=2, retentions=1, causes=1)("take(c0, q0)", "delete_oldest(q0)")
    assert "pull(c0, q0)" not in run.possible()
    run("correct_offset(c0, q0)")
    assert (run["owns[c0, q0]"], run["committed[q0]"]) == (0, 1)


def test_a_pull_above_the_queue_is_sent_to_its_end() -> None:
    run = Walk(consumption, messages=1, truncations=1)("take(c0, q0)", "pull(c0, q0)", "begin(c0, q0, m0)")
    run("succeed(c0, q0, m0)", "commit(c0, q0)", "lose_tail(q0)", "correct_offset(c0, q0)")
    assert (run["committed[q0]"], run["owns[c0, q0]"]) == (0, 0)

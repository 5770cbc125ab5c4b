"""OFFSET_ILLEGAL: from the answer to the removal of the queue, and what may come between."""

from rocketproof.model.consumption import consumption

from .walk import Walk

HANDLE = [step for m in ("m0", "m1") for step in ("pull(c0, q0)", f"begin(c0, q0, {m})", f"succeed(c0, q0, {m})")]


def shortened(**constants: int | str) -> Walk:
    """Both messages handled, the last one lost by the broker, and the pull behind the end answered."""
    run = Walk(consumption, messages=2, consumers=1, truncations=1, corrections="steps", **constants)
    return run("take(c0, q0)", *HANDLE, "lose_tail(q0)", "answer_illegal(c0, q0)")


def test_a_dropped_window_stays_in_the_table_until_its_offset_is_corrected() -> None:
    run = shortened()
    assert (run["owns[c0, q0]"], run["zombie[c0, q0]"], run["target[c0, q0]"], run["memory[c0, q0]"]) == (0, 1, 1, 2)
    assert set(run.possible()) == {"commit(c0, q0)", "end_correction(c0, q0)"}
    run("end_correction(c0, q0)", "take(c0, q0)")
    assert (run["committed[q0]"], run["next_offset[c0, q0]"]) == (1, 1)


def test_the_periodic_commit_of_a_dropped_window_sends_the_old_offset() -> None:
    run = shortened()("commit(c0, q0)")
    assert run["committed[q0]"] == 2
    run("end_correction(c0, q0)")
    assert run["committed[q0]"] == 1


def test_the_query_of_the_next_window_may_overtake_the_correction() -> None:
    run = shortened(late_commits=1)("commit(c0, q0)", "end_correction_late(c0, q0)", "take(c0, q0)")
    assert (run["next_offset[c0, q0]"], run["late[q0]"]) == (2, 1)


def test_the_task_removes_whatever_window_there_is_by_then() -> None:
    run = shortened(moves=1)("lose_dropped(c0, q0)")
    assert (run["committed[q0]"], run["zombie[c0, q0]"], run["target[c0, q0]"]) == (2, 0, 1)
    run("take(c0, q0)", "end_correction(c0, q0)")
    assert (run["owns[c0, q0]"], run["committed[q0]"]) == (0, 1)


def test_in_4_9_8_a_late_worker_raises_the_offset_before_it_is_sent_again() -> None:
    run = Walk(
        consumption, messages=2, consumers=1, truncations=1, corrections="steps", held_updates=1, version="4.9.8"
    )
    run("take(c0, q0)", *HANDLE[:-1], "finish_without_update(c0, q0, m1)", "lose_tail(q0)", "answer_illegal(c0, q0)")
    assert "end_correction(c0, q0)" not in run.possible()
    run("set_target(c0, q0)")
    assert (run["memory[c0, q0]"], run["committed[q0]"]) == (1, 1)
    run("update_late(c0, q0)", "end_correction(c0, q0)")
    assert run["committed[q0]"] == 2


def test_in_one_step_the_offset_goes_to_the_nearer_end() -> None:
    run = Walk(consumption, messages=3, consumers=1, truncations=1)("take(c0, q0)")
    for m in ("m0", "m1", "m2"):
        run("pull(c0, q0)", f"begin(c0, q0, {m})", f"succeed(c0, q0, {m})")
    run("lose_tail(q0)", "correct_offset(c0, q0)")
    assert run["committed[q0]"] == 2
    run = Walk(consumption, messages=3, consumers=1, retentions=2)("take(c0, q0)", *["delete_oldest(q0)"] * 2)
    run("correct_offset(c0, q0)")
    assert run["committed[q0]"] == 2


def test_the_correction_passes_what_the_window_still_held() -> None:
    """Only the second message is finished, and lost; the first one is still stored, and will not come again."""
    run = Walk(consumption, messages=2, consumers=1, truncations=1)("take(c0, q0)", "pull(c0, q0)", "pull(c0, q0)")
    run("begin(c0, q0, m1)", "succeed(c0, q0, m1)", "lose_tail(q0)", "correct_offset(c0, q0)", "take(c0, q0)")
    assert (run["handled[q0, m0]"], run["next_offset[c0, q0]"], run["log_end[q0]"]) == (0, 1, 1)

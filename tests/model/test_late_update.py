"""A worker that updates the in-memory offset late: into the next window, or into nothing."""

from rocketproof.model.consumption import consumption

from .walk import Walk


def held() -> Walk:
    run = Walk(consumption, messages=2, consumers=1, moves=1, held_updates=1)("take(c0, q0)", "pull(c0, q0)")
    run("begin(c0, q0, m0)", "finish_without_update(c0, q0, m0)")
    assert (run["held_update[c0, q0]"], run["memory[c0, q0]"], run["handled[q0, m0]"]) == (1, 0, 1)
    return run("drop(c0, q0)")


def test_the_mark_of_the_old_window_raises_the_offset_of_the_new_one() -> None:
    run = held()("take(c0, q0)")
    assert (run["memory[c0, q0]"], run["next_offset[c0, q0]"]) == (0, 0)
    run("update_late(c0, q0)")
    assert (run["memory[c0, q0]"], run["next_offset[c0, q0]"]) == (1, 0)


def test_an_entry_of_a_foreign_queue_is_removed_unsent() -> None:
    run = held()("update_late(c0, q0)")
    assert (run["memory[c0, q0]"], run["owns[c0, q0]"]) == (1, 0)
    assert "commit(c0, q0)" not in run.possible()
    run("remove_unowned(c0, q0)")
    assert (run["memory[c0, q0]"], run["committed[q0]"]) == (-1, 0)

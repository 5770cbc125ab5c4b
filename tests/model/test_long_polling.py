"""Long polling step by step: a held request, an arrival, a look; short polling; one thread for two queues."""

from rocketproof.model.long_polling import long_polling

from .walk import Walk

ASKED = ("take(q0)", "send(q0)")


def held(**constants: int | str) -> Walk:
    return Walk(long_polling, *ASKED, "find_nothing(q0)", "hold(q0)", **constants)


def test_a_message_wakes_the_request_that_is_held() -> None:
    run = held()("store(q0)")
    assert run.enabled() == {"answer_woken(q0)", "store(q0)"}
    run("answer_woken(q0)", "receive_found(q0)")
    assert (run["position[q0]"], run["window[q0]"]) == (1, 1)


def test_one_that_comes_before_it_is_held_waits_for_the_look() -> None:
    run = Walk(long_polling, *ASKED, "find_nothing(q0)", "store(q0)", "hold(q0)")
    assert run.enabled() == {"store(q0)", "look"}
    run("look", "answer_woken(q0)")
    assert (run["late[q0]"], run["passed[q0]"]) == (1, 1)


def test_with_short_polling_a_message_wakes_nobody() -> None:
    assert held(polling="short")("store(q0)").enabled() == {"store(q0)", "look"}


def test_an_empty_answer_comes_with_the_first_look_after_its_time() -> None:
    run = held()("look", "look", "look")
    assert not run.may("answer_nothing(q0)")
    run("look", "answer_nothing(q0)", "receive_nothing(q0)")
    assert (run["held[q0]"], run.enabled()) == (4, {"take(q0)", "store(q0)"})


def test_another_tag_wakes_nobody_and_is_passed_over() -> None:
    run = held(others=1)("store_other(q0)")
    assert "answer_woken(q0)" not in run.possible()
    run("look", "answer_woken(q0)", "receive_filtered(q0)")
    assert (run["position[q0]"], run["window[q0]"], run["late[q0]"]) == (1, 0, 0)


def test_a_full_window_gives_the_thread_back_and_a_step_that_hangs_does_not() -> None:
    full = Walk(long_polling, "store(q0)", *ASKED, "find(q0)", "receive_found(q0)", queues=2, messages=1, cache=0)
    full("take(q0)", "put_off_full(q0)", "take(q1)")
    assert not full.may("again(q0)")
    stuck = Walk(long_polling, "take(q0)", "get_stuck", queues=2, messages=1, hangs=1, hang="for-ever")
    assert stuck.enabled() == {"store(q0)", "store(q1)", "look"}

"""Consumers of one client id, step by step: a second of a group, a failed start, a shutdown at the wrong moment."""

from rocketproof.model.client_instance import ServiceState, client_instance

from .walk import Walk


def started(*numbers: int) -> tuple[str, ...]:
    """The steps with which these consumers start, one after the other."""
    return tuple(f"{step}(c{c})" for c in numbers for step in ("start", "register", "start_instance", "announce"))


def test_a_second_consumer_of_the_group_is_refused_until_the_first_has_left() -> None:
    run = Walk(client_instance, *started(0), "start(c1)")
    assert not run.may("register(c1)")
    run("refuse_second(c1)")
    assert run["service[c1]"] == ServiceState.CREATE_JUST
    run("shut_down(c0)", "find_unused(c0)", "stop_instance(c0)", *started(1))
    assert (run["service[c1]"], run["uses[c1]"]) == (ServiceState.RUNNING, 1)


def test_the_instance_goes_on_for_the_other_group() -> None:
    run = Walk(client_instance, *started(0, 1), "send_heartbeat", "receive_heartbeat", "shut_down(c0)", groups=2)
    assert not run.may("find_unused(c0)")
    run("leave_running(c0)")
    assert (run["state[i0]"], run["listed[g0]"], run["listed[g1]"]) == (ServiceState.RUNNING, 0, 1)
    assert not run.may("start(c0)")


def test_a_consumer_gets_an_instance_that_another_is_about_to_stop() -> None:
    run = Walk(client_instance, *started(0), "start(c1)", "shut_down(c0)", "find_unused(c0)", calls="at-once")
    run("register(c1)", "stop_instance(c0)", "start_instance(c1)", "announce(c1)")
    assert (run["service[c1]"], run["state[i0]"]) == (ServiceState.RUNNING, ServiceState.SHUTDOWN_ALREADY)
    assert run.enabled() == {"shut_down(c1)"}


def test_an_instance_that_failed_to_start_is_handed_out_again_and_its_timers_run() -> None:
    failed = ("start(c0)", "register(c0)", "fail_to_start(c0)")
    run = Walk(client_instance, *failed, groups=2, failed_starts=1)
    assert run.enabled() == {"start(c1)", "send_heartbeat"}
    run("send_heartbeat", "receive_heartbeat", "start(c1)", "register(c1)", "find_failed(c1)")
    assert (run["listed[g0]"], run["service[c1]"]) == (1, ServiceState.START_FAILED)
    early = Walk(client_instance, *failed, groups=2, failed_starts=1, fails="early")
    assert early.enabled() == {"start(c1)"}


def test_groups_that_one_heartbeat_lists_share_an_entry() -> None:
    run = Walk(client_instance, *started(0, 1), "send_heartbeat", "shut_down(c0)", groups=2)
    run("receive_heartbeat", "leave_running(c0)")
    assert (run["listed[g0]"], run["one_entry"]) == (1, 1)
    assert not run.may("expire(g0)")


def test_a_start_that_throws_in_4_9_8_leaves_a_running_consumer() -> None:
    begun = ("start(c0)", "register(c0)", "start_instance(c0)", "refuse_filter(c0)")
    new = Walk(client_instance, *begun, refused_filters=1)
    assert new.enabled() == {"find_unused(c0)"}
    old = Walk(client_instance, *begun, "announce(c0)", refused_filters=1, version="4.9.8")
    assert (old["service[c0]"], old["threw[c0]"], old["registered[c0]"]) == (ServiceState.RUNNING, 1, 1)


def test_a_first_heartbeat_that_arrives_comes_before_the_start_ends() -> None:
    run = Walk(client_instance, *started(0)[:-1], first_heartbeat="arrives")
    assert not run.may("announce(c0)")
    run("send_heartbeat", "receive_heartbeat", "announce(c0)")
    assert run["listed[g0]"] == 1

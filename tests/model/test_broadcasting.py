"""Broadcasting clients and their offset files: what a write leaves, what a death leaves, what a start makes of it."""

from __future__ import annotations

import pytest

from rocketproof.checkers.explore import explore
from rocketproof.model.consumption import consumption
from rocketproof.model.kernel import BoolLike, ConfigurationError, IntLike, Machine, State
from rocketproof.model.local_file import Content, Torn, possible, worth_copying
from rocketproof.properties.broadcast import TORN_TWICE, claims, each_sees_all, handled_by_each, starts_again
from rocketproof.properties.delivery import offset_safe
from rocketproof.properties.property import Property
from rocketproof.properties.verdict import Verdict

from .walk import Walk, judged, killed

PROPERTIES = {claim.property.id: claim.property for claim in claims()}
TAKEN = ("take(c0, q0)", "pull(c0, q0)", "begin(c0, q0, m0)", "succeed(c0, q0, m0)", "persist(c0)")


def client(*labels: str, **constants: int | str) -> Walk:
    """Broadcasting clients, of which the first one takes the actions ``labels``."""
    return Walk(*labels, **{"mode": "broadcasting", "messages": 3, "torn_writes": 2, "restarts": 2, **constants})


def test_a_write_keeps_the_old_content_in_the_copy() -> None:
    one = client(*TAKEN)
    assert (one.value("file", 0, 0), one.value("copy", 0, 0)) == (1, 0)
    assert one.do("persist(c0)").value("copy", 0, 0) == 1
    assert not one.may("persist(c0)")


def test_taking_a_queue_writes_nothing() -> None:
    one = client("take(c0, q0)", "die_while_writing(c0, FILE_EMPTY)", "restart(c0)", "take(c0, q0)")
    assert one.value("file_is", 0) == Content.EMPTY


@pytest.mark.parametrize("torn", [Torn.FILE_EMPTY, Torn.FILE_UNREADABLE])
def test_a_client_with_a_torn_file_begins_where_the_copy_says(torn: Torn) -> None:
    one = client(*TAKEN, "persist(c0)", f"die_while_writing(c0, {torn.name})", "restart(c0)", "take(c0, q0)")
    assert one.value("next_offset", 0, 0) == 1


def test_a_torn_copy_leaves_the_file_as_it_was() -> None:
    one = client(*TAKEN, "die_while_writing(c0, COPY_UNREADABLE)", "restart(c0)", "take(c0, q0)")
    assert one.value("next_offset", 0, 0) == 1


@pytest.mark.parametrize(
    ("first", "second", "starts"),
    [
        (Torn.FILE_UNREADABLE, Torn.FILE_EMPTY, False),
        (Torn.FILE_UNREADABLE, Torn.COPY_UNREADABLE, False),
        (Torn.FILE_EMPTY, Torn.FILE_UNREADABLE, True),
    ],
)
def test_what_a_second_death_leaves(first: Torn, second: Torn, starts: bool) -> None:
    dies = (f"die_while_writing(c0, {first.name})", "restart(c0)", "take(c0, q0)")
    one = client(*TAKEN, *dies, f"die_while_writing(c0, {second.name})")
    assert one.may("restart(c0)") is starts
    if starts:  # an empty copy counts as "no offsets yet", so LAST_OFFSET decides
        assert one.do("restart(c0)", "take(c0, q0)").value("next_offset", 0, 0) == 3


@pytest.mark.parametrize(
    ("version", "ways"),
    [
        ("5.3.3", {Torn.COPY_EMPTY, Torn.COPY_UNREADABLE, Torn.FILE_EMPTY, Torn.FILE_UNREADABLE}),
        ("4.9.8", {Torn.COPY_EMPTY, Torn.COPY_UNREADABLE, Torn.FILE_MISSING}),
    ],
)
def test_which_writes_can_be_torn(version: str, ways: set[Torn]) -> None:
    constants = consumption.configure(mode="broadcasting", torn_writes=1, version=version).constants
    assert {torn for torn in Torn if possible(constants, torn)} == ways


def test_after_a_death_between_delete_and_rename_the_next_write_spares_the_copy() -> None:
    dies = ("die_while_writing(c0, FILE_MISSING)", "restart(c0)", "take(c0, q0)", "persist(c0)")
    one = client(*TAKEN, *dies, version="4.9.8")
    assert (one.value("file", 0, 0), one.value("file_is", 0)) == (1, Content.OFFSETS)
    assert one.value("copy_is", 0) == Content.OFFSETS


def test_a_copy_made_only_of_what_can_be_read_would_mend_5_x() -> None:
    mended = Machine("mended").include(consumption)

    @mended.refine(worth_copying)
    def readable(s: State, at: IntLike) -> BoolLike:
        return s.file_is[at] == Content.OFFSETS

    assert judged(mended.configure(**TORN_TWICE), starts_again).verdict is Verdict.HOLDS
    assert judged(consumption.configure(**TORN_TWICE), starts_again).verdict is Verdict.VIOLATED


def test_two_processes_with_one_client_id_use_one_file() -> None:
    one = client("take(c0, q0)", *TAKEN[1:], shared_file=1, torn_writes=0)
    assert one.do("take(c1, q0)").value("next_offset", 1, 0) == 1


def test_only_the_first_message_of_a_window_expires() -> None:
    pulled = ("take(c0, q0)", "pull(c0, q0)", "pull(c0, q0)", "begin(c0, q0, m0)", "begin(c0, q0, m1)")
    one = client(*pulled, expiries=1, orphans=1, torn_writes=0)
    assert one.may("expire_unread(c0, q0, m0)")
    assert not one.may("expire_unread(c0, q0, m1)")
    one.do("expire_unread(c0, q0, m0)")
    assert one.value("memory", 0, 0) == 0
    assert one.do("succeed(c0, q0, m1)").value("memory", 0, 0) == 2


@pytest.mark.parametrize(
    "constants",
    [
        {"torn_writes": 1},
        {"lost_files": 1},
        {"shared_file": 1},
        {"disk": "read-only"},
        {"mode": "broadcasting", "lost_commits": 1},
        {"mode": "broadcasting", "causes": 1},
    ],
)
def test_what_belongs_to_one_mode_is_refused_in_the_other(constants: dict[str, int | str]) -> None:
    with pytest.raises(ConfigurationError, match="is not possible"):
        consumption.configure(**constants)


@pytest.mark.parametrize(
    ("name", "right", "steps"),
    [
        ("G3", 442, 2),
        ("G4", 44, 3),
        ("G5-sent-back", 56, 4),
        ("A1-broadcast", 4715, 5),
        ("B7-broadcast", 4715, 3),
        ("B10-broadcast", 36, 10),
    ],
)
def test_mutants_are_killed_by_the_property_they_name(name: str, right: int, steps: int) -> None:
    assert killed(name, PROPERTIES) == (right, steps)


@pytest.mark.parametrize("name", ["G5", "G3-torn-twice"])
def test_surprises_are_explained(name: str) -> None:
    surprise = consumption.explanations[name]
    configuration = consumption.configure(**surprise.constants)
    assert judged(configuration, PROPERTIES[surprise.naive]).verdict is Verdict.VIOLATED
    assert judged(configuration, PROPERTIES[surprise.exact]).verdict is Verdict.HOLDS


@pytest.mark.parametrize(
    ("mode", "listener", "subject", "states", "transitions"),
    [
        ("clustering", "concurrently", offset_safe, 84792, 346806),
        ("clustering", "orderly", offset_safe, 3498, 9420),
        ("broadcasting", "concurrently", each_sees_all, 54123, 205326),
        ("broadcasting", "orderly", handled_by_each, 23601, 87420),
    ],
)
def test_modes_times_listeners(mode: str, listener: str, subject: Property, states: int, transitions: int) -> None:
    faults = {"moves": 1, "failures": 1, "crashes": 1, "restarts": 1}
    kind: dict[str, int | str] = {"mode": mode, "listener": listener, "clock": "stopped", "watch_clients": 1}
    found = explore(consumption.configure(messages=2, **kind, **faults), [subject], idle_actions_allowed=True)
    assert found.results[0].verdict is Verdict.HOLDS
    assert (found.states, found.transitions) == (states, transitions)

"""Whole runs: headers, clocks, runs that never end, and what cannot be recorded."""

from __future__ import annotations

import pytest

from rocketproof.checkers.simulate import random_run
from rocketproof.model.assignment import assignment
from rocketproof.model.examples.peterson import machine as peterson
from rocketproof.model.kernel import lower
from rocketproof.model.kernel.plain import PlainMachine
from rocketproof.model.presets import PRESETS, Preset
from rocketproof.traces.errors import TraceError
from rocketproof.traces.format.kinds import Kind, Path, Result
from rocketproof.traces.format.schema import BY_NAME, Group
from rocketproof.traces.generate.recorder import Pace, evidence_of, record_run

from .told import recording, walked

ONE = {"consumers": 1, "messages": 1}


def test_the_header_says_what_was_configured() -> None:
    constants = {"consumers": 1, "queues": 2, "messages": 2, "retry_room": 1, "copies": 1, "attempts": 3, "levels": 5}
    header = recording(**constants).header
    assert header.source == "a run of the machine consumption"
    assert header.groups == {"billing": Group(max_attempts=3)}
    assert (header.delays, header.release, header.complete) == ("1s 2s 3s 4s 5s", "5.3.3", True)
    orderly = recording(listener="orderly", clock="stopped", version="4.9.8", **ONE).header
    assert (orderly.groups["billing"], orderly.release) == (Group(listener="orderly"), "4.9.8")


def test_evidence_depends_on_what_the_configuration_follows() -> None:
    plain = evidence_of(walked(**ONE).lowered.configuration.constants)
    files = evidence_of(walked(mode="broadcasting", **ONE).lowered.configuration.constants)
    owners = evidence_of(walked(machine=assignment).lowered.configuration.constants)
    assert plain - files == {Kind.OFFSET_QUERY, Kind.DELAY_STORE}
    assert files - plain == set()
    assert owners - plain == {Kind.MEMBERS, Kind.ROUTE, Kind.REBALANCE}
    assert not {Kind.DELAY_DELIVER, Kind.DEAD_LETTER, Kind.FLOW_CONTROL} & (plain | files | owners)


def test_steps_are_further_apart_than_clocks() -> None:
    first, *rest = recording("take(c0, q0)", "pull(c0, q0)", **ONE).events
    assert first["time"] == Pace().begin
    assert sorted({event["time"] - first["time"] for event in rest}) == [0, 100, 200]
    assert [event["seq"] for event in (first, *rest)] == list(range(7))


def test_a_run_that_goes_round_is_unrolled_with_time_for_each_turn() -> None:
    run = walked("take(c0, q0)", "drop(c0, q0)", loop=0, consumers=1, messages=1, moves=2)
    found = record_run(run, turns=3).events
    assigned = [event["time"] - Pace().begin for event in found if event["kind"] == "assign"]
    assert assigned == [100, 20_300, 40_500, 60_700]
    beats = [event["time"] - Pace().begin for event in found if event["kind"] == "heartbeat"]
    assert beats == [0, 20_200, 40_400, 60_600]


def test_a_run_in_which_nothing_happens_any_more_ends_late() -> None:
    run = walked("take(c0, q0)", loop=1, **ONE)
    assert record_run(run, turns=12).events[-1]["time"] - Pace().begin == 100 + 12 * 20_000


def test_another_machine_cannot_be_recorded() -> None:
    plain = PlainMachine(lower(peterson.configure()))
    with pytest.raises(TraceError, match=r"the machine peterson .*consumption, everything and assignment can"):
        record_run(random_run(plain, 0, 5))


@pytest.mark.parametrize("preset", PRESETS, ids=lambda preset: preset.name)
def test_random_runs_have_the_form_of_the_schema(preset: Preset) -> None:
    plain = PlainMachine(lower(preset.configuration()))
    events = 0
    for seed in range(5):
        found = record_run(random_run(plain, seed, 100))
        for event in found.events:
            assert event.keys() <= BY_NAME.keys()
            assert all(BY_NAME[name].low <= value for name, value in event.items() if isinstance(value, int))
            Path(event.get("path", "")), Result(event.get("result", ""))
            assert Kind(event["kind"]) in found.header.evidence
        assert [event["seq"] for event in found.events] == sorted(event["seq"] for event in found.events)
        assert [event["time"] for event in found.events] == sorted(event["time"] for event in found.events)
        events += len(found.events)
    assert events >= 50

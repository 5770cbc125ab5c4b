"""What the machine knows of a recorded run."""

from __future__ import annotations

from rocketproof.model.consumption import consumption
from rocketproof.model.history import Cause, Regression
from rocketproof.traces.generate.recorder import Decrease, Pace, Repeat

from .told import recording

ONE = {"messages": 1, "causes": 1}
BEGUN = ("take(c0, q0)", "pull(c0, q0)", "begin(c0, q0, m0)")
TAKEN = ("take(c1, q0)", "pull(c1, q0)", "begin(c1, q0, m0)")


def causes(*labels: str, **constants: int) -> list[frozenset[Cause]]:
    return [repeat.causes for repeat in recording(*labels, **ONE, **constants).truth.repeats]


def test_a_repetition_has_all_the_causes_that_were_noted_since() -> None:
    assert causes(*BEGUN, "die(c0)", *TAKEN, crashes=1) == [{Cause.CRASH}]
    assert causes(*BEGUN, *TAKEN) == [{Cause.OVERLAP}]
    assert causes(*BEGUN, "drop(c0, q0)", *TAKEN, moves=1) == [{Cause.REBALANCE}]


def test_a_repetition_without_a_cause_has_none() -> None:
    steps = ["take(c0, q0)", "send_pull(c0, q0)", "drop(c0, q0)", "take(c0, q0)"]
    constants = {**ONE, "consumers": 1, "moves": 1, "pulls": "fine"}
    late = [*steps, "send_pull(c0, q0)", "answer_found(c0, q0)", "begin(c0, q0, m0)", "answer_stale(c0, q0)"]
    found = recording(*late, "begin(c0, q0, m0)", machine=consumption.mutated("C5"), **constants).truth.repeats
    assert found == [Repeat(time=Pace().begin + 900, queue=0, offset=0, causes=frozenset())]


def test_a_decrease_has_its_reason() -> None:
    done = [*BEGUN, "succeed(c0, q0, m0)", "commit(c0, q0)", "restart_offsets"]
    found = recording(*done, messages=1, watch_offsets=1, broker_restarts=1).truth
    reason = Regression.BROKER_RESTART
    assert found.decreases == [Decrease(time=Pace().begin + 600, queue=0, before=1, after=0, reason=reason)]
    assert found.repeats == []

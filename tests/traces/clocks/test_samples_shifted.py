"""A real recording with one clock off gets the verdicts it had, or UNKNOWN."""

import json
from pathlib import Path

import pyarrow as pa
import pytest

from rocketproof.properties.verdict import Verdict
from rocketproof.traces.claims.settings import Settings
from rocketproof.traces.engine.local import check_locally
from rocketproof.traces.engine.result import CheckResult
from rocketproof.traces.format.kinds import OF_BROKERS
from rocketproof.traces.io import open_trace
from rocketproof.traces.samples import FOLDER

SAMPLE = FOLDER / "steady-5.3.3.jsonl.zst"


def check(path: Path) -> CheckResult:
    return check_locally(open_trace([path]), settings=Settings())


def shifted(out: Path, shift: int) -> Path:
    """The sample with what its broker recorded ``shift`` ms later, in the order of time."""
    with pa.input_stream(str(SAMPLE), compression="zstd") as stream:
        header, *events = map(json.loads, stream.read().decode().splitlines())
    for event in events:
        if event["kind"] in OF_BROKERS or event["kind"] == "commit" or "client" not in event:
            event["time"] += shift
    events.sort(key=lambda event: int(event["time"]))
    lines = [header, *({**event, "seq": seq} for seq, event in enumerate(events))]
    out.write_text("".join(f"{json.dumps(line)}\n" for line in lines))
    return out


@pytest.mark.parametrize("shift", [-5_000, -30, -5, 5, 500])
def test_a_broker_whose_clock_is_off(tmp_path: Path, shift: int) -> None:
    found, expected = check(shifted(tmp_path / "shifted.jsonl", shift)), check(SAMPLE)
    (clock,) = [clock for clock in found.context.clocks.clocks.values() if clock.runs]
    assert str(clock.recorder) == "broker broker-a"
    assert abs(clock.correction[0] - shift * 1000) <= 1_000
    for before, after in zip(expected.verdicts, found.verdicts, strict=True):
        assert after.verdict in (before.verdict, Verdict.UNKNOWN), after.claim.id

"""Recordings whose clocks are apart are merged as they were."""

from pathlib import Path

from rocketproof.lab.capture import keep_capture
from rocketproof.traces.claims.settings import Settings
from rocketproof.traces.encoding.names import Actor
from rocketproof.traces.engine.local import check_locally
from rocketproof.traces.explain.clock_sentences import corrections
from rocketproof.traces.io import open_trace
from rocketproof.traces.samples import FOLDER

from ...agents import read, split_into_recordings, write


def test_a_broker_that_is_behind_says_what_it_says_in_time(tmp_path: Path) -> None:
    right, late = tmp_path / "right", tmp_path / "late"
    right.mkdir()
    late.mkdir()
    split_into_recordings(FOLDER / "steady-5.3.3.jsonl.zst", right)
    for path in sorted(right.glob("*.jsonl")):
        header, events = read(path)
        off = -5_000 if path.name.startswith("broker") else 0
        write(late, path.name, [event | {"time": event["time"] + off} for event in events], **header)
    expected = check_locally(open_trace([right]), settings=Settings())
    found = check_locally(open_trace([late]), settings=Settings())
    assert corrections(expected.context.clocks) == []
    (said,) = corrections(found.context.clocks)
    assert said.startswith("the clock of broker broker-a is 5,001 ms behind")
    assert [a.verdict for a in found.verdicts] == [a.verdict for a in expected.verdicts]
    for name in ("joined.jsonl", "joined.parquet"):
        # A joined file says that its times are corrected: nothing shows it any more.
        keep_capture([late], out=tmp_path / name)
        again = check_locally(open_trace([tmp_path / name]), settings=Settings())
        assert again.context.clocks == found.context.clocks
        assert [a.verdict for a in again.verdicts] == [a.verdict for a in found.verdicts]


def test_all_files_of_a_process_are_by_one_clock(tmp_path: Path) -> None:
    split_into_recordings(FOLDER / "steady-5.3.3.jsonl.zst", tmp_path)
    path = min(tmp_path.glob("client-*.jsonl"))
    header, events = read(path)
    (own,) = {one["client"] for one in events if "client" in one}
    other = f"{own}-idle"
    start = {"time": events[0]["time"], "micros": 0, "kind": "client_start", "client": other, "group": "idle"}
    idle = "-".join([*path.name.split("-")[:2], "idle.jsonl"])
    for name, some in ((path.name, events), (idle, [start])):
        write(tmp_path, name, [event | {"time": event["time"] + 5_000} for event in some], **header)
    joined = open_trace([tmp_path])
    assert joined.clocks is not None
    ahead = [joined.clocks.clocks[Actor(client, 0)].correction for client in (own, other)]
    assert ahead[0] == ahead[1]
    assert abs(ahead[0][0] - 5_000_000) < 50_000
    rows = [one for batch in joined.batches(("time", "group"), rows=1_000) for one in batch.to_pylist()]
    (time,) = [one["time"] for one in rows if one["group"] == "idle"]
    assert abs(time - start["time"]) < 50

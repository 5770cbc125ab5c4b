"""A trace is untrusted input: what is nested, long, or spelled to do harm is told in a line, and the rest is read."""

from __future__ import annotations

import gzip
import json
from pathlib import Path

import pytest

from rocketproof.traces.claims.settings import Settings
from rocketproof.traces.engine.local import check_locally
from rocketproof.traces.errors import TraceError
from rocketproof.traces.format.schema import Group
from rocketproof.traces.io import Trace, Trouble, compressed, jsonl, open_trace
from rocketproof.traces.io.importers import fastjson
from rocketproof.traces.io.json_text import DEEPEST, read_json

EVENT = '{"time": 1700000000000, "kind": "deliver", "client": "c@1", "group": "g", "topic": "t", "queue": 0}'


def opened(folder: Path, text: str, *, name: str = "a.jsonl", format: str = "auto") -> Trace:
    path = folder / name
    path.write_text(text, encoding="utf-8")
    return open_trace([path], format=format)


def read(trace: Trace) -> list[dict[str, object]]:
    return [event for batch in trace.batches(["kind", "group", "topic"]) for event in batch.to_pylist()]


def told(trace: Trace) -> list[str]:
    return [f"{problem.line}: {problem.kind}: {problem.what}" for problem in trace.problems.kept]


def nested(levels: int) -> str:
    return "[" * levels + "]" * levels


@pytest.mark.parametrize("levels", [DEEPEST + 1, 990, 100_000])
def test_a_header_that_is_nested_deeply_is_damaged(tmp_path: Path, levels: int) -> None:
    trace = opened(tmp_path, f'{{"rocketproof_trace": 1, "x": {nested(levels)}}}\n{EVENT}\n')
    assert len(read(trace)) == 1
    assert told(trace) == ["1: header damaged: not a header: nested deeper than 100 levels; defaults are taken"]


def test_an_event_that_is_nested_deeply_is_damaged(tmp_path: Path) -> None:
    trace = opened(tmp_path, f'{{"rocketproof_trace": 1}}\n{EVENT}\n{{"time": 1, "kind": {nested(5000)}}}\n')
    assert len(read(trace)) == 1
    assert told(trace) == ["3: damaged line: no JSON: nested deeper than 100 levels"]


def test_nesting_up_to_the_limit_is_read() -> None:
    assert read_json(nested(DEEPEST)) is not None
    assert read_json(json.dumps([[1]] * 10_000)) == [[1]] * 10_000


def test_stored_offsets_that_are_nested_deeply_are_damaged(tmp_path: Path) -> None:
    trace = opened(tmp_path, f'{{"offsetTable": {nested(100_000)}}}', name="consumerOffset.json")
    with pytest.raises(TraceError, match="no JSON: nested deeper than 100 levels"):
        read(trace)


@pytest.mark.parametrize("key", ["{a@CG", '{"topic": ' + nested(500) + "}", "{1}", "{}"])
def test_a_key_of_stored_offsets_that_is_no_queue_is_damaged(tmp_path: Path, key: str) -> None:
    trace = opened(tmp_path, json.dumps({"offsetTable": {key: {"0": 12}}}), name="offsets.json")
    assert [event["kind"] for event in read(trace)] == ["file_persist"]
    assert trace.problems.count == 1


def test_a_message_trace_that_is_nested_deeply_is_damaged(tmp_path: Path) -> None:
    trace = opened(tmp_path, f'{{"body": {nested(100_000)}}}\n', name="trace.log", format="message-trace")
    with pytest.raises(TraceError, match="no message-trace body"):
        read(trace)


def test_half_of_a_surrogate_pair_in_a_message_trace_is_damaged(tmp_path: Path) -> None:
    body = "Pub\\u0001" + "\\u0001".join(["1"] * 12) + "\\udefa"
    trace = opened(tmp_path, f'{{"body": "{body}"}}\n', name="trace.log", format="message-trace")
    with pytest.raises(TraceError, match="no message-trace body"):
        read(trace)


def test_half_of_a_surrogate_pair_in_a_header_is_damaged(tmp_path: Path) -> None:
    header = r'{"rocketproof_trace": 1, "source": "\ud800", "groups": {"\ud800": {}, "g": {"strategy": "\ud800"}}}'
    trace = opened(tmp_path, f"{header}\n{EVENT}\n")
    assert len(read(trace)) == 1
    assert (trace.header.source, trace.header.groups) == ("", {"g": Group()})
    assert told(trace) == [
        r"1: header damaged: source is '\ud800', but a text is needed",
        r"1: header damaged: a group is called '\ud800', but a text is needed",
        r"1: header damaged: strategy of group g is '\ud800', but a text is needed",
    ]


def test_a_maximum_of_attempts_that_no_client_can_have_is_damaged(tmp_path: Path) -> None:
    header = {"rocketproof_trace": 1, "groups": {"g": {"max_attempts": 2**31}, "h": {"max_attempts": 2**31 - 1}}}
    trace = opened(tmp_path, f"{json.dumps(header)}\n{EVENT}\n")
    assert trace.header.groups == {"g": Group(), "h": Group(max_attempts=2**31 - 1)}
    assert told(trace) == [
        "1: header damaged: max_attempts of group g is 2147483648, but 2147483647 is the most possible"
    ]


def test_a_kind_that_is_no_word_is_damaged(tmp_path: Path) -> None:
    header = {"rocketproof_trace": 1, "evidence": [[], {}, "deliver"]}
    trace = opened(tmp_path, f'{json.dumps(header)}\n{EVENT}\n{{"time": 1700000000000, "kind": [1]}}\n')
    result = check_locally(trace, settings=Settings())
    assert (result.events, sorted(map(str, trace.header.evidence))) == (1, ["deliver"])
    assert trace.problems.by_kind[Trouble.UNKNOWN_WORD] == 2


@pytest.mark.parametrize(
    ("delays", "problem"),
    [
        ("1s 2", "messageDelayLevel '1s 2': level 2 is '2'."),
        ("9" * 23 + "d", "messageDelayLevel: level 1 is 99999999999999999999999d, longer than 100 years."),
        ("9" * 5000 + "s", f"messageDelayLevel: level 1 is {'9' * 30}, longer than 100 years."),
        ("1s " * 3000, "messageDelayLevel has 3,000 levels; 1,000 are possible."),
    ],
)
def test_delays_that_no_broker_has_are_damaged_and_the_usual_ones_are_taken(
    tmp_path: Path, delays: str, problem: str
) -> None:
    trace = opened(tmp_path, f"{json.dumps({'rocketproof_trace': 1, 'delays': delays})}\n{EVENT}\n")
    assert trace.header.delays == ""
    assert trace.problems.count == 1
    assert trace.problems.kept[0].kind is Trouble.HEADER
    assert trace.problems.kept[0].what.startswith(f"delays: {problem}")


def test_names_that_no_file_can_have_are_mistakes_of_the_user() -> None:
    with pytest.raises(TraceError, match=r"^a{200}: cannot be opened: File name too long\.$"):
        open_trace(["a" * 5000])
    with pytest.raises(TraceError, match=r"^an empty name was given"):
        open_trace([""])
    with pytest.raises(TraceError, match="cannot be opened: embedded null byte"):
        open_trace(["a\0b"])


def test_keys_without_quotes_are_read() -> None:
    text = r'{"a":{0:12,1 : 13},{"topic":"t"}:5,"\"1:":"x","n":[-1,2.5,1e3],-3:4}'
    assert fastjson.loads(text) == {
        "a": {"0": 12, "1": 13}, '{"topic": "t"}': 5, '"1:': "x", "n": [-1, 2.5, 1000.0], "-3": 4,
    }  # fmt: skip


@pytest.mark.parametrize("text", ["1" * 2_000_000, '"' + r"\"" * 1_000_000, "{" * 1_000_000, '"' * 1_000_001])
def test_a_long_text_that_is_no_json_is_gone_through_once(text: str) -> None:
    with pytest.raises(ValueError, match=r"."):
        fastjson.loads(text)


def test_a_file_that_is_far_larger_inside_is_read_so_far(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(compressed, "UNPACKED_AT_LEAST", 1 << 20)
    path = tmp_path / "a.jsonl.gz"
    path.write_bytes(gzip.compress(f'{{"rocketproof_trace": 1}}\n{EVENT}\n'.encode() + b"\n" * 10_000_000))
    trace = open_trace([path])
    assert len(read(trace)) == 1
    (problem,) = trace.problems.kept
    assert problem.kind is Trouble.TRUNCATED
    assert problem.what.endswith("100 times as many as it has, and the rest is left out: unpack it if it is a trace")


def test_a_file_of_damaged_lines_is_read_so_far(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(jsonl, "MOST_DAMAGED", 10)
    monkeypatch.setattr(jsonl, "_BLOCK", 64)
    trace = opened(tmp_path, f'{{"rocketproof_trace": 1}}\n{EVENT}\n' + "x\n" * 2_000_000 + EVENT + "\n")
    assert len(read(trace)) == 1
    assert trace.problems.by_kind[Trouble.TRUNCATED] == 1
    assert "more than 10 damaged lines; from line " in trace.problems.kept[-1].what or trace.problems.count > 1_000

"""JSONL: what is read of whole and of damaged files, and where damage is found."""

import json
from pathlib import Path

import pytest

from rocketproof.traces.errors import TraceError
from rocketproof.traces.format.kinds import Kind
from rocketproof.traces.format.schema import ARROW, Group
from rocketproof.traces.io import EXTRA, jsonl, open_trace

from ..recordings import HEADER, delivery, offsets, rows, told, write


def test_events_come_as_they_were_written(tmp_path: Path) -> None:
    events = [delivery(number) for number in range(5)]
    trace = open_trace([write(tmp_path / "a.jsonl", HEADER, *events)])
    batches = list(trace.batches())
    assert [batch.schema for batch in batches] == [ARROW]
    assert rows(batches) == [{**event, "seq": line} for line, event in enumerate(events, 2)]
    assert trace.problems.count == 0


def test_header_says_what_it_says(tmp_path: Path) -> None:
    header = {
        "rocketproof_trace": 1,
        "source": "lab",
        "evidence": ["pull", "commit"],
        "delays": "1s 5s",
        "release": "4.9.8",
        "groups": {"g": {"mode": "broadcasting", "listener": "orderly", "max_attempts": 3, "strategy": "CIRCLE"}},
        "complete": True,
        "place": "Hangzhou",
    }
    trace = open_trace([write(tmp_path / "a.jsonl", header, delivery(1))])
    assert trace.header.evidence == {Kind.PULL, Kind.COMMIT}
    assert trace.header.groups == {
        "g": Group(mode="broadcasting", listener="orderly", max_attempts=3, strategy="CIRCLE")
    }
    assert (trace.header.source, trace.header.delays, trace.header.release) == ("lab", "1s 5s", "4.9.8")
    assert trace.header.complete
    assert trace.header.extra == {"place": "Hangzhou"}
    assert trace.problems.count == 0


def test_columns_are_those_asked_for(tmp_path: Path) -> None:
    trace = open_trace([write(tmp_path / "a.jsonl", HEADER, delivery(1), delivery(2))])
    [batch] = trace.batches(["offset", "kind", "level"])
    assert batch.to_pydict() == {"offset": [1, 2], "kind": ["deliver", "deliver"], "level": [None, None]}
    with pytest.raises(TraceError, match="no column ofset; there are time, seq"):
        list(trace.batches(["ofset"]))


def test_batches_have_at_most_so_many_rows(tmp_path: Path) -> None:
    trace = open_trace([write(tmp_path / "a.jsonl", HEADER, *map(delivery, range(7)))])
    assert [len(batch) for batch in trace.batches(rows=3)] == [3, 3, 1]


def test_seq_is_the_line_only_where_it_is_missing(tmp_path: Path) -> None:
    trace = open_trace([write(tmp_path / "a.jsonl", HEADER, delivery(1, seq=90), delivery(2), delivery(3, seq=7))])
    [batch] = trace.batches(["seq"])
    assert batch.column("seq").to_pylist() == [90, 3, 7]


DAMAGE = [
    ('{"time": 1000, "kind": "deliver", "off', "DAMAGED", None),
    ("not JSON", "DAMAGED", None),
    ("[1, 2]", "DAMAGED", None),
    ("null", "DAMAGED", None),
    ("3", "DAMAGED", None),
    ("\0\0\0", "DAMAGED", None),
    ('{"time": 1, "kind": "deliver"} {"time": 2, "kind": "deliver"}', "DAMAGED", None),
    ('{"time": 1, "kind": "deliver"} null', "DAMAGED", None),
    ('{"a": ' + "[" * 100_000, "DAMAGED", None),
    ('{"kind": "deliver", "offset": 5}', "NO_TIME", None),
    ('{"time": 5, "offset": 5}', "NO_TIME", None),
    ('{"time": null, "kind": "deliver"}', "NO_TIME", None),
    ('{"time": 1, "kind": "deliver", "offset": -1}', "IMPOSSIBLE", {"time": 1, "kind": "deliver"}),
    ('{"time": 1, "kind": "pull", "offset": -2}', "IMPOSSIBLE", {"time": 1, "kind": "pull"}),
    ('{"time": 1, "kind": "deliver", "offset": 1.5}', "IMPOSSIBLE", {"time": 1, "kind": "deliver"}),
    ('{"time": 1, "kind": "deliver", "offset": 1.0}', "IMPOSSIBLE", {"time": 1, "kind": "deliver"}),
    ('{"time": 1, "kind": "deliver", "offset": true}', "IMPOSSIBLE", {"time": 1, "kind": "deliver"}),
    ('{"time": 1, "kind": "deliver", "offset": "7"}', "IMPOSSIBLE", {"time": 1, "kind": "deliver"}),
    ('{"time": 1, "kind": "deliver", "offset": 9223372036854775808}', "IMPOSSIBLE", {"time": 1, "kind": "deliver"}),
    ('{"time": 1, "kind": "deliver", "queue": 2147483648}', "IMPOSSIBLE", {"time": 1, "kind": "deliver"}),
    ('{"time": 1, "kind": "deliver", "level": -2}', "IMPOSSIBLE", {"time": 1, "kind": "deliver"}),
    ('{"time": 1, "kind": "deliver", "client": 3}', "IMPOSSIBLE", None),
    ('{"time": 1, "kind": "deliver", "client": "\\ud800"}', "IMPOSSIBLE", None),
    ('{"time": 1, "kind": "deliver", "members": ["a", null]}', "IMPOSSIBLE", {"time": 1, "kind": "deliver"}),
    ('{"time": 1, "kind": "deliver", "members": "a"}', "IMPOSSIBLE", {"time": 1, "kind": "deliver"}),
    ('{"time": 1, "kind": "levitate"}', "UNKNOWN_WORD", {"time": 1, "kind": "levitate"}),
    (
        '{"time": 1, "kind": "deliver", "result": "odd"}',
        "UNKNOWN_WORD",
        {"time": 1, "kind": "deliver", "result": "odd"},
    ),
    ('{"time": 1, "kind": "deliver", "path": "odd"}', "UNKNOWN_WORD", {"time": 1, "kind": "deliver", "path": "odd"}),
    ('{"time": 1, "kind": "deliver", "client": "one", "incarnation": -1}', "IMPOSSIBLE", None),
]


@pytest.mark.parametrize(("line", "kind", "left"), DAMAGE, ids=[f"{kind}-{line[:40]!a}" for line, kind, _ in DAMAGE])
def test_damage_is_told_with_its_line_and_the_rest_is_read(
    tmp_path: Path, line: str, kind: str, left: dict[str, object] | None
) -> None:
    path = write(tmp_path / "a.jsonl", HEADER, delivery(1), delivery(2), line, delivery(3))
    trace = open_trace([path])
    read = rows(trace.batches())
    assert told(trace) == [(4, "NO_TIME" if kind == "NO_TIME" else kind)]
    expected = [{**delivery(1), "seq": 2}, {**delivery(2), "seq": 3}, {**delivery(3), "seq": 5}]
    assert read == (expected if left is None else [*expected[:2], {**left, "seq": 4}, expected[2]])
    with pytest.raises(TraceError, match=r"a\.jsonl:4: .*\n.*--strict"):
        list(open_trace([path], strict=True).batches())


def test_the_offset_of_a_pull_from_nowhere_is_not_known(tmp_path: Path) -> None:
    lines = [{"time": 1, "kind": "pull", "offset": -1}, {"time": 2, "kind": "pull_result", "offset": -1}]
    trace = open_trace([write(tmp_path / "a.jsonl", HEADER, *lines)])
    assert offsets(trace.batches()) == [None, None]
    assert told(trace) == []


def test_files_that_were_put_into_one_are_told_by_their_headers(tmp_path: Path) -> None:
    trace = open_trace([write(tmp_path / "a.jsonl", HEADER, delivery(1), HEADER, delivery(2))])
    assert [event["offset"] for event in rows(trace.batches())] == [1, 2]
    assert [str(problem) for problem in trace.problems.kept] == [
        f"{tmp_path}/a.jsonl:3: event without time or kind: "
        "a second header; give the files as they were before they were put into one"
    ]


def test_an_impossible_time_costs_the_event(tmp_path: Path) -> None:
    trace = open_trace([write(tmp_path / "a.jsonl", HEADER, delivery(1, time=-1), delivery(2))])
    assert offsets(trace.batches()) == [2]
    assert told(trace) == [(2, "IMPOSSIBLE"), (2, "NO_TIME")]


def test_bytes_that_are_no_text_cost_their_line(tmp_path: Path) -> None:
    path = write(tmp_path / "a.jsonl", HEADER, delivery(1), delivery(2, client="XX"), delivery(3))
    path.write_bytes(path.read_bytes().replace(b"XX", b"\xff"))
    trace = open_trace([path])
    assert offsets(trace.batches()) == [1, 3]
    assert told(trace) == [(3, "DAMAGED")]


def test_forms_of_lines_that_are_no_damage(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    lines = [json.dumps(line) for line in (HEADER, delivery(1), delivery(2, detail="a} b"), delivery(3))]
    path.write_bytes(b"\xef\xbb\xbf" + "\r\n".join([lines[0], "", f"  {lines[1]} ", "\t", *lines[2:]]).encode())
    trace = open_trace([path])
    [batch] = trace.batches(["offset", "seq", "detail"])
    assert batch.to_pydict() == {"offset": [1, 2, 3], "seq": [3, 5, 6], "detail": [None, "a} b", None]}
    assert trace.problems.count == 0


def test_a_last_line_without_end_that_breaks_off(tmp_path: Path) -> None:
    path = write(tmp_path / "a.jsonl", HEADER, *map(delivery, range(10)))
    path.write_bytes(path.read_bytes()[:-20])
    trace = open_trace([path])
    assert offsets(trace.batches()) == list(range(9))
    assert told(trace) == [(11, "DAMAGED")]


@pytest.mark.parametrize(("block", "finer"), [(1 << 24, (1 << 20, 1 << 16)), (4_000, (1_000, 300)), (1, (1,))])
def test_damage_anywhere_in_many_blocks(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, block: int, finer: tuple[int, ...]
) -> None:
    monkeypatch.setattr(jsonl, "_BLOCK", block)
    monkeypatch.setattr(jsonl.JsonLines._block, "__kwdefaults__", {"finer": finer})
    monkeypatch.setattr("rocketproof.traces.io.compressed._PIECE", 1_500)
    damaged = {0, 17, 18, 250, 499}
    lines = ["{" if number in damaged else json.dumps(delivery(number)) for number in range(500)]
    trace = open_trace([write(tmp_path / "a.jsonl", HEADER, *lines)])
    assert offsets(trace.batches()) == [number for number in range(500) if number not in damaged]
    assert told(trace) == [(number + 2, "DAMAGED") for number in sorted(damaged)]
    assert [value for batch in trace.batches(["seq"]) for value in batch.column("seq").to_pylist()] == [
        number + 2 for number in range(500) if number not in damaged
    ]
    assert trace.problems.count == len(damaged)


def test_a_line_without_end_is_left_out(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(jsonl, "_BLOCK", 500)
    monkeypatch.setattr("rocketproof.traces.io.compressed._PIECE", 500)
    monkeypatch.setattr("rocketproof.traces.io.compressed._LONGEST", 2_000)
    trace = open_trace([write(tmp_path / "a.jsonl", HEADER, delivery(1), "x" * 10_000, delivery(2), delivery(3))])
    assert offsets(trace.batches()) == [1, 2, 3]
    assert told(trace) == [(3, "DAMAGED")]


def test_members_the_schema_does_not_know(tmp_path: Path) -> None:
    path = write(tmp_path / "a.jsonl", HEADER, delivery(1), delivery(2, zone="eu", more={"a": [1]}), delivery(3))
    trace = open_trace([path])
    assert [batch.column(EXTRA).to_pylist() for batch in trace.batches([EXTRA])] == [
        [None, '{"zone":"eu","more":{"a":[1]}}', None]
    ]
    assert trace.problems.count == 0


def test_problems_of_a_second_reading_are_not_told_again(tmp_path: Path) -> None:
    path = write(tmp_path / "a.jsonl", HEADER, "{", *map(delivery, range(3)), "{", "{")
    trace = open_trace([path])
    next(trace.batches(rows=1))
    assert trace.problems.count == 3
    for _ in range(3):
        list(trace.batches())
    assert told(trace) == [(2, "DAMAGED"), (6, "DAMAGED"), (7, "DAMAGED")]


@pytest.mark.parametrize(
    ("first", "kind"),
    [
        (delivery(0), "NO_HEADER"),
        ('{"rocketproof_trace": 1, "source', "HEADER"),
        ({**HEADER, "rocketproof_trace": 2}, "VERSION"),
        ({**HEADER, "rocketproof_trace": "1"}, "HEADER"),
        ({**HEADER, "source": 3}, "HEADER"),
        ({**HEADER, "complete": "yes"}, "HEADER"),
        ({**HEADER, "evidence": "deliver"}, "HEADER"),
        ({**HEADER, "evidence": ["deliver", "levitate"]}, "UNKNOWN_WORD"),
        ({**HEADER, "groups": []}, "HEADER"),
        ({**HEADER, "groups": {"g": 1}}, "HEADER"),
        ({**HEADER, "groups": {"g": {"mode": "everybody"}}}, "HEADER"),
        ({**HEADER, "groups": {"g": {"max_attempts": True}}}, "HEADER"),
    ],
)
def test_a_header_that_is_missing_or_damaged(tmp_path: Path, first: dict[str, object] | str, kind: str) -> None:
    trace = open_trace([write(tmp_path / "a.jsonl", first, delivery(1), delivery(2))])
    assert told(trace) == [(1, kind)]
    assert offsets(trace.batches()) == ([0, 1, 2] if kind == "NO_HEADER" else [1, 2])
    assert trace.problems.count == 1


def test_a_damaged_member_of_the_header_leaves_the_others(tmp_path: Path) -> None:
    header = {**HEADER, "groups": {"g": {"mode": "everybody", "listener": "orderly"}, "h": {"max_attempts": 4}}}
    trace = open_trace([write(tmp_path / "a.jsonl", header, delivery(1))])
    assert trace.header.groups == {"g": Group(listener="orderly"), "h": Group(max_attempts=4)}
    assert trace.header.evidence == {Kind.DELIVER, Kind.RESULT}


@pytest.mark.parametrize("lines", [[HEADER], [HEADER, ""], [HEADER, "{", "{"], [delivery(1, time=-1)]])
def test_no_events_is_an_error(tmp_path: Path, lines: list[dict[str, object] | str]) -> None:
    path = write(tmp_path / "a.jsonl", *lines)
    with pytest.raises(TraceError, match=r"a\.jsonl: (no events can be read|there are no events to check)"):
        list(open_trace([path]).batches())
    with pytest.raises(TraceError, match=r"a\.jsonl: (no events can be read|there are no events to check)"):
        list(open_trace([path]).sorted_batches())

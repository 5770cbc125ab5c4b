"""Samples of real runs: that each is what it is said to be, and that a sample that is not is noticed."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from rocketproof.lab.scenario import names
from rocketproof.traces.errors import TraceError
from rocketproof.traces.io import open_trace
from rocketproof.traces.samples import (
    FOLDER,
    Sample,
    conformance_again,
    differences,
    keep,
    measured_again,
    samples,
    settings_for,
)

from .recordings import HEADER, delivery, write

MOST = 5 << 20
"""What all samples together may take."""


def made(folder: Path, name: str = "some-5.3.3", **facts: Any) -> dict[str, Any]:
    """A sample of nine deliveries by two clients, of which one comes a second time without a cause."""
    lines = [HEADER, *(delivery(number) for number in range(9)), delivery(3) | {"time": 20_000}]
    trace = open_trace([write(folder / "trace.jsonl", *lines)])
    scenario, _, release = name.rpartition("-")
    told = {"scenario": scenario, "release": release, "title": "Some run", "check": {}, "measured": {}} | facts
    keep(trace, {**told, "conformance": {}}, name=name, folder=folder)
    return told


def test_a_sample_is_read_as_it_was_kept(tmp_path: Path) -> None:
    made(tmp_path, check={"skew": 7})
    (sample,) = samples(tmp_path)
    assert (sample.name, sample.scenario, sample.release, sample.title) == ("some-5.3.3", "some", "5.3.3", "Some run")
    assert settings_for(sample.open(), sample.check).skew == 7
    assert measured_again(sample).events == 10
    assert measured_again(sample).deliveries == 10
    assert measured_again(sample).unexplained == 1


def test_samples_come_by_scenario_and_newest_release(tmp_path: Path) -> None:
    for name in ("b-4.9.8", "b-5.10.0", "b-5.3.3", "a-4.9.8"):
        made(tmp_path, name)
    assert [sample.name for sample in samples(tmp_path)] == ["a-4.9.8", "b-5.10.0", "b-5.3.3", "b-4.9.8"]


def test_no_samples_at_all_are_an_error(tmp_path: Path) -> None:
    with pytest.raises(TraceError, match="no samples here"):
        samples(tmp_path)


@pytest.mark.parametrize("ending", [".json", ".jsonl.zst"])
def test_half_a_sample_is_an_error(tmp_path: Path, ending: str) -> None:
    made(tmp_path)
    (tmp_path / f"some-5.3.3{ending}").unlink()
    with pytest.raises(TraceError, match=f"there is no .*some-5.3.3{ending}; a sample has both"):
        samples(tmp_path)


def test_facts_without_what_is_needed_are_an_error(tmp_path: Path) -> None:
    made(tmp_path)
    (tmp_path / "some-5.3.3.json").write_text(json.dumps({"scenario": "some"}), encoding="utf-8")
    with pytest.raises(TraceError, match=r"some-5.3.3.json: .*missing.*; a sample needs what its neighbours have"):
        samples(tmp_path)


def test_a_damaged_trace_is_an_error(tmp_path: Path) -> None:
    made(tmp_path)
    path = tmp_path / "some-5.3.3.jsonl.zst"
    path.write_bytes(path.read_bytes()[:-20])  # all of it is one block of zstd
    with pytest.raises(TraceError, match="header damaged"):
        measured_again(samples(tmp_path)[0])


def test_every_number_that_differs_is_told() -> None:
    expected = {"events": 10, "statuses": {"LOST": 1}, "losses": 1, "violated": ["a"]}
    found = {"events": 11, "statuses": {"LOST": 1}, "violated": ("a",), "unknown": ()}
    assert differences(expected, found) == [
        "events is 11, expected 10",
        "losses is None, expected 1",
        "unknown is [], expected None",
    ]


# The samples of the kit


SOME = ("broadcast-5.3.3", "failures-to-dead-letter-4.9.8", "orderly-hand-over-5.3.3")
"""A few of the samples; all of them are what ``rocketproof samples`` is for, and test_captured.py."""


@pytest.mark.parametrize("sample", [one for one in samples() if one.name in SOME], ids=lambda sample: sample.name)
def test_a_sample_shows_what_it_is_said_to_show(sample: Sample) -> None:
    assert differences(sample.measured, measured_again(sample).as_json()) == []
    assert differences(sample.conformance, conformance_again(sample)) == []
    assert (sample.measured["unexplained"], sample.conformance["mismatches"]) == (0, 0)


def test_every_scenario_has_its_sample() -> None:
    of = {release: {one.scenario for one in samples() if one.release == release} for release in ("5.3.3", "4.9.8")}
    assert of["5.3.3"] == {*names(), "pop-through-proxy"}
    assert len(of["4.9.8"]) >= 5


def test_the_samples_are_small() -> None:
    assert sum(path.stat().st_size for path in FOLDER.iterdir()) < MOST


def test_no_sample_tells_where_it_was_made() -> None:
    for sample in samples():
        text = sample.path.with_suffix("").with_suffix(".json").read_text(encoding="utf-8")
        assert "/tmp" not in text
        assert str(sample.open().header.source).startswith(
            ("rocketproof agent", "a consume-message hook", "client log (")
        )

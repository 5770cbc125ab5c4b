"""Queues are followed apart from each other: however a trace is cut into parts, the answer is the same."""

from __future__ import annotations

import pytest

from rocketproof.traces.conformance import Conformance, conform, sorting_out
from rocketproof.traces.samples import Sample, samples

SAMPLES = {sample.name: sample for sample in samples()}
SEVERAL = ("broadcast-5.3.3", "failures-to-dead-letter-5.3.3", "different-topics-5.3.3")


@pytest.fixture(params=SEVERAL)
def sample(request: pytest.FixtureRequest) -> Sample:
    return SAMPLES[request.param]


def answer_of(sample: Sample) -> Conformance:
    """What following a sample in one piece gives."""
    return conform(sample.open())


def test_events_may_wait_in_files(sample: Sample, monkeypatch: pytest.MonkeyPatch) -> None:
    whole = answer_of(sample)
    monkeypatch.setattr(sorting_out, "ROOM", 50_000)
    assert answer_of(sample) == whole


def test_processes_follow_queues_side_by_side() -> None:
    sample = SAMPLES["failures-to-dead-letter-5.3.3"]
    assert conform(sample.open(), jobs=2) == answer_of(sample)


def test_every_event_is_followed_or_counted(sample: Sample) -> None:
    answer = answer_of(sample)
    assert answer.events == answer.followed + sum(answer.passed_over.values())

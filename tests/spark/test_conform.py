"""Following a trace through the model on Spark, a queue a task: the same answer as without."""

from __future__ import annotations

from typing import Any

import pytest

from rocketproof.spark import conform as on_spark
from rocketproof.traces.conformance import conform
from rocketproof.traces.samples import samples

SAMPLES = {sample.name: sample for sample in samples()}


@pytest.mark.parametrize("room", [on_spark.ROUND, 1])
def test_the_answer_is_the_same(room: int, spark: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    sample = SAMPLES["failures-to-dead-letter-5.3.3"]
    monkeypatch.setattr(on_spark, "ROUND", room)
    assert on_spark.conform_with_spark(sample.open(), session=spark) == conform(sample.open())

"""Problems of reading: counted once, wherever they were found; strict reading stops at the first."""

from __future__ import annotations

import pytest

from rocketproof.traces.errors import TraceError
from rocketproof.traces.format.problems import Problems


def test_problems_that_were_found_elsewhere_are_added_once() -> None:
    own, later = Problems(), Problems()
    own.add("a.jsonl", 1, "no JSON")
    later.add("b.jsonl", 2, "no time")
    own.join(later)
    assert own.count == 2
    assert [(one.file, one.line) for one in own.kept] == [("a.jsonl", 1), ("b.jsonl", 2)]


def test_strict_reading_stops_at_those_as_well() -> None:
    later = Problems()
    later.add("b.jsonl", 2, "no time")
    with pytest.raises(TraceError, match=r"b\.jsonl:2: damaged line: no time"):
        Problems(strict=True).join(later)

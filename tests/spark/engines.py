"""Both engines on the same files, and what they must have in common."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa

from rocketproof.spark import check_with_spark
from rocketproof.traces.claims.settings import Settings
from rocketproof.traces.engine.local import check_locally
from rocketproof.traces.engine.result import CheckResult
from rocketproof.traces.explain.report.tables import named
from rocketproof.traces.io import open_trace


def findings(result: CheckResult) -> pa.Table:
    return named(result.rows, result.names)


def answer(result: CheckResult) -> dict[str, Any]:
    """All that a check says, without codes, time and engine."""
    problems = result.problems
    return {
        "verdicts": result.verdicts,
        "findings": findings(result).to_pylist(),
        "messages": result.messages,
        "passed over": result.passed_over,
        "events": (result.events, result.begin, result.end, result.coverage.recorded),
        "problems": (problems.count, problems.by_kind, problems.kept),
        "files": result.files,
    }


def both(paths: Sequence[Path], spark: Any) -> CheckResult:
    """The answer of the local engine, after Spark has given the same."""
    local_trace, spark_trace = open_trace(paths), open_trace(paths)
    local = check_locally(local_trace, settings=Settings())
    mined = check_with_spark(spark_trace, settings=Settings(), session=spark)
    expected, given = answer(local), answer(mined)
    for part in expected:
        assert given[part] == expected[part], part
    assert spark_trace.skipped == local_trace.skipped
    assert mined.engine == "spark local[2,4], 4 partitions"
    return local

from __future__ import annotations

import pytest

from rocketproof.model.history import Cause
from rocketproof.traces.claims.settings import Settings
from rocketproof.traces.engine.local import check_locally
from rocketproof.traces.explain.repetitions import WORDS, repetitions
from rocketproof.traces.io import open_trace
from rocketproof.traces.samples import FOLDER


def test_every_cause_has_words():
    assert set(WORDS) == set(Cause)
    assert len(set(WORDS.values())) == len(WORDS)


@pytest.mark.parametrize(
    ("name", "found"),
    [
        ("kill-9-mid-batch-5.3.3", [(Cause.CRASH, 8, 1, 1)]),
        ("graceful-shutdown-slow-listener-5.3.3", [(Cause.SHUTDOWN, 4, 2, 2)]),
        ("slow-listener-timeout-5.3.3", [(Cause.TIMEOUT, 1, 1, 1)]),
        ("failures-to-dead-letter-5.3.3", []),
    ],
)
def test_how_many_windows_they_come_from(name: str, found: list[tuple[Cause, int, int, int]]):
    result = check_locally(open_trace([FOLDER / f"{name}.jsonl.zst"]), settings=Settings())
    told = repetitions(result)
    assert [(each.cause, each.count, each.windows, each.queues) for each in told] == found
    assert all(result.begin <= each.first <= each.last <= result.end for each in told)

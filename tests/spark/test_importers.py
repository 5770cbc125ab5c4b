"""Files that are imported: Spark reads them as the local engine does."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from rocketproof.traces.recorders.beside import TOLD

from ..agents import at, client, write
from ..traces.io.importers.test_client_log import NAMING, new
from ..traces.io.importers.test_listener_log import LOG
from ..traces.io.importers.test_message_trace import CALL, KEY, PUB, T, body
from .engines import both

MESSAGE_TRACE = body(
    PUB, ["SubBefore", T, "R", "CG", CALL, KEY, 0, ""], ["SubAfter", CALL, KEY, 5, "false", "", 4, T + 5, "CG"]
)
OFFSETS = {"offsetTable": {"T@G": {"0": 17, "1": 4}}}

SAMPLES = {
    "listener.log": LOG,
    "rocketmq_client.log": new(NAMING) + "no event\n",
    "trace.txt": MESSAGE_TRACE,
    "consumerOffset.json": json.dumps(OFFSETS),
}


@pytest.mark.parametrize("name", SAMPLES)
def test_one_file(spark: Any, tmp_path: Path, name: str) -> None:
    (tmp_path / name).write_text(SAMPLES[name])
    both([tmp_path / name], spark)


def test_all_files_together(spark: Any, tmp_path: Path) -> None:
    for name, text in SAMPLES.items():
        (tmp_path / name).write_text(text)
    result = both([tmp_path], spark)
    assert len(result.files) == len(SAMPLES)


def test_beside_files_of_agents(spark: Any, tmp_path: Path) -> None:
    own = [at(1000 * n, "deliver", **client("10.0.0.1@7"), offset=n) for n in range(4)]
    write(tmp_path, "client-7-orders.jsonl", own)
    again = [json.dumps({**event, "client": name}) for event in own for name in ("10.0.0.1@7", "10.0.0.1@8")]
    (tmp_path / "hook.jsonl").write_text("\n".join([json.dumps({"rocketproof_trace": 1}), *again]))
    result = both([tmp_path], spark)
    assert (result.events, result.skipped[TOLD]) == (8, 4)

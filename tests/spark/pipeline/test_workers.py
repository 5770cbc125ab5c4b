"""A cluster of several workers, one of which is killed in the middle of its task: nothing is lost or doubled."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from rocketproof.spark.session import OLDEST_JAVA, java_version

from .tables import checked, said, simulated, write

PROGRAM = '''
import importlib, os, signal, sys
from pathlib import Path

table, folder, mark = map(Path, sys.argv[1:])
module = importlib.import_module("rocketproof.spark.pipeline.ingest")
whole = module.store_pieces


def killed_once(work):
    """The first task writes its pieces, and then its executor is gone."""
    done = whole(work)
    try:
        mark.touch(exist_ok=False)
    except FileExistsError:
        return done
    daemon = int(Path(f"/proc/{os.getppid()}/stat").read_text().rpartition(")")[2].split()[1])
    os.kill(daemon, signal.SIGKILL)
    signal.pause()


if __name__ == "__main__":
    from rocketproof.spark import open_session
    from rocketproof.spark.pipeline import Table, ingest, mine_table
    from rocketproof.traces.samples import settings_of

    module.store_pieces = killed_once
    spark = open_session("local-cluster[2,1,1024]", memory="512m", conf={"spark.executor.memory": "512m"})
    print(ingest(spark, [folder], Table(table)).events)
    print(mine_table(lambda: spark, Table(table), terms=lambda t: settings_of(t.header), local_events=0).run)
    spark.stop()
'''


@pytest.mark.slow
def test_a_worker_is_killed(tmp_path: Path) -> None:
    pytest.importorskip("pyspark")
    if java_version() < OLDEST_JAVA and os.environ.get("CI") != "true":
        pytest.skip(f"Spark needs Java {OLDEST_JAVA} or newer")
    from rocketproof.spark.pipeline import Table

    header, *events = simulated(tmp_path / "run", mutant="B2", messages=200)
    third = len(events) // 3
    files = [
        write(tmp_path / f"in/{at}.jsonl", [header, *part])
        for at, part in enumerate((events[:third], events[third : 2 * third], events[2 * third :]))
    ]
    program = tmp_path / "program.py"
    program.write_text(PROGRAM)
    mark = tmp_path / "killed"
    done = subprocess.run(
        [sys.executable, str(program), str(tmp_path / "table"), str(tmp_path / "in"), str(mark)],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.stdout.split() == [str(len(events)), "run=00000001"], done.stderr[-2_000:]
    assert mark.exists()
    table = Table(tmp_path / "table")
    pieces = {piece["path"] for _, one in table.published("batch") for source in one["sources"]
              for part in source["parts"] for piece in part}  # fmt: skip
    there = (table.folder / "batch=00000001").glob("trace/**/*.parquet")
    assert {str(path.relative_to(table.folder / "batch=00000001")) for path in there} == pieces
    assert said(table) == checked(files)

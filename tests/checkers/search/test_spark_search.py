"""The search on Spark finds what the one in memory does, also after interruptions, and when workers are lost."""

import os
import signal
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from rocketproof.checkers.exploration import Exploration, Limits
from rocketproof.checkers.explore import explore
from rocketproof.checkers.search import plain_search, spark_search
from rocketproof.checkers.search.disk_search import alone_in
from rocketproof.checkers.search.folder_error import FolderError
from rocketproof.model.assignment import assignment
from rocketproof.model.kernel import ModelError, State
from rocketproof.properties.verdict import Verdict

from ...rocketproof.command import run
from ...spark.conftest import spark
from ..test_explore import Place, always, counter, sometimes

__all__ = ["spark"]

ITEMS = [
    always("near", lambda s: s.number[0] + s.number[1] < 3),
    sometimes("never", lambda s: s.number[1] > 5),
    sometimes("corner", lambda s: (s.number[0] == 2) & (s.number[1] == 2)),
]
CONFIGURATION = counter(2).configure(places=2)


@pytest.fixture(autouse=True)
def compiled(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(plain_search, "MOST_STEPS", 0)
    monkeypatch.setattr(spark_search, "MOST_RUNS", 3)
    monkeypatch.setattr(spark_search, "_SHARE", 1)


def compared(found: Exploration) -> object:
    """All that both searches must agree on: of several shortest runs each may find another."""
    results = [(item.property, item.verdict, item.run and len(item.run), item.figures) for item in found.results]
    return found.complete, found.states, found.transitions, found.depth, found.taken, found.idle_actions, results


@pytest.mark.slow
def test_runs_are_as_short(spark: Any, tmp_path: Path) -> None:
    found = explore(CONFIGURATION, ITEMS, deadlocks=True, folder=tmp_path, session=spark)
    assert (found.states, found.transitions, found.depth) == (9, 12, 4)
    assert [(item.verdict, item.run and len(item.run)) for item in found.results] == [
        (Verdict.VIOLATED, 3),
        (Verdict.VIOLATED, None),
        (Verdict.HOLDS, 4),
        (Verdict.VIOLATED, 4),
    ]
    assert compared(found) == compared(explore(CONFIGURATION, ITEMS, deadlocks=True))
    assert list(tmp_path.iterdir()) == []


def test_a_machine_of_rocketmq(spark: Any) -> None:
    configuration = assignment.configure(consumers=3, running=2, leaves=1, crashes=1)
    found = explore(configuration, idle_actions_allowed=True, session=spark)
    assert compared(found) == compared(explore(configuration, idle_actions_allowed=True))


def test_it_goes_on_where_it_was_interrupted(spark: Any, tmp_path: Path) -> None:
    part = explore(CONFIGURATION, ITEMS, folder=tmp_path, session=spark, limits=Limits(states=5))
    assert (part.complete, part.limit, part.states) == (False, "limit of 5 states reached", 6)
    assert part.results[1].verdict is Verdict.UNKNOWN
    (tmp_path / "level-00003").mkdir()
    (tmp_path / "level-00003" / ".00001-of-a-killed-task").write_bytes(b"half")
    with pytest.raises(FolderError, match="another machine, other constants or other properties"):
        explore(CONFIGURATION, folder=tmp_path, session=spark)
    with alone_in(tmp_path), pytest.raises(FolderError, match="another process searches"):
        explore(CONFIGURATION, ITEMS, folder=tmp_path, session=spark)
    whole = explore(CONFIGURATION, ITEMS, folder=tmp_path, session=spark)
    assert compared(whole) == compared(explore(CONFIGURATION, ITEMS))


def test_a_folder_of_something_else_is_refused(spark: Any, tmp_path: Path) -> None:
    (tmp_path / "letter.txt").write_text("dear")
    with pytest.raises(FolderError, match="is not empty"):
        explore(CONFIGURATION, folder=tmp_path, session=spark)
    with pytest.raises(ModelError, match="does not stop when all is decided"):
        explore(CONFIGURATION, ITEMS, session=spark, stop_when_decided=True)


@pytest.mark.slow
def test_a_lost_worker_loses_nothing(spark: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from pyspark import cloudpickle

    lost, real = tmp_path / "lost", {name: getattr(spark_search, name) for name in ("expand_share", "settle_share")}
    lost.mkdir()

    def expand(task: Any, level: str, share: int) -> Iterator[Any]:
        yield from real["expand_share"](task, level, share)
        die("expand", level, share)

    def settle(task: Any, level: str, known: Any, share: int, rows: Any) -> Any:
        answer = real["settle_share"](task, level, known, share, rows)
        die("settle", level, share)
        return answer

    def die(*what: object) -> None:
        mark = lost / "-".join(map(str, what))
        if what[1:] == ("level-00002", 1) and not mark.exists():
            mark.touch()
            os.kill(os.getpid(), signal.SIGKILL)

    cloudpickle.register_pickle_by_value(sys.modules[__name__])
    monkeypatch.setattr(spark_search, "expand_share", expand)
    monkeypatch.setattr(spark_search, "settle_share", settle)
    found = explore(CONFIGURATION, ITEMS, deadlocks=True, folder=tmp_path / "search", session=spark)
    cloudpickle.unregister_pickle_by_value(sys.modules[__name__])
    assert sorted(path.name for path in lost.iterdir()) == ["expand-level-00002-1", "settle-level-00002-1"]
    assert compared(found) == compared(explore(CONFIGURATION, ITEMS, deadlocks=True))


def test_a_write_outside_a_domain_is_told(spark: Any) -> None:
    machine = counter(3)

    @machine.action(tells="{p} jumps")
    def jump(s: State, p: Place) -> None:
        s.require(s.number[p] == 2)
        s.number[p] += 2

    with pytest.raises(ModelError, match=r"action jump\(p0\): writes 4 to number\[p0\], allowed is 0…3"):
        explore(machine.configure(), session=spark)


def test_the_command_line_asks_for_it(spark: Any, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    asked = ["verify", "one-queue-one-consumer", "--engine", "spark"]
    code, out, _ = run(capsys, *asked, "--on-disk", str(tmp_path), "--json", str(tmp_path / "answer.json"))
    assert code == 0
    assert "one-queue-one-consumer  VIOLATED (expected)  spark " in out
    assert "3 steps; searched all 9 states, 20 transitions, depth 4" in out
    for options, refused in (
        (["--master", "spark://a:7077"], "needs --on-disk with this --master: a folder or URI that all workers see."),
        (["--reduce", "symmetry"], "and --reduce cannot both be given: a search on Spark leaves nothing out."),
    ):
        assert run(capsys, *asked, *options) == (3, "", f"rocketproof: --engine spark {refused}\n")
    assert "--master is for Spark; add --engine spark." in run(capsys, *asked[:2], "--master", "local[2]")[2]

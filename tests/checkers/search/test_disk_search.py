"""The search past memory finds what the one in memory does, also after interruptions."""

import errno
import json
from pathlib import Path

import numpy as np
import pytest

from rocketproof.checkers.exploration import Exploration, Limits
from rocketproof.checkers.explore import explore
from rocketproof.checkers.search import disk_search
from rocketproof.checkers.search import sorted_states as states
from rocketproof.checkers.search.disk_search import FolderError
from rocketproof.model.assignment import assignment
from rocketproof.model.examples import EXAMPLES
from rocketproof.model.kernel import Configuration, ModelError, State
from rocketproof.properties.verdict import Verdict

from ..test_explore import Place, always, counter, sometimes

SMALL = [sized.configuration for example in EXAMPLES.values() for sized in example.configurations.values()]
ITEMS = [
    always("near", lambda s: s.number[0] + s.number[1] < 20),
    always("far", lambda s: s.number[2] + s.number[1] < 49),
    sometimes("never", lambda s: s.number[2] > 25),
    sometimes("corner", lambda s: (s.number[0] == 25) & (s.number[1] == 25) & (s.number[2] == 25)),
]
CONFIGURATION = counter(25).configure(places=3)


@pytest.fixture(params=[None, 60_000], ids=["usual", "little memory"])
def memory(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> int | None:
    """Bytes for sorting: with little, each level is made of many files."""
    if request.param is not None:
        monkeypatch.setattr(disk_search, "_CHUNK", 32)
        monkeypatch.setattr(disk_search, "_RECENT", 8)
        monkeypatch.setattr(disk_search, "MOST_RUNS", 3)
    memory: int | None = request.param
    return memory


def compared(found: Exploration) -> object:
    """All that both searches must agree on: of several shortest runs each may find another."""
    results = [(item.property, item.verdict, item.run and len(item.run), item.figures) for item in found.results]
    return found.complete, found.states, found.transitions, found.depth, found.taken, found.idle_actions, results


@pytest.mark.parametrize("configuration", SMALL, ids=str)
def test_examples(configuration: Configuration, memory: int | None, tmp_path: Path) -> None:
    limits = Limits(bytes=memory)
    found = explore(configuration, deadlocks=True, idle_actions_allowed=True, folder=tmp_path / "s", limits=limits)
    assert compared(found) == compared(explore(configuration, deadlocks=True, idle_actions_allowed=True))
    assert sorted(path.name for path in (tmp_path / "s").iterdir()) == ["lock"]


def test_runs_are_as_short(memory: int | None, tmp_path: Path) -> None:
    found = explore(CONFIGURATION, ITEMS, deadlocks=True, folder=tmp_path, limits=Limits(bytes=memory), threads=3)
    assert (found.states, found.transitions, found.depth) == (26**3, 3 * 25 * 26**2, 75)
    assert [(item.verdict, item.run and len(item.run)) for item in found.results] == [
        (Verdict.VIOLATED, 20),
        (Verdict.VIOLATED, 49),
        (Verdict.VIOLATED, None),
        (Verdict.HOLDS, 75),
        (Verdict.VIOLATED, 75),
    ]


def test_a_machine_of_rocketmq(tmp_path: Path) -> None:
    configuration = assignment.configure(consumers=3, running=2, leaves=1, crashes=1)
    found = explore(configuration, folder=tmp_path, idle_actions_allowed=True)
    assert compared(found) == compared(explore(configuration, idle_actions_allowed=True))


def test_it_goes_on_where_it_was_interrupted(memory: int | None, tmp_path: Path) -> None:
    sizes = []
    for limit in (2_000, 9_000):
        part = explore(CONFIGURATION, ITEMS, deadlocks=True, folder=tmp_path, limits=Limits(bytes=memory, states=limit))
        assert (part.complete, part.limit) == (False, f"limit of {limit:,} states reached")
        assert part.results[2].verdict is Verdict.UNKNOWN
        sizes.append(part.states)
    (tmp_path / "new-00000.states").write_bytes(b"of a level that was interrupted")
    whole = explore(CONFIGURATION, ITEMS, deadlocks=True, folder=tmp_path)
    assert 2_000 <= sizes[0] < 9_000 <= sizes[1] < whole.states
    assert compared(whole) == compared(explore(CONFIGURATION, ITEMS, deadlocks=True))


def test_the_time_may_end_it_within_a_level(tmp_path: Path) -> None:
    part = explore(CONFIGURATION, folder=tmp_path, limits=Limits(seconds=0))
    assert (part.states, part.limit) == (1, "time limit of 0 s reached")
    assert compared(explore(CONFIGURATION, folder=tmp_path)) == compared(explore(CONFIGURATION))


def test_a_folder_of_something_else_is_refused(tmp_path: Path) -> None:
    explore(CONFIGURATION, folder=tmp_path, limits=Limits(states=500))
    assert json.loads((tmp_path / "search.json").read_text())["levels"][:3] == [1, 3, 6]
    with pytest.raises(FolderError, match="another machine, other constants or other properties"):
        explore(CONFIGURATION, ITEMS, folder=tmp_path)
    other = tmp_path / "other"
    other.mkdir()
    (other / "letter.txt").write_text("dear")
    with pytest.raises(FolderError, match="is not empty"):
        explore(CONFIGURATION, folder=other)
    with disk_search.alone_in(tmp_path), pytest.raises(FolderError, match="another process searches"):
        explore(CONFIGURATION, folder=tmp_path)
    with pytest.raises(FolderError, match=r"cannot write to .*letter.txt/sub: Not a directory; a search goes on"):
        explore(CONFIGURATION, folder=other / "letter.txt" / "sub")
    with pytest.raises(ModelError, match="does not stop when all is decided"):
        explore(CONFIGURATION, ITEMS, folder=tmp_path, stop_when_decided=True)


def test_a_full_disk_is_told_and_loses_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    explore(CONFIGURATION, folder=tmp_path, limits=Limits(states=2_000))
    with monkeypatch.context() as patch:
        patch.setattr(Path, "write_bytes", no_room)
        with pytest.raises(FolderError, match="No space left on device; a search goes on where it was"):
            explore(CONFIGURATION, folder=tmp_path)
    assert compared(explore(CONFIGURATION, folder=tmp_path)) == compared(explore(CONFIGURATION))


def no_room(path: Path, _: object) -> int:
    raise OSError(errno.ENOSPC, "No space left on device", str(path))


def test_a_write_outside_a_domain_is_told(tmp_path: Path) -> None:
    machine = counter(3)

    @machine.action(tells="{p} jumps")
    def jump(s: State, p: Place) -> None:
        s.require(s.number[p] == 2)
        s.number[p] += 2

    with pytest.raises(ModelError, match="jump"):
        explore(machine.configure(places=5), folder=tmp_path)


def test_sorted_states_are_sets() -> None:
    random = np.random.default_rng(7)
    some, others = (random.integers(0, 40, (3_000, 2)).astype(np.uint64) for _ in range(2))
    runs = []
    for words in (some, others):
        ordered, out = np.empty(len(words), np.uint64), np.empty_like(words)
        states.keys(words, ordered)
        ordered.sort()
        runs.append(out[: states.unique(words, ordered, out)].copy())
    sets = [{tuple(row) for row in words.tolist()} for words in (some, others)]
    assert [{tuple(row) for row in run.tolist()} for run in runs] == sets
    assert [len(run) for run in runs] == [len(one) for one in sets]
    merged = np.empty((sum(map(len, runs)), 2), np.uint64)
    count = states.merge(runs[0], runs[1], merged)
    assert ({tuple(row) for row in merged[:count].tolist()}, count) == (sets[0] | sets[1], len(sets[0] | sets[1]))
    left = runs[0][: states.subtract(runs[0], runs[1])]
    assert ({tuple(row) for row in left.tolist()}, len(left)) == (sets[0] - sets[1], len(sets[0] - sets[1]))

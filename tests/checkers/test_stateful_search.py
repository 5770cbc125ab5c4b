"""The engine ``stateful``: findings as short as the search's, the same for the same seed; nothing is not a proof."""

import importlib
import random
from pathlib import Path

import pytest

from benchmarks.stateful import became_of, findings, measure
from rocketproof.checkers.catalogue import preset_rows
from rocketproof.checkers.explore import explore
from rocketproof.checkers.stateful import stateful
from rocketproof.checkers.stateful_search import search_stateful
from rocketproof.checkers.suite import Options, run_suite
from rocketproof.model.examples import two_phase_commit
from rocketproof.model.kernel import ModelError
from rocketproof.model.long_polling import long_polling
from rocketproof.properties import examples
from rocketproof.properties.long_polling import arrives, at_once, wakes
from rocketproof.properties.property import Kind, Property
from rocketproof.properties.verdict import Verdict


def test_what_is_found_is_as_short_as_what_the_search_finds() -> None:
    rows = findings("long_polling")
    found = [outcome.result for outcome in run_suite(rows, Options(engine="stateful", runs=60))]
    searched = [outcome.result for outcome in run_suite(rows)]
    assert [item.verdict for item in found] == [Verdict.VIOLATED] * len(rows) == [Verdict.VIOLATED] * 2
    assert [item.run and len(item.run) for item in found] == [item.run and len(item.run) for item in searched] == [6, 6]


def test_the_benchmark_counts_what_is_as_short_as_what_the_search_finds() -> None:
    counted = {"findings": 2, "as short": 2, "longer": 0, "not found": 0, "share": 1.0}
    *_, machine, together = measure("long_polling")
    assert machine == {"figure": "long_polling", **counted}
    assert together.items() >= {"figure": "all", **counted}.items()
    assert [became_of(*lengths) for lengths in ((5, 5), (6, 5), (None, 5))] == ["as short", "longer", "not found"]


def test_runs_that_hypothesis_shrinks_to_longer_ones_become_as_short() -> None:
    forced = [row for row in findings("orderly_lock") if row.constants in ({"force": 1}, {"lock_losses": 1})]
    lengths = {
        f"{outcome.row.id} {outcome.row.configuration}": outcome.result.run and len(outcome.result.run)
        for outcome in run_suite(forced, Options(engine="stateful", runs=60))
    }
    assert lengths == {
        "one-listener-a-queue lock_losses=1": 5,
        "believed-lock-is-held lock_losses=1": 2,
        "one-listener-a-queue force=1": 9,
    }


def test_what_is_found_does_not_depend_on_the_modules_that_are_loaded(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def run() -> object:
        rows = [row for row in findings("orderly_lock") if row.constants == {"force": 1}]
        return [outcome.result.run for outcome in run_suite(rows, Options(engine="stateful", runs=20))]

    before = run()
    tmp_path.joinpath("numbers_of_a_user.py").write_text(f"NUMBERS = {list(range(20_000, 20_300))}")
    monkeypatch.syspath_prepend(tmp_path)
    importlib.import_module("numbers_of_a_user")
    assert run() == before


def test_a_run_goes_where_it_has_not_been_if_it_can() -> None:
    machine = stateful(long_polling.configure(), [wakes])
    run = machine()
    seen = {run.now}
    chance = random.Random(0)

    def draw(strategy: object) -> object:
        if strategy is not run.rarities and not run.taken and not drawn:
            drawn.append(strategy)
            return 3
        return [0] * len(run.actions) if strategy is run.rarities else chance.randrange(1 << 16)

    drawn: list[object] = []
    returns = 0
    for _ in range(60):
        new = {state for _, state in run.plain.successors(run.now)} - seen
        run.step(run.choose(draw))  # type: ignore[arg-type]
        assert (run.now in new) is bool(new)
        seen.add(run.now)
        returns += not new
    assert (len(seen), returns) == (24, 37)


def test_each_violated_property_is_found_and_the_others_are_unknown() -> None:
    found = search_stateful(long_polling.configure(), [at_once, wakes], runs=50)
    assert [item.verdict for item in found] == [Verdict.VIOLATED, Verdict.UNKNOWN]
    assert found[1].bounds == "not violated in 50 runs of up to 50 steps drawn by Hypothesis (seed 0)"


def test_the_same_seed_finds_the_same() -> None:
    consistent = Property(id="c", statement="", kind=Kind.ALWAYS, holds=examples.consistent.holds)
    configuration = two_phase_commit.machine.configure(impatient=1)
    (one,), (two,) = (search_stateful(configuration, [consistent], seed=3) for _ in range(2))
    assert one.run is not None
    assert two.run is not None
    assert one.run.steps == two.run.steps
    (shortest,) = explore(configuration, [consistent]).results
    assert shortest.run is not None
    assert len(one.run) == len(shortest.run) == 9


def test_out_of_time_is_said() -> None:
    (result,) = search_stateful(long_polling.configure(), [wakes], max_seconds=0)
    assert (result.verdict, result.bounds.endswith(", stopped after 0 seconds")) == (Verdict.UNKNOWN, True)


def test_whole_runs_are_not_judged() -> None:
    with pytest.raises(ModelError, match="is of kind eventually; stateful judges 'always' only"):
        search_stateful(long_polling.configure(), [arrives])


def test_a_preset_is_asked() -> None:
    outcomes = list(run_suite(preset_rows("broadcast"), Options(engine="stateful", runs=5, steps=20)))
    assert [outcome.unviolated for outcome in outcomes] == [True] * 4

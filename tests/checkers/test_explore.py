"""The exhaustive search: exact counts, shortest runs, limits, modelling errors."""

from typing import Any

import pytest

from rocketproof.checkers.exploration import NO_DEADLOCK, Limits, Progress
from rocketproof.checkers.explore import explore
from rocketproof.checkers.run import story
from rocketproof.checkers.search import plain_search
from rocketproof.model.examples import EXAMPLES, Sized, two_phase_commit
from rocketproof.model.kernel import Domain, Int, Machine, ModelError, State, lower
from rocketproof.model.kernel.plain import PlainMachine
from rocketproof.properties.examples import TWO_PHASE_COMMIT
from rocketproof.properties.property import Kind, Property
from rocketproof.properties.verdict import Verdict

SIZED = [
    pytest.param(sized, id=f"{name}-{short}")
    for name, example in EXAMPLES.items()
    for short, sized in example.configurations.items()
]


@pytest.fixture(autouse=True, params=["plain", "compiled"])
def form(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """What is said of small spaces is the same in both forms."""
    if request.param == "compiled":
        monkeypatch.setattr(plain_search, "MOST_STEPS", 0)


class Place(Domain, size="places", label="p"):
    pass


def counter(high: int, *, step: int = 1) -> Machine:
    machine = Machine("counter")
    machine.constant("places", 1, low=1)
    machine.variable("number", Int(0, high), Place)

    @machine.action(tells="{p} counts")
    def increase(s: State, p: Place) -> None:
        s.require(s.number[p] < high)
        s.number[p] += step

    return machine


def always(name: str, holds: Any) -> Property:
    return Property(id=name, statement=name, kind=Kind.ALWAYS, holds=holds)


def sometimes(name: str, holds: Any) -> Property:
    return Property(id=name, statement=name, kind=Kind.SOMETIMES, holds=holds)


@pytest.mark.smoke
@pytest.mark.parametrize("sized", SIZED)
def test_examples_have_exactly_the_known_size(sized: Sized) -> None:
    found = explore(sized.configuration, deadlocks=True, idle_actions_allowed=True)
    assert (found.states, found.transitions, found.depth) == (sized.states, sized.transitions, sized.depth)
    assert found.complete
    assert found.results[0].property == NO_DEADLOCK
    assert (found.results[0].verdict is Verdict.VIOLATED) == (sized.stuck > 0)


def test_counts_of_actions_add_up_to_the_transitions() -> None:
    found = explore(two_phase_commit.machine.configure(managers=3))
    assert sum(found.taken.values()) == found.transitions == 1145
    assert found.taken["commit"] == 1
    assert len(found.taken) == 3 * 5 + 2


def test_shortest_run_is_replayed_and_told() -> None:
    machine = counter(3)
    result = explore(machine.configure(places=2), [always("below", lambda s: s.number[0] + s.number[1] < 3)]).results[0]
    assert result.verdict is Verdict.VIOLATED
    assert result.run is not None
    assert len(result.run) == 3
    assert story(result.run) == (
        "start: everything at its lowest value\n"
        "1. p0 counts\n"
        "     number[p0]: 0 → 1\n"
        "2. p0 counts\n"
        "     number[p0]: 1 → 2\n"
        "3. p0 counts\n"
        "     number[p0]: 2 → 3"
    )


def test_the_initial_state_is_judged_too() -> None:
    result = explore(counter(1).configure(), [always("moved", lambda s: s.number[0] > 0)]).results[0]
    assert (result.verdict, len(result.run or ())) == (Verdict.VIOLATED, 0)


@pytest.mark.parametrize(
    ("item", "verdict"),
    [
        (always("small", lambda s: s.number[0] <= 5), Verdict.HOLDS),
        (always("smaller", lambda s: s.number[0] < 5), Verdict.VIOLATED),
        (sometimes("full", lambda s: s.number[0] == 5), Verdict.HOLDS),
        (sometimes("fuller", lambda s: s.number[0] == 6), Verdict.VIOLATED),
    ],
)
def test_verdicts_of_a_complete_search(item: Property, verdict: Verdict) -> None:
    assert explore(counter(5).configure(), [item]).results[0].verdict is verdict


def test_a_limit_leaves_what_was_not_found_unknown_and_says_which() -> None:
    configuration = counter(200).configure(places=3)
    items = [
        always("near", lambda s: s.number[0] < 2),
        always("far", lambda s: s.number[0] < 200),
        sometimes("end", lambda s: s.number[0] == 200),
    ]
    found = explore(configuration, items, limits=Limits(states=1000), deadlocks=True)
    assert [result.verdict for result in found.results] == [
        Verdict.VIOLATED,
        Verdict.UNKNOWN,
        Verdict.UNKNOWN,
        Verdict.UNKNOWN,
    ]
    assert not found.complete
    assert "limit of 1,000 states" in found.results[1].bounds


def test_memory_and_time_limits_are_named() -> None:
    configuration = counter(200).configure(places=3)
    nothing = always("fine", lambda s: s.number[0] >= 0)
    small = explore(configuration, [nothing], limits=Limits(bytes=100_000)).results[0]
    assert (small.verdict, "memory limit" in small.bounds) == (Verdict.UNKNOWN, True)
    short = explore(configuration, [nothing], limits=Limits(seconds=0)).results[0]
    assert (short.verdict, "time limit of 0 s" in short.bounds) == (Verdict.UNKNOWN, True)


def test_stops_when_everything_is_decided() -> None:
    item = sometimes("one", lambda s: s.number[0] == 1)
    found = explore(counter(200).configure(places=3), [item], stop_when_decided=True)
    assert found.results[0].verdict is Verdict.HOLDS
    assert found.states < 1000
    assert not found.complete


def test_a_state_where_the_machine_may_end_is_no_deadlock() -> None:
    configuration = counter(5).configure()
    stuck = explore(configuration, deadlocks=True).results[0]
    assert (stuck.verdict, len(stuck.run or ())) == (Verdict.VIOLATED, 5)
    ended = explore(configuration, deadlocks=True, may_end=lambda s: s.number[0] == 5).results[0]
    assert ended.verdict is Verdict.HOLDS


def test_progress_is_shown_while_searching() -> None:
    seen: list[Progress] = []
    found = explore(counter(100).configure(places=3), progress=seen.append)
    assert found.states == 101**3
    assert [item.states for item in seen] == sorted(item.states for item in seen)
    assert len(seen) == 7


def test_two_words_and_growing_tables_count_the_same() -> None:
    # 9 places of 8 bits do not fit one word; the index grows several times on the way.
    found = explore(counter(3).configure(places=9))
    assert found.states == 4**9
    assert found.transitions == 9 * 3 * 4**8
    assert found.depth == 27


def test_a_write_outside_the_domain_names_action_variable_and_value() -> None:
    with pytest.raises(ModelError, match=r"counter, action increase\(p0\): writes 6 to number\[p0\], allowed is 0…5"):
        explore(counter(5, step=3).configure())


def test_an_action_that_is_never_enabled_is_named() -> None:
    machine = counter(5)

    @machine.action
    def overflow(s: State) -> None:
        s.require(s.exists(Place, lambda p: s.number[p] * s.number[p] == 7))
        s.number[0] = 0

    with pytest.raises(ModelError, match="action overflow is never enabled in any of the 6 states"):
        explore(machine.configure())
    assert explore(machine.configure(), idle_actions_allowed=True).idle_actions == ("overflow",)


def test_an_unbounded_variable_cannot_be_searched() -> None:
    machine = Machine("endless")
    machine.variable("number", Int(0))

    @machine.action
    def increase(s: State) -> None:
        s.number += 1

    with pytest.raises(ModelError, match=r"variable number has no upper bound.*'prove'"):
        explore(machine.configure())


def test_other_kinds_of_properties_are_refused() -> None:
    item = Property(id="soon", statement="soon", kind=Kind.EVENTUALLY, holds=lambda s: s.number[0] == 5)
    with pytest.raises(ModelError, match="soon is of kind eventually; explore judges"):
        explore(counter(5).configure(), [item])


def test_agrees_with_a_search_in_plain_python() -> None:
    configuration = two_phase_commit.machine.configure(managers=2, impatient=1)
    plain = PlainMachine(lower(configuration, {item.id: item.holds for item in TWO_PHASE_COMMIT}))
    depth_of = {plain.initial: 0}
    queue = [plain.initial]
    for state in queue:
        for _, following in plain.successors(state):
            if following not in depth_of:
                depth_of[following] = depth_of[state] + 1
                queue.append(following)
    found = explore(configuration, TWO_PHASE_COMMIT)
    assert found.states == len(depth_of)
    assert found.depth == max(depth_of.values())
    for item, result in zip(TWO_PHASE_COMMIT, found.results, strict=True):
        wanted = item.kind is Kind.SOMETIMES
        hits = [depth for state, depth in depth_of.items() if plain.holds(item.id, state) is wanted]
        assert (result.run is None) == (not hits)
        if result.run is not None:
            assert len(result.run) == min(hits)

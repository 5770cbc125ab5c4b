"""What must happen sooner or later, judged on small machines with exact lassos."""

from __future__ import annotations

from dataclasses import replace
from enum import IntEnum
from typing import Any, Literal

import pytest

from rocketproof.checkers.exploration import NO_LIMITS, Limits
from rocketproof.checkers.liveness import check_all_eventually, check_eventually, require_counterexample
from rocketproof.checkers.result import Result
from rocketproof.checkers.run import Run, replay, story
from rocketproof.model.examples import bounded_buffer, dining_philosophers, peterson
from rocketproof.model.kernel import (
    UNBOUNDED,
    BoolLike,
    Domain,
    Int,
    Machine,
    ModelError,
    Predicate,
    State,
    lower,
    not_,
)
from rocketproof.model.kernel.plain import PlainMachine
from rocketproof.properties import examples
from rocketproof.properties.property import Kind, Property
from rocketproof.properties.verdict import Verdict


class Process(Domain, size="processes", label="p"):
    """Processes that share a lock."""


class Place(IntEnum):
    """Where a process is."""

    IDLE = 0
    WAITING = 1
    INSIDE = 2


def lock(*, enter_is_fair: bool | Literal["strongly"] = True) -> Machine:
    """A lock that anyone who waits may take when it is free."""
    machine = Machine("lock")
    machine.constant("processes", 2, low=1)
    machine.variable("place", Place, Process)
    machine.variable("free", bool, init=True)

    @machine.action
    def want(s: State, p: Process) -> None:
        s.require(s.place[p] == Place.IDLE)
        s.place[p] = Place.WAITING

    @machine.action(fair=enter_is_fair)
    def enter(s: State, p: Process) -> None:
        s.require(s.place[p] == Place.WAITING, s.free)
        s.place[p] = Place.INSIDE
        s.free = False

    @machine.action(fair=True)
    def leave(s: State, p: Process) -> None:
        s.require(s.place[p] == Place.INSIDE)
        s.place[p] = Place.IDLE
        s.free = True

    return machine


def clock(*, finish_at: tuple[int, ...], ticks_are_fair: bool = False) -> Machine:
    """A clock of two hours that ticks for ever; the work can be finished at some of them."""
    machine = Machine("clock")
    machine.variable("hour", Int(0, 1))
    machine.variable("finished", bool)

    @machine.action(fair=ticks_are_fair)
    def tick(s: State) -> None:
        s.hour = 1 - s.hour

    @machine.action(fair=True)
    def finish(s: State) -> None:
        s.require(not_(s.finished))
        if len(finish_at) == 1:
            s.require(s.hour == finish_at[0])
        s.finished = True

    return machine


def unfair(machine: Machine, *names: str) -> Machine:
    """The machine without the fairness of some actions."""
    other = Machine(machine.name, machine.doc).include(machine)
    for name in names:
        assert other.actions[name].fair
        other.actions[name] = replace(other.actions[name], fair=False)
    return other


def settles(machine: Machine, goal: Predicate, limits: Limits = NO_LIMITS) -> Result:
    item = Property(id="settled", statement="It settles.", kind=Kind.SETTLES, holds=goal)
    return check_eventually(machine.configure(), item, limits=limits)


def check(
    machine: Machine,
    goal: Predicate,
    after: Predicate | None = None,
    limits: Limits = NO_LIMITS,
    **constants: Any,
) -> Result:
    item = Property(id="progress", statement="It goes on.", kind=Kind.EVENTUALLY, holds=goal, after=after)
    return check_eventually(machine.configure(**constants), item, limits=limits)


def labels(run: Run | None) -> tuple[list[str], list[str]]:
    """The steps of a lasso by name: before its loop, and in it."""
    assert run is not None
    steps = [run.lowered.instances[number].label for number in run.steps]
    assert run.loop is not None
    return steps[: run.loop], steps[run.loop :]


def first_inside(s: State) -> Any:
    return s.place[0] == Place.INSIDE


def first_waits(s: State) -> Any:
    return s.place[0] == Place.WAITING


def somebody_inside(s: State) -> Any:
    return s.exists(Process, lambda p: s.place[p] == Place.INSIDE)


def somebody_waits(s: State) -> Any:
    return s.exists(Process, lambda p: s.place[p] == Place.WAITING)


def finished(s: State) -> Any:
    return s.finished


def test_peterson_lets_everyone_in_thanks_to_fairness() -> None:
    result = check(peterson.machine, examples.first_gets_in.holds, peterson.first_wants)
    assert (result.verdict, result.engine, result.property, result.run) == (Verdict.HOLDS, "liveness", "progress", None)
    assert result.bounds == "all 20 states, 34 transitions, depth 6"
    assert result.explanation == "Assumes weak fairness of give_turn_second, enter, leave."
    assert result.figures == {"states": 20, "transitions": 34, "depth": 6, "complete": True, "fair_instances": 6}


@pytest.mark.parametrize(
    ("action", "stem"),
    [
        ("give_turn_second", ["raise_flag_first(p0)"]),
        ("enter", ["raise_flag_first(p0)", "give_turn_second(p0)"]),
        (
            "leave",
            [
                "raise_flag_first(p0)",
                "raise_flag_first(p1)",
                "give_turn_second(p1)",
                "give_turn_second(p0)",
                "enter(p1)",
            ],
        ),
    ],
)
def test_without_the_fairness_of_any_one_action_peterson_stops_on_the_way(action: str, stem: list[str]) -> None:
    result = check(unfair(peterson.machine, action), examples.first_gets_in.holds, peterson.first_wants)
    assert result.verdict is Verdict.VIOLATED
    assert labels(result.run)[1] == []
    assert sorted(labels(result.run)[0]) == sorted(stem)
    many = "1 step" if len(stem) == 1 else f"{len(stem)} steps"
    assert result.bounds == f"{many}, then nothing more; searched all 20 states, 34 transitions, depth 6"


def test_a_lock_without_turns_lets_somebody_in_but_not_everybody() -> None:
    assert check(lock(), somebody_inside, somebody_waits, processes=3).verdict is Verdict.HOLDS
    result = check(lock(), first_inside, first_waits)
    assert result.verdict is Verdict.VIOLATED
    assert labels(result.run) == (["want(p0)"], ["want(p1)", "enter(p1)", "leave(p1)"])
    assert result.bounds == "1 step, then a loop of 3; searched all 8 states, 14 transitions, depth 3"


def test_alone_with_the_lock_one_gets_in() -> None:
    assert check(lock(), first_inside, first_waits, processes=1).verdict is Verdict.HOLDS
    # Each time the lock is given back it could be the turn of the first one.
    result = check(lock(enter_is_fair="strongly"), first_inside, first_waits, processes=3)
    assert result.verdict is Verdict.HOLDS
    assert result.explanation == "Assumes weak fairness of leave and strong fairness of enter."
    # It need not want to: from the initial state on nothing is owed by anybody.
    result = check(lock(), first_inside, processes=1)
    assert labels(result.run) == ([], [])
    assert result.bounds == "0 steps, then nothing more; searched all 3 states, 2 transitions, depth 2 up to the goal"


def test_weak_fairness_is_not_strong_fairness() -> None:
    assert check(clock(finish_at=(0, 1)), finished).verdict is Verdict.HOLDS
    # A clock that may stop at the wrong hour; one that never stops, so that the right hour comes and goes.
    assert labels(check(clock(finish_at=(0,)), finished).run) == (["tick"], [])
    result = check(clock(finish_at=(0,), ticks_are_fair=True), finished)
    assert result.verdict is Verdict.VIOLATED
    assert labels(result.run) == ([], ["tick", "tick"])


def _somebody_holds_one(s: dining_philosophers.DiningPhilosophers) -> BoolLike:
    return s.exists(dining_philosophers.Philosopher, lambda p: s.mood[p] == dining_philosophers.Mood.ONE_FORK)


def test_a_deadlock_denies_everything() -> None:
    goal, after = examples.somebody_eats.holds, _somebody_holds_one
    result = check(dining_philosophers.machine, goal, after)
    assert result.verdict is Verdict.VIOLATED
    stem, loop = labels(result.run)
    assert (len(stem), loop) == (6, [])
    assert result.run is not None
    assert PlainMachine(result.run.lowered).enabled(result.run.states[-1]) == []
    assert check(dining_philosophers.machine, goal, after, order="last_reversed").verdict is Verdict.HOLDS


def test_the_goal_may_be_left_again_unless_it_is_owed_again() -> None:
    machine = clock(finish_at=(0, 1), ticks_are_fair=True)
    assert check(machine, lambda s: s.hour == 1).verdict is Verdict.HOLDS
    assert check(machine, lambda s: s.hour == 1, lambda s: s.finished).verdict is Verdict.HOLDS
    result = check(machine, lambda s: not_(s.finished), lambda s: s.hour == 1)
    assert labels(result.run) == (["tick", "finish"], ["tick", "tick"])


def test_what_settles_stays_as_it_is_from_some_point_on() -> None:
    result = settles(clock(finish_at=(0, 1)), finished)
    assert (result.verdict, result.bounds) == (Verdict.HOLDS, "all 4 states, 6 transitions, depth 2")
    # It can be put off for ever, and what comes and goes never settles though it always comes.
    assert labels(settles(unfair(clock(finish_at=(0, 1)), "finish"), finished).run) == ([], [])
    result = settles(clock(finish_at=(0, 1), ticks_are_fair=True), lambda s: s.hour == 0)
    assert result.verdict is Verdict.VIOLATED
    assert labels(result.run) == (["finish"], ["tick", "tick"])
    # A clock that may stop at the wrong hour need not go round.
    result = settles(clock(finish_at=(0, 1)), lambda s: s.hour == 0)
    assert labels(result.run) == (["tick", "finish"], [])
    assert settles(clock(finish_at=(0, 1)), finished, Limits(states=3)).verdict is Verdict.UNKNOWN


def test_a_goal_that_is_never_owed_is_said_to_say_nothing() -> None:
    result = check(lock(), first_inside, lambda s: s.count(Process, lambda p: s.place[p] == Place.INSIDE) == 2)
    assert result.verdict is Verdict.HOLDS
    assert result.explanation == "No reachable state owes the goal: the property says nothing about this configuration."
    assert check(clock(finish_at=(0, 1)), lambda s: s.hour == 0).explanation == "Assumes weak fairness of finish."
    nobody = unfair(clock(finish_at=(0, 1)), "finish")
    assert check(nobody, lambda s: s.hour == 0).explanation == "Assumes no fairness."


@pytest.mark.parametrize(
    ("limits", "bounds", "explanation"),
    [
        (
            Limits(states=20),
            "limit of 20 states reached: 20 states, 30 transitions, depth 3",
            "10 of the 20 states found were not followed.",
        ),
        (
            Limits(states=41),
            "limit of 41 states reached: 41 states, 87 transitions, depth 6",
            "8 of the 41 states found were not followed.",
        ),
        (
            Limits(seconds=0),
            "time limit of 0 s reached: 1 states, 0 transitions, depth 0",
            "1 of the 1 states found were not followed.",
        ),
    ],
)
def test_a_limit_leaves_the_question_open(limits: Limits, bounds: str, explanation: str) -> None:
    goal, after = examples.somebody_eats.holds, _somebody_holds_one
    result = check(dining_philosophers.machine, goal, after, limits, order="last_reversed")
    assert (result.verdict, result.bounds, result.explanation) == (Verdict.UNKNOWN, bounds, explanation)
    assert result.figures["complete"] is False
    whole = check(dining_philosophers.machine, goal, after, Limits(states=42), order="last_reversed")
    assert whole.verdict is Verdict.HOLDS


def test_a_violation_found_before_the_limit_stands() -> None:
    goal, after = examples.first_eats.holds, dining_philosophers.first_hungry
    result = check(dining_philosophers.machine, goal, after, Limits(states=44))
    assert result.verdict is Verdict.VIOLATED
    assert result.bounds.startswith("1 step, then a loop of 4; searched limit of 44 states reached: 44 states")


def test_only_what_comes_before_the_goal_is_searched() -> None:
    def something_written(s: State) -> Any:
        return s.written == 1

    result = check(bounded_buffer.machine, something_written, goods=6)
    assert (result.verdict, result.bounds) == (
        Verdict.HOLDS,
        "all 2 states, 1 transitions, depth 1 up to the goal",
    )
    result = check(unfair(bounded_buffer.machine, "write"), something_written, goods=6)
    assert labels(result.run) == ([], [])


def test_the_story_of_a_loop() -> None:
    result = check(dining_philosophers.machine, examples.first_eats.holds, dining_philosophers.first_hungry)
    assert result.run is not None
    assert story(result.run) == (
        "start: everything at its lowest value\n"
        "1. p0 becomes hungry\n"
        "     mood[p0]: THINKING → HUNGRY\n"
        "from here on the run repeats for ever:\n"
        "2. p2 becomes hungry\n"
        "     mood[p2]: THINKING → HUNGRY\n"
        "3. p2 takes one fork\n"
        "     mood[p2]: HUNGRY → ONE_FORK\n"
        "     taken[p2]: false → true\n"
        "4. p2 takes the other fork and eats\n"
        "     mood[p2]: ONE_FORK → EATING\n"
        "     taken[p0]: false → true\n"
        "5. p2 puts both forks back\n"
        "     mood[p2]: EATING → THINKING\n"
        "     taken[p0]: true → false\n"
        "     taken[p2]: true → false"
    )


def test_the_story_of_a_run_that_stops() -> None:
    result = check(clock(finish_at=(0,)), finished)
    assert result.run is not None
    assert story(result.run) == (
        "start: everything at its lowest value\n"
        "1. tick\n"
        "     hour: 0 → 1\n"
        "and nothing that must happen can: the run stays here for ever."
    )


def clock_run(*steps: str, loop: int, after: Predicate | None) -> tuple[PlainMachine, Run]:
    predicates = {"goal": finished} | ({"after": after} if after is not None else {})
    machine = PlainMachine(lower(clock(finish_at=(1,), ticks_are_fair=True).configure(), predicates))
    return machine, replay(machine, [("tick", "finish").index(step) for step in steps], loop=loop)


def test_counterexamples_are_judged_in_the_plain_form() -> None:
    refused = pytest.raises(ModelError, match="the run does not violate the property; the engine that made it is wrong")
    require_counterexample(*clock_run("tick", "tick", loop=0, after=None), Kind.EVENTUALLY)
    require_counterexample(*clock_run("tick", "tick", loop=0, after=lambda s: s.hour == 1), Kind.EVENTUALLY)
    require_counterexample(*clock_run("tick", "tick", loop=0, after=None), Kind.SETTLES)
    # The goal is reached; it is reached and not owed any more; it is never owed; it is reached and stays.
    done = ("tick", "finish", "tick", "tick")
    with refused:
        require_counterexample(*clock_run(*done, loop=2, after=None), Kind.EVENTUALLY)
    with refused:
        require_counterexample(*clock_run(*done, loop=2, after=lambda s: s.hour == 0), Kind.EVENTUALLY)
    with refused:
        require_counterexample(*clock_run("tick", "tick", loop=0, after=finished), Kind.EVENTUALLY)
    with refused:
        require_counterexample(*clock_run(*done, loop=2, after=None), Kind.SETTLES)
    with pytest.raises(ModelError, match="not weakly fair: tick, finish could happen"):
        require_counterexample(*clock_run("tick", loop=1, after=None), Kind.EVENTUALLY)


def test_what_is_owed_in_a_loop_may_be_reached_the_next_time_round() -> None:
    machine = Machine("round")
    machine.variable("hour", Int(0, 2))

    @machine.action(fair=True)
    def tick(s: State) -> None:
        s.hour = (s.hour + 1) % 3

    predicates: dict[str, Predicate] = {"goal": lambda s: s.hour == 1, "after": lambda s: s.hour == 2}
    plain = PlainMachine(lower(machine.configure(), predicates))
    with pytest.raises(ModelError, match="the run does not violate the property"):
        require_counterexample(plain, replay(plain, [0, 0, 0], loop=0), Kind.EVENTUALLY)
    assert check(machine, predicates["goal"], predicates["after"]).verdict is Verdict.HOLDS


def test_questions_that_cannot_be_answered() -> None:
    always = Property(id="safe", statement="It is safe.", kind=Kind.ALWAYS, holds=finished)
    with pytest.raises(
        ModelError, match="property safe is of kind always; liveness judges 'eventually' and 'settles' only"
    ):
        check_eventually(clock(finish_at=(0, 1)).configure(), always)
    with pytest.raises(ModelError, match="needs a finite configuration"):
        check(lock(), lambda s: s.free, processes=UNBOUNDED)


def test_several_properties_share_one_search_and_get_the_same_answers() -> None:
    properties = [
        Property(id="inside", statement="", kind=Kind.EVENTUALLY, holds=lambda s: s.place[0] == Place.INSIDE),
        Property(
            id="served",
            statement="",
            kind=Kind.EVENTUALLY,
            after=lambda s: s.place[0] == Place.WAITING,
            holds=lambda s: s.place[0] == Place.INSIDE,
        ),
        Property(id="free-at-last", statement="", kind=Kind.SETTLES, holds=lambda s: s.free),
        Property(
            id="left",
            statement="",
            kind=Kind.EVENTUALLY,
            after=lambda s: s.place[0] == Place.INSIDE,
            holds=lambda s: s.place[0] == Place.IDLE,
        ),
    ]
    together = check_all_eventually(lock().configure(), properties)
    alone = [check_eventually(lock().configure(), item) for item in properties]

    def told(results: list[Result]) -> list[tuple[str, Verdict, str]]:
        return [(item.property, item.verdict, story(item.run) if item.run else "") for item in results]

    assert told(together) == told(alone)
    assert [result.verdict for result in together] == [
        Verdict.VIOLATED,
        Verdict.VIOLATED,
        Verdict.VIOLATED,
        Verdict.HOLDS,
    ]
    assert {result.figures["states"] for result in together} == {8}
    limited = check_all_eventually(lock().configure(), properties, limits=Limits(states=2))
    assert [result.verdict for result in limited] == [Verdict.UNKNOWN] * 4

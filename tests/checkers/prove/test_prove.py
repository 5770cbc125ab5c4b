"""Proofs, k-induction and bounded search: exact verdicts, depths and texts, for finite and unbounded configurations."""

from collections.abc import Callable
from dataclasses import replace
from enum import IntEnum
from typing import Any

import pytest

from rocketproof.checkers.prove import bounded, k_induction, methods, prove, prove_inductive, prove_together
from rocketproof.checkers.prove.lemmas import find_lemmas
from rocketproof.checkers.prove.solving import WORK, Effort
from rocketproof.checkers.result import Result
from rocketproof.checkers.run import replay
from rocketproof.model.examples import two_phase_commit
from rocketproof.model.examples.two_phase_commit import Decision, Manager, Stage
from rocketproof.model.kernel import (
    UNBOUNDED,
    BoolLike,
    Configuration,
    Domain,
    Int,
    Machine,
    ModelError,
    SetOf,
    State,
    all_of,
    any_of,
    implies,
    maximum,
    not_,
    same,
)
from rocketproof.model.kernel.plain import PlainMachine
from rocketproof.properties import examples
from rocketproof.properties.examples import EXPECTED, Claim
from rocketproof.properties.property import Kind, Property
from rocketproof.properties.verdict import Verdict


def always(name: str, holds: Callable[[Any], BoolLike]) -> Property:
    return Property(id=name, statement=name, kind=Kind.ALWAYS, holds=holds)


def sometimes(name: str, holds: Callable[[Any], BoolLike]) -> Property:
    return Property(id=name, statement=name, kind=Kind.SOMETIMES, holds=holds)


def labels(result: Result) -> list[str]:
    """The steps of the run of a result, taken once more in the plain Python form."""
    assert result.run is not None
    assert replay(PlainMachine(result.run.lowered), result.run.steps) == result.run
    return [result.run.lowered.instances[number].label for number in result.run.steps]


def unproven(result: Result) -> list[str]:
    """The first words of each line of an explanation: the action and what it is not shown to do."""
    return [line.partition(";")[0].partition(":")[0] for line in result.explanation.splitlines()]


# --- two-phase commit ---------------------------------------------------------------------------------------------

CONSISTENT = always("consistent", examples.consistent.holds)


def decision_is_sent(s: State) -> BoolLike:
    commit, abort = s.decision == Decision.COMMIT, s.decision == Decision.ABORT
    return all_of(same(s.commit_sent, commit), same(s.abort_sent, abort))


def commit_was_sent(s: State) -> BoolLike:
    return s.forall(Manager, lambda r: implies(s.stage[r] == Stage.COMMITTED, s.commit_sent))


def ready_was_sent(s: State) -> BoolLike:
    return s.forall(Manager, lambda r: implies(s.ready.has(r), s.prepared_sent.has(r)))


def commit_needs_all(s: State) -> BoolLike:
    return implies(s.commit_sent, s.forall(Manager, lambda r: s.ready.has(r)))


def promise(s: State) -> BoolLike:
    kept = lambda r: all_of(  # noqa: E731
        s.stage[r] != Stage.WORKING, implies(s.stage[r] == Stage.ABORTED, s.abort_sent)
    )
    return s.forall(Manager, lambda r: implies(s.prepared_sent.has(r), kept(r)))


LEMMAS = tuple(
    always(text.__name__, text)
    for text in (decision_is_sent, commit_was_sent, ready_was_sent, commit_needs_all, promise)
)


@pytest.mark.parametrize(
    ("managers", "bounds"),
    [
        (3, "all runs; inductive together with 5 lemmas"),
        (UNBOUNDED, "all runs, for all managers ≥ 1; inductive together with 5 lemmas"),
    ],
)
def test_two_phase_commit_is_proven_with_lemmas(managers: int | str, bounds: str) -> None:
    result = prove_inductive(two_phase_commit.machine.configure(managers=managers), CONSISTENT, lemmas=LEMMAS)
    assert (result.verdict, result.bounds, result.figures["k"]) == (Verdict.HOLDS, bounds, 1)
    assert (result.run, result.explanation) == (None, "")


def test_a_gap_names_each_action_that_breaks_the_induction() -> None:
    configuration = two_phase_commit.machine.configure(managers=2)
    result = prove_inductive(configuration, CONSISTENT, lemmas=LEMMAS[:-1])
    assert (result.verdict, result.run) == (Verdict.UNKNOWN, None)
    assert result.bounds == "not shown inductive; no violation in the initial state"
    assert unproven(result) == [
        f"{action}(r{number}) is not shown to preserve 'consistent'"
        for action in ("choose_to_abort", "hear_commit")
        for number in (0, 1)
    ]
    assert result.explanation.splitlines()[0].endswith(
        "it may happen (if reachable) in: stage[r1]=COMMITTED, decision=COMMIT, ready[r0]=true, ready[r1]=true, "
        "prepared_sent[r0]=true, prepared_sent[r1]=true, commit_sent=true"
    )


def test_an_unbounded_gap_is_explained_with_small_numbers() -> None:
    configuration = two_phase_commit.machine.configure(managers=UNBOUNDED)
    result = prove_inductive(configuration, CONSISTENT, lemmas=LEMMAS[:-1], work=8_000_000)
    assert result.verdict is Verdict.UNKNOWN
    found = {name.replace("(any r)", "").split()[0] for name in unproven(result) if name.endswith("'consistent'")}
    assert found == {"choose_to_abort", "hear_commit"}


def test_with_impatient_managers_any_number_is_too_many() -> None:
    configuration = two_phase_commit.machine.configure(managers=UNBOUNDED, impatient=1)
    result = prove(configuration, CONSISTENT, lemmas=LEMMAS)
    assert result.verdict is Verdict.VIOLATED
    assert result.bounds == (
        "counterexample of 7 steps, none shorter; found for two_phase_commit(managers=2, impatient=1)"
    )
    assert sorted(label.partition("(")[0] for label in labels(result)) == [
        "commit",
        "give_up",
        "hear_commit",
        "hear_prepared",
        "hear_prepared",
        "prepare",
        "prepare",
    ]


@pytest.mark.parametrize(("mistake", "steps"), [("hears nothing", 2), ("asks nobody", 3)])
def test_a_mistake_in_two_phase_commit_is_found_by_its_shortest_run(mistake: str, steps: int) -> None:
    machine = Machine("hasty_commit").include(two_phase_commit.machine)
    if mistake == "hears nothing":

        def hasty(s: State, r: Manager) -> None:
            s.stage[r] = Stage.COMMITTED

        replaced = "hear_commit"
    else:

        def hasty(s: State) -> None:
            s.require(s.decision == Decision.OPEN)
            s.decision = Decision.COMMIT
            s.commit_sent = True

        replaced = "commit"
    machine.actions[replaced] = replace(machine.actions[replaced], function=hasty)
    shorter = bounded(machine.configure(managers=3), CONSISTENT, depth=steps - 1)
    assert (shorter.verdict, shorter.bounds) == (
        Verdict.UNKNOWN,
        f"no violation in the first {steps - 1} step{'s' if steps > 2 else ''}",
    )
    found = bounded(machine.configure(managers=3), CONSISTENT, depth=steps)
    assert (found.verdict, found.bounds) == (Verdict.VIOLATED, f"counterexample of {steps} steps, none shorter")
    assert len(labels(found)) == steps
    assert prove(machine.configure(managers=3), CONSISTENT, lemmas=LEMMAS).verdict is Verdict.VIOLATED


# --- the examples that all engines share --------------------------------------------------------------------------

JUDGED = [
    pytest.param(expected.sized.configuration, claim, id=f"{expected.name}/{claim.property.id}")
    for expected in EXPECTED
    for claim in expected.claims
    if claim.property.kind is not Kind.EVENTUALLY
]
# Remainders keep these from the fast solver; without a short run they take long.
HARD = ("bounded_buffer/long", "bounded_buffer/everything", "bounded_buffer/losing")


@pytest.mark.parametrize(("configuration", "claim"), [case for case in JUDGED if case.values[1].steps is not None])
def test_the_shortest_runs_of_the_examples_are_found(configuration: Configuration, claim: Claim) -> None:
    assert claim.steps is not None
    result = bounded(configuration, claim.property, depth=claim.steps)
    assert (result.verdict, len(labels(result))) == (claim.verdict, claim.steps)
    assert bounded(configuration, claim.property, depth=claim.steps - 1).verdict is Verdict.UNKNOWN


@pytest.mark.parametrize(
    ("configuration", "claim"),
    [case for case in JUDGED if case.values[1].steps is None and not str(case.id).startswith(HARD)],
)
def test_nothing_is_claimed_against_the_truth(configuration: Configuration, claim: Claim) -> None:
    result = proven(configuration, claim.property)
    assert result.verdict in (claim.verdict, Verdict.UNKNOWN)
    assert result.run is None


ANSWERS: dict[str, Result] = {}


def proven(configuration: Configuration, property: Property) -> Result:
    """What is said of one property, asked once for both tests."""
    asked = f"{configuration} {property.id}"
    if asked not in ANSWERS:
        ANSWERS[asked] = prove(configuration, property, search_depth=8)
    return ANSWERS[asked]


def test_what_the_examples_allow_to_be_proven_is_proven() -> None:
    decided = {
        str(case.id)
        for case in JUDGED
        if case.values[1].steps is None and not str(case.id).startswith(HARD)
        if proven(case.values[0], case.values[1].property).verdict is not Verdict.UNKNOWN
    }
    assert decided == {
        "two_phase_commit/one/consistent",
        "two_phase_commit/one/mixed",
        "two_phase_commit/two/consistent",
        "two_phase_commit/three/consistent",
        "bounded_buffer/small/balanced",
        "bounded_buffer/small/in-order",
        "bounded_buffer/small/complete",
        "bounded_buffer/overwriting/balanced",
        "bounded_buffer/overwriting/in-order",
    }


# --- lemmas that are found ---------------------------------------------------------------------------------------


def test_the_lemmas_of_two_phase_commit_are_found_for_any_number_of_managers_and_can_be_kept() -> None:
    configuration = two_phase_commit.machine.configure(managers=UNBOUNDED)
    result = prove(configuration, CONSISTENT)
    assert result.verdict is Verdict.HOLDS
    assert result.bounds == "all runs, for all managers ≥ 1; inductive together with 16 lemmas"
    head, *found = result.explanation.splitlines()
    assert head == "lemmas that were found, each with its predicate, to be kept:"
    assert "    Always stage[r] is not COMMITTED, or decision is COMMIT." in found
    assert found[1::2][0].startswith("        lambda s: s.forall(Manager, lambda r: any_of(s.stage[r] != Stage.")
    names = {**vars(two_phase_commit), "any_of": any_of, "not_": not_}
    kept = [always(f"kept {number}", eval(text, names)) for number, text in enumerate(found[1::2])]
    again = prove_inductive(configuration, CONSISTENT, lemmas=kept)
    assert (again.verdict, again.bounds) == (Verdict.HOLDS, result.bounds)


def test_no_lemma_is_looked_for_where_a_small_case_contradicts_the_property() -> None:
    configuration = two_phase_commit.machine.configure(managers=UNBOUNDED, impatient=1)
    assert find_lemmas(configuration, CONSISTENT, Effort(WORK)) == []


def test_a_lemma_search_without_work_finds_none() -> None:
    configuration = two_phase_commit.machine.configure(managers=2)
    assert find_lemmas(configuration, CONSISTENT, Effort(1)) == []


# --- k-induction --------------------------------------------------------------------------------------------------


def cycle(*, idle: bool) -> Configuration:
    """0 → 1 → 2 → 0, and out of reach 5 → 6 → 7."""
    machine = Machine("cycle")
    machine.variable("x", Int(0, 7))

    @machine.action
    def go_round(s: State) -> None:
        s.require(s.x < 3)
        s.x = (s.x + 1) % 3

    @machine.action
    def go_astray(s: State) -> None:
        s.require(s.x >= 5, s.x < 7)
        s.x = s.x + 1

    if idle:

        @machine.action
        def stay(s: State) -> None:
            s.x = s.x + 0

    return machine.configure()


NEVER_SEVEN = always("never-seven", lambda s: s.x != 7)


def test_k_induction_needs_as_many_states_as_the_longest_way_astray() -> None:
    assert prove_inductive(cycle(idle=False), NEVER_SEVEN).explanation == (
        "go_astray is not shown to preserve 'never-seven'; it may happen (if reachable) in: x=6"
    )
    two = k_induction(cycle(idle=False), NEVER_SEVEN, depth=2)
    assert (two.verdict, two.bounds) == (
        Verdict.UNKNOWN,
        "not shown k-inductive for k up to 2; no violation in the first 1 step",
    )
    three = k_induction(cycle(idle=False), NEVER_SEVEN, depth=5)
    assert (three.verdict, three.bounds, three.figures["k"]) == (Verdict.HOLDS, "all runs; 3-inductive", 3)


def test_a_machine_that_may_idle_needs_different_states() -> None:
    assert k_induction(cycle(idle=True), NEVER_SEVEN, depth=5).verdict is Verdict.UNKNOWN
    different = k_induction(cycle(idle=True), NEVER_SEVEN, depth=5, simple_path=True)
    assert (different.verdict, different.figures["k"]) == (Verdict.HOLDS, 3)


def test_prove_goes_on_to_k_induction_and_then_to_a_bounded_search() -> None:
    assert prove(cycle(idle=True), NEVER_SEVEN).bounds == "all runs; 3-inductive"
    result = prove(cycle(idle=True), NEVER_SEVEN, induction_depth=2, search_depth=6)
    assert (result.verdict, result.bounds, result.figures["depth"]) == (
        Verdict.UNKNOWN,
        "no violation in the first 6 steps; not shown k-inductive for k up to 2",
        6,
    )


def test_k_induction_finds_a_violation_within_its_depth_only() -> None:
    below_two = always("below-two", lambda s: s.x < 2)
    assert k_induction(cycle(idle=False), below_two, depth=2).verdict is Verdict.UNKNOWN
    found = k_induction(cycle(idle=False), below_two, depth=3)
    assert (found.verdict, labels(found)) == (Verdict.VIOLATED, ["go_round", "go_round"])


# --- lemmas, kinds and ends ---------------------------------------------------------------------------------------


def test_a_false_lemma_proves_nothing() -> None:
    false_lemma = always("below-two", lambda s: s.x < 2)
    result = k_induction(cycle(idle=False), NEVER_SEVEN, lemmas=[false_lemma], depth=5)
    assert (result.verdict, result.run, result.bounds) == (Verdict.UNKNOWN, None, "a lemma fails after 2 steps")
    assert "the lemma 'below-two' does not hold:\nstart: everything at its lowest value\n1. go_round" in (
        result.explanation
    )
    absurd = always("absurd", lambda s: all_of(s.x == 0, s.x == 1))
    below_one = always("below-one", lambda s: s.x < 1)
    assert prove_inductive(cycle(idle=False), below_one, lemmas=[absurd]).verdict is Verdict.UNKNOWN


def test_a_violation_in_the_initial_state_needs_no_step() -> None:
    result = prove_inductive(cycle(idle=False), always("positive", lambda s: s.x > 0))
    assert (result.verdict, labels(result)) == (Verdict.VIOLATED, [])
    assert result.bounds == "counterexample of 0 steps, none shorter"


def test_sometimes_is_shown_by_a_witness_and_refuted_by_a_proof() -> None:
    witness = prove(cycle(idle=False), sometimes("two", lambda s: s.x == 2))
    assert (witness.verdict, witness.bounds) == (Verdict.HOLDS, "witness of 2 steps, none shorter")
    assert labels(witness) == ["go_round", "go_round"]
    never = prove(cycle(idle=False), sometimes("seven", lambda s: s.x == 7))
    assert (never.verdict, never.bounds) == (Verdict.VIOLATED, "all runs; 3-inductive")
    assert (never.run, never.explanation) == (None, "proven: no run ever reaches it")
    open_ = bounded(cycle(idle=False), sometimes("seven", lambda s: s.x == 7), depth=4)
    assert (open_.verdict, open_.bounds) == (Verdict.UNKNOWN, "no witness in the first 4 steps")


def test_a_bounded_search_that_meets_the_end_of_every_run_has_seen_everything() -> None:
    machine = Machine("countdown")
    machine.variable("left", Int(0, 4), init=4)

    @machine.action
    def tick(s: State) -> None:
        s.require(s.left > 0)
        s.left = s.left - 1

    @machine.action
    def skip(s: State) -> None:
        s.require(s.left > 2)
        s.left = s.left - 2

    not_three_after_all = always("in-range", lambda s: s.left <= 4)
    assert bounded(machine.configure(), not_three_after_all, depth=3).verdict is Verdict.UNKNOWN
    whole = bounded(machine.configure(), not_three_after_all, depth=4)
    assert (whole.verdict, whole.bounds) == (Verdict.HOLDS, "all runs; every run ends within 4 steps")
    deeper = bounded(machine.configure(), sometimes("five", lambda s: s.left > 4), depth=9)
    assert (deeper.verdict, deeper.bounds) == (Verdict.VIOLATED, "all runs; every run ends within 4 steps")


def test_what_prove_does_not_judge_is_refused_with_a_way_out() -> None:
    configuration = cycle(idle=False)
    eventual = Property(id="back", statement="back", kind=Kind.EVENTUALLY, holds=lambda s: s.x == 0)
    with pytest.raises(ModelError, match="back is of kind eventually; prove judges 'always' and 'sometimes' only"):
        prove(configuration, eventual)
    settling = Property(id="rest", statement="rest", kind=Kind.SETTLES, holds=lambda s: s.x == 0)
    with pytest.raises(ModelError, match="rest is of kind settles; prove judges"):
        bounded(configuration, settling, depth=1)
    with pytest.raises(ModelError, match="the lemma 'seven' says 'sometimes'; a lemma must be an 'always' property"):
        prove(configuration, NEVER_SEVEN, lemmas=[sometimes("seven", lambda s: s.x == 7)])
    with pytest.raises(ModelError, match="'never-seven' is given twice"):
        prove(configuration, NEVER_SEVEN, lemmas=[NEVER_SEVEN])
    with pytest.raises(ModelError, match="k-induction over 0 states is impossible; give a depth of 1 or more"):
        k_induction(configuration, NEVER_SEVEN, depth=0)
    with pytest.raises(ModelError, match="a search of -1 steps is impossible; give a depth of 0 or more"):
        bounded(configuration, NEVER_SEVEN, depth=-1)


# --- limits, determinism and the judge ----------------------------------------------------------------------------


@pytest.mark.parametrize("engine", [prove, prove_inductive])
def test_without_work_nothing_is_known(engine: Any) -> None:
    result = engine(two_phase_commit.machine.configure(), CONSISTENT, lemmas=LEMMAS, work=0)
    assert (result.verdict, result.figures["questions"]) == (Verdict.UNKNOWN, 0)
    assert "nothing is shown" in result.bounds or "not shown" in result.bounds
    assert "the limit of 0 Z3 resource units was hit" in result.explanation


@pytest.mark.parametrize("managers", [3, UNBOUNDED])
def test_a_work_limit_makes_it_unknown(managers: int | str) -> None:
    configuration = two_phase_commit.machine.configure(managers=managers)
    result = prove_inductive(configuration, CONSISTENT, lemmas=LEMMAS, rlimit=1)
    assert result.verdict is Verdict.UNKNOWN
    assert "the limit of 1 Z3 resource units for this question was hit" in result.explanation


def test_the_same_question_gets_the_same_answer() -> None:
    configuration = two_phase_commit.machine.configure(managers=3, impatient=1)
    first, second = (bounded(configuration, CONSISTENT, depth=9) for _ in range(2))
    assert first.run is not None
    assert second.run is not None
    assert first.run.steps == second.run.steps
    assert first.figures == second.figures


def test_a_counterexample_that_its_text_does_not_confirm_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(PlainMachine, "holds", lambda *_: True)
    with pytest.raises(ModelError, match="text and terms disagree about 'below-two'"):
        bounded(cycle(idle=False), always("below-two", lambda s: s.x < 2), depth=3)
    monkeypatch.setattr("rocketproof.checkers.prove.problem.holds", lambda *_: True)
    with pytest.raises(ModelError, match="the solver and its replay disagree about 'below-two' after:\nstart"):
        bounded(cycle(idle=False), always("below-two", lambda s: s.x < 2), depth=3)


# --- writes outside a domain --------------------------------------------------------------------------------------


def counter(limit: int | None, *, guarded: bool) -> Configuration:
    machine = Machine("counter")
    machine.variable("n", Int(0, 3))

    @machine.action
    def count(s: State) -> None:
        if guarded:
            s.require(s.n < limit)
        s.n = s.n + 1

    return machine.configure()


SMALL = always("small", lambda s: s.n <= 3)


def test_a_write_that_may_leave_its_domain_is_no_proof() -> None:
    result = prove_inductive(counter(None, guarded=False), SMALL)
    assert result.verdict is Verdict.UNKNOWN
    assert result.explanation == (
        "count is not shown to stay inside the domain of n (0…3); it may happen (if reachable) in: n=3"
    )
    assert prove_inductive(counter(3, guarded=True), SMALL).verdict is Verdict.HOLDS


def test_a_reachable_write_outside_its_domain_is_an_error_of_the_machine() -> None:
    assert bounded(counter(None, guarded=False), SMALL, depth=2).verdict is Verdict.UNKNOWN
    with pytest.raises(
        ModelError, match=r"action count: writes 4 to n, allowed is 0…3\.\nThe run that leads there"
    ) as e:
        bounded(counter(None, guarded=False), SMALL, depth=3)
    assert str(e.value).count("count\n") == 3
    with pytest.raises(ModelError, match="writes 4 to n"):
        prove(counter(None, guarded=False), SMALL)


def test_a_first_step_outside_its_domain_is_an_error_of_the_machine() -> None:
    machine = Machine("leap")
    machine.variable("n", Int(0, 3))

    @machine.action
    def leap(s: State) -> None:
        s.n = s.n + 4

    with pytest.raises(ModelError, match="action leap: writes 4 to n"):
        prove_inductive(machine.configure(), SMALL)


def test_a_lemma_may_keep_a_write_inside_its_domain() -> None:
    machine = Machine("twice")
    machine.variable("n", Int(0, 9))
    machine.variable("twice", Int(0, 9))

    @machine.action
    def count(s: State) -> None:
        s.require(s.n < 4)
        s.n = s.n + 1
        s.twice = s.twice + 2

    in_step = always("in-step", lambda s: s.twice == 2 * s.n)
    below = always("below", lambda s: s.twice <= 8)
    assert prove_inductive(machine.configure(), below).verdict is Verdict.UNKNOWN
    assert prove_inductive(machine.configure(), below, lemmas=[in_step]).verdict is Verdict.HOLDS


def test_a_variable_without_upper_bound_is_proven_but_its_runs_cannot_be_replayed() -> None:
    machine = Machine("forever")
    machine.variable("n", Int(1, None))

    @machine.action
    def double(s: State) -> None:
        s.n = s.n * 2

    assert prove(machine.configure(), always("positive", lambda s: s.n > 0)).verdict is Verdict.HOLDS
    below = bounded(machine.configure(), always("below", lambda s: s.n < 4), depth=5)
    assert (below.verdict, below.bounds, below.run) == (Verdict.UNKNOWN, "no violation in the first 1 step", None)
    assert below.explanation == (
        "the solver found a run of 2 steps, which cannot be replayed: in forever() variable n has no upper bound"
    )


# --- offsets, for any number of messages --------------------------------------------------------------------------


class Offset(Domain, size="messages", label="m"):
    """The messages of one queue."""


class Committed(IntEnum):
    """What the commit sends."""

    LOW_WATER_MARK = 0
    PULL_POSITION = 1


def one_queue(messages: int | str, commits: Committed = Committed.LOW_WATER_MARK) -> Configuration:
    """One queue and its consumer: the owner pulls, finishes in any order, commits, crashes; another takes over."""
    machine = Machine("one_queue")
    machine.constant("messages", 3, low=1)
    for name in ("log_end", "next_pull", "low_water_mark", "committed"):
        machine.variable(name, Int(0, "messages"))
    machine.variable("owned", bool)
    machine.variable("held", SetOf(Offset))
    machine.variable("done", SetOf(Offset))

    @machine.action
    def produce(s: State) -> None:
        s.require(s.log_end < s.messages)
        s.log_end = s.log_end + 1

    @machine.action
    def take_over(s: State) -> None:
        s.require(not_(s.owned))
        s.owned = True
        s.next_pull = s.committed
        s.low_water_mark = s.committed
        s.held = s.empty(Offset)

    @machine.action
    def pull(s: State) -> None:
        s.require(s.owned, s.next_pull < s.log_end)
        s.held = s.held.add(s.next_pull)
        s.next_pull = s.next_pull + 1

    @machine.action
    def finish(s: State, m: Offset) -> None:
        s.require(s.owned, s.held.has(m))
        left = s.held.remove(m)
        s.held = left
        s.done = s.done.add(m)
        s.low_water_mark = maximum(s.low_water_mark, s.least(Offset, left.has, default=s.next_pull))

    @machine.action
    def commit(s: State) -> None:
        s.require(s.owned)
        s.committed = s.low_water_mark if commits is Committed.LOW_WATER_MARK else s.next_pull

    @machine.action
    def crash(s: State) -> None:
        s.require(s.owned)
        s.owned = False

    return machine.configure(messages=messages)


def done_before(s: State, end: Any) -> BoolLike:
    return s.forall(Offset, lambda m: implies(m < end, s.done.has(m)))


COMMITTED_IS_DONE = always("committed-is-done", lambda s: done_before(s, s.committed))
WINDOW = (
    always("log", lambda s: all_of(s.committed <= s.log_end, s.log_end <= s.messages)),
    always(
        "positions",
        lambda s: implies(s.owned, all_of(s.low_water_mark <= s.next_pull, s.next_pull <= s.log_end)),
    ),
    always("mark-is-done", lambda s: implies(s.owned, done_before(s, s.low_water_mark))),
    always(
        "held-or-done",
        lambda s: implies(
            s.owned,
            s.forall(
                Offset,
                lambda m: all_of(
                    implies(s.held.has(m), m < s.next_pull),
                    implies(all_of(m < s.next_pull, not_(s.held.has(m))), s.done.has(m)),
                ),
            ),
        ),
    ),
)


@pytest.mark.parametrize("messages", [1, 4, UNBOUNDED])
def test_the_committed_offset_never_passes_an_unfinished_message(messages: int | str) -> None:
    result = prove_inductive(one_queue(messages), COMMITTED_IS_DONE, lemmas=WINDOW)
    every = ", for all messages ≥ 1" if messages == UNBOUNDED else ""
    assert (result.verdict, result.bounds) == (Verdict.HOLDS, f"all runs{every}; inductive together with 4 lemmas")


def test_committing_the_pull_position_is_not_proven_for_any_number_of_messages() -> None:
    configuration = one_queue(UNBOUNDED, Committed.PULL_POSITION)
    gap = prove_inductive(configuration, COMMITTED_IS_DONE, lemmas=WINDOW)
    assert gap.verdict is Verdict.UNKNOWN
    assert "commit is not shown to preserve 'committed-is-done'" in unproven(gap)
    result = prove(configuration, COMMITTED_IS_DONE, lemmas=WINDOW)
    assert result.verdict is Verdict.VIOLATED
    assert labels(result) == ["produce", "take_over", "pull", "commit"]
    assert result.bounds.endswith("found for one_queue(messages=1)")


def test_a_violation_that_needs_a_large_number_is_found_and_replayed_with_it() -> None:
    result = bounded(one_queue(UNBOUNDED), always("short", lambda s: s.log_end < 5), depth=6)
    assert (result.verdict, labels(result)) == (Verdict.VIOLATED, ["produce"] * 5)
    assert result.bounds == "counterexample of 5 steps, none shorter; found for one_queue(messages=5)"


# --- several properties at once, and any number of faults ----------------------------------------------------------


class Slot(Domain, size="slots", label="s"):
    """Places in a queue of any length."""


def filling(*, step: int = 1) -> Machine:
    """A queue whose places are filled from the front, and now and then forgotten from the front."""
    machine = Machine("filling")
    machine.constant("slots", 3, low=1)
    machine.constant("faults", 0)
    machine.variable("end", Int(0, "slots"))
    machine.variable("start", Int(0, "slots"))
    machine.variable("filled", bool, Slot)

    @machine.action
    def fill(s: State, m: Slot) -> None:
        s.require(s.end == m)
        s.filled[m] = True
        s.end = m + step

    @machine.action(budget="faults")
    def forget(s: State) -> None:
        s.require(s.start < s.end)
        s.start = s.start + 1

    return machine


FULL_BELOW = always("full-below", lambda s: s.forall(Slot, lambda m: implies(m < s.end, s.filled[m])))
EMPTY_ABOVE = always("empty-above", lambda s: s.forall(Slot, lambda m: implies(m >= s.end, not_(s.filled[m]))))
IN_ORDER = always("in-order", lambda s: s.start <= s.end)
FORGOTTEN_FULL = always("forgotten-full", lambda s: s.forall(Slot, lambda m: implies(m < s.start, s.filled[m])))
NEVER_TWO = always("never-two", lambda s: s.end < 2)


def test_properties_proven_together_share_the_proof_of_their_lemmas() -> None:
    configuration = filling().configure(slots=UNBOUNDED, faults=UNBOUNDED)
    results = prove_together(configuration, [FORGOTTEN_FULL, IN_ORDER], lemmas=[FULL_BELOW, IN_ORDER])
    assert [(result.property, result.verdict) for result in results] == [
        ("forgotten-full", Verdict.HOLDS),
        ("in-order", Verdict.HOLDS),
    ]
    assert {result.bounds for result in results} == {
        "all runs, for all slots ≥ 1, any number of faults; inductive together with 2 lemmas"
    }
    assert len({result.figures["questions"] for result in results}) == 1


def test_a_false_one_among_them_does_not_spoil_the_others() -> None:
    configuration = filling().configure(slots=UNBOUNDED, faults=UNBOUNDED)
    results = prove_together(configuration, [NEVER_TWO, FORGOTTEN_FULL], lemmas=[FULL_BELOW, IN_ORDER])
    assert [result.verdict for result in results] == [Verdict.VIOLATED, Verdict.HOLDS]
    assert results[0].bounds == (
        "counterexample of 2 steps, none shorter; found for filling(slots=2, faults=unbounded)"
    )
    assert labels(results[0]) == ["fill(s0)", "fill(s1)"]


def test_what_is_not_proven_together_shares_the_work_that_is_left(monkeypatch: pytest.MonkeyPatch) -> None:
    shares = []

    def gives_up(configuration: Configuration, item: Property, *, work: int, **_: object) -> Result:
        shares.append(work)
        unknown = {"engine": "prove", "bounds": "all work is used", "seconds": 0.0}
        return Result(property=item.id, verdict=Verdict.UNKNOWN, **unknown, figures={"work": work})

    monkeypatch.setattr(methods, "prove", gives_up)
    prove_together(filling().configure(slots=2), [NEVER_TWO, FORGOTTEN_FULL, IN_ORDER], work=9_000_000)
    left = sum(shares)
    assert left > 3_000_000
    assert [round(share / left, 3) for share in shares] == [0.333, 0.333, 0.333]


def test_a_budget_without_limit_bounds_no_run() -> None:
    often = always("often", lambda s: s.start < 2)
    assert prove(filling().configure(slots=3, faults=1), often).verdict is Verdict.HOLDS
    found = prove(filling().configure(slots=3, faults=UNBOUNDED), often)
    assert (found.verdict, found.bounds) == (Verdict.VIOLATED, "counterexample of 4 steps, none shorter")


def test_a_write_beyond_an_unbounded_constant_is_found() -> None:
    configuration = filling(step=2).configure(slots=UNBOUNDED)
    assert prove_inductive(filling().configure(slots=UNBOUNDED), EMPTY_ABOVE).verdict is Verdict.HOLDS
    with pytest.raises(ModelError, match=r"action fill\(s0\): writes 2 to end, allowed is 0…1"):
        prove_inductive(configuration, EMPTY_ABOVE)

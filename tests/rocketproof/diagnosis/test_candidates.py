"""Candidates: what speaks for a known bug, what does not, and what would tell two of them apart."""

import pytest

from rocketproof.checkers.known_bugs import known_id
from rocketproof.commands.record import recordable_mutants
from rocketproof.diagnosis.candidates import Candidate, apart, candidates
from rocketproof.diagnosis.known import ADVICE, how, sources
from rocketproof.diagnosis.pictures import pictures
from rocketproof.diagnosis.signs import sign_of
from rocketproof.traces.claims.claims import CLAIMS
from rocketproof.traces.conformance import Mismatch
from rocketproof.traces.format.kinds import Kind
from rocketproof.traces.format.schema import Group


def found(*signs: str, group: Group | None = None, filtered: bool = False) -> tuple[Candidate, ...]:
    return candidates(signs, (), pictures(), recordable_mutants(), [group or Group()], filtered=filtered)


def test_without_signs_nothing_is_named() -> None:
    assert found() == ()


def test_signs_that_nobody_knows_name_nothing() -> None:
    assert found("commit: the moon was full") == ()


def test_the_bug_of_a_rare_sign_comes_first() -> None:
    assert found("allocation-as-the-strategy-says")[0].bug == "A11"
    assert found("one-process-for-each-client-id")[0].bug == "A1"


def test_bugs_of_another_mode_listener_or_without_filters_are_left_out() -> None:
    orderly = {one.bug for one in found("every-queue-moves", group=Group(listener="orderly"))}
    concurrent = {one.bug for one in found("every-queue-moves")}
    assert "E7" in orderly - concurrent
    assert "B8" not in concurrent
    assert "B8" in {one.bug for one in found("every-queue-moves", filtered=True)}


def test_a_claim_that_is_said_to_be_broken_counts_less_than_a_recording() -> None:
    (first,) = (one for one in found("every-queue-is-readable") if one.bug == "A13")
    assert (first.score, first.shared) == (0.5, ("every-queue-is-readable",))


def test_what_would_tell_candidates_apart() -> None:
    shown = found("commit_memory: the in-memory offset is #", group=Group(listener="orderly"), filtered=True)
    b7, b8 = (one for one in shown if one.bug in ("B7", "B8"))
    assert apart(b7, b8, [Kind.DELIVER, Kind.RESULT]).startswith("record commit")
    assert apart(b7, b8, []).startswith("record on: with ")


def test_the_form_of_a_mismatch_has_no_names_and_numbers() -> None:
    one = Mismatch(
        seq=9,
        time=1,
        place="g %RETRY%g@b:0",
        event="lock c7 result=ok offset=12",
        why="the lock is held by c3#2",
    )
    assert sign_of(one) == "lock result=ok in a retry queue: the lock is held by …"


@pytest.mark.parametrize("mutant", sorted({known_id(name) for name in recordable_mutants()}))
def test_every_bug_has_advice(mutant: str) -> None:
    assert ADVICE[mutant].remedy.endswith((".", ")."))


def test_the_text_of_every_bug_is_told_and_claims_in_pictures_are_there() -> None:
    known = recordable_mutants()
    assert all(how(entry) for entry in known.values())
    assert sources(known["B1"]) == ("apache/rocketmq#2708", "client-go#832")
    assert set(pictures()) == set(known)
    words = {sign for picture in pictures().values() for sign in picture.signs}
    claims = {claim.id for claim in CLAIMS}
    assert [word for word in words if ": " not in word and word.partition(" ")[0] not in claims] == []


@pytest.mark.parametrize(
    ("difference", "bugs"), [("topics", ["A7", "A2"]), ("expressions", ["A3"])], ids=["topics", "expressions"]
)
def test_in_what_subscriptions_differ_decides_which_bug_it_is(difference: str, bugs: list[str]) -> None:
    named = [one.bug for one in found("same-subscriptions", f"same-subscriptions in {difference}", filtered=True)]
    assert named[: len(bugs)] == bugs

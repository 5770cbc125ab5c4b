"""Refused input: a client that cannot divide keeps its queues; a strategy that answers "none" instead is noticed."""

import dataclasses
from collections.abc import Sequence

import pytest

from rocketproof.checkers.groups import search_groups
from rocketproof.checkers.mutation.changes import all_changes
from rocketproof.checkers.mutation.theorems import Theorems
from rocketproof.checkers.suite import Row
from rocketproof.model.allocation import Averagely, MessageQueue
from rocketproof.properties import refused_inputs
from rocketproof.properties.equal_views import EQUAL_VIEW_CLAIMS
from rocketproof.properties.refused_inputs import REFUSED_CLAIMS
from rocketproof.properties.verdict import Verdict

pytestmark = pytest.mark.smoke

CLAIMS = {claim.id: claim for claim in REFUSED_CLAIMS}
GROUPS = {
    "empty-input-changes-nothing": 1_890,
    "unknown-room-changes-nothing": 378,
    "queue-without-a-room-has-no-owner": 72,
    "no-virtual-nodes-no-owners": 36,
}


def test_everything_claimed_is_so() -> None:
    answers = {name: search_groups(claim) for name, claim in CLAIMS.items()}
    assert {name: answer.figures["groups"] for name, answer in answers.items()} == GROUPS
    assert {answer.verdict for answer in answers.values()} == {Verdict.HOLDS}


class Unchecked(Averagely):
    """Answers that nothing is left, where there is nothing to divide."""

    def allocate(self, own_id: str, queues: Sequence[MessageQueue], ids: Sequence[str]) -> list[MessageQueue]:
        return super().allocate(own_id, queues, ids) if own_id and queues and ids else []


def test_a_strategy_that_does_not_refuse_loses_queues(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(refused_inputs, "_CHECKED", (Unchecked(),))
    answer = search_groups(CLAIMS["empty-input-changes-nothing"])
    assert answer.verdict is Verdict.VIOLATED
    assert (
        answer.explanation == "c0 runs AVG as nobody on queues q0 and ids c0: takes nothing\nso queue q0 has no owner"
    )


def test_no_group_is_no_answer() -> None:
    nobody = dataclasses.replace(CLAIMS["no-virtual-nodes-no-owners"], groups=lambda queues, consumers: iter(()))
    assert search_groups(nobody).verdict is Verdict.UNKNOWN


@pytest.mark.parametrize(
    ("mutant", "row"),
    [
        ("allocation.strategy.index_of.2", "empty-input-changes-nothing"),
        ("allocation.consistent_hash.ConsistentHash.allocate.2", "empty-input-changes-nothing"),
        ("allocation.by_machine_room.ByMachineRoom.eligible.5", "unknown-room-changes-nothing"),
        ("allocation.by_machine_room.ByMachineRoom.eligible.2", "queue-without-a-room-has-no-owner"),
        ("allocation.machine_room_nearby._known.2", "unknown-room-changes-nothing"),
        ("allocation.consistent_hash._check.2", "no-virtual-nodes-no-owners"),
        ("allocation.consistent_hash._check.3", "no-virtual-nodes-no-owners"),
        ("allocation.message_queue.MessageQueue.__lt__.1", "queues-have-one-order"),
        ("allocation.consistent_hash.ring_hash.2", "consistent-hash-tells-near-nodes-apart"),
    ],
)
def test_a_broken_rule_is_noticed(mutant: str, row: str) -> None:
    part = ".".join(mutant.split(".")[:2])
    (change,) = [item for item in all_changes(part) if item.id == mutant]
    (claim,) = [item for item in (*REFUSED_CLAIMS, *EQUAL_VIEW_CLAIMS) if item.id == row]
    asked = Row(subject=claim, machine="allocation", expected=claim.expected)
    theorems = Theorems([asked])
    assert theorems.using(change) == [asked]
    assert theorems.kill(change, asked)

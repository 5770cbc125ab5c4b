"""Groups with real members: what holds, and that it is these properties that notice when a mechanism is broken."""

from dataclasses import replace

import pytest

from rocketproof.checkers.catalogue import member_rows
from rocketproof.checkers.liveness import check_all_eventually
from rocketproof.checkers.mutation.changes import all_changes
from rocketproof.checkers.mutation.ground import settings
from rocketproof.checkers.mutation.judge import Fate, judge
from rocketproof.checkers.mutation.theorems import Theorems
from rocketproof.checkers.suite import run_suite
from rocketproof.model.everything import everything
from rocketproof.model.kernel import Machine
from rocketproof.properties.assignment import disagreement_ends
from rocketproof.properties.delivery import progress
from rocketproof.properties.members import TICKING, committed
from rocketproof.properties.verdict import Verdict

ROWS = member_rows()


def test_what_is_claimed() -> None:
    outcomes = list(run_suite(ROWS))
    assert [outcome.row.id for outcome in outcomes if not outcome.as_expected] == []
    searched = [outcome for outcome in outcomes if outcome.result.engine == "explore"]
    sizes = {outcome.row.configuration: outcome.result.figures["states"] for outcome in searched}
    assert list(sizes.values()) == [
        832,
        31,
        392,
        1_924,
        793,
        5_733,
        1_599,
        14_352,
        12_076,
        29_434,
        11_983,
        517,
        1_336,
        1_140,
        179,
        46,
        57,
        1_093,
        564,
        162,
        150,
        132,
        336,
        39,
        25,
        3_788,
    ]


def test_locks_that_expire_again_and_again_hold_nothing_up() -> None:
    """A call waits for a time with the lock, and a pass does not wait between two answers about it."""
    goals = (progress, disagreement_ends, committed)
    found = check_all_eventually(everything.configure(**TICKING), goals)
    assert [result.verdict for result in found] == [Verdict.HOLDS] * 3
    assert found[0].explanation.endswith("and strong fairness of take_queue, end_pass, begin_batch.")
    weak = Machine("everything").include(everything)
    weak.actions = {name: replace(action, strongly_fair=False) for name, action in everything.actions.items()}
    lengths = [result.run and len(result.run) for result in check_all_eventually(weak.configure(**TICKING), goals)]
    assert lengths == [7, 7, 7]


@pytest.mark.parametrize(
    ("text", "told", "row"),
    [
        ("topic_and_retry_queue", "without view.has(c)", "queues-for-listed-members-only"),
        ("offset_known", "without not_cut_off(s, c, q)", "queue-out-of-reach-is-left"),
        ("offset_known", "without all_of(not_cut_off(s, c, q)", "every-message-is-handled"),
        ("offset_known", "without may_take(s, c, q)", "one-orderly-listener"),
        ("offset_known", "without not_(leaves)", "queue-is-used-or-given-up"),
        ("offsets_persisted", "without s.persisted[c] = True", "stop-comes-to-its-end"),
    ],
)
def test_a_broken_mechanism_is_noticed(text: str, told: str, row: str) -> None:
    (change, *_) = [item for item in all_changes("everything") if item.text == text and told in item.told]
    here = settings(item for item in ROWS if item.id == row)
    (outcome,) = judge([change], here, Theorems([]))
    assert outcome.fate is Fate.KILLED
    assert row in outcome.kills

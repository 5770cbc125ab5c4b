"""Tags and expressions: what the broker sends, what the client keeps, whose expression counts."""

from __future__ import annotations

import pytest

from rocketproof.checkers.exploration import Limits
from rocketproof.checkers.explore import explore
from rocketproof.checkers.liveness import check_eventually
from rocketproof.model.consumption import consumption
from rocketproof.model.kernel import ConfigurationError
from rocketproof.model.tags import PATTERNS, Edition, Tag, asked_for, filtered, hash_code
from rocketproof.properties.filtering import claims
from rocketproof.properties.verdict import Verdict

from .walk import Walk, killed

PROPERTIES = {claim.property.id: claim.property for claim in claims()}


def java_hash(word: str) -> int:
    """``String#hashCode`` for short words."""
    result = 0
    for letter in word:
        result = 31 * result + ord(letter)
    return result


def group(*labels: str, **constants: int | str) -> Walk:
    """A group whose members take the actions ``labels``."""
    return Walk(*labels, **{"messages": 3, **constants})


def window(members: Walk, client: int) -> list[int]:
    """The messages that the window of ``client`` holds."""
    return [m for m in range(3) if members.value("stage", client, 0, m)]


def test_hash_codes_collide_as_in_java() -> None:
    for first in Tag:
        for second in Tag:
            assert (hash_code(first) == hash_code(second)) is (java_hash(first.name) == java_hash(second.name))
    assert java_hash("Aa") == java_hash("BB") == 2112


def test_patterns_are_written_as_they_are_named() -> None:
    assert all(name == ",".join(tag.name for tag in pattern) for name, pattern in PATTERNS.items())


def test_which_edition_asks_for_what() -> None:
    constants = consumption.configure(expression="Aa", other_expression="Aa||C").constants
    asked = [asked_for(constants, edition) for edition in Edition]
    assert asked == [{Tag.Aa}, {Tag.Aa, Tag.C}, {Tag.Aa}]


def test_without_expressions_nothing_is_filtered_and_no_state_is_spent() -> None:
    assert not filtered(consumption.configure().constants)
    assert filtered(consumption.configure(next_expression="C").constants)
    plain = explore(consumption.configure(), idle_actions_allowed=True)
    assert plain.states == explore(consumption.configure(tags="C,Aa"), idle_actions_allowed=True).states


def test_a_pull_goes_past_what_the_broker_filters_out() -> None:
    members = group("take(c0, q0)", "pull(c0, q0)", expression="Aa", tags="C,BB,Aa", consumers=1)
    assert (window(members, 0), members.value("next_offset", 0, 0), members.value("memory", 0, 0)) == ([], 2, 0)
    members.do("pull(c0, q0)")
    assert (window(members, 0), members.value("next_offset", 0, 0)) == ([2], 3)


def test_the_offset_of_an_empty_window_follows_an_answer_without_matches() -> None:
    members = group("take(c0, q0)", "pull(c0, q0)", expression="BB", tags="Aa,C,C", consumers=1)
    assert (members.value("next_offset", 0, 0), members.value("memory", 0, 0)) == (1, 0)  # 'Aa' had the right hash code
    assert members.do("pull(c0, q0)").value("memory", 0, 0) == 3


def test_the_offset_of_a_window_that_holds_a_message_stays() -> None:
    members = group("take(c0, q0)", "pull(c0, q0)", "pull(c0, q0)", expression="Aa", tags="Aa,C,C", consumers=1)
    assert (window(members, 0), members.value("next_offset", 0, 0), members.value("memory", 0, 0)) == ([0], 3, 0)
    members.do("begin(c0, q0, m0)", "succeed(c0, q0, m0)")
    assert members.value("memory", 0, 0) == 1  # behind the last message that was put, not at the pull position
    assert members.do("pull_nothing(c0, q0)").value("memory", 0, 0) == 3


def test_pulls_are_refused_until_the_heartbeat_after_a_change_of_queues() -> None:
    members = group("take(c0, q0)", expression="Aa", other_expression="C", tags="Aa,C")
    assert not members.may("pull(c0, q0)")
    assert members.do("heartbeat(c0)").may("pull(c0, q0)")


def test_the_newest_subscription_filters_for_everybody() -> None:
    different = {"expression": "Aa", "other_expression": "C", "tags": "Aa,C"}
    members = group("take(c0, q0)", "take(c1, q0)", "heartbeat(c0)", "heartbeat(c1)", **different)
    members.do("pull(c0, q0)", "pull(c1, q0)")
    assert (window(members, 0), window(members, 1)) == ([], [1])
    assert members.value("missed") == 1


def test_an_older_version_changes_nothing_at_the_broker() -> None:
    members = group("take(c0, q0)", "take(c1, q0)", "heartbeat(c1)", expression="Aa", other_expression="C", tags="Aa,C")
    assert not members.may("heartbeat(c0)")
    assert members.value("group_edition") == Edition.OTHER


@pytest.mark.parametrize("constants", [{"pull_batch": 2}, {"batch": 2}])
def test_batches_are_not_filtered(constants: dict[str, int]) -> None:
    with pytest.raises(ConfigurationError, match="one by one"):
        consumption.configure(expression="Aa", **constants)


@pytest.mark.parametrize(
    ("name", "right", "steps"),
    [
        ("A3", 163, 6),
        ("A3-rolling", 539, 7),
        ("A3-hash", 171, 3),
        ("A4", 49, 5),
        ("A4-version-zero", 49, 6),
        ("B8", 163, 10),
        ("B8-busy", 163, 4),
    ],
)
def test_mutants_are_killed_by_the_property_they_name(name: str, right: int, steps: int) -> None:
    assert killed(name, PROPERTIES) == (right, steps)


def test_a_limit_makes_a_claim_unknown() -> None:
    configuration = consumption.configure(**consumption.mutants["B8"].constants)
    assert (
        check_eventually(configuration, PROPERTIES["filtered-offset-committed"], limits=Limits(states=9)).verdict
        is Verdict.UNKNOWN
    )

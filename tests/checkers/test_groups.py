"""Search of groups: every claim gets the verdict it is expected to get, with the smallest group as its story."""

import dataclasses

import pytest

from rocketproof.checkers.groups import search_groups
from rocketproof.properties.unequal_views import GROUP_CLAIMS, GroupClaim
from rocketproof.properties.verdict import Verdict

CLAIMS = {claim.id: claim for claim in GROUP_CLAIMS}


@pytest.mark.parametrize("claim", GROUP_CLAIMS, ids=lambda claim: claim.id)
def test_verdict_is_the_expected_one(claim: GroupClaim) -> None:
    assert search_groups(claim, max_queues=5, max_consumers=5).verdict is claim.expected


STORIES = {
    "queues-sorted-differently": (
        "c0 runs AVG as c0 on queues q0 q1 and ids c0 c1: takes q0\n"
        "c1 runs AVG as c1 on queues q1 q0 and ids c0 c1: takes q0\n"
        "so queue q0 has 2 owners, c0 and c1; queue q1 has no owner"
    ),
    "ids-sorted-differently": (
        "c0 runs AVG as c0 on queues q0 and ids c0 c1: takes q0\n"
        "c1 runs AVG as c1 on queues q0 and ids c1 c0: takes q0\n"
        "so queue q0 has 2 owners, c0 and c1"
    ),
    "duplicate-client-id": (
        "c0 (process 1) runs AVG as c0 on queues q0 and ids c0 c0: takes q0\n"
        "c0 (process 2) runs AVG as c0 on queues q0 and ids c0 c0: takes q0\n"
        "so queue q0 has 2 owners, c0 (process 1) and c0 (process 2)"
    ),
    "own-id-absent": (
        "c0 runs AVG as c0 on queues q0 and ids c1: takes nothing\n"
        "c1 runs AVG as c1 on queues q0 and ids c0 c1: takes nothing\n"
        "so queue q0 has no owner"
    ),
    "mixed-strategies": (
        "c0 runs AVG as c0 on queues q0 q1 q2 and ids c0 c1: takes q0 q1\n"
        "c1 runs AVG_BY_CIRCLE as c1 on queues q0 q1 q2 and ids c0 c1: takes q1\n"
        "so queue q1 has 2 owners, c0 and c1; queue q2 has no owner"
    ),
}


@pytest.mark.parametrize("name", sorted(STORIES))
def test_story_of_the_smallest_group(name: str) -> None:
    result = search_groups(CLAIMS[name])
    assert result.explanation == STORIES[name]
    assert result.bounds == "smallest queues + clients"


def test_bounds_say_how_many_groups_and_what_was_left_out() -> None:
    result = search_groups(CLAIMS["consistent-hash-ignores-order"], max_queues=5, max_consumers=3)
    assert (
        result.bounds == "every group up to 5 queues and 3 clients: 309 (of five or more items, only two other orders)"
    )
    assert result.figures == {"groups": 309}


def test_no_time_is_unknown() -> None:
    result = search_groups(CLAIMS["own-id-absent-for-all"], max_seconds=-1)
    assert (result.verdict, result.figures["groups"]) == (Verdict.UNKNOWN, 0)
    assert result.bounds == "stopped after -1 s in groups of 1 queues and 2 clients"


def test_no_group_is_unknown() -> None:
    nothing = dataclasses.replace(CLAIMS["own-id-absent-for-all"], groups=lambda queues, consumers: iter(()))
    result = search_groups(nothing)
    assert (result.verdict, result.explanation) == (Verdict.UNKNOWN, "there was no group to look at")

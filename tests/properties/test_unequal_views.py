"""Groups of clients with different views: who takes what, and how it is told."""

import pytest

from rocketproof.model.allocation import Averagely, MessageQueue
from rocketproof.properties.unequal_views import (
    GROUP_CLAIMS,
    View,
    client_ids,
    divide,
    not_divided,
    sorted_differently,
    tell_division,
    topic,
    with_absent_id,
    with_duplicate_id,
    with_mixed_strategies,
)
from rocketproof.properties.verdict import Verdict

pytestmark = pytest.mark.smoke


def test_a_group_that_sees_the_same_divides_the_queues() -> None:
    ids = client_ids(3)
    division = divide(topic(4), [View(own, own, topic(4), ids, Averagely()) for own in ids])
    assert [len(share) for share in division.shares] == [2, 1, 1]
    assert not_divided(division) == ""
    assert division.owners(MessageQueue("TopicTest", "broker-a", 3)) == ["c2"]


def test_what_is_wrong_is_told() -> None:
    views = [View("A", "c0", topic(2), ("c0", "c0"), Averagely()), View("B", "c0", topic(2), ("c0", "c0"), Averagely())]
    division = divide(topic(2), views)
    assert not_divided(division) == "queue q0 has 2 owners, A and B; queue q1 has no owner"
    assert tell_division(division) == (
        "A runs AVG as c0 on queues q0 q1 and ids c0 c0: takes q0\n"
        "B runs AVG as c0 on queues q0 q1 and ids c0 c0: takes q0"
    )


def test_the_number_of_groups_of_a_size() -> None:
    average = Averagely()
    assert len(list(sorted_differently(average, queues_too=True, ids_too=False)(3, 2))) == 5
    assert len(list(sorted_differently(average, queues_too=True, ids_too=True)(3, 3))) == 35
    assert len(list(sorted_differently(average, queues_too=True, ids_too=False)(5, 2))) == 2
    assert len(list(with_duplicate_id(average)(3, 4))) == 3
    assert len(list(with_absent_id(average, absent_for_all=False)(3, 4))) == 4
    assert list(with_absent_id(average, absent_for_all=True)(3, 1)) == []
    assert len(list(with_mixed_strategies(average, average)(3, 4))) == 3


def test_claims_are_named_once_and_expected_either_way() -> None:
    assert len({claim.id for claim in GROUP_CLAIMS}) == len(GROUP_CLAIMS) == 10
    assert [claim.expected for claim in GROUP_CLAIMS].count(Verdict.HOLDS) == 3
    assert all(claim.statement.startswith("Naive: ") for claim in GROUP_CLAIMS if claim.expected is Verdict.VIOLATED)

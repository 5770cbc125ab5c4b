"""What is asked for is lacking: never what was given."""

import pytest

from rocketproof.traces.claims.claims import CLAIMS
from rocketproof.traces.claims.evidence import RECORDED, would_settle
from rocketproof.traces.format.kinds import Kind

BY_ID = {claim.id: claim for claim in CLAIMS}


@pytest.mark.parametrize("claim", CLAIMS, ids=lambda claim: claim.id)
def test_what_usually_settles_a_claim_is_known_by_its_kinds(claim) -> None:
    assert claim.settled_by in RECORDED


def test_a_hook_is_not_asked_for_where_it_was_given() -> None:
    usually = BY_ID["every-duplicate-has-a-cause"].settled_by
    assert would_settle(usually, [(Kind.DELIVER,)]) == "a consume-message hook (consumer side) would settle it"
    assert would_settle(usually, [(Kind.ASSIGN,)]) == "the client's log of added and removed queues would settle it"
    assert would_settle(usually, []) == ""
    assert would_settle(usually, [(Kind.GAP,)]) == ""

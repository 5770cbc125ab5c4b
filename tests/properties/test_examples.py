"""The claims about the example machines: each is what the exhaustive engines find."""

import pytest

from rocketproof.checkers.explore import explore
from rocketproof.checkers.liveness import check_eventually
from rocketproof.properties.examples import EXPECTED, Expected
from rocketproof.properties.property import Kind


@pytest.mark.parametrize("expected", EXPECTED, ids=lambda expected: expected.name)
def test_verdicts_and_shortest_runs_are_those_of_the_exhaustive_search(expected: Expected) -> None:
    claims = [claim for claim in expected.claims if claim.property.kind is not Kind.EVENTUALLY]
    found = explore(expected.sized.configuration, [claim.property for claim in claims])
    assert [(result.property, result.verdict, result.run and len(result.run)) for result in found.results] == [
        (claim.property.id, claim.verdict, claim.steps) for claim in claims
    ]


@pytest.mark.parametrize("expected", EXPECTED, ids=lambda expected: expected.name)
def test_what_happens_eventually_is_what_the_liveness_engine_says(expected: Expected) -> None:
    for claim in expected.claims:
        if claim.property.kind is Kind.EVENTUALLY:
            assert check_eventually(expected.sized.configuration, claim.property).verdict is claim.verdict


def test_names_and_ids_are_unique() -> None:
    names = [expected.name for expected in EXPECTED]
    assert len(set(names)) == len(names) == 17
    for expected in EXPECTED:
        ids = [prop.id for prop in expected.properties]
        assert len(set(ids)) == len(ids)

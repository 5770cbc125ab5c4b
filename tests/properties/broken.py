"""Mechanisms that are broken on purpose, and whether the rows that must notice it do."""

from collections.abc import Iterable

from rocketproof.checkers.mutation.changes import all_changes
from rocketproof.checkers.mutation.ground import settings
from rocketproof.checkers.mutation.judge import judge
from rocketproof.checkers.mutation.theorems import Theorems
from rocketproof.checkers.suite import claim_row
from rocketproof.properties.claim import Claim

Broken = tuple[str, str, str, str]
"""Part, action or definition, what is broken there, and the row that notices."""


def unnoticed(mechanisms: Iterable[Broken], claims: Iterable[Claim]) -> list[Broken]:
    """The mechanisms whose row, among those of the claims, does not notice."""
    rows = [claim_row(claim) for claim in claims]
    survived = []
    for part, text, told, name in mechanisms:
        (change, *_) = [item for item in all_changes(part) if item.text == text and told in item.told]
        (outcome,) = judge([change], settings(row for row in rows if row.id == name), Theorems([]))
        if name not in outcome.kills:
            survived.append((part, text, told, name))
    return survived

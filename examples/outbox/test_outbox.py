"""The suite as an ordinary test; ``pytest rocketproof.toml`` has one for each claim."""

from outbox import CLAIMS, machine

from rocketproof import explore, verify


def test_every_claim_is_as_expected() -> None:
    assert [outcome.row.id for outcome in verify(CLAIMS) if not outcome.as_expected] == []


def test_the_machine_has_not_changed_unnoticed() -> None:
    found = explore(machine.configure())
    assert (found.states, found.transitions, found.depth) == (337, 809, 17)

"""Steps of calls that outlive their window, stand still or hang: a mechanism that is broken is noticed."""

from rocketproof.properties.step_claims import claims

from .broken import unnoticed

BROKEN = (
    ("concurrently", "orphan_listener_fails", "the guard is not s.orphan", "call-outlives-its-window"),
    ("send_back", "orphan_copied", "without s.orphan", "late-failure-is-sent-back"),
    ("late_update", "finish_without_update", "without take_out", "worker-that-stands-still-has-removed-its-messages"),
)


def test_broken_mechanisms_are_noticed() -> None:
    assert unnoticed(BROKEN, claims()) == []

"""Steps of offset files and their copies: a mechanism that is broken is noticed."""

from rocketproof.properties.step_claims import claims

from .broken import unnoticed

BROKEN = (
    ("broadcasting", "_saved", "NO_OFFSET + 1 for NO_OFFSET", "file-is-written-before-the-first-message-is-done"),
    ("broadcasting", "lose_file", "the guard is not", "file-has-what-was-remembered"),
    ("broadcasting", "die_while_writing", "the guard is not s.exists", "file-is-torn-in-a-death-only"),
    ("broadcasting", "_news", "as if not s.torn_writes", "copy-is-renewed-without-news"),
    ("local_file", "tear", "always Content.UNREADABLE", "copy-may-be-emptied"),
    ("faults", "restart", "without the guard may_start", "start-needs-a-file-or-a-copy"),
)


def test_broken_mechanisms_are_noticed() -> None:
    assert unnoticed(BROKEN, claims()) == []

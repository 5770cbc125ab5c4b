"""Steps of orderly calls, results and locks: a mechanism that is broken is noticed."""

from rocketproof.properties.orderly_steps import claims

from .broken import unnoticed

BROKEN = (
    ("orderly", "_commit", "always commit_offset", "orderly-offset-moves-with-its-batch"),
    ("orderly", "commit_offset", "without the condition _taken", "orderly-offset-moves-with-its-batch"),
    ("orderly", "_first_waiting", "< s.batch) without waits(m)", "orderly-call-gets-the-first-that-wait"),
    ("orderly", "_first_waiting", "<= s.batch for", "orderly-call-gets-the-first-that-wait"),
    ("pull", "pull_nothing", "without the guard asks", "orderly-offset-moves-with-its-batch"),
    ("orderly", "roll_back", "without s.kept", "kept-batch-waits-for-its-commit"),
    ("orderly", "say_rollback", "without _returned", "rolled-back-batch-waits-to-be-taken"),
    ("orderly", "say_commit", "without the guard _may_succeed", "poison-message-never-succeeds"),
    ("orderly", "publishing_fails", "without s.suspended", "each-failure-is-counted"),
    ("orderly", "publishing_fails", "the guard is not not_(_is_put_back", "failed-publishing-goes-on-counting"),
    ("orderly", "calls", "without _orphaned", "call-grows-old-from-its-start"),
    ("orderly_ownership", "window_state", "without lost(q)", "orderly-window-begins-with-a-new-lock"),
    ("orderly_ownership", "renew", "always in_table", "dropped-queue-is-not-renewed"),
    ("orderly_ownership", "renew", "always s.owns", "dropped-queue-is-renewed-in-4.9.8"),
    ("orderly_ownership", "renew", "without the guard working", "orderly-process-that-stands-still-does-nothing"),
    ("orderly_ownership", "lock_late", "without grant(", "late-lock-request-locks-a-free-queue"),
    ("orderly_ownership", "locked_pull", "without s.locked", "orderly-queue-is-pulled-under-its-lock"),
    ("orderly_ownership", "remove", "without the guard _tree_empty", "cached-messages-put-the-unlock-off"),
    ("orderly_ownership", "unlock_later", "the guard is not working", "unlock-that-was-put-off-comes"),
    (
        "any_assignment",
        "drop_in_order",
        "without the guard working",
        "orderly-queue-is-dropped-before-it-is-removed",
    ),
)


def test_broken_mechanisms_are_noticed() -> None:
    assert unnoticed(BROKEN, claims()) == []

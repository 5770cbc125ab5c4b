"""Known bugs that a simulated cluster can have, and which claims about its trace each of them breaks."""

from __future__ import annotations

from dataclasses import dataclass

from .codes import numbers

(
    DUPLICATE,
    BACK,
    UNFINISHED,
    SKIPPED,
    FAILED,
    OVERLAP,
    OWNERLESS,
    FLAPPING,
    ONE_LISTENER,
    STUCK,
    ATTEMPTS,
    MAXIMUM,
    COPY,
    SENT_BACK,
    WAITS,
    LEVEL,
    EARLY,
    LATE,
    DEAD_LETTER,
    SAME_ID,
    SUBSCRIPTIONS,
    ALLOCATION,
    VIEWS,
    TOPICS,
    ILLEGAL,
    NOT_OWNER,
    IN_ORDER,
) = numbers(27)

CLAIMS = (
    "every-duplicate-has-a-cause",
    "offset-never-back-without-cause",
    "offset-never-past-unfinished",
    "nothing-skipped",
    "failed-message-comes-again",
    "overlaps-are-short",
    "every-queue-gets-an-owner",
    "no-flapping",
    "orderly-one-listener",
    "every-queue-moves",
    "attempts-follow-each-other",
    "attempts-within-the-maximum",
    "every-copy-has-a-cause",
    "only-failed-messages-are-sent-back",
    "retry-waits-as-its-level-says",
    "level-as-the-count-says",
    "never-before-it-is-due",
    "delivered-when-due",
    "dead-letter-exactly-at-the-maximum",
    "one-process-for-each-client-id",
    "same-subscriptions",
    "allocation-as-the-strategy-says",
    "views-agree",
    "every-topic-is-balanced",
    "illegal-offset-is-mended",
    "only-owners-commit",
    "orderly-in-order",
)
"""Ids of the claims that are broken here, by the numbers above."""

(
    NONE,
    B7,
    B8,
    B9,
    C2,
    C3,
    D1,
    D2,
    D3,
    D4,
    D7,
    E6,
    F4,
    H1,
    H2,
    H7,
    B4,
    A1,
    A2,
    A3,
    A5,
    A6,
    A8,
    A9,
    A10,
    B1,
    B2,
    B3,
    D8,
    E3,
    G1,
    G4,
) = numbers(32)
"""Mutants as numbers. B4 and those before it strike inside the run, later ones from outside, see ``intruder``."""


@dataclass(frozen=True, kw_only=True)
class Mutant:
    """One known bug.

    Attributes:
        id: its entry in the zoo of known bugs.
        code: its number.
        name: what it is called.
        what: what the simulated cluster does wrong, at each of its places.
        breaks: ids of the claims that each place breaks.
        kinds: kinds of groups that can have it.
    """

    id: str
    code: int
    name: str
    what: str
    breaks: tuple[str, ...]
    kinds: tuple[str, ...] = ("concurrently",)


def _mutant(
    id: str, code: int, name: str, what: str, *breaks: int, kinds: tuple[str, ...] = ("concurrently",)
) -> Mutant:
    return Mutant(id=id, code=code, name=name, what=what, breaks=tuple(CLAIMS[claim] for claim in breaks), kinds=kinds)


_ANY = ("concurrently", "orderly")

MUTANTS = {
    mutant.id: mutant
    for mutant in (
        _mutant("A1", A1, "clientid-clash", "a second process has the id of a live one", SAME_ID, OVERLAP, OWNERLESS),
        _mutant("A2", A2, "group-subscribes-different-topics", "a member has another topic", SUBSCRIPTIONS, OWNERLESS),
        _mutant("A3", A3, "group-subscribes-different-tags", "a member asks for other tags", SUBSCRIPTIONS),
        _mutant("A5", A5, "divergent-rebalance-views", "a client keeps an old view", VIEWS, OVERLAP, OWNERLESS),
        _mutant("A6", A6, "machine-room-indexes-wrong-list", "a client takes another queue instead", ALLOCATION),
        _mutant("A8", A8, "one-topic-error-kills-rebalance", "a client balances its first topic only", TOPICS),
        _mutant("A9", A9, "dropped-queue-never-removed", "a client drops a queue for 100 s", OWNERLESS),
        _mutant("A10", A10, "pull-interval-above-idle-limit", "a client drops and takes one queue", FLAPPING),
        _mutant("B1", B1, "fetch-error-becomes-offset-zero", "a failed query is read as 0", BACK, DUPLICATE),
        _mutant("B2", B2, "too-large-offset-rewinds-to-min", "beyond the end means the minimum", BACK),
        _mutant("B3", B3, "reset-races-with-commits", "a client that lost a queue commits", NOT_OWNER),
        _mutant("B4", B4, "offset-goes-to-any-replica", "an older offset is stored", BACK, kinds=_ANY),
        _mutant("B7", B7, "commit-ignores-in-flight-batch", "the offset passes a running call", UNFINISHED),
        _mutant("B8", B8, "filtered-messages-never-committed", "nothing matches, and that is never stored", STUCK),
        _mutant("B9", B9, "stale-pull-result-after-reassign", "a pull jumps over a batch", SKIPPED, kinds=_ANY),
        _mutant("C2", C2, "sub-batch-failure-returns-whole-pull", "a success is sent back", SENT_BACK, ATTEMPTS),
        _mutant("C3", C3, "result-of-dropped-queue-half-applied", "a finished message is delivered again", DUPLICATE),
        _mutant("D1", D1, "failed-send-back-still-acked", "a failed message is neither kept nor sent back", FAILED),
        _mutant("D2", D2, "dead-letter-delayed-by-hours", "a dead letter waits as a retry does", DEAD_LETTER),
        _mutant("D3", D3, "orderly-retries-forever-after-max", "one more retry at the maximum", MAXIMUM, DEAD_LETTER),
        _mutant("D4", D4, "pop-retry-level-shift", "a retry waits three levels longer", LEVEL),
        _mutant("D7", D7, "retries-never-reach-listener", "a retry is sent back unseen", ATTEMPTS, SENT_BACK),
        _mutant("D8", D8, "retry-queue-never-pulled", "nobody takes a retry queue", STUCK),
        _mutant("E3", E3, "revoke-while-listener-runs", "an orderly queue is given away too early", ONE_LISTENER,
                kinds=("orderly",)),
        _mutant("E6", E6, "orderly-suspend-loses-message", "a suspended message is lost", FAILED, IN_ORDER,
                kinds=("orderly",)),
        _mutant("F4", F4, "hung-listener-pins-offset", "a call never ends, and nobody cleans up", STUCK),
        _mutant("G1", G1, "last-offset-skips-new-queues", "a new queue is started at its end", SKIPPED, kinds=_ANY),
        _mutant("G4", G4, "broadcast-offset-cannot-be-fixed", "an illegal offset is asked for again", ILLEGAL,
                kinds=("concurrently", "orderly", "broadcasting")),
        _mutant("H1", H1, "delay-offset-beyond-queue-end", "a waiting message is never delivered", LATE),
        _mutant("H2", H2, "delay-offset-not-saved-on-stop", "a waiting message is delivered twice", COPY),
        _mutant("H7", H7, "timer-checkpoint-ahead-of-data", "a waiting message comes early", EARLY, WAITS),
    )
}  # fmt: skip
"""All mutants, by id."""

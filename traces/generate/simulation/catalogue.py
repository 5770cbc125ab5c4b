"""Known bugs that a simulated cluster can have, and which claims about its trace each of them breaks."""

from __future__ import annotations

import enum
from dataclasses import dataclass


class Claim(enum.StrEnum):
    """The claims that are broken here, by id. Compiled functions and facts use the position of a claim."""

    DUPLICATE = "every-duplicate-has-a-cause"
    BACK = "offset-never-back-without-cause"
    UNFINISHED = "offset-never-past-unfinished"
    SKIPPED = "nothing-skipped"
    FAILED = "failed-message-comes-again"
    OVERLAP = "overlaps-are-short"
    OWNERLESS = "every-queue-gets-an-owner"
    FLAPPING = "no-flapping"
    ONE_LISTENER = "orderly-one-listener"
    STUCK = "every-queue-moves"
    ATTEMPTS = "attempts-follow-each-other"
    MAXIMUM = "attempts-within-the-maximum"
    COPY = "every-copy-has-a-cause"
    SENT_BACK = "only-failed-messages-are-sent-back"
    WAITS = "retry-waits-as-its-level-says"
    LEVEL = "level-as-the-count-says"
    EARLY = "never-before-it-is-due"
    LATE = "delivered-when-due"
    DEAD_LETTER = "dead-letter-exactly-at-the-maximum"
    SAME_ID = "one-process-for-each-client-id"
    SUBSCRIPTIONS = "same-subscriptions"
    ALLOCATION = "allocation-as-the-strategy-says"
    VIEWS = "views-agree"
    TOPICS = "every-topic-is-balanced"
    ILLEGAL = "illegal-offset-is-corrected"
    NOT_OWNER = "only-owners-commit"
    IN_ORDER = "orderly-in-order"


PLACE = {claim: place for place, claim in enumerate(Claim)}


Bug = enum.IntEnum(
    "Bug",
    "NONE B7 B8 B9 C2 C3 D1 D2 D3 D4 D7 E6 F4 H1 H2 H7 B4 A1 A2 A3 A5 A6 A8 A9 A10 B1 B2 B3 D8 E3 G1 G4",
    start=0,
)
"""Known bugs. Those up to B4 strike inside the run, later ones from outside; see ``intruder``."""


@dataclass(frozen=True, kw_only=True)
class Mutant:
    """One known bug."""

    id: str  # its entry in the list of known bugs
    code: Bug  # its number
    name: str  # its name
    what: str  # what the simulated cluster does wrong, at each of its places
    breaks: tuple[Claim, ...]  # ids of the claims that each place breaks
    kinds: tuple[str, ...] = ("concurrently",)  # kinds of groups that can have it


def _mutant(code: Bug, name: str, what: str, *breaks: Claim, kinds: tuple[str, ...] = ("concurrently",)) -> Mutant:
    return Mutant(id=code.name, code=code, name=name, what=what, breaks=breaks, kinds=kinds)


_ANY = ("concurrently", "orderly")

MUTANTS = {
    mutant.id: mutant
    for mutant in (
        _mutant(Bug.A1, "clientid-clash", "a second process has the id of a live one",
                Claim.SAME_ID, Claim.OVERLAP, Claim.OWNERLESS),
        _mutant(Bug.A2, "group-subscribes-different-topics", "a member has another topic",
                Claim.SUBSCRIPTIONS, Claim.OWNERLESS),
        _mutant(Bug.A3, "group-subscribes-different-tags", "a member asks for other tags", Claim.SUBSCRIPTIONS),
        _mutant(Bug.A5, "divergent-rebalance-views", "a client keeps an old view",
                Claim.VIEWS, Claim.OVERLAP, Claim.OWNERLESS),
        _mutant(Bug.A6, "machine-room-indexes-wrong-list", "a client takes another queue instead", Claim.ALLOCATION),
        _mutant(Bug.A8, "one-topic-error-kills-rebalance", "a client balances its first topic only", Claim.TOPICS),
        _mutant(Bug.A9, "dropped-queue-never-removed", "a client drops a queue for 100 s", Claim.OWNERLESS),
        _mutant(Bug.A10, "pull-interval-above-idle-limit", "a client drops and takes one queue", Claim.FLAPPING),
        _mutant(Bug.B1, "fetch-error-becomes-offset-zero", "a failed query is read as 0", Claim.BACK, Claim.DUPLICATE),
        _mutant(Bug.B2, "too-large-offset-rewinds-to-min", "beyond the end means the minimum", Claim.BACK),
        _mutant(Bug.B3, "reset-races-with-commits", "a client that lost a queue commits", Claim.NOT_OWNER),
        _mutant(Bug.B4, "offset-goes-to-any-replica", "an older offset is stored", Claim.BACK, kinds=_ANY),
        _mutant(Bug.B7, "commit-ignores-in-flight-batch", "the offset passes a running call", Claim.UNFINISHED),
        _mutant(Bug.B8, "filtered-messages-never-committed", "nothing matches, and that is never stored", Claim.STUCK),
        _mutant(Bug.B9, "stale-pull-result-after-reassign", "a pull jumps over a batch", Claim.SKIPPED, kinds=_ANY),
        _mutant(Bug.C2, "sub-batch-failure-returns-whole-pull", "a success is sent back",
                Claim.SENT_BACK, Claim.ATTEMPTS),
        _mutant(Bug.C3, "result-of-dropped-queue-half-applied", "a finished message is delivered again",
                Claim.DUPLICATE),
        _mutant(Bug.D1, "failed-send-back-still-acked", "a failed message is neither kept nor sent back", Claim.FAILED),
        _mutant(Bug.D2, "dead-letter-delayed-by-hours", "a dead letter waits as a retry does", Claim.DEAD_LETTER),
        _mutant(Bug.D3, "orderly-retries-forever-after-max", "one more retry at the maximum",
                Claim.MAXIMUM, Claim.DEAD_LETTER),
        _mutant(Bug.D4, "pop-retry-level-shift", "a retry waits three levels longer", Claim.LEVEL),
        _mutant(Bug.D7, "retries-never-reach-listener", "a retry is sent back unseen", Claim.ATTEMPTS, Claim.SENT_BACK),
        _mutant(Bug.D8, "retry-queue-never-pulled", "nobody takes a retry queue", Claim.STUCK),
        _mutant(Bug.E3, "revoke-while-listener-runs", "an orderly queue is given away too early", Claim.ONE_LISTENER,
                kinds=("orderly",)),
        _mutant(Bug.E6, "orderly-suspend-loses-message", "a suspended message is lost", Claim.FAILED, Claim.IN_ORDER,
                kinds=("orderly",)),
        _mutant(Bug.F4, "hung-listener-pins-offset", "a call never ends, and nobody cleans up", Claim.STUCK),
        _mutant(Bug.G1, "last-offset-skips-new-queues", "a new queue is started at its end", Claim.SKIPPED, kinds=_ANY),
        _mutant(Bug.G4, "broadcast-offset-cannot-be-fixed", "an illegal offset is asked for again", Claim.ILLEGAL,
                kinds=("concurrently", "orderly", "broadcasting")),
        _mutant(Bug.H1, "delay-offset-beyond-queue-end", "a waiting message is never delivered", Claim.LATE),
        _mutant(Bug.H2, "delay-offset-not-saved-on-stop", "a waiting message is delivered twice", Claim.COPY),
        _mutant(Bug.H7, "timer-checkpoint-ahead-of-data", "a waiting message comes early", Claim.EARLY, Claim.WAITS),
    )
}  # fmt: skip
"""All mutants, by id."""

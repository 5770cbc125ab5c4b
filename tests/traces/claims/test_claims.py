"""Which holes of a recording leave a claim in doubt: what is said of it in the tables, in one place."""

from __future__ import annotations

from rocketproof.traces.claims.claims import CLAIMS


def those(word: str) -> set[str]:
    return {claim.id for claim in CLAIMS if getattr(claim, word)}


def test_only_actions_of_those_who_are_named_can_excuse() -> None:
    assert those("of_itself") == {
        "only-owners-commit",
        "orderly-lock-is-renewed",
        "nothing-after-revoke",
        "nothing-without-its-cause",
        "steps-follow-each-other",
        "events-fit-each-other",
        "stores-follow-each-other",
        "allocation-as-the-strategy-says",
        "processes-act-in-order",
        "shares-are-taken",
        "subscription-is-current",
        "illegal-offset-is-corrected",
    }


def test_how_long_before_a_finding_a_hole_matters() -> None:
    assert those("lasts") == {
        "only-owners-commit",
        "overlaps-are-short",
        "every-queue-gets-an-owner",
        "every-queue-moves",
        "nothing-without-its-cause",
        "steps-follow-each-other",
        "events-fit-each-other",
        "stores-follow-each-other",
        "one-process-for-each-client-id",
        "same-subscriptions",
        "views-agree",
        "every-topic-is-balanced",
        "processes-act-in-order",
        "shares-are-taken",
    }
    assert those("within") == {"no-flapping", "subscription-is-current", "illegal-offset-is-corrected"}


def test_at_which_brokers_a_hole_matters() -> None:
    assert those("by_broker") == {"query-answers-what-is-stored"}
    assert those("by_members") == {"overlaps-are-short", "every-queue-gets-an-owner", "no-flapping"}

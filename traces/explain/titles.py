"""Titles: what is wrong, in one sentence for each finding, with the names and times that RocketMQ's users know."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from ..claims.causes import Missing
from ..claims.claim import TraceClaim
from ..claims.group_steps import GroupMisstep
from ..claims.obligations import Reason
from ..claims.step import Steps
from ..claims.steps import Misstep
from ..encoding.names import Actor, Names, Slot
from ..format.kinds import Kind
from ..monitors.groups.allocations import Unreadable, expected_share, strategy_of
from .evidence import Found
from .sentences import clock, queues_in_words

_TITLES: Mapping[str, str] = {
    "every-duplicate-has-a-cause": "{message} was delivered again{to}, and nothing that was recorded explains it",
    "offset-never-back-without-cause": "the stored offset of {queue} went back from {expected} to {value}{by}, "
    "for no known reason",
    "offset-never-past-unfinished": "the stored offset of {queue} passed offset {offset}, whose listener was running",
    "nothing-skipped": "the stored offset of {queue} passed {offsets}, which nobody was given",
    "failed-message-comes-again": "the stored offset of {queue} passed {offsets}, which failed and was not sent back",
    "only-owners-commit": "{actor} stored an offset of {queue}, which it did not have",
    "overlaps-are-short": "{actor} and {other} both had {queue} for {span}",
    "every-queue-gets-an-owner": "{queue} had no owner for {span}",
    "no-flapping": "{actor} kept dropping and taking {queue} for {span}",
    "orderly-one-listener": "{actor} was given {message} while the listener of {other} ran on the queue",
    "orderly-in-order": "{actor} was given {message} out of order",
    "every-queue-moves": "{queue} stood still for {span} although messages were left",
    "reset-is-followed": "{actor} continued with {queue} for {span} as if its offset had not been reset",
    "orderly-lock-is-renewed": "{actor} had {queue} for {span} and did not renew its lock",
    "nothing-after-revoke": "{actor} was given {message} {span} after it had given the queue up",
    "query-answers-what-is-stored": "{actor} was told that offset {value} of {queue} is stored, but it was {expected}",
    "nothing-without-its-cause": "{actor} {misstep}",
    "steps-follow-each-other": "{actor} {misstep}",
    "events-fit-each-other": "{actor} {misstep}",
    "stores-follow-each-other": "{actor} {misstep}",
    "maximum-as-configured": "{message} was sent back{by} with a maximum of {value}, but its group has {expected}",
    "attempts-follow-each-other": "{message} came with a count of {value}, where {expected} is next",
    "attempts-within-the-maximum": "{message} was delivered beyond its maximum of attempts",
    "every-copy-has-a-cause": (
        "{message} has a second copy made after one attempt, and nothing that was recorded explains it"
    ),
    "only-failed-messages-are-sent-back": "{message} was sent back{by} although it had not failed",
    "retry-waits-as-its-level-says": (
        "{message} came again at {value_clock}, although it was not due before {expected_clock}"
    ),
    "level-as-the-count-says": "{message} does not wait as its count asks for: {waits} instead of {waits_by_rule}",
    "never-before-it-is-due": "{message} was delivered at {value_clock}, before it was due at {expected_clock}",
    "delivered-when-due": "{message} was not delivered when it was due, at {expected_clock}",
    "dead-letter-exactly-at-the-maximum": "{message} became a dead letter at the wrong count",
    "nothing-after-the-dead-letter": "{message} was delivered{to} after it had become a dead letter",
    "sent-back-message-comes-again": "{message} was sent back and never stored again",
    "one-process-for-each-client-id": "two processes of group {group} have the client id {id} at once",
    "same-subscriptions": (
        "members of group {group} disagree about {topic} for {span}: {actor} and {other}, for example"
    ),
    "allocation-as-the-strategy-says": "{actor} assigned itself {assigned} of {topic}, but its strategy {answer}",
    "views-agree": "members of group {group} saw different {views} of {topic} for {span}: {actor} and {other}, "
    "for example",
    "every-topic-is-balanced": "{actor} did not rebalance {topic} of group {group} for {span}",
    "processes-act-in-order": "{actor} {misstep}",
    "shares-are-taken": "{actor} {misstep}",
    "subscription-is-current": "pulls of {queue}{by} were refused for {span} because of an outdated subscription",
    "illegal-offset-is-corrected": "{actor} kept asking for the illegal offset {offset} of {queue}",
    "every-queue-is-readable": "messages were stored in {queue} ({value}), which no member of group {group} knows",
}
"""What is wrong, for each claim."""

_STEPS: Mapping[str, type[Steps]] = {
    one.step.claim: steps for steps in (Missing, Misstep, GroupMisstep) for one in steps
}
"""By claim, the table whose rows describe what happened."""

STANDSTILLS: Mapping[int, str] = {
    Reason.NO_OWNER: "nobody had it",
    Reason.NO_PULLS: "{actor} had it, but did not pull it",
    Reason.PINNED: "{other} did not finish offset {offset}",
    Reason.NOT_LOCKED: "{actor} could not lock it",
    Reason.REFUSED: "the pulls of {actor} were refused",
    Reason.NOT_COMMITTED: "what {actor} had finished was not stored",
    Reason.NOT_DELIVERED: "{actor} had pulled offset {offset}, but no listener was given it",
    Reason.NOT_IN_MEMORY: "what {actor} had finished did not move the offset in its memory",
    Reason.OWNER_STOOD_STILL: "{actor} had it, but did nothing at all in that time",
    Reason.UNKNOWN: "{actor} pulled it, but did not get what was there",
}
"""Why a queue stands still, by the value of the finding."""

_VIEWS = {1: "members", 2: "queues", 3: "members and queues"}

_A_TIME = 1_000_000
"""Numbers from this on are times, ms since 1970; smaller ones are delay levels."""


def has_offsets(claim: str) -> bool:
    """Whether findings of a claim are about messages at their offsets."""
    if claim in _STEPS:
        return _STEPS[claim] is not GroupMisstep
    return any(word in _TITLES[claim] for word in ("{message}", "{offset}", "{offsets}"))


def has_kinds(claim: str) -> bool:
    """Whether ``value`` of a finding says which kind it is."""
    return claim in _STEPS or claim == "every-queue-moves"


def title(
    claim: TraceClaim, row: Mapping[str, int], names: Names, found: Sequence[Found] = (), *, cause: str = ""
) -> str:
    """What is wrong.

    Args:
        claim: the violated claim.
        row: the finding, by the columns of ``findings.ROW``.
        names: the names behind its codes.
        found: the events that belong to it, used for the key of a message, or the queues that a client gave itself.
        cause: the end of the sentence, if it is known.
    """
    slot = names.slots[row["slot"]] if row["slot"] >= 0 else None
    actor, other = (str(names.actors[row[role]]) if row[role] >= 0 else "somebody" for role in ("actor", "other"))
    queue = "a queue" if slot is None else f"{slot.topic}@{slot.broker}:{slot.queue}"
    last = max(row["until"], row["offset"] + 1) - 1
    template = _TITLES[claim.id]
    if claim.id == "every-queue-moves":
        template += f": {STANDSTILLS[row['value']]}" if row["value"] in STANDSTILLS else ""
        if row["value"] == Reason.NOT_POLLED:
            template = "{actor} stopped asking {queue} for messages, for {span}"
    if claim.id == "query-answers-what-is-stored" and row["value"] < 0:
        template = "{actor} was told that no offset of {queue} is stored, but it was {expected}"
    if claim.id == "sent-back-message-comes-again" and row["value"] >= row["expected"]:
        template = "{message} was sent back to its broker, and stored again by another one"
    if claim.id in _STEPS:
        template = template.replace("{misstep}", list(_STEPS[claim.id])[row["value"]].step.told)
    assigned, answer = _shares(row, slot, names, found) if "{assigned}" in template else ("", "")
    text = (template + "{cause}").format(
        cause=cause,
        actor=actor,
        other=other,
        id=names.actors[row["actor"]].name if row["actor"] >= 0 else "somebody",
        group=slot.group if slot is not None else "",
        topic=(slot.topic if slot is not None else "") or "several topics",
        queue=queue,
        message=_message(row, slot, queue, found),
        offset=row["offset"],
        offsets=f"offset {row['offset']}" if last == row["offset"] else f"offsets {row['offset']} to {last}",
        value=row["value"],
        expected=row["expected"],
        value_clock=clock(row["value"]),
        expected_clock=clock(row["expected"]),
        waits=_wait(row["value"]),
        waits_by_rule=_wait(row["expected"]),
        span=f"{(row['time'] - row['since']) / 1000:,.1f} s",
        to=f" to {actor}" if row["actor"] >= 0 else "",
        by=f" by {actor}" if row["actor"] >= 0 else "",
        assigned=assigned,
        answer=answer,
        views=_VIEWS.get(row["value"], "views"),
    )
    # A name keeps its spelling.
    return text if template.startswith(("{queue}", "{actor}")) else text[0].upper() + text[1:]


def _message(row: Mapping[str, int], slot: Slot | None, queue: str, found: Sequence[Found]) -> str:
    """A message as its users know it: by queue and offset, otherwise by its unique key, or else by its origin."""
    if slot is not None and row["offset"] >= 0:
        return f"offset {row['offset']} of {queue}"
    own = (each.event for each in found if row["origin"] != 0 and each.origin == row["origin"])
    key = next((event["key"] for event in own if event.get("key")), None)
    return f"message {key}" if key else f"message of origin {row['origin']}"


def _wait(value: int) -> str:
    if not value:
        return "at no level"
    return f"due at {clock(value)}" if value >= _A_TIME else f"level {value}"


def _shares(row: Mapping[str, int], slot: Slot | None, names: Names, found: Sequence[Found]) -> tuple[str, str]:
    """Which queues a client gave itself, and which its strategy gives it; only how many if the pass is not known."""
    actor: Actor | None = names.actors[row["actor"]] if row["actor"] >= 0 else None
    passes = [
        each.event
        for each in found
        if each.event["kind"] == Kind.REBALANCE
        and row["since"] <= each.event["time"] <= row["time"]
        and each.event.get("assigned") is not None
        and each.event.get("queues") is not None
        and (actor is None or each.event.get("client") == actor.name)
        and (slot is None or each.event.get("topic") == slot.topic)
    ]
    refused = "has no answer for what it saw"
    if not passes:
        return f"{row['value']} queues", f"gives it {row['expected']}" if row["expected"] >= 0 else refused
    event = passes[0]
    assigned = queues_in_words(event["assigned"])
    if row["expected"] < 0:
        return assigned, refused
    known = names.of_groups.get(event.get("group") or "")
    strategy = strategy_of(event.get("detail") or (known.strategy if known is not None else "") or "AVG")
    try:
        share = strategy and expected_share(
            strategy[0],
            own_id=event["client"],
            topic=event["topic"],
            queues=event["queues"],
            members=event.get("members") or [],
        )
    except Unreadable:
        share = None
    if not share or len(share) != row["expected"]:
        return assigned, f"gives it {row['expected']}"
    return assigned, f"gives it {queues_in_words([f'{each.broker_name}:{each.queue_id}' for each in sorted(share)])}"

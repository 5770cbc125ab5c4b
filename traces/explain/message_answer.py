"""The answer about one message, in a few words for each group: delivered once, again and why, never, or cannot be
told.

What happened is in its story; why it came again comes from a check of the whole trace.
"""

from __future__ import annotations

import enum
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from ...model.history import Cause
from ..engine.recorded import KEPT_BY_BROKER
from ..engine.result import CheckResult
from ..format.coverage import missing
from ..format.kinds import FAILURES, SUCCESSES, Kind
from ..format.message_status import MessageStatus
from .message_attempts import Attempt
from .message_outcome import NEVER_DELIVERED, Outcome
from .message_story import MessageStory
from .repetitions import WORDS, repeated_rows

_TELLS_STATUS = ((Kind.DELIVER,), (Kind.RESULT,), (Kind.PULL_RESULT,), (Kind.COMMIT,))


class Answer(enum.StrEnum):
    """What became of a message for a group, in the words in which people ask about it."""

    ONCE = "DELIVERED ONCE"
    AGAIN = "DELIVERED AGAIN"
    NEVER = "NEVER DELIVERED"
    DEAD_LETTERED = "DEAD-LETTERED"
    DEAD_LETTERED_AND_CONSUMED = "DEAD-LETTERED AND CONSUMED"
    CANNOT_BE_TOLD = "CANNOT BE TOLD"


@dataclass(frozen=True, kw_only=True)
class GroupAnswer:
    """The answer for one group."""

    outcome: Outcome  # what became of the message for it
    answer: Answer
    # why it was delivered more than once, most frequent first; or, if there is no answer, what is missing
    because: tuple[str, ...]

    @property
    def deliveries(self) -> int:
        """How often it was delivered, including tries after a failure."""
        return len(self.outcome.attempts)

    @property
    def short(self) -> str:
        """The answer with its reasons, such as ``DELIVERED TWICE because its client died before …``."""
        outcome, deliveries = self.outcome, self.deliveries
        if self.answer is Answer.CANNOT_BE_TOLD:
            seen = "" if not deliveries else f"delivered {_times(deliveries)} as far as was recorded, "
            return f"{self.answer}: {'; '.join(self.because) or f'{seen}{outcome.told}'}"
        unsure = f", as far as was recorded ({outcome.unsure})" if outcome.unsure else ""
        reasons = ", and because ".join(self.because)
        why = f" because {reasons}" if reasons else ", for a reason that cannot be told"
        if outcome.messages > 1:
            again = why if deliveries > outcome.messages else ""
            head = f"{outcome.messages} MESSAGES HAVE THIS KEY, TOGETHER DELIVERED {_times(deliveries).upper()}"
            return f"{head}{again}{unsure}: {outcome.consumed} of them were consumed"
        # A message that was consumed, or is a dead letter, needs no further words.
        is_done = outcome.status in (MessageStatus.ACKNOWLEDGED, MessageStatus.DEAD_LETTERED)
        told = "" if is_done else f": {outcome.told.removeprefix(NEVER_DELIVERED)}"
        if self.answer in (Answer.ONCE, Answer.NEVER):
            return f"{self.answer}{unsure}{told}"
        if deliveries < 2:
            return self.answer
        after = f"{self.answer} after {deliveries} deliveries"
        head = f"DELIVERED {_times(deliveries).upper()}" if self.answer is Answer.AGAIN else after
        return f"{head}{why}{told}"


def _times(count: int) -> str:
    return {1: "once", 2: "twice"}.get(count, f"{count} times")


def answers(story: MessageStory, result: CheckResult) -> tuple[GroupAnswer, ...]:
    """The answer for each group of a message's story, with the reasons that a check of the same trace has found.

    Names under which brokers keep data of a broadcasting group are not groups that could receive a message.
    """
    of_none = {group for group, why in result.coverage.not_judged.items() if why == KEPT_BY_BROKER}
    return tuple(_answer(one, story, result) for one in story.outcomes if one.group not in of_none)


def first_line(story: MessageStory, result: CheckResult) -> str:
    """The answer in one line; groups with equal answers are named together, those for which it cannot be told last."""
    told = answers(story, result)
    if not told:
        if lacking := missing(_TELLS_STATUS[:1], result.coverage.recorded):
            return f"message {story.asked}: {Answer.CANNOT_BE_TOLD}: what is missing is {lacking[0][0]} events"
        return f"message {story.asked}: {Answer.NEVER} in this trace: no group had to do with it or its queues"
    if len(told) == 1:
        return f"message {story.asked}: {told[0].short}"
    groups: dict[str, list[str]] = {}
    for one in sorted(told, key=lambda one: one.answer is Answer.CANNOT_BE_TOLD):
        groups.setdefault(one.short, []).append(f"{one.outcome.group or 'unknown group'}{one.outcome.at}")
    parts = [f"{short} ({', '.join(named)})" for short, named in groups.items()]
    return f"message {story.asked}: {'; '.join(parts)}"


def _answer(outcome: Outcome, story: MessageStory, result: CheckResult) -> GroupAnswer:
    attempts = outcome.attempts
    consumed = any(attempt.result in SUCCESSES for attempt in attempts)
    because: tuple[str, ...] = ()
    if outcome.status is MessageStatus.DEAD_LETTERED:
        answer = Answer.DEAD_LETTERED_AND_CONSUMED if consumed else Answer.DEAD_LETTERED
    elif outcome.status is MessageStatus.NOT_OBSERVABLE:
        answer = Answer.CANNOT_BE_TOLD
        recorded = result.coverage.recorded_of(outcome.group)
        lacking = [kind for kinds in missing(_TELLS_STATUS, recorded) for kind in kinds]
        reason = result.coverage.not_judged.get(outcome.group, "")
        if reason or (lacking and not attempts):
            because = (reason or f"what is missing is {', '.join(lacking)} events",)
    elif not attempts:
        answer = Answer.NEVER
    else:
        answer = Answer.ONCE if len(attempts) == 1 else Answer.AGAIN
    if len(attempts) > 1 and answer is not Answer.CANNOT_BE_TOLD:
        because = _reasons(outcome, story, result)
    return GroupAnswer(outcome=outcome, answer=answer, because=because)


def _reasons(outcome: Outcome, story: MessageStory, result: CheckResult) -> tuple[str, ...]:
    """Why deliveries followed the first one: failures of its listener, and the causes of repetitions by the check."""
    counts: Counter[str] = Counter()
    rows = repeated_rows(result)
    slots = result.names.slots
    for row in rows[np.isin(rows["origin"], np.array(story.origins, np.int64))]:
        slot = slots[row["slot"]] if row["slot"] >= 0 else None
        if slot is None or slot.group != outcome.group or outcome.client not in ("", slot.who):
            continue
        unknown = "of something that was not recorded" if row["doubt"] else "of NO CAUSE THAT RocketMQ HAS"
        counts[unknown if row["cause"] == Cause.NONE else WORDS[Cause(int(row["cause"]))]] += 1
    if WORDS[Cause.SUSPENDED] not in counts:
        counts["its listener failed"] = _failures(outcome.attempts)
    ranked = sorted((-count, why) for why, count in counts.items() if count)
    return tuple(f"{why} ({-count} times)" if count < -1 else why for count, why in ranked)


def _failures(attempts: Sequence[Attempt]) -> int:
    """Number of failures that were followed by a next attempt: such an attempt is no repetition."""
    count = 0
    for one, following in pairwise(attempts):
        numbered = one.number is not None and following.number is not None
        counts_on = numbered and (following.number or 0) > (one.number or 0)
        count += one.result in FAILURES and (one.asked is not None or counts_on)
    return count

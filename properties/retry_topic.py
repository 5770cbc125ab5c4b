"""Which topic a listener sees of a message that is tried again: theorems for every chain of retries."""

from __future__ import annotations

from ..model.kernel import BoolLike, IntLike, all_of, any_of, same
from ..model.retry_topic import NO_TOPIC, origin_by_fallback, origin_by_request, seen_topic
from .theorem import Theorem

_COVERS = "every topic, and every number of retries by induction"


def _at_some_try(topic: IntLike, origin: IntLike, first: IntLike, retry: IntLike) -> BoolLike:
    """Whether a message that was first stored in topic ``first`` lies there, or is a copy in the retry topic that knows
    it.
    """
    stored = all_of(same(topic, first), same(origin, NO_TOPIC))
    copied = all_of(same(topic, retry), same(origin, first))
    return all_of(first >= 0, retry >= 0, first != retry, any_of(stored, copied))


ORIGINAL_TOPIC = Theorem(
    id="listener-sees-the-original-topic",
    statement=(
        "At every attempt, a listener gets a message with the topic in which it was first stored, and its dead letter "
        "names this topic, whichever way it was sent back."
    ),
    sizes=("first", "retry"),
    given=_at_some_try,
    claim=lambda topic, origin, first, retry: all_of(
        same(seen_topic(topic, origin, retry), first),
        same(origin_by_request(topic, origin), first),
        same(origin_by_fallback(seen_topic(topic, origin, retry)), first),
    ),
    covers=_COVERS,
    rules=("CC-4", "SB-4", "SB-14", "DQ-2"),
)

NO_RETRY_TOPIC = Theorem(
    id="listener-never-sees-a-retry-topic",
    statement="A listener never gets a message with the retry topic of a group.",
    sizes=("first", "other"),
    given=lambda first, other, retry: all_of(first >= 0, other >= 0, retry >= 0, first != other, other != retry),
    claim=lambda first, other, retry: same(seen_topic(other, first, retry), first),
    tells=lambda first, other, retry: (
        f"a consumer that subscribes to the retry topic {other} of another group sees it, not the topic {first}"
    ),
    covers="every topic",
    rules=("CC-4",),
)

KEPT_WITHOUT_A_LISTENER = Theorem(
    id="unstarted-message-keeps-its-topic",
    statement="A message that is sent back before its listener was called keeps its original topic.",
    sizes=("first", "retry"),
    given=lambda topic, origin, first, retry: all_of(_at_some_try(topic, origin, first, retry), topic == retry),
    claim=lambda topic, first: same(origin_by_fallback(topic), first),
    tells=lambda retry: (
        f"a copy made by a client carries the start time of its last attempt; if it expires again before its listener "
        f"was called, and the broker cannot be asked, the next copy has the retry topic {retry} as its original one"
    ),
    covers="every topic",
    rules=("PQ-9", "SB-4"),
)

TOPIC_THEOREMS = (ORIGINAL_TOPIC,)
"""What holds for every chain of retries."""

NAIVE_TOPIC_THEOREMS = (NO_RETRY_TOPIC, KEPT_WITHOUT_A_LISTENER)
"""Popular beliefs; each is false."""

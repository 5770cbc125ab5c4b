"""Dead letters: where a message goes that is not tried again, and what happens if a group reads it later.

A dead letter is a full copy in ``%DLQ%group``, with the count it would have had as a retry (DQ-2). Nothing subscribes
to that topic by itself (DQ-3). A group that subscribes to it inherits the count (DQ-4): a message that failed 16 times
elsewhere is given up at its first failure there.
"""

from __future__ import annotations

from .kernel import BoolLike, ConfigurationError, IntLike, rule
from .retry_policy import is_dead_letter

RETRY_PREFIX = "%RETRY%"
DEAD_LETTER_PREFIX = "%DLQ%"

DEAD_LETTER_QUEUES = 1
"""DQ-1: queues of a dead-letter topic on each broker (``DLQ_NUMS_PER_GROUP``)."""

LONGEST_TOPIC = 127
"""Maximum length of a topic name, in characters (``TopicValidator``)."""

WRITE = 2
READ = 4
"""Bits of a topic's permission (``PermName``)."""

_WRITE_ONLY_UNTIL = (4, 9, 1)


def retry_topic(group: str) -> str:
    """The topic in which a group's retries wait for their consumer (EN-11: ``MixAll#getRetryTopic``)."""
    return RETRY_PREFIX + group


def dead_letter_topic(group: str) -> str:
    """The topic of a group's dead letters (DQ-1: ``MixAll#getDLQTopic``).

    Raises:
        ConfigurationError: the name would be too long to be stored: such a group's messages fail for ever (G2-17).
    """
    topic = DEAD_LETTER_PREFIX + group
    for name in (topic, retry_topic(group)):
        if len(name) > LONGEST_TOPIC:
            raise ConfigurationError(
                f"consumer group {group!r} has {len(group)} characters: the topic {name[:20]}… would have {len(name)}, "
                f"and a broker stores up to {LONGEST_TOPIC}. A message of this group that fails for the last time "
                f"could never be stored; use at most {LONGEST_TOPIC - len(RETRY_PREFIX)} characters."
            )
    return topic


def dead_letter_permission(version: str) -> int:
    """DQ-1: permission a dead-letter topic is created with; write only up to 4.9.1, so that nobody can read it.

    Args:
        version: release of the broker, such as "5.3.3". A topic created by an older one keeps its permission.

    Raises:
        ConfigurationError: not a release.
    """
    try:
        number = tuple(int(part) for part in version.split("."))
    except ValueError:
        raise ConfigurationError(
            f"{version!r} is not a release of RocketMQ; give three numbers, as in 5.3.3."
        ) from None
    return WRITE if number <= _WRITE_ONLY_UNTIL else WRITE | READ


@rule
def given_up_at_once(times: IntLike, maximum: IntLike) -> BoolLike:
    """DQ-4: whether a dead letter read by a group is given up when it fails for the first time there.

    Args:
        times: the count that the dead letter carries, one more than the count at which it failed.
        maximum: the maximum number of retries of the group that reads it.
    """
    return is_dead_letter(times, maximum, 0)

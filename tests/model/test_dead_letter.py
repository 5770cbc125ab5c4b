"""Dead-letter topics: names, permissions, and what a reader inherits."""

import pytest

from rocketproof.model.dead_letter import (
    DEAD_LETTER_QUEUES,
    READ,
    WRITE,
    dead_letter_permission,
    dead_letter_topic,
    given_up_at_once,
    retry_topic,
)
from rocketproof.model.kernel import ConfigurationError

pytestmark = pytest.mark.smoke


def test_topics_are_named_after_the_group() -> None:
    assert (retry_topic("orders"), dead_letter_topic("orders"), DEAD_LETTER_QUEUES) == (
        "%RETRY%orders",
        "%DLQ%orders",
        1,
    )


@pytest.mark.parametrize(("length", "possible"), [(120, True), (121, False), (123, False)])
def test_a_group_whose_topics_cannot_be_stored_is_refused(length: int, possible: bool) -> None:
    group = "g" * length
    if possible:
        assert len(dead_letter_topic(group)) == length + 5
        return
    with pytest.raises(ConfigurationError, match="use at most 120 characters"):
        dead_letter_topic(group)


@pytest.mark.parametrize(
    ("version", "permission"),
    [("4.8.0", WRITE), ("4.9.1", WRITE), ("4.9.2", READ | WRITE), ("4.9.8", READ | WRITE), ("5.3.3", READ | WRITE)],
)
def test_dead_letters_can_be_read_since_4_9_2(version: str, permission: int) -> None:
    assert dead_letter_permission(version) == permission


def test_a_version_is_three_numbers() -> None:
    with pytest.raises(ConfigurationError, match="give three numbers"):
        dead_letter_permission("latest")


@pytest.mark.parametrize(("times", "maximum", "at_once"), [(17, 16, True), (17, 17, True), (17, 18, False)])
def test_a_reader_inherits_the_count(times: int, maximum: int, at_once: bool) -> None:
    assert given_up_at_once(times, maximum) is at_once

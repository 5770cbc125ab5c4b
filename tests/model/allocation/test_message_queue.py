"""Queues and the order in which clients sort what they allocate."""

import pytest

from rocketproof.model.allocation import MessageQueue, java_order, sorted_ids

pytestmark = pytest.mark.smoke


def test_queues_sort_by_topic_then_broker_then_number() -> None:
    queues = [
        MessageQueue("T", "b", 10),
        MessageQueue("T", "b", 9),
        MessageQueue("T", "a", 11),
        MessageQueue("S", "z", 99),
    ]
    assert [(queue.topic, queue.broker_name, queue.queue_id) for queue in sorted(queues)] == [
        ("S", "z", 99),
        ("T", "a", 11),
        ("T", "b", 9),
        ("T", "b", 10),
    ]


def test_equality_and_hash_are_on_all_three_parts() -> None:
    queue = MessageQueue("T", "b", 1)
    assert queue == MessageQueue("T", "b", 1)
    assert len({queue, MessageQueue("T", "b", 1), MessageQueue("T", "b", 2), MessageQueue("T", "c", 1)}) == 3


def test_text_is_the_one_that_is_hashed() -> None:
    assert str(MessageQueue("T", "b", 0)) == "MessageQueue [topic=T, brokerName=b, queueId=0]"


def test_texts_sort_as_java_sorts_them() -> None:
    emoji, wide = "\U0001f600", "\uff21"
    assert sorted([wide, emoji]) == [wide, emoji]
    assert sorted_ids([wide, emoji]) == [emoji, wide]
    assert sorted([MessageQueue(wide, "b", 0), MessageQueue(emoji, "b", 0)])[0].topic == emoji
    assert sorted([MessageQueue("T", wide, 0), MessageQueue("T", emoji, 0)])[0].broker_name == emoji
    assert java_order("\ud83d") < java_order(wide)


def test_ids_sort_as_texts_not_as_numbers() -> None:
    assert sorted_ids(["10.0.0.9@1", "10.0.0.10@1", "B", "a"]) == ["10.0.0.10@1", "10.0.0.9@1", "B", "a"]

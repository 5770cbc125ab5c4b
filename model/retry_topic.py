"""The topic of a message that is tried again: what the listener sees, and what each copy carries.

A retry copy lies in ``%RETRY%`` + group, and has the topic from which it came in its property RETRY_TOPIC. Before a
listener is called, the client gives the message that topic again (CC-4), so listeners and hooks never see the retry
topic of their own group. Both services do so, and ``consumeMessageDirectly`` does.

Topics are numbers here. Everything is a rule: a pure function of whole numbers and truth values, plain or as terms.
"""

from __future__ import annotations

from .kernel import IntLike, all_of, ite, rule

NO_TOPIC = -1
"""A message without the property."""


@rule
def seen_topic(topic: IntLike, origin: IntLike, retry_topic: IntLike) -> IntLike:
    """CC-4: the topic with which a listener gets a message.

    Args:
        topic: where the message was pulled.
        origin: its RETRY_TOPIC, or NO_TOPIC.
        retry_topic: that of the group that consumes it.

    ``DefaultMQPushConsumerImpl#resetRetryAndNamespace``.
    """
    return ite(all_of(origin != NO_TOPIC, topic == retry_topic), origin, topic)


@rule
def origin_by_request(topic: IntLike, origin: IntLike) -> IntLike:
    """SB-14: RETRY_TOPIC of the copy, retry or dead letter, that a broker makes of the message that it has stored.

    ``AbstractSendMessageProcessor#consumerSendMsgBack``.
    """
    return ite(origin == NO_TOPIC, topic, origin)


@rule
def origin_by_fallback(topic_in_memory: IntLike) -> IntLike:
    """SB-4: RETRY_TOPIC of the copy that a client produces: the topic that its message has in memory.

    ``DefaultMQPushConsumerImpl#sendMessageBackAsNormalMessage``.
    """
    return topic_in_memory

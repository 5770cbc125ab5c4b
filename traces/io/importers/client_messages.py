"""Messages of clients, 4.9 and 5.x, and what each of them means."""

from __future__ import annotations

import re
from collections.abc import Iterator

from ...format.kinds import Kind, Result
from ...format.kinds import Path as Way
from .log_line import LogLine
from .log_table import Table, consumers, row
from .message_text import fields_in, messages_in, queues_in, readable_in
from .protocol import Event

_REQUEST = r"PullRequest \[consumerGroup=<group>, messageQueue=<mq>, nextOffset=<offset>\]"
# Level that ProcessQueue#cleanExpiredMsg asks for.
_EXPIRED_LEVEL = 3

MODE, EXPIRES, RESUMES = "mode", "expires", "resumes"
"""The content of a message without an event: how a group consumes, and that a queue will be dropped."""


def _messages(found: re.Match[str], line: LogLine) -> Iterator[Event]:
    """Every printed message; queue and group in the surrounding text are those of the queue that was pulled."""
    around = fields_in(found)
    for message in messages_in(line.message, group=around.get("group")):
        yield message | around


def _expired(found: re.Match[str], line: LogLine) -> Iterator[Event]:
    # The message is logged when sendMessageBack has returned (ProcessQueue#cleanExpiredMsg).
    yield fields_in(found)
    yield fields_in(found) | {
        "kind": Kind.SEND_BACK,
        "path": Way.EXPIRED,
        "result": Result.OK,
        "level": _EXPIRED_LEVEL,
    }


CLIENT_TABLE = Table(
    # MQClientInstance
    row("the client factory [", r"^the client factory \[<client>\] start OK", Kind.CLIENT_START),
    row("the client factory [", r"^the client factory \[<client>\] shutdown OK", Kind.CLIENT_STOP),
    row(
        "unregister client[",
        r"^unregister client\[Producer: \S+ Consumer: (?!null\])<group>\] "
        r"from broker\[<broker> .*success",
        Kind.UNREGISTER,
    ),
    # Which of the process's clients has asked is not stated: it counts as the name server's answer at that time.
    row(
        "route info changed",
        r"^the topic\[<topic>\] route info changed, .* ,new\[Topic",
        Kind.ROUTE,
        more=lambda found, line: [fields_in(found) | {"queues": readable_in(line.message.partition(" ,new[")[2])}],
    ),
    row("HeartbeatData [", r"^HeartbeatData \[clientID=<client>,", Kind.HEARTBEAT, more=consumers),
    # RebalanceImpl, RebalancePushImpl
    row(
        "ebalanced result changed",
        r"^(?:client r|broker r|r)ebalanced result changed\. allocateMessageQueueStrategyName=<detail>, "
        "group=<group>, topic=<topic>, clientId=<client>, "
        r"(?:mqAllSize=\d+, cidAllSize=<count>, )?",
        Kind.REBALANCE,
        more=lambda found, line: [fields_in(found) | {"assigned": queues_in(line.message)}],
    ),
    row("add a new mq failed", "add a new mq failed"),
    row("add a new mq, ", "^doRebalance, <group>, add a new mq, <mq>", Kind.ASSIGN),
    row("add a new pull request", f"add a new pull request {_REQUEST}", Kind.PULL),
    # 4.9 logs this when it has dropped the queue, 5.x ("try remove") before, and then like any other removal.
    row(
        "because pull is pause",
        r"^\[BUG\]doRebalance, <group>, remove unnecessary mq, <mq>, because pull is pause",
        Kind.REVOKE,
        Way.EXPIRED,
    ),
    row("because pull is pause", "doRebalance, <group>, try remove unnecessary mq, <mq>", says=EXPIRES),
    row(
        "remove unnecessary mq",
        "^doRebalance, <group>, truncateMessageQueueNotMyTopic remove unnecessary mq, <mq>",
        Kind.REVOKE,
        Way.UNSUBSCRIBE,
    ),
    row("remove unnecessary mq", "^doRebalance, <group>, remove unnecessary mq, <mq>", Kind.REVOKE, Way.REMOVAL),
    row("remove unnecessary mq", "^Fix Offset, <group>, remove unnecessary mq, <mq>", Kind.REVOKE, Way.CORRECTION),
    row("compute offset failed", "^doRebalance, <group>, compute offset failed, <mq>", Kind.OFFSET_QUERY, Result.ERROR),
    row(
        "get consumer id list failed",
        "^doRebalance, <group> <topic>, get consumer id list failed",
        Kind.MEMBERS,
        Result.ERROR,
    ),
    row(
        "not in cidAll",
        r"^\[BUG\] ConsumerGroup: <group> The consumerId: <client> not in cidAll: \[(?P<members>.*)\]",
        Kind.MEMBERS,
        more=lambda found, line: [
            fields_in(found) | {"members": [one.strip() for one in found["members"].split(",") if one.strip()]}
        ],
    ),
    row("lock OK, ", "message queue lock OK, <group> <mq>", Kind.LOCK, Result.OK),
    row("lock Failed, ", "message queue lock Failed, <group> <mq>", Kind.LOCK, Result.FAILED),
    row("locked OK, ", "message queue locked OK, Group: <group> <mq>", Kind.LOCK, Result.OK),
    row("locked Failed, ", "message queue locked Failed, Group: <group> <mq>", Kind.LOCK, Result.FAILED),
    row("unlock OK, ", "message queue unlock OK, Group: <group> <mq>", Kind.UNLOCK),
    row("unlock messageQueue.", r"^unlock messageQueue\. group:<group>, clientId:<client>, mq:<mq>", Kind.UNLOCK),
    # ConsumeMessageOrderlyService
    row(
        "so consume later",
        "^the message queue (?P<detail>not locked|lock expired), so consume later, <mq>",
        Kind.LOCK_LOST,
    ),
    # RemoteBrokerOffsetStore, LocalFileOffsetStore
    row(
        "[persistAll] Group: ",
        "Group: <group> ClientId: <client> updateConsumeOffsetToBroker <mq> <offset>",
        Kind.COMMIT,
        Way.PERIODIC,
    ),
    row(
        "[persist] Group: ",
        "Group: <group> ClientId: <client> updateConsumeOffsetToBroker <mq> <offset>",
        Kind.COMMIT,
        Way.REMOVAL,
    ),
    row("load consumer's offset, ", "offset, <group> <mq> <offset>", Kind.FILE_LOAD, Result.OK),
    row(
        "local offset store",
        "^(?P<detail>Load local offset store (?:bak )?file exception)",
        Kind.FILE_LOAD,
        Result.ERROR,
    ),
    row("readLocalOffset", "^(?P<detail>readLocalOffset [Ee]xception)", Kind.FILE_LOAD, Result.ERROR),
    row(
        "consumer offset ", "^(?P<detail>persist(?:All)? consumer offset [Ee]xception)", Kind.FILE_PERSIST, Result.ERROR
    ),
    # DefaultMQPushConsumerImpl
    row(
        "offset illegal",
        rf"{_REQUEST} PullResult \[pullStatus=\w+, nextBeginOffset=<next>, minOffset=<min>, "
        r"maxOffset=<max>, msgFoundList=<count>\]",
        Kind.PULL_RESULT,
        Result.OFFSET_ILLEGAL,
    ),
    row("fix the pull request offset", _REQUEST, Kind.CORRECT),
    row(
        "subscription is not latest",
        "group=<group>, messageQueue=<mq>",
        Kind.PULL_RESULT,
        Result.SUBSCRIPTION_NOT_LATEST,
    ),
    row("execute the pull request exception", "group=<group>, messageQueue=<mq>", Kind.PULL_RESULT, Result.ERROR),
    row("cached message count exceeds", _REQUEST, Kind.FLOW_CONTROL, Way.COUNT),
    row("cached message size exceeds", _REQUEST, Kind.FLOW_CONTROL, Way.SIZE),
    row("span too long", _REQUEST, Kind.FLOW_CONTROL, Way.SPAN),
    row("because not locked in broker", _REQUEST, Kind.FLOW_CONTROL, Way.ORDERLY),
    row(
        "Failed to send message back",
        "consumerGroup=<group>, brokerName=[^,]+, mq=(?:null|<mq>), ",
        Kind.SEND_BACK,
        Result.FAILED,
        Way.REQUEST,
        more=_messages,
    ),
    row(
        "sendMessageBack Exception, ", "^sendMessageBack Exception, <group>", Kind.SEND_BACK, Result.FAILED, Way.REQUEST
    ),
    # ConsumeMessageConcurrentlyService and its orderly counterpart
    row(
        "sendMessageBack exception, group: ",
        "group: <group> msg: ",
        Kind.SEND_BACK,
        Result.FAILED,
        Way.FALLBACK,
        more=_messages,
    ),
    row("dropped without process", "messageQueue=<mq>, msgs=", Kind.DISCARDED, more=_messages),
    row(
        "consumeMessage exception: ", "Group: <group> Msgs: .* MQ: <mq>", Kind.RESULT, Result.EXCEPTION, more=_messages
    ),
    row("consumeMessage return null", "Group: <group> Msgs: .* MQ: <mq>", Kind.RESULT, Result.NULL, more=_messages),
    row(
        "consumeMessage Orderly return not OK",
        "Group: <group> Msgs: .* MQ: <mq>",
        Kind.RESULT,
        Result.SUSPEND,
        more=_messages,
    ),
    # ProcessQueue
    row(
        "send expire msg back. ",
        "topic=<topic>, msgId=<key>, storeHost=[^,]*, queueId=<queue>, queueOffset=<offset>",
        Kind.EXPIRE,
        more=_expired,
    ),
    # ClientRemotingProcessor
    row(
        "invoke reset offset operation from broker",
        r"topic=<topic>, group=<group>, timestamp=(?P<detail>-?\d+)",
        Kind.RESET,
        Way.RESET,
    ),
    # DefaultMQPushConsumerImpl
    row("resume this consumer", "^resume this consumer, <group>", says=RESUMES),
    row(
        "start beginning. messageModel=",
        r"the consumer \[<group>\] start beginning\. messageModel=(?P<detail>\w+)",
        says=MODE,
    ),
)
"""Which messages of a client mean what."""

CLIENT_EVIDENCE = frozenset(
    {
        Kind.ASSIGN,
        Kind.REVOKE,
        Kind.LOCK,
        Kind.UNLOCK,
        Kind.LOCK_LOST,
        Kind.COMMIT,
        Kind.CORRECT,
        Kind.RESET,
        Kind.DISCARDED,
        Kind.EXPIRE,
    }
)
"""Kinds that a client always logs, so that their absence means something; taken from a log only if they occur in it.

Not included: starts and heartbeats (a log is of one process, so it cannot show a second one with the same id, and
heartbeats are sampled), rebalances (only changed results, without the views), pull results and results (only the bad
ones).
"""

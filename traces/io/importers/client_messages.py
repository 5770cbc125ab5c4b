"""Messages of clients, 4.9 and 5.x, and what each of them means."""

from __future__ import annotations

import re
from collections.abc import Iterator

from ...format.kinds import Kind, Result
from ...format.kinds import Path as Way
from .log_line import LogLine
from .log_table import Table, fields_in, row
from .message_text import QUEUE, consumers_in, messages_in, queues_in, readable_in
from .protocol import Event

_REQUEST = rf"PullRequest \[consumerGroup=(?P<group>[^,]+), messageQueue={QUEUE}, nextOffset=(?P<offset>-?\d+)\]"
# Level that ProcessQueue#cleanExpiredMsg asks for.
_EXPIRED_LEVEL = 3

MODE, EXPIRES, RESUMES = "mode", "expires", "resumes"
"""The content of a message without an event: how a group consumes, and that a queue will be dropped."""


def _route(found: re.Match[str], line: LogLine) -> Iterator[Event]:
    yield fields_in(found) | {"queues": readable_in(line.message.partition(" ,new[")[2])}


def _heartbeat(found: re.Match[str], line: LogLine) -> Iterator[Event]:
    for told in consumers_in(line.message):
        yield fields_in(found) | {"group": told.group, "subscriptions": told.subscriptions, "detail": told.mode}


def _not_a_member(found: re.Match[str], line: LogLine) -> Iterator[Event]:
    fields = fields_in(found)
    yield fields | {"members": [member.strip() for member in fields["members"].split(",") if member.strip()]}


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
    row("the client factory [", r"^the client factory \[(?P<client>[^]]+)\] start OK", Kind.CLIENT_START),
    row("the client factory [", r"^the client factory \[(?P<client>[^]]+)\] shutdown OK", Kind.CLIENT_STOP),
    row(
        "unregister client[",
        r"^unregister client\[Producer: \S+ Consumer: (?!null\])(?P<group>[^]]+)\] "
        r"from broker\[(?P<broker>\S+) .*success",
        Kind.UNREGISTER,
    ),
    # Which of the process's clients has asked is not stated: it counts as the name server's answer at that time.
    row(
        "route info changed",
        r"^the topic\[(?P<topic>[^]]+)\] route info changed, .* ,new\[Topic",
        Kind.ROUTE,
        more=_route,
    ),
    row("HeartbeatData [", r"^HeartbeatData \[clientID=(?P<client>[^,]+),", Kind.HEARTBEAT, more=_heartbeat),
    # RebalanceImpl, RebalancePushImpl
    row(
        "ebalanced result changed",
        r"^(?:client r|broker r|r)ebalanced result changed\. allocateMessageQueueStrategyName=(?P<detail>\S+), "
        r"group=(?P<group>\S+), topic=(?P<topic>\S+), clientId=(?P<client>\S+), "
        r"(?:mqAllSize=\d+, cidAllSize=(?P<count>\d+), )?",
        Kind.REBALANCE,
        more=lambda found, line: iter([fields_in(found) | {"assigned": queues_in(line.message)}]),
    ),
    row("add a new mq failed", "add a new mq failed"),
    row("add a new mq, ", rf"^doRebalance, (?P<group>\S+), add a new mq, {QUEUE}", Kind.ASSIGN),
    row("add a new pull request", rf"add a new pull request {_REQUEST}", Kind.PULL),
    # 4.9 logs this when it has dropped the queue, 5.x ("try remove") before, and then like any other removal.
    row(
        "because pull is pause",
        rf"^\[BUG\]doRebalance, (?P<group>\S+), remove unnecessary mq, {QUEUE}, because pull is pause",
        Kind.REVOKE,
        Way.EXPIRED,
    ),
    row("because pull is pause", rf"doRebalance, (?P<group>\S+), try remove unnecessary mq, {QUEUE}", says=EXPIRES),
    row(
        "remove unnecessary mq",
        rf"^doRebalance, (?P<group>\S+), truncateMessageQueueNotMyTopic remove unnecessary mq, {QUEUE}",
        Kind.REVOKE,
        Way.UNSUBSCRIBE,
    ),
    row(
        "remove unnecessary mq",
        rf"^doRebalance, (?P<group>\S+), remove unnecessary mq, {QUEUE}",
        Kind.REVOKE,
        Way.REMOVAL,
    ),
    row(
        "remove unnecessary mq",
        rf"^Fix Offset, (?P<group>\S+), remove unnecessary mq, {QUEUE}",
        Kind.REVOKE,
        Way.CORRECTION,
    ),
    row(
        "compute offset failed",
        rf"^doRebalance, (?P<group>\S+), compute offset failed, {QUEUE}",
        Kind.OFFSET_QUERY,
        Result.ERROR,
    ),
    row(
        "get consumer id list failed",
        r"^doRebalance, (?P<group>\S+) (?P<topic>\S+), get consumer id list failed",
        Kind.MEMBERS,
        Result.ERROR,
    ),
    row(
        "not in cidAll",
        r"^\[BUG\] ConsumerGroup: (?P<group>\S+) The consumerId: (?P<client>\S+) not in cidAll: \[(?P<members>.*)\]",
        Kind.MEMBERS,
        more=_not_a_member,
    ),
    row("lock OK, ", rf"message queue lock OK, (?P<group>\S+) {QUEUE}", Kind.LOCK, Result.OK),
    row("lock Failed, ", rf"message queue lock Failed, (?P<group>\S+) {QUEUE}", Kind.LOCK, Result.FAILED),
    row("locked OK, ", rf"message queue locked OK, Group: (?P<group>\S+) {QUEUE}", Kind.LOCK, Result.OK),
    row("locked Failed, ", rf"message queue locked Failed, Group: (?P<group>\S+) {QUEUE}", Kind.LOCK, Result.FAILED),
    row("unlock OK, ", rf"message queue unlock OK, Group: (?P<group>\S+) {QUEUE}", Kind.UNLOCK),
    row(
        "unlock messageQueue.",
        rf"^unlock messageQueue\. group:(?P<group>[^,]+), clientId:(?P<client>[^,]+), mq:{QUEUE}",
        Kind.UNLOCK,
    ),
    # ConsumeMessageOrderlyService
    row(
        "so consume later",
        rf"^the message queue (?P<detail>not locked|lock expired), so consume later, {QUEUE}",
        Kind.LOCK_LOST,
    ),
    # RemoteBrokerOffsetStore, LocalFileOffsetStore
    row(
        "[persistAll] Group: ",
        rf"Group: (?P<group>\S+) ClientId: (?P<client>\S+) updateConsumeOffsetToBroker {QUEUE} (?P<offset>-?\d+)",
        Kind.COMMIT,
        Way.PERIODIC,
    ),
    row(
        "[persist] Group: ",
        rf"Group: (?P<group>\S+) ClientId: (?P<client>\S+) updateConsumeOffsetToBroker {QUEUE} (?P<offset>-?\d+)",
        Kind.COMMIT,
        Way.REMOVAL,
    ),
    row("load consumer's offset, ", rf"offset, (?P<group>\S+) {QUEUE} (?P<offset>-?\d+)", Kind.FILE_LOAD, Result.OK),
    row(
        "local offset store",
        r"^(?P<detail>Load local offset store (?:bak )?file exception)",
        Kind.FILE_LOAD,
        Result.ERROR,
    ),
    row("readLocalOffset", r"^(?P<detail>readLocalOffset [Ee]xception)", Kind.FILE_LOAD, Result.ERROR),
    row(
        "consumer offset ",
        r"^(?P<detail>persist(?:All)? consumer offset [Ee]xception)",
        Kind.FILE_PERSIST,
        Result.ERROR,
    ),
    # DefaultMQPushConsumerImpl
    row(
        "offset illegal",
        rf"{_REQUEST} PullResult \[pullStatus=\w+, nextBeginOffset=(?P<next>\d+), minOffset=(?P<min>\d+), "
        r"maxOffset=(?P<max>\d+), msgFoundList=(?P<count>\d+)\]",
        Kind.PULL_RESULT,
        Result.OFFSET_ILLEGAL,
    ),
    row("fix the pull request offset", _REQUEST, Kind.CORRECT),
    row(
        "subscription is not latest",
        rf"group=(?P<group>[^,]+), messageQueue={QUEUE}",
        Kind.PULL_RESULT,
        Result.SUBSCRIPTION_NOT_LATEST,
    ),
    row(
        "execute the pull request exception",
        rf"group=(?P<group>[^,]+), messageQueue={QUEUE}",
        Kind.PULL_RESULT,
        Result.ERROR,
    ),
    row("cached message count exceeds", _REQUEST, Kind.FLOW_CONTROL, Way.COUNT),
    row("cached message size exceeds", _REQUEST, Kind.FLOW_CONTROL, Way.SIZE),
    row("span too long", _REQUEST, Kind.FLOW_CONTROL, Way.SPAN),
    row("because not locked in broker", _REQUEST, Kind.FLOW_CONTROL, Way.ORDERLY),
    row(
        "Failed to send message back",
        rf"consumerGroup=(?P<group>[^,]+), brokerName=[^,]+, mq=(?:null|{QUEUE}), ",
        Kind.SEND_BACK,
        Result.FAILED,
        Way.REQUEST,
        more=_messages,
    ),
    row(
        "sendMessageBack Exception, ",
        r"^sendMessageBack Exception, (?P<group>\S+)",
        Kind.SEND_BACK,
        Result.FAILED,
        Way.REQUEST,
    ),
    # ConsumeMessageConcurrentlyService and its orderly counterpart
    row(
        "sendMessageBack exception, group: ",
        r"group: (?P<group>\S+) msg: ",
        Kind.SEND_BACK,
        Result.FAILED,
        Way.FALLBACK,
        more=_messages,
    ),
    row("dropped without process", rf"messageQueue={QUEUE}, msgs=", Kind.DISCARDED, more=_messages),
    row(
        "consumeMessage exception: ",
        rf"Group: (?P<group>\S+) Msgs: .* MQ: {QUEUE}",
        Kind.RESULT,
        Result.EXCEPTION,
        more=_messages,
    ),
    row(
        "consumeMessage return null",
        rf"Group: (?P<group>\S+) Msgs: .* MQ: {QUEUE}",
        Kind.RESULT,
        Result.NULL,
        more=_messages,
    ),
    row(
        "consumeMessage Orderly return not OK",
        rf"Group: (?P<group>\S+) Msgs: .* MQ: {QUEUE}",
        Kind.RESULT,
        Result.SUSPEND,
        more=_messages,
    ),
    # ProcessQueue
    row(
        "send expire msg back. ",
        r"topic=(?P<topic>[^,]+), msgId=(?P<key>[^,]+), storeHost=[^,]*, queueId=(?P<queue>\d+), "
        r"queueOffset=(?P<offset>\d+)",
        Kind.EXPIRE,
        more=_expired,
    ),
    # ClientRemotingProcessor
    row(
        "invoke reset offset operation from broker",
        r"topic=(?P<topic>[^,]+), group=(?P<group>[^,]+), timestamp=(?P<detail>-?\d+)",
        Kind.RESET,
        Way.RESET,
    ),
    # DefaultMQPushConsumerImpl
    row("resume this consumer", r"^resume this consumer, (?P<group>\S+)", says=RESUMES),
    row(
        "start beginning. messageModel=",
        r"the consumer \[(?P<group>[^]]+)\] start beginning\. messageModel=(?P<detail>\w+)",
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

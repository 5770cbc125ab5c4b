"""The requests that a cluster may be sent: they only read. None of them stores, creates, commits or resets anything.

Messages are pulled as the group ``TOOLS_CONSUMER``, which every broker has for its own tools
(SubscriptionGroupManager), so no group is created. The flags of a pull request neither a commit nor long polling
(PullSysFlag). Messages are never pulled as a user's group: a 5.x broker would hand out a reset that is waiting for the
group (ConsumerOffsetManager#queryThenEraseResetOffset).
"""

from __future__ import annotations

import enum
import json
import re
import ssl
import time
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from .remoting import SUCCESS, Answer, ClusterError, Connection, Credentials

READER = "TOOLS_CONSUMER"
TRACE_TOPIC = "RMQ_SYS_TRACE_TOPIC"

# Java ResponseCode.
_BUSY = frozenset({2, 215})  # SYSTEM_BUSY, FLOW_CONTROL
_NOT_SUPPORTED = 3
NO_PERMISSION, TOPIC_NOT_EXIST = 16, 17
PULL_NOT_FOUND, PULL_RETRY_IMMEDIATELY, PULL_OFFSET_MOVED, QUERY_NOT_FOUND = 19, 20, 21, 22
CONSUMER_NOT_ONLINE = 206

# ConsumeStats has objects as keys, which is not valid JSON.
_TOPIC = re.compile(r'"topic":\s*("(?:[^"\\]|\\.)*")')
_WITH_SUBSCRIPTION = 1 << 2
_TRIES = 4
_TIMEOUT = 5.0  # seconds for each part of an answer
_SECRETS = ("acl", "accesskey", "signature", "authenticat", "authoriz", "permission", "user:")


class Request(enum.IntEnum):
    """All requests that are ever sent, with their codes (Java ``RequestCode``); they only read."""

    PULL_MESSAGE = 11
    QUERY_CONSUMER_OFFSET = 14
    GET_BROKER_CONFIG = 26
    GET_BROKER_RUNTIME_INFO = 28
    SEARCH_OFFSET_BY_TIMESTAMP = 29
    GET_MAX_OFFSET = 30
    GET_MIN_OFFSET = 31
    GET_ROUTEINFO_BY_TOPIC = 105
    GET_BROKER_CLUSTER_INFO = 106
    GET_CONSUMER_CONNECTION_LIST = 203
    GET_CONSUME_STATS = 208
    QUERY_TOPICS_BY_CONSUMER = 343


@dataclass(frozen=True, kw_only=True, order=True)
class Queue:
    """A queue of a topic."""

    topic: str
    broker: str
    id: int


@dataclass(frozen=True, kw_only=True)
class Members:
    """A group as one broker knows it."""

    clients: Mapping[str, str]  # client id and address of each member
    subscriptions: tuple[str, ...]  # for each topic the latest subscription, as ``topic=expression@version``
    topics: tuple[str, ...]  # the subscribed topics
    broadcasting: bool  # whether each member has offsets of its own


class Cluster:
    """The cluster behind some name servers (``host:port``), of which the first that answers is used; credentials sign
    all requests.
    """

    def __init__(
        self, namesrv: tuple[str, ...], *, credentials: Credentials | None = None, tls: ssl.SSLContext | None = None
    ) -> None:
        self._namesrv = namesrv
        self._credentials, self._tls = credentials, tls
        self._open: dict[str, Connection] = {}
        self._addresses: dict[str, str] = {}

    def close(self) -> None:
        """Close all connections."""
        for connection in self._open.values():
            connection.close()
        self._open.clear()

    def brokers(self) -> dict[str, str]:
        """The brokers: name, and address of the master, or of the first slave if there is no master.

        Raises:
            ClusterError: no name server answers, or it knows no broker.
        """
        answer = self._ask_namesrv(Request.GET_BROKER_CLUSTER_INFO, {})
        table = self._read(answer, "the brokers").get("brokerAddrTable") or {}
        self._addresses = {name: _first(data["brokerAddrs"]) for name, data in sorted(table.items())}
        if not self._addresses:
            raise ClusterError(f"{self._name}: no broker is registered with this name server; is it the right one?")
        return dict(self._addresses)

    def queues(self, topic: str) -> list[Queue]:
        """The queues of a topic that can be read; empty if there is no such topic."""
        answer = self._ask_namesrv(Request.GET_ROUTEINFO_BY_TOPIC, {"topic": topic})
        if answer.code == TOPIC_NOT_EXIST:
            return []
        route = self._read(answer, f"the route of {topic}")
        for data in route.get("brokerDatas") or []:
            self._addresses.setdefault(data["brokerName"], _first(data["brokerAddrs"]))
        return sorted(
            Queue(topic=topic, broker=data["brokerName"], id=number)
            for data in route.get("queueDatas") or []
            for number in range(data["readQueueNums"])
            if data["brokerName"] in self._addresses
        )

    def settings(self, broker: str) -> dict[str, str]:
        """A broker's settings; empty if they may not be read, as for most accounts under access control."""
        answer = self._ask_broker(broker, Request.GET_BROKER_CONFIG, {})
        lines = answer.body.decode(errors="replace").splitlines() if answer.code == SUCCESS else []
        return dict(line.split("=", 1) for line in lines if "=" in line)

    def release(self, broker: str) -> str:
        """A broker's release, such as 5.3.3; empty if it does not report one."""
        answer = self._ask_broker(broker, Request.GET_BROKER_RUNTIME_INFO, {})
        if answer.code != SUCCESS:
            return ""
        told = str((self._read(answer, "the release").get("table") or {}).get("brokerVersionDesc") or "")
        return told.removeprefix("V").replace("_", ".") if told.startswith("V") else ""

    def end(self, queue: Queue) -> int:
        """The offset that the next message will get."""
        return self._offset(queue, Request.GET_MAX_OFFSET, {})

    def begin(self, queue: Queue) -> int:
        """The offset of the first message that still exists."""
        return self._offset(queue, Request.GET_MIN_OFFSET, {})

    def offset_at(self, queue: Queue, when: int) -> int:
        """The offset of the first message stored at a time (ms) or later, or one before it."""
        return max(0, self._offset(queue, Request.SEARCH_OFFSET_BY_TIMESTAMP, {"timestamp": str(when)}))

    def pull(self, queue: Queue, offset: int) -> Answer:
        """Up to 32 messages of a queue from an offset on; the fields ``nextBeginOffset`` and ``minOffset`` say more.

        Raises:
            ClusterError: the queue may not be read.
        """
        fields = {
            "consumerGroup": READER,
            "queueOffset": str(offset),
            "maxMsgNums": "32",
            "sysFlag": str(_WITH_SUBSCRIPTION),
            "commitOffset": "0",
            "suspendTimeoutMillis": "0",
            "subscription": "*",
            "subVersion": "0",
            "expressionType": "TAG",
        }
        answer = self._ask_broker(queue.broker, Request.PULL_MESSAGE, _of(queue) | fields)
        if answer.code not in (SUCCESS, PULL_NOT_FOUND, PULL_RETRY_IMMEDIATELY, PULL_OFFSET_MOVED):
            raise self._refused(answer, queue.broker, f"messages of {queue.topic}")
        return answer

    def offset_of(self, group: str, queue: Queue) -> int | None:
        """The offset that a broker has stored for a group; None if it has none."""
        fields = _of(queue) | {"consumerGroup": group, "setZeroIfNotFound": "false"}
        answer = self._ask_broker(queue.broker, Request.QUERY_CONSUMER_OFFSET, fields)
        if answer.code == QUERY_NOT_FOUND:
            return None
        if answer.code != SUCCESS:
            raise self._refused(answer, queue.broker, f"offsets of group {group}")
        return int(answer.fields["offset"])

    def members(self, broker: str, group: str) -> Members | None:
        """A group as a broker knows it; None if it knows no member."""
        answer = self._ask_broker(broker, Request.GET_CONSUMER_CONNECTION_LIST, {"consumerGroup": group})
        if answer.code == CONSUMER_NOT_ONLINE:
            return None
        if answer.code != SUCCESS:
            raise self._refused(answer, broker, f"members of group {group}")
        told = self._read(answer, f"the members of {group}")
        table = told.get("subscriptionTable") or {}
        return Members(
            clients={str(one["clientId"]): str(one.get("clientAddr")) for one in told.get("connectionSet") or []},
            subscriptions=tuple(
                f"{topic}={data.get('subString')}@{data.get('subVersion')}" for topic, data in sorted(table.items())
            ),
            topics=tuple(sorted(table)),
            broadcasting=told.get("messageModel") == "BROADCASTING",
        )

    def topics_of(self, broker: str, group: str) -> list[str]:
        """The topics for which a broker has stored offsets of a group; empty if it cannot say."""
        answer = self._ask_broker(broker, Request.QUERY_TOPICS_BY_CONSUMER, {"group": group})
        if answer.code == _NOT_SUPPORTED:  # used by brokers of 4.x
            answer = self._ask_broker(broker, Request.GET_CONSUME_STATS, {"consumerGroup": group})
            return sorted({json.loads(name) for name in _TOPIC.findall(answer.body.decode(errors="replace"))})
        if answer.code != SUCCESS or not answer.body:
            return []
        return sorted(self._read(answer, f"the topics of {group}").get("topicList") or [])

    @property
    def _name(self) -> str:
        return ";".join(self._namesrv)

    def _offset(self, queue: Queue, code: Request, fields: Mapping[str, str]) -> int:
        answer = self._ask_broker(queue.broker, code, {**_of(queue), **fields})
        if answer.code != SUCCESS:
            raise self._refused(answer, queue.broker, f"offsets of {queue.topic}")
        return int(answer.fields["offset"])

    def _ask_namesrv(self, code: Request, fields: Mapping[str, str]) -> Answer:
        failed: list[str] = []
        for address in self._namesrv:
            try:
                return self._ask(address, code, fields)
            except (OSError, ValueError) as error:
                failed.append(f"{address}: {_why(error)}")
        advice = "is the certificate the right one (--ca)?" if self._tls else "does it want TLS (--tls)?"
        raise ClusterError(f"no name server answers: {'; '.join(failed)}. Is the address right, and {advice}")

    def _ask_broker(self, broker: str, code: Request, fields: Mapping[str, str]) -> Answer:
        address = self._addresses[broker]
        try:
            return self._ask(address, code, fields)
        except (OSError, ValueError) as error:
            raise ClusterError(
                f"broker {broker} at {address} does not answer: {_why(error)}. The name server gives this address: "
                "it must be reachable from here. What was read so far is kept; run again to go on."
            ) from None

    def _ask(self, address: str, code: Request, fields: Mapping[str, str]) -> Answer:
        for attempt in range(_TRIES):
            fresh = address not in self._open
            try:
                if fresh:
                    self._open[address] = Connection(
                        address, credentials=self._credentials, tls=self._tls, timeout=_TIMEOUT
                    )
                answer = self._open[address].ask(code, fields)
            except BaseException as error:
                if address in self._open:
                    self._open.pop(address).close()
                # A connection that was idle may have been closed by the server; a new one shows whether it answers.
                if fresh or not isinstance(error, OSError):
                    raise
                continue
            if answer.code not in _BUSY or attempt == _TRIES - 1:
                return answer
            time.sleep(0.2 * 2**attempt)
        return answer

    def _read(self, answer: Answer, what: str) -> Any:
        if answer.code != SUCCESS:
            raise self._refused(answer, self._name, what)
        try:
            told = answer.json()
        except ValueError:
            told = None
        if not isinstance(told, dict):
            raise ClusterError(f"{self._name}: what it answers about {what} is no JSON object.")
        return told

    def _refused(self, answer: Answer, who: str, what: str) -> ClusterError:
        said = " ".join(answer.remark.split())[:300]
        if answer.code == NO_PERMISSION or any(word in said.lower() for word in _SECRETS):
            advice = (
                f"The account needs to read (SUB) the topic and group {READER}, and the groups that are named"
                if self._credentials
                else "Give the keys of an account: --credentials, or ROCKETPROOF_ACCESS_KEY and ROCKETPROOF_SECRET_KEY"
            )
            return ClusterError(f"{who} does not allow to read {what} (code {answer.code}: {said}). {advice}.")
        return ClusterError(f"{who}: {what} cannot be read (code {answer.code}: {said}).")


def _of(queue: Queue) -> dict[str, str]:
    return {"topic": queue.topic, "queueId": str(queue.id)}


def _first(addresses: Mapping[str, str]) -> str:
    return str(addresses[min(addresses, key=int)])


def _why(error: Exception) -> str:
    if isinstance(error, ssl.SSLError):
        return f"TLS failed ({error.reason or error})"
    if isinstance(error, TimeoutError):
        return "no answer in time"
    return (error.strerror if isinstance(error, OSError) else None) or str(error)

"""A small cluster in this process that speaks RocketMQ's protocol: a name server and a broker at one address."""

from __future__ import annotations

import json
import socketserver
import ssl
import struct
import threading
import zlib
from dataclasses import dataclass, field
from typing import Any

from rocketproof.traces.cluster.remoting import Credentials

SUCCESS, SYSTEM_ERROR, NOT_SUPPORTED, NO_PERMISSION, NO_TOPIC = 0, 1, 3, 16, 17
NOT_FOUND, MOVED, NO_OFFSET, NOT_ONLINE = 19, 21, 22, 206


@dataclass(kw_only=True)
class Message:
    """A stored message."""

    body: bytes
    time: int
    key: str = ""
    attempt: int = 0
    packed: bool = False

    def stored(self, topic: str, queue: int, offset: int) -> bytes:
        """As a broker stores it: MessageExtEncoder#encode."""
        body = zlib.compress(self.body) if self.packed else self.body
        properties = f"UNIQ_KEY\x01{self.key}\x02TAGS\x01a\x02".encode() if self.key else b""
        parts = [
            struct.pack(">iiiiqqiq", -626843481, 0, queue, 0, offset, 4096 + offset, int(self.packed), self.time - 1),
            bytes([10, 0, 0, 5]) + struct.pack(">i", 43210),
            struct.pack(">q", self.time),
            bytes([10, 0, 0, 1]) + struct.pack(">i", 10911),
            struct.pack(">iqi", self.attempt, 0, len(body)) + body,
            bytes([len(topic)]) + topic.encode(),
            struct.pack(">h", len(properties)) + properties,
        ]
        data = b"".join(parts)
        return struct.pack(">i", len(data) + 4) + data


@dataclass(kw_only=True)
class FakeCluster:
    """What it holds; change it as a test needs.

    Attributes:
        queues: messages by topic and queue; a deleted message is None.
        offsets: stored offsets by group, topic and queue.
        members: client ids by group.
        account: whose signature is needed, if any.
        refused: topics that may not be read.
        asked: codes of all requests.
        dies_after: after so many pulls connections are closed; below 0 never.
        binary: whether it answers with headers in RocketMQ's own form.
        release: as a broker tells it.
    """

    queues: dict[tuple[str, int], list[Message | None]] = field(default_factory=dict)
    offsets: dict[tuple[str, str, int], int] = field(default_factory=dict)
    members: dict[str, list[str]] = field(default_factory=dict)
    subscribed: tuple[str, ...] = ("orders",)
    account: Credentials | None = None
    refused: tuple[str, ...] = ()
    asked: list[int] = field(default_factory=list)
    pulled: list[dict[str, str]] = field(default_factory=list)
    dies_after: int = -1
    binary: bool = False
    release: str = "V5_3_1"
    tls: ssl.SSLContext | None = None
    address: str = ""
    _server: Any = None

    def __enter__(self) -> FakeCluster:
        cluster = self

        class Handler(socketserver.StreamRequestHandler):
            def handle(self) -> None:
                while head := self.rfile.read(4):
                    frame = self.rfile.read(struct.unpack(">I", head)[0])
                    size = struct.unpack(">I", frame[:4])[0] & 0xFFFFFF
                    request = json.loads(frame[4 : 4 + size])
                    answer = cluster.answer(request)
                    if answer is None:
                        return
                    self.wfile.write(answer)

        class Server(socketserver.ThreadingTCPServer):
            daemon_threads = True
            allow_reuse_address = True

            def get_request(self) -> Any:
                connection, client = super().get_request()
                return (cluster.tls.wrap_socket(connection, server_side=True) if cluster.tls else connection), client

            def handle_error(self, request: Any, client_address: Any) -> None:
                pass  # a client that goes away is none

        self._server = Server(("127.0.0.1", 0), Handler)
        self.address = f"127.0.0.1:{self._server.server_address[1]}"
        threading.Thread(target=self._server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True).start()
        return self

    def __exit__(self, *_: object) -> None:
        self._server.shutdown()
        self._server.server_close()

    def answer(self, request: dict[str, Any]) -> bytes | None:
        """The frame that answers a request; None to close the connection."""
        fields, code = request["extFields"], request["code"]
        self.asked.append(code)
        if code == 11:
            self.pulled.append(fields)
            if self.dies_after == 0:
                return None
            self.dies_after -= 1
        if self.account and not self._is_signed(dict(fields)):
            told: tuple[int, str, dict[str, str], bytes] = (
                SYSTEM_ERROR,
                "AclException: No accessKey",
                {},
                b"",
            )
        elif code != 105 and fields.get("topic") in self.refused:
            told = (NO_PERMISSION, "the topic pulling message is forbidden", {}, b"")
        else:
            told = self._told(code, fields)
        number, remark, named, body = told
        header = {"code": number, "flag": 1, "opaque": request["opaque"], "remark": remark, "extFields": named}
        head, form = json.dumps(header | {"language": "JAVA", "version": 0}).encode(), 0
        if self.binary:
            pairs = b"".join(
                struct.pack(">h", len(name)) + name.encode() + struct.pack(">i", len(value)) + value.encode()
                for name, value in named.items()
            )
            head = struct.pack(">hBhiii", number, 0, 0, request["opaque"], 1, len(remark)) + remark.encode()
            head, form = head + struct.pack(">i", len(pairs)) + pairs, 1
        return struct.pack(">II", 4 + len(head) + len(body), form << 24 | len(head)) + head + body

    def _is_signed(self, fields: dict[str, str]) -> bool:
        assert self.account is not None
        signature = fields.pop("Signature", "")
        fields.pop("AccessKey", "")
        return signature == self.account.signed(fields)["Signature"]

    def _told(self, code: int, fields: dict[str, str]) -> tuple[int, str, dict[str, str], bytes]:
        topic, queue = fields.get("topic", ""), int(fields.get("queueId", 0))
        group = fields.get("consumerGroup") or fields.get("group", "")
        if code == 106:
            broker = {"brokerName": "a", "brokerAddrs": {0: self.address}}
            return SUCCESS, "", {}, unquoted({"brokerAddrTable": {"a": broker}})
        if code == 105:
            count = sum(name == topic for name, _ in self.queues)
            if not count:
                return NO_TOPIC, "No topic route info", {}, b""
            route = {
                "brokerDatas": [{"brokerName": "a", "brokerAddrs": {0: self.address}}],
                "queueDatas": [{"brokerName": "a", "readQueueNums": count}],
            }
            return SUCCESS, "", {}, unquoted(route)
        if code == 26:
            return SUCCESS, "", {}, b"messageDelayLevel=1s 5s 10s\nbrokerName=a\n"
        if code == 28:
            return SUCCESS, "", {}, json.dumps({"table": {"brokerVersionDesc": self.release}}).encode()
        if code == 203:
            if not self.members.get(group):
                return NOT_ONLINE, "Not found the consumer group connection", {}, b""
            body = {
                "connectionSet": [{"clientId": name, "clientAddr": "10.0.0.5:1"} for name in self.members[group]],
                "subscriptionTable": {name: {"subString": "*", "subVersion": 7} for name in self.subscribed},
                "messageModel": "CLUSTERING",
            }
            return SUCCESS, "", {}, json.dumps(body).encode()
        if code == 343 and self.release < "V5":
            return NOT_SUPPORTED, "request type 343 not supported", {}, b""
        if code == 208:
            pairs = ((name, number) for owner, name, number in self.offsets if owner == group)
            keys = (json.dumps({"brokerName": "a", "queueId": number, "topic": name}) for name, number in pairs)
            table = ",".join(f'{key}:{{"brokerOffset":9,"consumerOffset":7}}' for key in keys)
            return SUCCESS, "", {}, f'{{"consumeTps":0.0,"offsetTable":{{{table}}}}}'.encode()
        if code == 343:
            topics = sorted({name for owner, name, _ in self.offsets if owner == group})
            return SUCCESS, "", {}, json.dumps({"topicList": topics}).encode()
        if code == 14:
            found = self.offsets.get((group, topic, queue))
            return (NO_OFFSET, "", {}, b"") if found is None else (SUCCESS, "", {"offset": str(found)}, b"")
        messages = self.queues[topic, queue]
        first = next((at for at, message in enumerate(messages) if message), len(messages))
        if code in (30, 31):
            return SUCCESS, "", {"offset": str(len(messages) if code == 30 else first)}, b""
        if code == 29:
            when = int(fields["timestamp"])
            at = next((at for at, each in enumerate(messages) if each and each.time >= when), len(messages))
            return SUCCESS, "", {"offset": str(at)}, b""
        assert code == 11, code
        at = int(fields["queueOffset"])
        if at < first:
            return MOVED, "OFFSET_TOO_SMALL", {"nextBeginOffset": str(first)}, b""
        some = [(at + n, each) for n, each in enumerate(messages[at : at + 3]) if each]
        body = b"".join(message.stored(topic, queue, offset) for offset, message in some)
        return (SUCCESS if some else NOT_FOUND), "", {"nextBeginOffset": str(at + len(some))}, body


def unquoted(value: Any) -> bytes:
    """JSON with numbers as keys, without quotes, as fastjson writes it."""
    return json.dumps(value).replace('"0":', "0:").encode()

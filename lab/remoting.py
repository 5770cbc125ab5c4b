"""RocketMQ's remoting protocol, as much of it as asking a server one thing takes.

A frame is its length (4 bytes), the length of the header with its form in the highest byte (4 bytes, form 0 is JSON),
the header and the body; Java RemotingCommand#encode.
"""

from __future__ import annotations

import json
import re
import socket
import struct
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

GET_BROKER_CONFIG = 26
GET_ROUTEINFO_BY_TOPIC = 105
GET_BROKER_CLUSTER_INFO = 106
SUCCESS = 0
_LONGEST = 16 * 1024 * 1024
_MASTER = "0"


@dataclass(frozen=True, kw_only=True)
class Answer:
    """What a server answers.

    Attributes:
        code: 0 is success (Java ResponseCode).
        remark: what it says about another code.
        body: the rest, mostly JSON.
    """

    code: int
    remark: str
    body: bytes

    def json(self) -> Any:
        """The body as JSON; fastjson writes numbers as keys, which JSON does not know."""
        return json.loads(re.sub(r"([{,]\s*)(-?\d+)\s*:", r'\1"\2":', self.body.decode()))


def ask(address: str, code: int, fields: Mapping[str, str] | None = None, *, timeout: float = 3.0) -> Answer:
    """Send one request to a server, and wait for the answer.

    Args:
        address: ``host:port``.
        code: Java RequestCode.
        fields: of its header.
        timeout: seconds for each of connecting, sending and each part of the answer.

    Raises:
        OSError: nobody listens, the time is over, or what comes is no answer.
    """
    header = {
        "code": code,
        "language": "PYTHON",
        "version": 0,
        "opaque": 1,
        "flag": 0,
        "serializeTypeCurrentRPC": "JSON",
        "extFields": dict(fields or {}),
    }
    head = json.dumps(header).encode()
    host, _, port = address.rpartition(":")
    with socket.create_connection((host, int(port)), timeout) as connection:
        connection.sendall(struct.pack(">II", 4 + len(head), len(head)) + head)
        (length,) = struct.unpack(">I", _exactly(connection, 4))
        if not 4 <= length <= _LONGEST:
            raise OSError(f"{address} does not speak RocketMQ's protocol")
        frame = _exactly(connection, length)
    (head_length,) = struct.unpack(">I", frame[:4])
    try:
        told = json.loads(frame[4 : 4 + head_length])
        return Answer(code=int(told["code"]), remark=str(told.get("remark") or ""), body=frame[4 + head_length :])
    except (ValueError, KeyError, TypeError):
        raise OSError(f"{address} does not speak RocketMQ's protocol") from None


def brokers_known(namesrv: str, *, timeout: float = 3.0) -> dict[str, str]:
    """The brokers that are registered with a name server: name, and address of the master.

    Raises:
        OSError: it does not answer so.
    """
    answer = ask(namesrv, GET_BROKER_CLUSTER_INFO, timeout=timeout)
    if answer.code != SUCCESS:
        raise OSError(f"{namesrv} answers code {answer.code}: {answer.remark}")
    table = answer.json().get("brokerAddrTable") or {}
    return {
        name: data["brokerAddrs"][_MASTER] for name, data in sorted(table.items()) if _MASTER in data["brokerAddrs"]
    }


def broker_answers(address: str, *, timeout: float = 3.0) -> bool:
    """Whether a broker answers, asked for its settings; what it counts it cannot tell in its first second.

    Raises:
        OSError: nobody listens, or the time is over.
    """
    return ask(address, GET_BROKER_CONFIG, timeout=timeout).code == SUCCESS


def _exactly(connection: socket.socket, length: int) -> bytes:
    parts = bytearray()
    while len(parts) < length:
        part = connection.recv(min(65536, length - len(parts)))
        if not part:
            raise OSError("the connection ended before the answer did")
        parts += part
    return bytes(parts)

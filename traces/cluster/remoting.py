"""The part of RocketMQ's remoting protocol that requests need: frames, signatures, TLS.

A frame is its length (4 bytes), the length of the header with its form in the highest byte (4 bytes; form 0 is JSON,
form 1 RocketMQ's own), the header and the body; Java RemotingCommand#encode. A request is signed over the values of its
fields in the order of their names, and its body (AclUtils#combineRequestContent).
"""

from __future__ import annotations

import base64
import hashlib
import hmac
import json
import socket
import ssl
import struct
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Self

from ..errors import TraceError
from ..io.importers import fastjson

SUCCESS = 0
_LONGEST = 64 * 1024 * 1024
_JSON, _BINARY = 0, 1
_RESPONSE = 1
"""The bit of ``flag`` that is set in an answer (RemotingCommand#RPC_TYPE)."""


class ClusterError(TraceError):
    """A cluster cannot be read: no server listens, no permission, no such topic. The message says what to do."""


@dataclass(frozen=True, kw_only=True)
class Credentials:
    """The account for a cluster with access control."""

    access_key: str  # name of the account
    secret_key: str = field(repr=False)  # never shown or sent: requests are signed with it
    token: str = field(default="", repr=False)  # security token; empty if there is none

    def signed(self, fields: Mapping[str, str]) -> dict[str, str]:
        """The fields of a request without body, with key and signature (AclClientRPCHook#doBeforeRequest)."""
        named = {**fields, "AccessKey": self.access_key}
        if self.token:
            named["SecurityToken"] = self.token
        content = "".join(named[name] for name in sorted(named))
        digest = hmac.new(self.secret_key.encode(), content.encode(), hashlib.sha1).digest()
        return {**named, "Signature": base64.b64encode(digest).decode()}


@dataclass(frozen=True, kw_only=True)
class Answer:
    """A server's answer."""

    code: int  # 0 is success (Java ResponseCode)
    remark: str = ""  # its explanation of another code
    fields: Mapping[str, str] = field(default_factory=dict)  # the fields of its header
    body: bytes = b""  # the rest, mostly JSON

    def json(self) -> Any:
        """The body as JSON; fastjson writes numbers and objects as keys, which JSON does not allow.

        Raises:
            ValueError: it is not JSON.
        """
        return fastjson.loads(self.body.decode())


class Connection:
    """A connection to one server (``host:port``), for one request at a time; credentials sign each. The timeout, in
    seconds, is for each of connecting, sending and each part of an answer.

    Raises:
        OSError: no server listens, or the time is over.
    """

    def __init__(
        self,
        address: str,
        *,
        credentials: Credentials | None = None,
        tls: ssl.SSLContext | None = None,
        timeout: float = 3.0,
    ) -> None:
        host, _, port = address.rpartition(":")
        self.address = address
        self._credentials = credentials
        self._asked = 0
        plain = socket.create_connection((host.strip("[]"), int(port)), timeout)
        try:
            self._socket = tls.wrap_socket(plain, server_hostname=host.strip("[]")) if tls else plain
        except BaseException:
            plain.close()
            raise

    def ask(self, code: int, fields: Mapping[str, str] | None = None) -> Answer:
        """Send one request, and wait for its answer.

        ``code`` is one of Java's RequestCode, with the fields of its header.

        Raises:
            OSError: the connection was closed, the time is over, or the received data is no answer.
        """
        self._asked += 1
        given = dict(fields or {})
        header = {
            "code": code,
            "language": "PYTHON",
            "version": 0,
            "opaque": self._asked,
            "flag": 0,
            "serializeTypeCurrentRPC": "JSON",
            "extFields": self._credentials.signed(given) if self._credentials else given,
        }
        head = json.dumps(header, ensure_ascii=False).encode()
        self._socket.sendall(struct.pack(">II", 4 + len(head), len(head)) + head)
        while True:
            (length,) = struct.unpack(">I", self._exactly(4))
            if not 4 <= length <= _LONGEST:
                raise OSError(f"{self.address} does not speak RocketMQ's protocol")
            try:
                opaque, flag, answer = decoded(self._exactly(length))
            except (ValueError, KeyError, TypeError, struct.error):
                raise OSError(f"{self.address} does not speak RocketMQ's protocol") from None
            if flag & _RESPONSE and opaque == self._asked:  # a server may send requests of its own
                return answer

    def close(self) -> None:
        """Close the connection."""
        self._socket.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _exactly(self, length: int) -> bytes:
        parts = bytearray()
        while len(parts) < length:
            part = self._socket.recv(min(1 << 20, length - len(parts)))
            if not part:
                raise OSError("the connection ended before the answer did")
            parts += part
        return bytes(parts)


def ask(address: str, code: int, fields: Mapping[str, str] | None = None, *, timeout: float = 3.0) -> Answer:
    """Send a server one request, on a connection of its own.

    Raises:
        OSError: as for :meth:`Connection.ask`.
    """
    with Connection(address, timeout=timeout) as connection:
        return connection.ask(code, fields)


def decoded(frame: bytes) -> tuple[int, int, Answer]:
    """The number of the request, the flags and the content of a frame without its length.

    Raises:
        ValueError, KeyError, TypeError, struct.error: it is no frame.
    """
    (word,) = struct.unpack_from(">I", frame)
    layout, end = word >> 24, 4 + (word & 0xFFFFFF)
    if end > len(frame):
        raise ValueError("a header longer than its frame")
    if layout == _JSON:
        told = json.loads(frame[4:end])
        fields = told.get("extFields") or {}
        answer = Answer(
            code=int(told["code"]),
            remark=str(told.get("remark") or ""),
            fields={str(name): str(value) for name, value in fields.items()},
            body=frame[end:],
        )
        return int(told["opaque"]), int(told["flag"]), answer
    if layout != _BINARY:
        raise ValueError("a header of no known form")
    # RocketMQSerializable#rocketMQProtocolDecode
    code, _language, _version, opaque, flag, remark = struct.unpack_from(">hBhiii", frame, 4)
    at = 4 + 17
    words, at = frame[at : at + remark], at + remark
    (length,) = struct.unpack_from(">i", frame, at)
    at, last, read = at + 4, at + 4 + length, dict[str, str]()
    while at < min(last, end):
        (size,) = struct.unpack_from(">h", frame, at)
        name, at = frame[at + 2 : at + 2 + size], at + 2 + size
        (size,) = struct.unpack_from(">i", frame, at)
        read[name.decode()], at = frame[at + 4 : at + 4 + size].decode(), at + 4 + size
    return opaque, flag, Answer(code=code, remark=words.decode(), fields=read, body=frame[end:])

"""A message as a broker stores it, and as the answer to a pull contains it: Java MessageDecoder#decode."""

from __future__ import annotations

import io
import struct
import zlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from ipaddress import ip_address

import pyarrow as pa

UNIQUE_KEY = "UNIQ_KEY"

_MAGIC = {-626843481: 1, -626843477: 2}
"""MessageVersion: the bytes with which a message begins, and how many bytes encode the length of its topic."""

_COMPRESSED, _BORN_V6, _STORED_V6 = 1, 1 << 4, 1 << 5
_LZ4, _ZSTD = 1, 2
_LARGEST = 64 * 1024 * 1024
"""A larger body is invalid: RocketMQ's own limit is 4 MiB."""


@dataclass(frozen=True, kw_only=True)
class Stored:
    """One message.

    Attributes:
        topic, queue, offset: where it is.
        time: when it was stored, ms, by the broker's clock.
        born_host: address and port of the client that sent it, as Java writes it: ``/10.0.0.5:43210``.
        msg_id: its offset message id, EN-13.
        attempt: ``reconsumeTimes``.
        properties: those that were sent, and those that brokers add.
        packed: its body as stored.
        flags: MessageSysFlag.
    """

    topic: str
    queue: int
    offset: int
    time: int
    born_host: str
    msg_id: str
    attempt: int
    properties: Mapping[str, str]
    packed: bytes
    flags: int

    def body(self) -> bytes:
        """Its body, decompressed.

        Raises:
            ValueError: it cannot be decompressed, or is larger than any message may be.
        """
        if not self.flags & _COMPRESSED:
            return self.packed
        layout = self.flags >> 8 & 7
        try:
            if layout in (_LZ4, _ZSTD):
                with pa.input_stream(
                    io.BytesIO(self.packed), compression="lz4" if layout == _LZ4 else "zstd"
                ) as opened:
                    body: bytes = opened.read(_LARGEST + 1)
            else:
                body = zlib.decompressobj().decompress(self.packed, _LARGEST + 1)
        except (zlib.error, OSError) as error:
            raise ValueError(f"the body cannot be unpacked: {error}") from None
        if len(body) > _LARGEST:
            raise ValueError("the body is larger than 64 MiB")
        return body


def messages_of(data: bytes) -> Iterator[Stored]:
    """The messages in the answer to a pull.

    Raises:
        ValueError: it breaks off, or contains something else.
    """
    at = 0
    try:
        while at < len(data):
            (size,) = struct.unpack_from(">i", data, at)
            if size < 8 or at + size > len(data):
                raise ValueError("a message that breaks off")
            yield _message(memoryview(data)[at : at + size])
            at += size
    except (struct.error, UnicodeDecodeError) as error:
        raise ValueError(f"no message of RocketMQ: {error}") from None


def _message(data: memoryview) -> Stored:
    _, magic, _crc, queue, _flag, offset, physical, flags, _born = struct.unpack_from(">iiiiiqqiq", data)
    if magic not in _MAGIC:
        raise ValueError("no message of RocketMQ")
    at = 48
    size = 16 if flags & _BORN_V6 else 4
    host, (port,) = bytes(data[at : at + size]), struct.unpack_from(">i", data, at + size)
    at += size + 4
    (time,) = struct.unpack_from(">q", data, at)
    at += 8
    size = 16 if flags & _STORED_V6 else 4
    stored = bytes(data[at : at + size + 4])
    at += size + 4
    attempt, _prepared, length = struct.unpack_from(">iqi", data, at)
    at += 16
    body, at = bytes(data[at : at + length]), at + length
    width = _MAGIC[magic]
    length, at = int.from_bytes(data[at : at + width]), at + width
    topic, at = bytes(data[at : at + length]).decode(), at + length
    (length,) = struct.unpack_from(">H", data, at)
    properties = bytes(data[at + 2 : at + 2 + length]).decode(errors="replace")
    return Stored(
        topic=topic,
        queue=queue,
        offset=offset,
        time=time,
        born_host=f"/{ip_address(host)}:{port}",
        msg_id=(stored + struct.pack(">q", physical)).hex().upper(),
        attempt=attempt,
        properties=dict(pair.split("\x01", 1) for pair in properties.split("\x02") if "\x01" in pair),
        packed=body,
        flags=flags,
    )

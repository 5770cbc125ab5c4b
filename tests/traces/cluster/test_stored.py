"""Stored messages: every field of one is read, and one that breaks off is refused."""

from __future__ import annotations

import pytest

from rocketproof.traces.cluster.stored import Stored, messages_of

from .fake import Message

FIRST = Message(body=b"one", time=1_000, key="K\x011", attempt=2).stored("T", 3, 7)
SECOND = Message(body=b"two" * 9, time=2_000, packed=True).stored("Other", 0, 8)


def test_every_field_is_read() -> None:
    first, second = messages_of(FIRST + SECOND)
    assert first == Stored(
        topic="T",
        queue=3,
        offset=7,
        time=1_000,
        born_host="/10.0.0.5:43210",
        msg_id="0A00000100002A9F" + f"{4096 + 7:016X}",
        attempt=2,
        properties={"UNIQ_KEY": "K\x011", "TAGS": "a"},
        packed=b"one",
        flags=0,
    )
    assert (second.topic, second.offset, second.properties, second.body()) == ("Other", 8, {}, b"two" * 9)


@pytest.mark.parametrize("data", [FIRST[:-1], FIRST + b"\0\0\0\x07", FIRST + SECOND[:90]])
def test_what_breaks_off_is_refused(data: bytes) -> None:
    with pytest.raises(ValueError, match="a message that breaks off"):
        list(messages_of(data))


def test_something_else_is_refused() -> None:
    with pytest.raises(ValueError, match="no message of RocketMQ"):
        list(messages_of(FIRST[:4] + bytes(len(FIRST) - 4)))

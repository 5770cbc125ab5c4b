"""Releases of the clients of a recording, where they differ in what may be concluded."""

from __future__ import annotations

import re

from .schema import Header

_CLIENT = re.compile(r"\bclient of RocketMQ (\d+(?:\.\d+)*)")


def client_releases(header: Header) -> frozenset[str]:
    """The releases of the clients that agents recorded, as the source of a header names them; otherwise its release."""
    return frozenset(_CLIENT.findall(header.source)) or frozenset({header.release})


def keep_offsets(header: Header) -> bool:
    """Whether all broadcasting clients keep in their files the offsets of queues that they do not have (OF-10).

    Issue 7740, fixed in 4.9.8 and 5.2.0: before, ``LocalFileOffsetStore#persistAll`` writes only the queues that a
    client has. A release that is not stated counts as a later one.
    """
    return all(map(_keeps_offsets, client_releases(header)))


def _keeps_offsets(release: str) -> bool:
    numbers = tuple(int(part) for part in release.split(".") if part.isdecimal())
    return not numbers or numbers >= (5, 2) or (4, 9, 8) <= numbers < (5,)

"""Free ports for servers: below those that the system assigns to outgoing connections, which could occupy them."""

from __future__ import annotations

import contextlib
import random
import socket
from collections.abc import Sequence
from pathlib import Path

from .errors import LabError

LOOPBACK = "127.0.0.1"
_LOWEST = 15_000
_EPHEMERAL = Path("/proc/sys/net/ipv4/ip_local_port_range")
_TRIES = 500


def free_ports(*groups: Sequence[int]) -> list[int]:
    """A base port for each group of distances from it, such that all of these ports are free now.

    A broker takes three ports: its own, the one two below (its fast channel) and the next one (replication), which is
    the group ``(-2, 0, 1)``. The ports are chosen at random, so that labs that start at the same time do not choose the
    same ones.

    Raises:
        LabError: there are none.
    """
    chance = random.SystemRandom()
    highest = _lowest_ephemeral() - max(max(group) for group in groups) - 1
    with contextlib.ExitStack() as held:
        bases: list[int] = []
        for group in groups:
            for _ in range(_TRIES):
                base = chance.randint(_LOWEST, highest)
                sockets = [_bound(base + distance) for distance in group]
                free = [each for each in sockets if each is not None]
                for each in free:
                    held.enter_context(each)
                if len(free) == len(group):
                    bases.append(base)
                    break
            else:
                raise LabError(f"there are no free ports between {_LOWEST} and {highest} on this machine.")
        return bases


def _lowest_ephemeral() -> int:
    try:
        lowest = int(_EPHEMERAL.read_text(encoding="ascii").split()[0])
    except (OSError, ValueError, IndexError):
        return 32_768
    return lowest if lowest > _LOWEST + 1_000 else 65_000


def _bound(port: int) -> socket.socket | None:
    """A socket that holds a port on all addresses, as RocketMQ will; None if the port is in use."""
    one = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
    one.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        one.bind(("", port))
    except OSError:
        one.close()
        return None
    return one

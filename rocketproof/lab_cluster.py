"""``rocketproof lab up``, ``down`` and ``status``: RocketMQ itself on this machine, started, looked at and removed."""

from __future__ import annotations

import os
import signal
import sys
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from types import FrameType

from .console import interrupts, make_console
from .errors import InputError
from .files import check_folder_writable
from .lab.cluster import Cluster, clear
from .lab.errors import LabError
from .lab.maven import Toolchain
from .lab.process import tail_of
from .progress import Interrupted

ALL_WELL, NOT_WELL = range(2)
_SHOWN_LINES = 20


def home_of(given: str) -> Path:
    """The folder of a cluster: the one that was given, else one for this user among the temporary files."""
    return Path(given) if given else Path(tempfile.gettempdir()) / f"rocketproof-lab-{os.getuid()}"


def up(*, release: str, brokers: int, home: str, settings: Sequence[str], capture: str) -> int:
    """Start a cluster that outlives this command, and say how to use it; returns the exit code.

    Raises:
        InputError: a setting is not NAME=VALUE, or the folder for recordings cannot be written to.
        LabError: it does not start; nothing of it is left then.
    """
    given = dict(_pair(text) for text in settings)
    if capture:
        check_folder_writable(capture)
        Path(capture).mkdir(parents=True, exist_ok=True)
    toolchain = Toolchain.find()
    with interrupts(), terminations():
        try:
            cluster = Cluster.up(
                toolchain,
                release=release,
                brokers=brokers,
                home=home_of(home),
                settings=given,
                capture=Path(capture) if capture else None,
                tell=_tell,
            )
        except KeyboardInterrupt:
            raise Interrupted("interrupted, nothing is left of the cluster") from None
    console = make_console(quiet=False)
    console.print(f"RocketMQ {release} is up in {cluster.home}")
    _print_parts(cluster)
    console.print(f"clients find it by the name server address {cluster.namesrv}", soft_wrap=True)
    if cluster.capture is not None:
        agent = f"-javaagent:{toolchain.jar('agent')}=dir={cluster.capture}"
        console.print(f"its brokers record to {cluster.capture}; a client does with: java {agent} …", soft_wrap=True)
        console.print(f"what was recorded as one trace: rocketproof lab capture trace.jsonl{_home_option(home)}")
    console.print(f"end it: rocketproof lab down{_home_option(home)}", soft_wrap=True)
    return ALL_WELL


def down(*, home: str) -> int:
    """End a cluster and remove its folder; returns the exit code.

    Raises:
        LabError: the folder holds something else.
    """
    folder = home_of(home)
    with interrupts(), terminations():
        there = clear(folder)
    make_console(quiet=False).print(
        f"the cluster in {folder} has ended, and its folder is removed" if there else f"no cluster runs in {folder}",
        soft_wrap=True,
    )
    return ALL_WELL


def status(*, home: str) -> int:
    """Print how each part of a cluster is, with the end of the log of what has ended; returns the exit code.

    Raises:
        LabError: no cluster was started with this folder.
    """
    cluster = Cluster.load(home_of(home))
    console = make_console(quiet=False)
    console.print(f"RocketMQ {cluster.release} in {cluster.home}", soft_wrap=True)
    unwell = _print_parts(cluster)
    for name, log in unwell:
        console.print(f"\n{name}: the end of its log", soft_wrap=True)
        console.print(tail_of(log, _SHOWN_LINES), soft_wrap=True, markup=False)
    return NOT_WELL if unwell else ALL_WELL


def capture_folder(home: str) -> Path:
    """The folder that the brokers of a running cluster record to.

    Raises:
        LabError: there is no cluster, or it does not record.
    """
    cluster = Cluster.load(home_of(home))
    if cluster.capture is None:
        raise LabError(f"the cluster in {cluster.home} does not record: start it with --capture, or name folders.")
    return cluster.capture


@contextmanager
def terminations() -> Iterator[None]:
    """Let SIGTERM raise KeyboardInterrupt, as Ctrl-C does, so that what was started is ended."""

    def end(_number: int, _frame: FrameType | None) -> None:
        raise KeyboardInterrupt

    before = signal.signal(signal.SIGTERM, end)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)


def _print_parts(cluster: Cluster) -> list[tuple[str, Path]]:
    """Print the parts of a cluster, a line each; returns those that do not answer."""
    console = make_console(quiet=False)
    parts = cluster.status()
    width = max(len(part.name) for part in parts)
    for part in parts:
        console.print(
            f"  {part.name:{width}}  {part.address:15}  pid {part.pid:<7}  {part.state:15}  {part.log}", soft_wrap=True
        )
    return [(part.name, part.log) for part in parts if part.state != "answers"]


def _pair(text: str) -> tuple[str, str]:
    name, equals, value = text.partition("=")
    if not name or not equals:
        raise InputError(f"--set {text!r} is not NAME=VALUE.")
    return name, value


def _home_option(home: str) -> str:
    return f" --home {home}" if home else ""


def _tell(what: str) -> None:
    if sys.stderr.isatty():
        print(f"starting: {what}", file=sys.stderr)

"""``rocketproof lab up``, ``down`` and ``status``: RocketMQ itself on this machine, started, inspected and removed."""

from __future__ import annotations

import os
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

from ..errors import InputError
from ..lab.cluster import Cluster, check_request, clear
from ..lab.errors import LabError
from ..lab.maven import Toolchain
from ..lab.process import tail_of
from ..output.console import interrupts, make_console
from ..output.files import check_folder_writable
from ..output.progress import Interrupted
from .pairs import read_pairs

ALL_WELL, NOT_WELL = range(2)
_SHOWN_LINES = 20


def home_of(given: str) -> Path:
    """The folder of a cluster: the given one, otherwise one for this user among the temporary files."""
    return Path(given) if given else Path(tempfile.gettempdir()) / f"rocketproof-lab-{os.getuid()}"


def up(*, release: str, brokers: int, home: str, settings: Sequence[str], capture: str) -> int:
    """Start a cluster that outlives this command, and say how to use it; returns the exit code.

    Raises:
        InputError: a setting is not NAME=VALUE, or the folder for recordings cannot be written to.
        LabError: it does not start; nothing of it is then left.
    """
    given = read_pairs("--set", settings, may_be_empty=True)
    check_request(release=release, brokers=brokers, settings=given)
    if capture:
        check_folder_writable(capture)
        try:
            Path(capture).mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise InputError(f"cannot write to {capture}: {error.strerror}.") from None
    toolchain = Toolchain.find()
    with interrupts():
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
            raise Interrupted("interrupted; nothing is left of the cluster") from None
    _say(f"RocketMQ {release} is up in {cluster.home}")
    _print_parts(cluster)
    _say(f"clients find it by the name server address {cluster.namesrv}")
    if cluster.capture is not None:
        agent = f"-javaagent:{toolchain.jar('agent')}=dir={cluster.capture}"
        _say(f"its brokers record to {cluster.capture}; a client does with: java {agent} …")
        _say(f"what was recorded as one trace: rocketproof lab capture trace.jsonl{_home_option(home)}")
    _say(f"end it: rocketproof lab down{_home_option(home)}")
    return ALL_WELL


def down(*, home: str) -> int:
    """End a cluster and remove its folder; returns the exit code.

    Raises:
        LabError: the folder contains something else.
    """
    folder = home_of(home)
    with interrupts():
        there = clear(folder)
    _say(f"the cluster in {folder} has ended, and its folder is removed" if there else f"no cluster runs in {folder}")
    return ALL_WELL


def status(*, home: str) -> int:
    """Print the status of each part of a cluster, with the end of the log of parts that have ended; returns the exit
    code.

    Raises:
        LabError: no cluster was started with this folder.
    """
    cluster = Cluster.load(home_of(home))
    _say(f"RocketMQ {cluster.release} in {cluster.home}")
    unwell = _print_parts(cluster)
    for name, log in unwell:
        _say("")
        _say(f"{name}: the end of its log")
        for line in tail_of(log, _SHOWN_LINES).splitlines():
            _say(line)
    return NOT_WELL if unwell else ALL_WELL


def capture_folder(home: str) -> Path:
    """The folder to which the brokers of a running cluster record.

    Raises:
        LabError: there is no cluster, or it does not record.
    """
    cluster = Cluster.load(home_of(home))
    if cluster.capture is None:
        raise LabError(f"the cluster in {cluster.home} does not record: start it with --capture, or name folders.")
    return cluster.capture


def _print_parts(cluster: Cluster) -> list[tuple[str, Path]]:
    """Print the parts of a cluster, one line each; returns those that do not answer."""
    parts = cluster.status()
    width = max(len(part.name) for part in parts)
    for part in parts:
        _say(f"  {part.name:{width}}  {part.address:15}  pid {part.pid:<7}  {part.state:15}  {part.log}")
    return [(part.name, part.log) for part in parts if part.state != "answers"]


def _say(text: str) -> None:
    make_console(quiet=False).say(text)


def _home_option(home: str) -> str:
    return f" --home {home}" if home else ""


def _tell(what: str) -> None:
    if sys.stderr.isatty():
        print(f"starting: {what}", file=sys.stderr)

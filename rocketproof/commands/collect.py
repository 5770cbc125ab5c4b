"""``rocketproof collect``: read a running cluster, and change nothing in it, into a folder that ``check`` reads."""

from __future__ import annotations

import os
import re
import ssl
from collections.abc import Sequence
from pathlib import Path

from ..errors import InputError
from ..output.console import make_console
from ..output.files import check_folder_writable
from ..output.progress import Interrupted
from ..traces.cluster.collect import GROWING, Asked, Collected, Collection
from ..traces.cluster.folder import Folder
from ..traces.cluster.questions import Cluster
from ..traces.cluster.queues import Limits
from ..traces.cluster.remoting import Credentials
from ..traces.cluster.samples import now
from ..traces.explain.report.words import counted
from .collect_options import Collect, Security
from .sizes import iso_time, read_count, read_size, read_time

COMPLETE, MORE = 0, 2

_KEYS = ("ROCKETPROOF_ACCESS_KEY", "ROCKETPROOF_SECRET_KEY", "ROCKETPROOF_SECURITY_TOKEN")
_LIMITS = {"messages": 1_000_000, "bytes": 1 << 30, "seconds": 600}
_SHOWN = 5


def collect(given: Collect, security: Security) -> int:
    """Collect what is new, print the result, and return the exit code.

    Raises:
        InputError: the options make no sense.
        TraceError: the cluster cannot be read as requested.
    """
    asked = Asked(
        groups=tuple(given.group or ()),
        topics=tuple(given.topic or ()),
        trace_topic=given.trace_topic,
        messages=given.messages,
    )
    if not (asked.groups or asked.topics or asked.trace_topic):
        raise InputError("nothing was asked for: name groups (--group) or topics (--topic), or a trace topic.")
    if asked.messages and not (asked.groups or asked.topics):
        raise InputError("--messages needs to know which groups or topics: --group, --topic.")
    addresses = tuple(address.strip() for address in re.split("[;,]", given.namesrv) if address.strip())
    for address in addresses or ("",):
        if not re.fullmatch(r".+:\d{1,5}", address):
            raise InputError(f"--namesrv {address!r} is no address. Write HOST:PORT, several with ; between them.")
    at = now()
    begin = read_since("--since", given.since, at)
    end = read_since("--until", given.until, at) if given.until else None
    if end is not None and end <= begin:
        raise InputError("--until is not after --since.")
    bounds = _limits(given.limit or ())
    seconds = read_time("--watch", given.watch) / 1000 if given.watch else 0.0
    pause = read_time("--every", given.every) / 1000
    check_folder_writable(str(Path(given.out).parent))
    cluster = Cluster(addresses, credentials=_credentials(security.credentials), tls=_tls(security))
    with Folder(Path(given.out), {"--namesrv": given.namesrv, **asked.as_told()}, GROWING) as folder:
        went_on = folder.kept is not None
        collection = Collection(
            cluster,
            asked,
            folder,
            since=begin,
            until=end,
            limits=Limits(
                messages=bounds["messages"], size=bounds["bytes"], seconds=max(seconds, 0) + bounds["seconds"]
            ),
        )
        try:
            collected = collection.run(watch=seconds, every=max(pause, 0.1))
        except KeyboardInterrupt:
            raise Interrupted(f"interrupted; what was saved is in {given.out}, run the same again to go on") from None
        finally:
            cluster.close()
    console = make_console(quiet=False)
    for line in told(collected, given.out, went_on=went_on):
        console.say(line)
    return MORE if collected.unread else COMPLETE


def told(collected: Collected, out: str, *, went_on: bool) -> list[str]:
    """The result of a run, one line each."""
    lines = [
        f"{name}: {counted(count, 'more line' if went_on else 'line')}"
        for name in GROWING
        if (count := collected.written[name])
    ]
    if not lines:
        lines = ["nothing new" if went_on else "there was nothing to read"]
    if collected.samples > 1:
        lines.append(f"groups were sampled {collected.samples:,} times")
    lines += [f"  left out: {count:,} × {what}" for what, count in sorted(collected.left_out.items())]
    if collected.lost:
        lines.append(f"  {counted(collected.lost, 'message')} deleted by brokers before they were read")
    lines += [f"  note: {note}" for note in collected.notes]
    unread = sorted(collected.unread.items())
    lines += [
        f"  not read to the end: {queue.topic}@{queue.broker}:{queue.id}: {why}" for queue, why in unread[:_SHOWN]
    ]
    if len(unread) > _SHOWN:
        lines.append(f"  … and {counted(len(unread) - _SHOWN, 'more queue')}")
    if unread:
        lines.append("run the same command again to continue")
    return [*lines, f"check it: rocketproof check {out}"]


def read_since(option: str, text: str, at: int) -> int:
    """A moment in ms: a time ago, such as 2h, or ISO 8601, in UTC unless stated otherwise.

    Raises:
        InputError: it is neither.
    """
    if re.fullmatch(r"\d+ ?[a-z]+", text.strip()):
        return at - read_time(option, text)
    try:
        return iso_time(text.strip())
    except (ValueError, OverflowError):
        raise InputError(
            f"{option} {text!r} is no moment. Write how long ago, such as 2h, or ISO 8601: 2026-03-01T12:00:05Z."
        ) from None


def _limits(texts: Sequence[str]) -> dict[str, int]:
    found = dict(_LIMITS)
    for text in texts:
        name, _, value = text.partition("=")
        if name not in _LIMITS or not value:
            raise InputError(f"--limit {text!r} is none. Write NAME=VALUE with a name of {', '.join(_LIMITS)}.")
        found[name] = (read_size if name == "bytes" else read_count)(f"--limit {name}", value)
    return found


def _credentials(file: str) -> Credentials | None:
    """The account: from a file, otherwise from the environment; never from the command line, which others can see."""
    if not file:
        access, secret, token = (os.environ.get(name, "") for name in _KEYS)
        if bool(access) != bool(secret):
            raise InputError(f"{_KEYS[0]} and {_KEYS[1]} belong together; one of them is not set.")
        return Credentials(access_key=access, secret_key=secret, token=token) if access else None
    try:
        text = Path(file).read_text(encoding="utf-8")
    except (OSError, ValueError) as error:
        raise InputError(f"--credentials {file}: {getattr(error, 'strerror', None) or 'no text'}.") from None
    given = dict(re.findall(r"^\s*(accessKey|secretKey|securityToken)\s*[:=]\s*['\"]?([^'\"\s]+)", text, re.MULTILINE))
    if not given.keys() >= {"accessKey", "secretKey"}:
        raise InputError(
            f"--credentials {file}: it needs two lines, 'accessKey: …' and 'secretKey: …', as RocketMQ's tools.yml has."
        )
    return Credentials(
        access_key=given["accessKey"], secret_key=given["secretKey"], token=given.get("securityToken", "")
    )


def _tls(security: Security) -> ssl.SSLContext | None:
    """How connections are encrypted.

    Brokers are known by addresses: as in RocketMQ's client, the chain of a certificate is checked, not the name in it.
    """
    files = {"--ca": security.ca, "--cert": security.cert, "--key": security.key}
    if not security.tls:
        misplaced = next((name for name, value in files.items() if value), "--tls-unverified" * security.tls_unverified)
        if misplaced:
            raise InputError(f"{misplaced} is about encrypted connections; add --tls.")
        return None
    if security.key and not security.cert:
        raise InputError("--key belongs to --cert, which is missing.")
    context = ssl.create_default_context()
    context.check_hostname = False
    name = "--ca"
    try:
        if security.tls_unverified:
            context.verify_mode = ssl.CERT_NONE
        elif security.ca:
            context.load_verify_locations(cafile=security.ca)
        name = "--cert"
        if security.cert:
            # For an encrypted key, the terminal would ask for a password.
            context.load_cert_chain(security.cert, security.key or None, password=_no_password)
    except (OSError, ValueError) as error:
        reason = getattr(error, "reason", None) or getattr(error, "strerror", None) or error
        raise InputError(f"{name} {files[name]}: no certificate can be read from it: {reason}.") from None
    return context


def _no_password() -> str:
    raise ValueError("the key is encrypted; write it without a password to a file that only you can read")

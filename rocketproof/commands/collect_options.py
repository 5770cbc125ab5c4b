"""What can be asked of ``rocketproof collect``: its options."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

from .options import flag, option


@dataclass(frozen=True, kw_only=True)
class Security:
    """Credentials and encryption for a cluster with access control."""

    credentials: Annotated[
        str,
        option(
            "FILE",
            "Access control: a file with accessKey and secretKey; otherwise ROCKETPROOF_ACCESS_KEY and "
            "ROCKETPROOF_SECRET_KEY are used.",
        ),
    ] = ""
    tls: Annotated[bool, flag("--tls", "Encrypt connections.")] = False
    ca: Annotated[str, option("FILE", "With --tls: certificates to trust, PEM.")] = ""
    cert: Annotated[str, option("FILE", "With --tls: certificate of this client, PEM.")] = ""
    key: Annotated[str, option("FILE", "With --cert: its key, PEM.")] = ""
    tls_unverified: Annotated[
        bool, flag("--tls-unverified", "With --tls: accept any certificate, as RocketMQ's clients do.")
    ] = False


@dataclass(frozen=True, kw_only=True)
class Collect:
    """What to read from which cluster, and how much of it."""

    namesrv: Annotated[str, option("HOST:PORT", "Name servers, separated by ;.")]
    out: Annotated[str, option("FOLDER", "New or empty, or one that was collected before.")]
    group: Annotated[list[str] | None, option("NAME", "A consumer group; repeatable.")] = None
    topic: Annotated[
        list[str] | None, option("NAME", "A topic, besides those that the groups consume; repeatable.")
    ] = None
    since: Annotated[str, option("TIME", "Start: how long ago, such as 2h, or a time in ISO 8601.")] = "1h"
    until: Annotated[str, option("TIME", "End; now by default.")] = ""
    messages: Annotated[
        bool, flag("--messages", "Also which messages the topics, retry and dead-letter topics hold, without bodies.")
    ] = False
    trace_topic: Annotated[str, option("NAME", "Where clients send their message trace; '' leaves it out.")] = (
        "RMQ_SYS_TRACE_TOPIC"
    )
    watch: Annotated[str, option("TIME", "Keep sampling for this long, such as 30m.")] = ""
    every: Annotated[str, option("TIME", "With --watch: the time between two samples.")] = "10s"
    limit: Annotated[
        list[str] | None,
        option(
            "NAME=VALUE",
            "Stop beyond: messages=N (1e6), bytes=SIZE (1GiB), seconds=N (600, besides --watch); repeatable.",
        ),
    ] = None

"""The files with which a name server and a broker are started: settings, and logging settings."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from .errors import LabError
from .ports import LOOPBACK

CLUSTER_NAME = "rocketproof"
BROKER_PORTS = (-2, 0, 1)
"""Offsets of a broker's ports from ``listenPort``: fast channel, its own, replication (haListenPort)."""

BROKER_SETTINGS: Mapping[str, str] = {
    "autoCreateTopicEnable": "false",  # a mistyped topic is an error, not a new topic
    "brokerClusterName": CLUSTER_NAME,
    "brokerId": "0",
    "brokerRole": "ASYNC_MASTER",
    "flushDiskType": "ASYNC_FLUSH",
    # Small files: a lab holds thousands of messages, not billions.
    "mappedFileSizeCommitLog": str(32 << 20),
    "mappedFileSizeConsumeQueue": str(20 * 10_000),
    "maxHashSlotNum": "10000",
    "maxIndexNum": "40000",
    "transientStorePoolEnable": "false",
    "diskMaxUsedSpaceRatio": "95",
    # A machine that does other things too is sometimes slow, which is no reason to refuse requests.
    "osPageCacheBusyTimeOutMills": "10000",
    "waitTimeMillsInSendQueue": "10000",
}
"""Settings of every broker in the lab, unless the user sets them; all others have RocketMQ's defaults."""

OWN_SETTINGS = frozenset({"brokerIP1", "brokerIP2", "brokerName", "haListenPort", "listenPort", "namesrvAddr"})
"""Settings that the lab sets itself: names, addresses and ports."""

NAMESRV_PREFIX = "namesrv."
"""Prefix of settings of the name server."""

BROKER_PROPERTIES: Mapping[str, str] = {
    "rocketmq.broker.diskSpaceCleanForciblyRatio": "0.97",
    "rocketmq.broker.diskSpaceWarningLevelRatio": "0.98",
}
"""System properties of brokers: a rather full disk is full of other things than the lab's messages."""

SERVER_PROPERTIES: Mapping[str, str] = {"tls.server.mode": "disabled"}
"""System properties of all servers: by default they would create unnecessary keys and certificates."""

_LOGBACK = """\
<configuration>
  <appender name="console" class="ch.qos.logback.core.ConsoleAppender">
    <encoder><pattern>%d{yyyy-MM-dd HH:mm:ss.SSS} %-5p %t - %m%n</pattern><charset>UTF-8</charset></encoder>
  </appender>
  <logger name="RocketmqBrokerConsole" level="INFO"/>
  <logger name="RocketmqCommercial" level="WARN"/>
  <logger name="RocketmqFilter" level="WARN"/>
  <logger name="RocketmqNamesrvWaterMark" level="WARN"/>
  <logger name="RocketmqPop" level="WARN"/>
  <logger name="RocketmqProtection" level="WARN"/>
  <logger name="RocketmqStats" level="WARN"/>
  <logger name="RocketmqWaterMark" level="WARN"/>
  <root level="INFO"><appender-ref ref="console"/></root>
</configuration>
"""
_LOGBACK_FILES = ("logback_broker.xml", "logback_namesrv.xml", "logback_tools.xml", "logback.xml")
"""The first three are where 4.9 looks, below ROCKETMQ_HOME; 5.x gets the last one by a system property."""


def write_logging(rocketmq_home: Path) -> dict[str, str]:
    """Write the logging settings of all releases (log to standard output), and return the properties that they need."""
    conf = rocketmq_home / "conf"
    conf.mkdir(parents=True, exist_ok=True)
    for name in _LOGBACK_FILES:
        (conf / name).write_text(_LOGBACK, encoding="utf-8")
    return {"rmq.logback.configurationFile": str(conf / _LOGBACK_FILES[-1])}


def check_settings(settings: Mapping[str, str]) -> None:
    """Check settings that a user gives.

    Raises:
        LabError: the lab sets one of them itself, or it has no name.
    """
    for name in settings:
        if name in OWN_SETTINGS or name == f"{NAMESRV_PREFIX}listenPort":
            raise LabError(f"{name} is set by the lab, which needs it; leave it out.")
        if not name.removeprefix(NAMESRV_PREFIX):
            raise LabError(f"there is a setting without a name (value {settings[name]!r}).")


def broker_file(*, name: str, port: int, namesrv: str, store: Path, settings: Mapping[str, str]) -> str:
    """The settings file of a broker: with the user's settings, except those for the name server."""
    own = {
        "bindAddress": LOOPBACK,  # 5.x; 4.9 has no such setting and listens on all addresses
        "brokerIP1": LOOPBACK,
        "brokerIP2": LOOPBACK,
        "brokerName": name,
        "haListenPort": str(port + 1),
        "listenPort": str(port),
        "namesrvAddr": namesrv,
        "storePathCommitLog": str(store / "commitlog"),
        "storePathRootDir": str(store),
    }
    given = {name: value for name, value in settings.items() if not name.startswith(NAMESRV_PREFIX)}
    return _properties({**BROKER_SETTINGS, **own, **given})


def namesrv_file(*, port: int, folder: Path, settings: Mapping[str, str]) -> str:
    """The settings file of a name server; the user's ``settings`` without the prefix are for brokers, and left out."""
    own = {"bindAddress": LOOPBACK, "kvConfigPath": str(folder / "kvConfig.json"), "listenPort": str(port)}
    given = {
        name.removeprefix(NAMESRV_PREFIX): value for name, value in settings.items() if name.startswith(NAMESRV_PREFIX)
    }
    return _properties({**own, **given})


def _properties(values: Mapping[str, str]) -> str:
    """The text of a Java properties file."""
    return "".join(f"{name}={_escaped(value)}\n" for name, value in sorted(values.items()))


def _escaped(value: str) -> str:
    escaped = value.replace("\\", "\\\\").replace("\n", "\\n")
    return escaped if not escaped.startswith(" ") else "\\" + escaped

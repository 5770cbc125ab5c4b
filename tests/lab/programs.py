"""Java programs of tests: one file each, run against a cluster with the clients of its release."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from rocketproof.lab.cluster import Cluster
from rocketproof.lab.maven import Toolchain
from rocketproof.lab.process import Process, java_command

SECONDS = 180
"""How long a program may take, on a busy machine."""


def run_program(
    toolchain: Toolchain,
    cluster: Cluster,
    text: str,
    *,
    name: str,
    says: str,
    folder: Path,
    heap_mb: int,
    capture: Path | None = None,
) -> dict[str, Any]:
    """Run a program until it says what it has to; its arguments are name server, broker name and broker address.

    Args:
        toolchain: Java and Maven.
        cluster: where it works.
        text: the class.
        name: of the class.
        says: member of the line of JSON that it ends with.
        folder: for its source and its log.
        heap_mb: most memory of its heap, MiB.
        capture: where the agent records what happens in it; nothing is recorded without.

    Returns:
        That line.
    """
    source = folder / f"{name}.java"
    source.write_text(text, encoding="utf-8")
    broker = cluster.brokers[0]
    command = java_command(
        toolchain,
        cluster.release,
        str(source),
        artifacts=["rocketmq-client", "rocketmq-tools"],
        heap_mb=heap_mb,
        properties={**cluster.java_properties(), "rocketmq.client.rebalance.waitInterval": "500"},
        agent=None if capture is None else toolchain.jar("agent"),
        agent_options=f"dir={capture}",
        arguments=[cluster.namesrv, broker.name, broker.address],
    )
    program = Process.start(name.lower(), command, folder=folder, stdin=True)
    try:
        answer = program.said(says, SECONDS)
    finally:
        program.kill()
    assert "rocketproof agent" not in program.tail(1000)
    return answer

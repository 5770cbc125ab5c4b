"""What a file of an agent says of the process that wrote it."""

from __future__ import annotations

from rocketproof.traces.recorders.recording import Recording

from ...agents import QUEUE, at, client


def test_containers_with_one_process_id_are_told_apart_by_their_hosts() -> None:
    calls = [at(0, "deliver", **client(f"10.0.0.{host}@1"), offset=0) for host in (5, 6)]
    files = [Recording.of_events(f"client-1-{number}.jsonl", [call]) for number, call in enumerate((*calls, calls[0]))]
    assert [one.process for one in files] == ["client-1@10.0.0.5", "client-1@10.0.0.6", "client-1@10.0.0.5"]
    commit = at(0, "commit", **client("10.0.0.5@1"), offset=1)
    assert Recording.of_events(f"broker-7-{QUEUE['broker']}.jsonl", [commit]).process == "broker-7"

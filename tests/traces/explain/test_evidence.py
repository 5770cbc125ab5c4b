"""Which events a story shows."""

from __future__ import annotations

from typing import Any

import pytest

from rocketproof.traces.explain.evidence import Found, turning_points
from rocketproof.traces.explain.source_lines import Place
from rocketproof.traces.format.kinds import Kind


def heartbeat(time: int, consumed: str) -> Found:
    event: dict[str, Any] = {"time": time, "kind": Kind.HEARTBEAT, "group": "g", "subscriptions": [consumed]}
    return Found(event, 0, 0, 0, Place("a.jsonl", time, "line"))


@pytest.mark.parametrize(("versions", "shown"), [(False, [1, 3]), (True, [1, 2, 3])])
def test_a_new_version_of_a_subscription_is_told_only_where_versions_matter(versions: bool, shown: list[int]) -> None:
    found = [heartbeat(1, "t=*@7"), heartbeat(2, "t=*@8"), heartbeat(3, "t=a@9")]
    assert [each.event["time"] for each in turning_points(found, None, versions=versions)] == shown

"""Titles name what users know: keys, times of day, queues; and claims cite rules that exist."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest

import rocketproof.cli
from rocketproof.traces.claims.claims import CLAIMS, CODE
from rocketproof.traces.claims.obligations import OBLIGATIONS, Reason
from rocketproof.traces.encoding.names import Actor, Names, Slot
from rocketproof.traces.engine.findings import ROW
from rocketproof.traces.explain.story import stories
from rocketproof.traces.explain.titles import STANDSTILLS
from rocketproof.traces.format.schema import ABSENT, Header, origin_of
from rocketproof.traces.io import open_trace
from rocketproof.traces.io.writing import write_jsonl

NOON = 1_767_225_602_061


def told(folder: Path, claim: str, events: list[dict[str, object]], names: Names, **row: int) -> str:
    """The title of a finding in a trace of these events."""
    write_jsonl(folder / "t.jsonl", Header(), events)
    found = np.zeros(1, ROW)
    for name in ("slot", "actor", "other"):
        found[name] = -1
    for name in ("offset", "until", "value", "expected"):
        found[name] = ABSENT
    found["claim"], found["since"], found["time"] = CODE[claim], NOON, NOON
    for name, value in row.items():
        found[name] = value
    (story,) = stories(open_trace([folder / "t.jsonl"]), found, names)
    return story.title


def test_a_message_is_called_by_its_key_and_times_are_times(tmp_path: Path) -> None:
    events = [
        {"time": NOON, "kind": "deliver", "client": "c1", "group": "G", "topic": "T", "key": "KEY1", "attempt": 1}
    ]
    title = told(
        tmp_path, "retry-waits-as-its-level-says", events, Names(), origin=origin_of("KEY1"), value=NOON,
        expected=NOON + 8_964,
    )  # fmt: skip
    assert title == "Message KEY1 came again at 00:00:02.061, although it was not due before 00:00:11.025"


@pytest.mark.parametrize(("value", "views"), [(1, "members"), (2, "queues"), (3, "members and queues")])
def test_two_members_that_saw_different_things_are_told_with_what_these_were(
    value: int, views: str, tmp_path: Path
) -> None:
    names = Names()
    slot = names.slot(Slot("G", "T", "b", 0))
    passes = lists("c1", "c1", "c2", seconds=(0,))
    title = told(tmp_path, "views-agree", passes, names, slot=slot, value=value, time=NOON + 60_000)
    assert title.startswith(f"Members of group G saw different {views} of T for 60.0 s: ")


def lists(client: str, *members: str, seconds: tuple[int, ...]) -> list[dict[str, object]]:
    """Passes of a client, so many seconds after the queue had lost its owner."""
    who = {"kind": "rebalance", "client": client, "group": "G", "topic": "T", "members": list(members)}
    return [{"time": NOON + 1_000 * second, **who} for second in seconds]


@pytest.mark.parametrize(
    ("passes", "cause"),
    [
        ([*lists("c2", "c1", "c1", "c2", seconds=(-5, 15, 35, 55))], "c1 twice from 23:59:57.061 to 00:00:57.061"),
        ([*lists("c1", "c1", "c1", "c2", seconds=(5, 25)), *lists("c2", "c1", "c1", "c2", seconds=(45,))], "c1 twice"),
        ([*lists("c2", "c1", "c1", "c2", seconds=(5, 25)), *lists("c2", "c1", "c2", seconds=(45,))], ""),
        ([*lists("c2", "c1", "c2", seconds=(5, 25, 45))], ""),
    ],
)
def test_a_queue_without_an_owner_tells_who_was_listed_twice_meanwhile(
    passes: list[dict[str, object]], cause: str, tmp_path: Path
) -> None:
    names = Names()
    slot = names.slot(Slot("G", "T", "b", 0))
    names.actor(Actor("c1"))
    row = {"slot": slot, "actor": names.actor(Actor("c2")), "since": NOON, "time": NOON + 60_000}
    title = told(tmp_path, "every-queue-gets-an-owner", passes, names, **row)
    assert title.startswith("T@b:0 had no owner for 60.0 s" + (f": lists of members had {cause}" if cause else ""))
    assert ("twice" in title) == bool(cause)


def test_a_message_without_a_key_has_its_origin(tmp_path: Path) -> None:
    events = [{"time": NOON, "kind": "deliver", "client": "c1", "group": "G", "topic": "T", "origin": -7}]
    title = told(tmp_path, "never-before-it-is-due", events, Names(), origin=-7, value=NOON, expected=NOON + 1)
    assert title == "Message of origin -7 was delivered at 00:00:02.061, before it was due at 00:00:02.062"


@pytest.mark.parametrize(
    ("reason", "why"),
    [
        (Reason.NO_OWNER, ": nobody had it"),
        (Reason.NO_PULLS, ": c1 had it, but did not pull it"),
        (Reason.PINNED, ": c2 did not finish offset 7"),
        (Reason.OWNER_STOOD_STILL, ": c1 had it, but did nothing at all in that time"),
    ],
)
def test_a_queue_that_stands_still_tells_why(reason: Reason, why: str, tmp_path: Path) -> None:
    names = Names()
    row = {"slot": names.slot(Slot("G", "T", "b", 0)), "offset": 7, "until": 8, "value": int(reason)}
    row |= {"actor": names.actor(Actor("c1", 0)), "other": names.actor(Actor("c2", 0)), "since": NOON - 90_000}
    events: list[dict[str, object]] = [{"time": NOON, "kind": "pull", "client": "c1", "group": "G", "topic": "T"}]
    title = told(tmp_path, "every-queue-moves", events, names, **row)
    assert title == f"T@b:0 stood still for 90.0 s although messages were left{why}"


def test_every_reason_of_a_standstill_has_words() -> None:
    reasons = {one.reason for one in OBLIGATIONS if one.claim == "every-queue-moves"} - {Reason.NOT_POLLED}
    assert {Reason(value) for value in STANDSTILLS} == reasons | {Reason.OWNER_STOOD_STILL}


def test_an_allocation_names_the_queues(tmp_path: Path) -> None:
    names = Names()
    seen = {"members": ["c1", "c2"], "queues": ["b:0", "b:1", "b:2", "b:3"], "detail": "AVG"}
    events: list[dict[str, object]] = [
        {
            "time": NOON,
            "kind": "rebalance",
            "client": "c1",
            "group": "G",
            "topic": "T",
            **seen,
            "assigned": ["b:0", "b:2"],
        }
    ]
    row = {"slot": names.slot(Slot("G", "T", "", -1)), "actor": names.actor(Actor("c1")), "value": 2, "expected": 2}
    title = told(tmp_path, "allocation-as-the-strategy-says", events, names, **row)
    assert title == "c1 assigned itself 2 queues (b:0, b:2) of T, but its strategy gives it 2 queues (b:0-1)"


@pytest.mark.parametrize("claim", CLAIMS, ids=lambda claim: claim.id)
def test_every_rule_that_a_claim_cites_is_in_the_documents(claim: object) -> None:
    root = Path(rocketproof.cli.__file__).resolve().parent.parent
    known = set(re.findall(r"^\| ([A-Z]+-\d+) ", (root / "docs/rules.md").read_text("utf-8"), re.MULTILINE))
    assert set(claim.rules) <= known  # type: ignore[attr-defined]
    assert claim.rules  # type: ignore[attr-defined]


def test_claims_about_members_cite_the_rules_about_members() -> None:
    rules = {claim.id: claim.rules for claim in CLAIMS}
    assert rules["one-process-for-each-client-id"] == ("EN-2", "EN-6", "RB-21")
    assert rules["same-subscriptions"] == ("EN-2", "ST-5", "FI-1")
    assert rules["subscription-is-current"] == ("PL-16", "ST-5")

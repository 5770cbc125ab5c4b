"""A run as a scenario of the lab, which does the same to real clients, if its faults can be provoked there.

Clients of the lab are correct ones: a property that a known bug breaks must hold there. The scenario is therefore a
test that a cluster must pass and, with a driver that has the bug, one that fails.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from ..traces.claims.claims import CODE
from .diagnosis import Diagnosis
from .shortest import Shown, group_of

_MESSAGES = 200
"""Number of messages that are sent: enough for every queue, but few enough for a short run."""

_NAMES = ("one", "two", "three")

_QUIET = frozenset(
    {
        "allocate_again", "answer_found", "answer_illegal", "answer_nothing", "answer_stale", "apply_carried",
        "begin", "begin_batch", "begin_reset", "commit", "commit_late", "commit_taken", "correct_offset", "deliver",
        "end_correction", "end_correction_late", "end_reset", "end_stop", "find_no_offset", "finish_without_update",
        "heartbeat", "keep_taken", "late_commit_arrives", "load", "lock_late", "look", "lose_dropped",
        "orphan_copied", "orphan_sends_back", "orphan_succeeds", "overdue_succeeds", "persist", "persist_at_stop",
        "produce", "publish_batch", "pull", "pull_expires", "pull_nothing", "pull_removed", "put_batch_back",
        "recompute_offset", "remove", "remove_and_unlock_later", "remove_by_force", "renew", "replicate",
        "return_to_dropped_window", "ripen", "save", "say_commit", "send_back", "send_back_by_request", "send_pull",
        "set_target", "succeed", "succeed_in_order", "succeed_up_to", "take", "take_where_chosen", "tick",
        "unlock_later", "unregister", "update_late", "add_queue", "ask_members", "channel_closed", "drop_queues",
        "end_pass", "expire_lock", "expire_member", "rebalance_pass", "refresh_route", "remove_queue", "take_queue",
        "truncate",
    }
)  # fmt: skip
"""Steps that clients and brokers take by themselves."""


@dataclass
class _Written:
    """The steps of the scenario so far."""

    steps: list[str] = field(default_factory=list)
    fails: str = ""
    refused: list[str] = field(default_factory=list)
    extra: bool = False

    def step(self, do: str, **told: object) -> None:
        lines = [f'do = "{do}"', *(f"{name} = {_toml(value)}" for name, value in told.items())]
        self.steps.append("[[steps]]\n" + "\n".join(lines) + "\n")


def as_scenario(shown: Shown, diagnosis: Diagnosis) -> tuple[str, tuple[str, ...]]:
    """The text of a scenario (or nothing), and the steps that the lab cannot provoke, in words."""
    written = _Written()
    for label in shown.labels:
        _provoke(label, written)
    settings = _settings(shown)
    if written.refused or settings is None:
        told = [] if settings is not None else [f"the setting of {shown.name}"]
        return "", tuple(dict.fromkeys([*written.refused, *told]))
    _, group = group_of(diagnosis)
    count = min(max(int(shown.constants.get("consumers", 1)), 1), len(_NAMES))
    names = tuple(dict.fromkeys([*_NAMES[:count], *(_NAMES[-1:] if written.extra else ())]))
    claim = shown.finding if shown.finding in CODE else ""
    title = f"As recorded: {shown.finding}"
    parts = [
        f"title = {_toml(title[:100])}",
        f"shows = {_toml('What the run ' + ' '.join(shown.labels)[:160] + ' is made of, with real clients.')}",
        "\n[topics.orders]\n",
        "[defaults]",
        f'mode = "{group.mode}"',
        f'listener = "{group.listener}"',
        f"batch = {int(shown.constants.get('batch', 1))}",
        f"behaviour = {{ sleep_ms = 40{written.fails} }}\n",
        *(f"[consumers.{name}]{settings}" for name in names),
        "",
        *_begin(names[:count]),
        *written.steps,
        "[expect]",
        *([f"holds = [{_toml(claim)}]"] if claim else []),
        "losses = 0",
    ]
    return "\n".join(parts) + "\n", ()


def _settings(shown: Shown) -> str | None:
    """The form of a wrong setting in the lab, for each consumer; None if the lab has no such setting."""
    if shown.bug is None or shown.bug.mutant.function is not None:
        return ""
    return '\ninstance = "same"' if shown.constants.get("same_id") else None


def _begin(names: tuple[str, ...]) -> list[str]:
    first = _Written()
    for name in names:
        first.step("start", client=name)
    first.step("send", topic="orders", count=_MESSAGES)
    return first.steps


def _provoke(label: str, written: _Written) -> None:
    """What the lab does to make a step happen."""
    action, _, arguments = label.rstrip(")").partition("(")
    found = re.match(r"c(\d)", arguments)
    client = _NAMES[int(found[1])] if found and int(found[1]) < len(_NAMES) else "one"
    after = {"client": client, "deliveries": 20}
    match action:
        case "die":
            written.step("kill", client=client, after=after)
        case "stop":
            written.step("stop", client=client, after=after)
        case "pause":
            written.step("pause", client=client, after=after)
        case "resume":
            written.step("resume", client=client)
        case "start" | "restart":
            written.step("start", client=client)
        case "cut_off":
            written.step("cut", client=client, after=after)
        case "heal":
            written.step("heal", client=client)
        case "drop" | "drop_delaying_commit" | "drop_in_order" | "drop_losing_commit":
            if not written.extra:  # another member takes a part of the queues away
                written.extra = True
                written.step("start", client=_NAMES[-1], after=after)
        case "fail" | "orphan_listener_fails" | "overdue_fails":
            written.fails = ', fail = [{ every = 10, attempts = 1, as = "later" }]'
        case "suspend":
            written.fails = ', fail = [{ every = 10, attempts = 1, as = "suspend" }]'
        case "crash_broker":
            written.step("restart-broker", crash=True, after=after)
        case "stop_broker" | "restart_broker":
            written.step("restart-broker", after=after)
        case "reset_at_broker" | "order_reset":
            written.step("reset", topic="orders", after=after)
        case _ if action in _QUIET:
            return
        case _:
            written.refused.append(action.replace("_", " "))


def _toml(value: object) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, dict):
        return "{ " + ", ".join(f"{name} = {_toml(one)}" for name, one in value.items()) + " }"
    if isinstance(value, int):
        return str(value)
    text = "".join(one if one.isprintable() and one not in '"\\' else "?" for one in str(value))
    return f'"{text}"'

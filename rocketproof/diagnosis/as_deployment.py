"""What a recording shows about a deployment, as ``rocketproof.toml``, with what to complete and what to change."""

from __future__ import annotations

from .diagnosis import Diagnosis
from .shortest import Shown, group_of, processes

_MODES = {"clustering": "CLUSTERING", "broadcasting": "BROADCASTING"}
_STRATEGIES = frozenset({"AVG", "AVG_BY_CIRCLE", "CONSISTENT_HASH"})
"""Strategies that need no further settings."""


def as_deployment(shown: Shown, diagnosis: Diagnosis) -> str:
    """A deployment file for the recorded group, with advice in its comments."""
    name, group = group_of(diagnosis)
    header, slots = diagnosis.looked.trace.header, diagnosis.looked.result.names.slots
    queues: dict[str, int] = {}
    brokers: dict[str, None] = {}
    for slot in slots:
        if slot.group == name and slot.queue >= 0 and slot.topic and not slot.topic.startswith("%"):
            queues[slot.topic] = max(queues.get(slot.topic, 0), slot.queue + 1)
            brokers[slot.broker or "broker-a"] = None
    lines = [
        f"# As recorded in {_comment(', '.join(diagnosis.looked.trace.files))}. Complete it, then: ",
        "# rocketproof verify --config rocketproof.toml",
    ]
    if shown.bug is not None:
        found = next((one for one in diagnosis.candidates if shown.bug in one.entries), None)
        lines.append(f"# {shown.bug.id} {shown.bug.mutant.slug} explains it.")
        if found is not None:
            mended = f" Mended by {found.advice.mended}." if found.advice.mended else ""
            lines.append(f"# {found.advice.remedy}{mended}")
    for broker in sorted(brokers) or ["broker-a"]:
        lines += ["", "[[brokers]]", f"name = {_text(broker)}"]
        if header.release:
            lines.append(f"version = {_text(header.release)}")
        if header.delays:
            lines.append(f"message_delay_level = {_text(header.delays)}")
    topics = sorted(queues) or ["topic"]
    for topic in topics:
        count = queues.get(topic, 1)
        lines += [
            "",
            "[[topics]]",
            f"name = {_text(topic)}",
            "# the highest queue that was seen; compare with the topic",
        ]
        lines += [f"read_queue_nums = {count}", f"write_queue_nums = {count}"]
    lines += ["", "[[groups]]", f"name = {_text(name)}"]
    if header.release:
        lines.append(f"client_version = {_text(header.release)}")
    lines += [f"message_model = {_text(_MODES.get(group.mode, 'CLUSTERING'))}", f"listener = {_text(group.listener)}"]
    if group.strategy in _STRATEGIES:
        lines.append(f"allocate_message_queue_strategy = {_text(group.strategy)}")
    if group.max_attempts is not None and group.max_attempts >= 0:
        lines.append(f"max_reconsume_times = {group.max_attempts}")
    lines.append("subscriptions = { " + ", ".join(f'{_text(topic)} = "*"' for topic in topics) + " }")
    lines += ["", "[[groups.members]]", 'name = "recorded"', f"instances = {max(processes(diagnosis), 1)}"]
    return "\n".join(line.rstrip() for line in lines) + "\n"


def _text(value: str) -> str:
    return '"' + "".join(one if one.isprintable() and one not in '"\\' else "?" for one in value) + '"'


def _comment(text: str) -> str:
    return "".join(one if one.isprintable() else "?" for one in text)

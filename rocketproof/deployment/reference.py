"""The reference of the deployment file, generated from the fields and rules: docs/deployment-file.md."""

from __future__ import annotations

from .cluster import Broker, Topic
from .consumers import Consumer, Group, Member
from .description import Accepted
from .fields import Table, allowed, source_of
from .rules import RULES

_TABLES: tuple[tuple[str, type[Table], str], ...] = (
    (
        "[[brokers]]",
        Broker,
        "A broker name: a master with or without slaves. Without this table there is one, `broker-a`.",
    ),
    ("[[topics]]", Topic, "A topic, with the same numbers of queues on each of its brokers."),
    (
        "[[groups]]",
        Group,
        (
            "A consumer group. Besides these fields it has those of [a consumer](#settings-of-a-consumer), which "
            "apply to all members that do not override them."
        ),
    ),
    (
        "[[groups.members]]",
        Member,
        (
            "A member of the group above it: one process, or several identical ones. It may also have every field "
            "of [a consumer](#settings-of-a-consumer)."
        ),
    ),
    (
        "Settings of a consumer",
        Consumer,
        (
            "In `[[groups]]` for all members, in `[[groups.members]]` for one. They have the names of the "
            "properties of `DefaultMQPushConsumer`, in snake_case; those from `slowest_listener_millis` on are "
            "facts about the listener."
        ),
    ),
    ("[[accepted]]", Accepted, "A finding that you know about and accept: it does not fail the check."),
)


def reference() -> str:
    """The page, as Markdown."""
    parts = [
        "# The deployment file\n",
        "Every table and field of a `rocketproof.toml`, and every mistake that is looked for; "
        "[in your CI](in-your-ci.md) says how to use it. Defaults are those of RocketMQ 5.3.3. The source in brackets "
        "is a [rule](rules.md) or the name this kit gives to a part of RocketMQ.\n",
    ]
    for title, table, about in _TABLES:
        parts += [f"## {title.strip('[]') if title.startswith('[') else title}\n", f"{about}\n", _fields(table)]
    parts += [
        "## Known mistakes\n",
        "The ids are separate from those of the rules: the mistake `G1` is not the guarantee `G1`. Each finding names "
        "the rules that it is based on, as `rules: …`.\n",
        _rules(),
    ]
    return "\n".join(parts)


def _fields(table: type[Table]) -> str:
    lines = ["| field | meaning | allowed | default |", "|---|---|---|---|"]
    inherited = set(Consumer.model_fields) if table is not Consumer else set()
    for name, field in table.model_fields.items():
        if name in inherited:
            continue
        source = f" [{source_of(field)}]" if source_of(field) else ""
        default = "must be given" if field.is_required() else _shown(field.default)
        about = f"{field.description}{source}".replace("|", r"\|")
        lines.append(f"| `{name}` | {about} | {allowed(field).replace('|', chr(92) + '|')} | {default} |")
    return "\n".join(lines) + "\n"


def _shown(value: object) -> str:
    match value:
        case None:
            return "not given"
        case bool():
            return str(value).lower()
        case [] | "":
            return "empty"
        case {}:
            return "none"
        case str():
            return f"`{value}`"
        case _:
            return str(value)


def _rules() -> str:
    lines = ["| id | what should be | usual severity |", "|---|---|---|"]
    lines += [f"| `{rule.key}` | {rule.statement} | {rule.severity} |" for rule in RULES]
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    print(reference(), end="")

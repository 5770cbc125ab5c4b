"""Deployments for the tests: a faultless one, and changes of it that go wrong."""

import tomllib
from pathlib import Path

from rocketproof.deployment.judge import Answer, Judge
from rocketproof.deployment.reading import DeploymentFile, parse

NAME = "rocketproof.toml"

FINE = """\
[[brokers]]
name = "broker-a"

[[topics]]
name = "orders"
tags = ["paid", "shipped", "void"]

[[groups]]
name = "billing"
subscriptions = { orders = "paid || shipped" }
slowest_listener_millis = 200
await_termination_millis_when_shutdown = 5000

[[groups.members]]
name = "b1"

[[groups.members]]
name = "b2"
"""


def changed(**replacements: str) -> str:
    """The faultless deployment with text put in the place of text (keys name the line to extend)."""
    text = FINE
    for key, more in replacements.items():
        anchor = {
            "broker": 'name = "broker-a"',
            "topic": 'name = "orders"',
            "group": 'name = "billing"',
            "b1": 'name = "b1"',
            "b2": 'name = "b2"',
            "end": 'name = "b2"\n',
        }[key]
        assert text.count(anchor) == 1
        text = text.replace(anchor, f"{anchor}\n{more}")
    return text


def deployment(text: str) -> DeploymentFile:
    """The deployment that a text describes."""
    return parse(text, tomllib.loads(text), name=NAME)


def answers(text: str, *names: str) -> list[Answer]:
    """The answers of the checks that are named, of all groups."""
    judge = Judge(deployment(text))
    return [judge.answer(check) for check in judge.checks if not names or {check.id, check.short_id} & set(names)]


def answer(text: str, name: str, *, group: str = "billing") -> Answer:
    """The answer of one check."""
    (found,) = [item for item in answers(text, name) if item.check.subject in (group, "cluster")]
    return found


def write(folder: Path, text: str, name: str = NAME) -> Path:
    """Write a deployment file."""
    path = folder / name
    path.write_text(text, encoding="utf-8")
    return path

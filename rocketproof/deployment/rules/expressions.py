"""Expressions of tags that do not mean what they seem to."""

from __future__ import annotations

import re
from collections.abc import Iterator

from ...output.row import Severity
from ..facts import GroupFacts
from ..finding import Finding, group_rule
from .members import listing, wanted_tags

_OPERATORS = re.compile(r"\||&&?|,|;|\s(?i:or|and|not)\s|[()*!=]|\s")


@group_rule("EN-9", "tag-expression", Severity.ERROR, "EN-9", "FI-3")
def tag_expression(facts: GroupFacts) -> Iterator[Finding]:
    """An expression of tags names tags that are sent, with || between them.

    EN-9: an expression is split at ``||`` and nothing else; ``*`` is special only when it stands alone.
    """
    told: set[tuple[str, str]] = set()
    for client in facts.clients:
        for topic, expression in client.settings.subscriptions.items():
            if (topic, expression) in told:
                continue
            told.add((topic, expression))
            at = (*facts.place(client, "subscriptions"), topic)
            known = facts.topic(topic)
            sent = known.tags if known is not None else None
            tags = sorted(wanted_tags(expression))
            odd = [tag for tag in tags if _OPERATORS.search(tag) and tag not in (sent or ())]
            if odd:
                meant = [part for part in re.split(r"[^\w.:%-]+", expression) if part.lower() not in ("", "or", "and")]
                yield Finding(
                    at,
                    f"{expression!r} is split at || and nothing else, so {_quoted(odd)} "
                    f"{'is one tag' if len(odd) == 1 else 'are tags'} that no message has"
                    f"{': ' + client.name + ' gets nothing of ' + topic if len(odd) == len(tags) else ''}.",
                    "Write " + (f'"{" || ".join(meant)}"' if "*" not in odd and meant else '"*"') + ", or subscribe by "
                    "SQL92 (sql_subscriptions) where messages are to be told apart by more than one tag.",
                )
            unsent = [tag for tag in tags if sent is not None and tag not in sent and tag not in odd]
            if unsent:
                every = len(unsent) == len(tags)
                yield Finding(
                    at,
                    f"no producer sends {listing(unsent)}: the tags of {topic} are {listing(sent or ['none'])}"
                    f"{f', so {client.name} gets nothing of it' if every else ''}.",
                    f"Correct the spelling, or add {listing(unsent)} to the tags of {topic}.",
                    Severity.ERROR if every else Severity.WARNING,
                )


def _quoted(tags: list[str]) -> str:
    return listing([repr(tag) for tag in tags])

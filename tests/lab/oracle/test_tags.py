"""Filtering by tag: what the broker sends and the client keeps, against RocketMQ's own."""

from __future__ import annotations

from itertools import product
from random import Random
from typing import Any

import pytest

from rocketproof.model.tags import EXPRESSIONS, PATTERNS, Tag, hash_code

from .real import Real, seeded

pytestmark = pytest.mark.lab

CASES = 3_000
WORDS = ("Aa", "BB", "C", "D", "AaAa", "BBBB", "AaBB", "é", "\U0001f600", "a b")
"""``Aa`` and ``BB`` have one hash code, and so have ``AaAa``, ``BBBB`` and ``AaBB``."""


def test_the_expressions_and_tags_of_the_model_are_filtered_as_the_real_ones(real: Real) -> None:
    pairs = list(product(EXPRESSIONS, PATTERNS.values()))
    answers = real.ask("tags", [{"expression": text, "tags": [tag.name for tag in tags]} for text, tags in pairs])
    for (expression, tags), answer in zip(pairs, answers, strict=True):
        asked = EXPRESSIONS[expression]
        codes = {hash_code(tag) for tag in asked}
        sent = [at for at, tag in enumerate(tags) if expression == "*" or hash_code(tag) in codes]
        kept = [at for at in sent if tags[at] in asked]
        assert answer == {"is": [sent, kept]}, (expression, tags)
    assert len(pairs) == 35


def test_tags_of_one_hash_code_are_those_of_the_model(real: Real) -> None:
    pairs = list(product(Tag, Tag))
    answers = real.ask("tags", [{"expression": one.name, "tags": [other.name]} for one, other in pairs])
    for (one, other), answer in zip(pairs, answers, strict=True):
        same_code = hash_code(one) == hash_code(other)
        assert answer["is"] == [[0] if same_code else [], [0] if one == other else []]


def code_of(text: str) -> int:
    """Java's ``String#hashCode``, without the sign."""
    code = 0
    units = text.encode("utf-16-be")
    for high, low in zip(units[::2], units[1::2], strict=True):
        code = (31 * code + 256 * high + low) % 2**32
    return code


def expression(random: Random) -> str | None:
    """Words with ``||`` between them, with blanks, with nothing, or everything."""
    if random.random() < 0.1:
        return random.choice(("*", "", None))
    words = [random.choice(("", " ", *WORDS)) for _ in range(random.randint(1, 4))]
    return "||".join(random.choice(("", " ")) + word + random.choice(("", "  ")) for word in words)


def wanted(text: str | None) -> frozenset[str] | None:
    """FI-1 in words: the tags that are asked for; None for all (``FilterAPI#buildSubscriptionData``)."""
    if not text or text == "*":
        return None
    return frozenset(word.strip() for word in text.split("||") if word.strip())


def test_the_broker_compares_codes_and_the_client_words(real: Real) -> None:
    random = seeded("tags")
    cases: list[dict[str, Any]] = [
        {"expression": expression(random), "tags": [random.choice((None, *WORDS)) for _ in range(random.randint(0, 8))]}
        for _ in range(CASES)
    ]
    only_at_client = 0
    for given, answer in zip(cases, real.ask("tags", cases), strict=True):
        words = wanted(given["expression"])
        if given["expression"] and not given["expression"].strip("|"):
            assert answer["raises"] == "java.lang.Exception", given
            continue
        codes = {code_of(word) for word in words or ()}
        sent = [at for at, tag in enumerate(given["tags"]) if words is None or code_of(tag or "") in codes]
        # A subscription of blanks only asks the broker for nothing, and the client would take everything.
        kept = [at for at in sent if not words or given["tags"][at] in words]
        assert answer == {"is": [sent, kept]}, given
        only_at_client += len(sent) - len(kept)
    assert len(cases) == CASES
    assert only_at_client > len(cases) // 10

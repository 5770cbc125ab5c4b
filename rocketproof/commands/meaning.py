"""Search by meaning: finds things that have other names than expected, in English or Chinese."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib import resources

CONCEPTS: tuple[tuple[str, ...], ...] = tuple(
    tuple(line.split())
    for line in resources.files(__package__).joinpath("meaning.txt").read_text(encoding="utf-8").splitlines()
)
"""Words for the same thing: a question may use one, and a statement another."""

PHRASES: Mapping[str, str] = {
    "scale out": "join",
    "scaling out": "join",
    "scale up": "join",
    "scale in": "leave",
    "scaling in": "leave",
    "scale down": "leave",
    "dead letter": "dead-letter",
    "dead-letter": "dead-letter",
    "go back": "offset",
    "too long": "timeout",
    "stop the world": "pause",
}
"""Words that have a meaning only together."""

_LITTLE_WORDS = """
a an and are as at be by does for has i in is it its my of on or that the to was what when where why
"""
IGNORED = frozenset(_LITTLE_WORDS.split())


@dataclass(frozen=True)
class Entry:
    """Something that can be found: its name, and the sentences that say what it is."""

    name: str
    text: str


def find(words: str, entries: Iterable[Entry]) -> list[Entry]:
    """The entries about ``words``, best first.

    Words that occur in few entries count most, words of a name count twice, and words in a long text less than in a
    short one. An entry about a part of the question counts in proportion.
    """
    asked = list(dict.fromkeys(_terms(words)))
    known = [(entry, _terms(entry.name.replace("-", " ")), _terms(entry.text)) for entry in entries]
    rarity = _rarity([{*name, *text} for _, name, text in known])
    usual = sum(len(name) + len(text) for _, name, text in known) / max(len(known), 1)

    def score(name: Sequence[str], text: Sequence[str]) -> float:
        found = [term for term in asked if term in name or term in text]
        points = sum(rarity[term] * (2 * (term in name) + (term in text)) for term in found)
        length = 0.7 + 0.3 * (len(name) + len(text)) / usual
        return points / length * len(found) / len(asked)

    scored = [(score(name, text), entry) for entry, name, text in known] if asked else []
    best = max((points for points, _ in scored), default=0.0)
    # An entry that has only a common word of the question is not about it.
    found = [(points, entry) for points, entry in scored if points > 0 and points >= best / 3]
    return [entry for _, entry in sorted(found, key=lambda pair: -pair[0])]


def _rarity(entries: Sequence[set[str]]) -> dict[str, float]:
    counts = Counter(term for entry in entries for term in entry)
    return {term: math.log(1 + len(entries) / count) for term, count in counts.items()}


def _terms(text: str) -> list[str]:
    """The content of a text, as one word for each concept."""
    rest = text.lower()
    terms = []
    for phrase, concept in _phrases():
        if phrase in rest:
            rest = rest.replace(phrase, " ")
            terms.append(concept)
    words = re.findall(r"[a-z0-9]+", rest)
    terms += [_concept(word) for word in words if word not in IGNORED]
    return terms


@cache
def _phrases() -> list[tuple[str, str]]:
    """Chinese words, which have no separators, and English phrases, the longest first; each with its concept."""
    chinese = {word: concept[0] for concept in CONCEPTS for word in concept if not word.isascii()}
    together = {phrase: _concept(meaning) for phrase, meaning in PHRASES.items()}
    return sorted({**together, **chinese}.items(), key=lambda pair: -len(pair[0]))


def _concept(word: str) -> str:
    concepts = _concepts()
    for variant in (word, word.removesuffix("s"), word.removesuffix("ed"), word.removesuffix("ing")):
        if variant in concepts:
            return concepts[variant]
    return word.removesuffix("s")


@cache
def _concepts() -> dict[str, str]:
    return {word: concept[0] for concept in reversed(CONCEPTS) for word in concept if word.isascii()}

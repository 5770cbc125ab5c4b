"""Properties are found by what they are about, however it is called, in English and Chinese."""

import pytest

from rocketproof.checkers.catalogue import default_rows
from rocketproof.commands.meaning import CONCEPTS, Entry, find

ENTRIES = [Entry(row.id, f"{row.statement} {row.lesson}") for row in default_rows()]


def names(words: str) -> list[str]:
    return list(dict.fromkeys(entry.name for entry in find(words, ENTRIES)))


@pytest.mark.parametrize(
    ("words", "wanted"),
    [
        ("crash", "duplicates-only-after-a-crash"),
        ("killed", "again-crash"),
        ("twice", "every-duplicate-has-a-cause"),
        ("重复消费", "every-duplicate-has-a-cause"),
        ("scale out", "join-overlap"),
        ("扩容", "join-overlap"),
        ("two consumers one queue", "one-queue-one-consumer"),
        ("死信队列", "dead-letter-readable"),
        ("顺序消费 加锁", "orderly-lock-excludes"),
        ("where does a new group start", "new-group-starts-where-chosen"),
        ("消费位点丢失", "offset-never-past-unfinished"),
        ("listener takes too long", "hung-message-pins-the-offset"),
    ],
)
def test_a_question_finds_its_property_among_the_first(words: str, wanted: str) -> None:
    assert wanted in names(words)[:5]


@pytest.mark.parametrize(
    ("words", "first"),
    [
        ("crash", ["again-crash", "death-gap"]),
        ("scale out", ["join-gap", "join-overlap"]),
        ("重复消费", ["every-duplicate-has-a-cause", "quiet-group-has-no-duplicates", "duplicates-only-after-a-crash"]),
    ],
)
def test_what_is_about_nothing_else_comes_first(words: str, first: list[str]) -> None:
    assert names(words)[: len(first)] == first


def test_what_means_nothing_here_finds_nothing() -> None:
    assert names("xyzzy 天气") == []


def test_every_word_has_one_meaning() -> None:
    words = [word for concept in CONCEPTS for word in concept]
    assert sorted(words) == sorted(set(words))


def test_words_alike_find_the_same() -> None:
    assert names("die") == names("crash") == names("宕机")

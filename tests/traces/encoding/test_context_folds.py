"""A fold over the events of the context goes on with its state if what it asked is answered as it was."""

from __future__ import annotations

from typing import Any

import pytest

from rocketproof.traces.encoding.context_events import ContextEvents
from rocketproof.traces.encoding.context_folds import Asked, Carrying


class Longest:
    """Counts events with a topic that some event names later, too; and how many it was given."""

    name = "longest"

    def __init__(self, events: ContextEvents) -> None:
        topics = [topic for (topic,) in events.rows("topic", kinds=events.kinds())]
        self._asked = Asked(often=lambda topic: topics.count(topic) > 1)
        self.counted = self.given = 0

    def take(self, events: ContextEvents, span: tuple[int, int]) -> None:
        for (topic,) in events.rows("topic", kinds=events.kinds(), span=span):
            self.given += 1
            self.counted += self._asked("often", topic)

    def carried(self) -> Any:
        return [self._asked.carried(), self.counted]

    def carry_on(self, _events: ContextEvents, known: Any) -> bool:
        if not self._asked.carry_on(known[0]):
            return False
        self.counted = known[1]
        return True


def events_of(topics: str) -> ContextEvents:
    return ContextEvents.of([{"time": n, "kind": "rebalance", "topic": topic} for n, topic in enumerate(topics)])


@pytest.mark.parametrize(
    ("later", "given", "counted"),
    [("abab", 1, 4), ("abacdb", 3, 4), ("abaadd", 6, 5)],
)
def test_a_fold_goes_on_if_its_questions_are_answered_as_they_were(later: str, given: int, counted: int) -> None:
    before = events_of("abab")
    before.carrying = Carrying(stop=3)
    assert before.fed(Longest(before)).counted == 4
    kept = before.carrying.kept
    assert kept == {"longest": [[[["often", "a"], True], [["often", "b"], True]], 3]}
    now = events_of(later)
    now.carrying = Carrying(stop=4, done=3, known=kept)
    fold = now.fed(Longest(now))
    assert (fold.given, fold.counted) == (given, counted)
    assert events_of(later).fed(Longest(now)).counted == counted


def test_without_a_stop_a_fold_takes_all_events() -> None:
    events = events_of("abca")
    fold = events.fed(Longest(events))
    assert (fold.given, fold.counted, events.before(2), events.before(9)) == (4, 2, 2, 4)

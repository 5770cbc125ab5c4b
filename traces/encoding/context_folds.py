"""Folds over the events of the context: monitors in plain Python that go through these events once, in their order.

A fold may stop before any event. Its state there is stored, and it goes on when more of the recording is known; a check
of everything is the same fold, which does not stop. What a fold is told before its first event must be the same then.
It may also ask about the whole recording, which has events to come. It is then gone on with only if each answer that it
got would be the same now, see :class:`Asked`; otherwise it goes through all events again.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Protocol

from .plain import Plain, plain

if TYPE_CHECKING:
    from .context_events import ContextEvents


class ContextFold(Protocol):
    """A monitor at work."""

    @property
    def name(self) -> str:
        """Its name, under which its state is stored."""

    def take(self, events: ContextEvents, span: tuple[int, int]) -> None:
        """Process the events from one place on, and before another."""

    def carried(self) -> Plain:
        """Its present state."""

    def carry_on(self, events: ContextEvents, known: Plain) -> bool:
        """Take over the state of an earlier fold; False, and nothing was taken over, if it does not hold any more."""


@dataclass(kw_only=True)
class Carrying:
    """Where folds begin, and where they stop to store their state.

    Attributes:
        done: number of events that are part of what is known; ``known``: the states after these, by name.
        stop: the number of events after which states are to be stored; ``kept``: these.
    """

    stop: int
    done: int = 0
    known: Mapping[str, Plain] = field(default_factory=dict)
    kept: dict[str, Plain] = field(default_factory=dict)

    def feed(self, fold: ContextFold, events: ContextEvents) -> None:
        """Let a fold take all events that are not part of its state."""
        begin = self.done if fold.name in self.known and fold.carry_on(events, self.known[fold.name]) else 0
        fold.take(events, (begin, self.stop))
        self.kept[fold.name] = fold.carried()
        fold.take(events, (self.stop, len(events)))


class Asked:
    """What a fold asks about the whole recording, with the answers so far; it remembers what it was asked.

    A question has a name and, for its function, parameters: words and numbers. An answer is a word, a number, or a list
    of them.
    """

    def __init__(self, **questions: Callable[..., Plain]) -> None:
        self._questions = questions
        self._answers: dict[tuple[Any, ...], Plain] = {}

    def __call__(self, question: str, *about: Any) -> Plain:
        """The answer to a question about something."""
        key = question, *about
        if key not in self._answers:
            self._answers[key] = self._questions[question](*about)
        return self._answers[key]

    def carried(self) -> Plain:
        """The questions, with their answers."""
        return plain(self._answers)

    def carry_on(self, known: Sequence[tuple[Sequence[Any], Plain]]) -> bool:
        """Take over questions of an earlier fold; False, and none was taken over, if one is answered otherwise now."""
        now = {(question, *about): self._questions[question](*about) for (question, *about), _ in known}
        if any(one != answer for one, (_, answer) in zip(now.values(), known, strict=True)):
            return False
        self._answers = now
        return True

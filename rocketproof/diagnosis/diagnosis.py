"""The diagnosis of a recording: what is wrong, which known bugs explain it, or why this is not known."""

from __future__ import annotations

import enum
from dataclasses import dataclass

from ..commands.record import recordable_mutants
from ..traces.conformance import SLACK
from ..traces.conformance.suspects import Explained, explained
from ..traces.format.kinds import Kind, Result
from .candidates import Candidate, candidates
from .look import Looked
from .pictures import pictures


class Answer(enum.StrEnum):
    """The answer of a diagnosis.

    NOTHING_WRONG: no claim is violated, and the model allows every event. NAMED: a known bug explains what is wrong.
        ALIKE: recordings of a known bug show some of it. NOT_KNOWN: something is wrong, and no known bug shows any of
        it. NOT_TOLD: too little was recorded to say either.
    """

    NOTHING_WRONG = "NOTHING IS WRONG"
    NAMED = "A KNOWN BUG EXPLAINS IT"
    ALIKE = "A KNOWN BUG LOOKS LIKE IT"
    NOT_KNOWN = "NO KNOWN BUG EXPLAINS IT"
    NOT_TOLD = "CANNOT BE TOLD"


@dataclass(frozen=True, kw_only=True)
class Diagnosis:
    """A diagnosis."""

    looked: Looked  # the recording, and what is wrong with it
    explained: tuple[Explained, ...]  # queues at which the correct model stops, with the bugs that get further
    candidates: tuple[Candidate, ...]  # known bugs that explain it, best first

    @property
    def answer(self) -> Answer:
        """The overall answer."""
        if self.candidates:
            return Answer.NAMED if self.candidates[0].explains_it else Answer.ALIKE
        if self.looked.signs.words:
            return Answer.NOT_KNOWN
        return Answer.NOT_TOLD if self.looked.signs.unsure else Answer.NOTHING_WRONG


def diagnosed(looked: Looked, *, slack: int = SLACK) -> Diagnosis:
    """Diagnose a recording after the first look, with the slack of :func:`~rocketproof.conform` (ms).

    Raises:
        TraceError: the trace cannot be read.
    """
    signs = looked.signs
    by_model = explained(looked.trace, signs.places, slack=slack)
    found = candidates(
        signs.words,
        by_model,
        pictures(),
        recordable_mutants(),
        looked.trace.header.groups.values(),
        filtered=_passes_over(looked) if signs.words else False,
    )
    return Diagnosis(looked=looked, explained=by_model, candidates=found)


def _passes_over(looked: Looked) -> bool:
    """Whether some member asks for some tags only, or some answer to a pull passes over messages."""
    columns = ("kind", "result", "offset", "next", "count", "subscriptions")
    for batch in looked.trace.batches(columns):
        for kind, result, offset, following, count, subscriptions in zip(
            *(batch.column(name).to_pylist() for name in columns), strict=True
        ):
            if any("=" in one and not one.partition("=")[2].startswith("*") for one in subscriptions or ()):
                return True
            if kind != Kind.PULL_RESULT or result not in (Result.FOUND, Result.NO_MATCHED_MESSAGE):
                continue
            if offset is not None and following is not None and (count or 0) != following - offset:
                return True
    return False

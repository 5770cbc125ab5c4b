"""Results: what every engine answers."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from ..properties.verdict import Verdict
from .run import Run, Told, brief_story, story


@dataclass(frozen=True, kw_only=True)
class Result:
    """Answer of one engine about one property.

    Attributes:
        property: id of the property.
        verdict: the answer, within ``bounds``.
        engine: name of the engine.
        bounds: what was covered or which limit was hit, in words, such as ``3,916,533 states (all), depth 31``.
        seconds: time spent on this property (if an engine checks several in one search, each gets the whole time).
        run: the counterexample (or the witness of a SOMETIMES property), already replayed; only its story if it comes
            from another process.
        explanation: used if there is no run: the failing case of a theorem, or the solver's reason for unknown.
        figures: numbers reported by the engine, by name, such as ``states``.
    """

    property: str
    verdict: Verdict
    engine: str
    bounds: str
    seconds: float
    run: Run | Told | None = None
    explanation: str = ""
    figures: dict[str, Any] = field(default_factory=dict)

    def story(self, *, brief: bool = False) -> str:
        """What it found, in words: the explanation, and the run, without what each step changes if ``brief``."""
        tell = brief_story if brief else story
        return "\n".join(filter(None, [self.explanation, "" if self.run is None else tell(self.run)]))

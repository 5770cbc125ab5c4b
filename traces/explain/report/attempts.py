"""The drawing of the attempts of one message: when each was delivered, how it ended, and when it was expected."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from markupsafe import Markup

from ...format.kinds import FAILURES, SUCCESSES, Result
from ..message_attempts import Attempt
from .charts import Axis, box, mark, strip, told
from .words import span, utc

_LINE = 22


def draw(attempts: Sequence[Attempt]) -> Markup:
    """One line for each attempt: the expected wait as a bar, the delivery as a dot."""
    expected = list(_expected(attempts))
    times = [attempt.time for attempt in attempts] + [until for wait in expected if wait for until in wait]
    margin = max((max(times) - min(times)) // 50, 1)
    axis = Axis(min(times) - margin, max(times) + margin)
    lines = []
    for attempt, wait in zip(attempts, expected, strict=True):
        drawn = []
        if wait:
            since, until = wait
            tip = told(f"at least {span(until - since)} after the failure before", utc(until))
            drawn.append(box(axis.place(since), axis.place(until), top=8, height=6, css="wait", tip=tip))
        number = "?" if attempt.number is None else str(attempt.number)
        early = f"{span(wait[1] - attempt.time)} too early" if wait and attempt.time < wait[1] else ""
        tip = told(f"attempt {number} {attempt.result}".strip(), early, attempt.place, str(attempt.client),
                   utc(attempt.time))  # fmt: skip
        css = "early" if early else _colour(attempt.result)
        drawn.append(mark(axis.place(attempt.time), y=11, css=css, tip=tip, radius=5))
        name = Markup('<div class="name">attempt {} <small>{}</small></div>').format(number, attempt.result)
        lines.append(Markup('<div class="lane">{}{}</div>').format(name, strip(drawn, height=_LINE)))
    head = Markup('<div class="lane"><div class="name"></div>{}</div>').format(axis.draw())
    return Markup('<div class="lanes own-axis">{}{}</div>').format(head, Markup("").join(lines))


def _expected(attempts: Sequence[Attempt]) -> Iterator[tuple[int, int] | None]:
    """For each attempt, from when to when it had to wait; None for the first one, and if this is not known."""
    for before, _ in zip((None, *attempts), attempts, strict=False):
        if before is None or before.expected_wait is None:
            yield None
        else:
            failed = before.time + (before.took or 0)
            yield failed, failed + before.expected_wait


def _colour(result: str) -> str:
    words = {str(word) for word in FAILURES}
    if result in words | {str(Result.SUSPEND)}:
        return "failed"
    return "succeeded" if result in {str(word) for word in SUCCESSES} else "dim"

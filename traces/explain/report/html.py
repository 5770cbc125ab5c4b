"""The report as one HTML file: it loads nothing, so it can be mailed, archived and opened anywhere."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from importlib import resources
from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup, escape

from ....properties.verdict import Verdict
from ...engine.result import CheckResult, ClaimVerdict
from ...format.printable import printable_document
from ...monitors.groups.rebalance_history import Change, Flapping, flapping, rebalance_history
from ...monitors.groups.subscriptions import Subscribed, subscription_table
from ..clock_sentences import clock_rows, corrections
from ..incidents import in_words, incidents
from ..story import CERTAIN, Story
from ..timelines import Oddity
from . import offsets, ownership, rules, sections
from .chain import Chain, draw
from .charts import Axis, bars
from .words import counted, queue, span, utc

CHANGES_SHOWN = 200
"""Maximum number of rebalances of a group in the page."""

INCIDENTS_SHOWN = 50
"""Maximum number of incidents in the page."""


@dataclass(frozen=True)
class Claim:
    """A claim with the findings about it."""

    answer: ClaimVerdict
    findings: list[dict[str, Any]]
    explained: list[tuple[str, int]]
    stories: list[Story]


@dataclass(frozen=True)
class Group:
    """A consumer group: what its members consume, and its rebalances."""

    name: str
    subscriptions: tuple[Subscribed, ...]
    changes: tuple[Change, ...]
    flapping: Flapping


@dataclass(frozen=True)
class Drawing:
    """A drawing of one queue, or of one message, with its name."""

    name: str
    note: str
    svg: Markup


@dataclass(frozen=True)
class Page:
    """Drawings that are shown together; the first page at once, the others after a click."""

    title: str
    drawings: list[Drawing]


@dataclass(frozen=True)
class Owners:
    """The ownership of the queues of a group."""

    group: str
    legend: Markup
    pages: list[Page]
    left_out: int


def page(
    result: CheckResult,
    *,
    stories: Sequence[Story] = (),
    chains: Iterable[Chain] = (),
    runs: Mapping[str, str] | None = None,
) -> str:
    """The text of the report; ``runs`` are the links from claims to their first findings as runs of the model."""
    axis = Axis(result.begin, result.end)
    courses, followed = offsets.courses(result)
    claims = [_claim(result, answer, stories) for answer in result.verdicts]
    context = {
        "result": result,
        "overall": sections.overall(result.verdicts),
        "headline": sections.headline(result.verdicts),
        "claims": sorted(claims, key=lambda claim: sections.WORST_FIRST.index(claim.answer.verdict)),
        "incidents": incidents(result, stories),
        "runs": runs or {},
        "counts": {verdict: sum(item.verdict is verdict for item in result.verdicts) for verdict in Verdict},
        "evidence": sections.evidence(result),
        "not_judged": sections.not_judged(result),
        "settings": sections.settings(result),
        "clocks": clock_rows(result.context.clocks),
        "corrections": corrections(result.context.clocks),
        "problem_limit": sections.PROBLEMS_SHOWN,
        "problems_shown": result.problems.kept[: sections.PROBLEMS_SHOWN],
        "repeats": sections.repeats(result),
        "repeat_bars": bars(sections.repeats(result), css={"no cause was found": "bad"}),
        "statuses": sections.statuses(result),
        "status_bars": bars(sections.statuses(result), css=sections.colours_of_statuses()),
        "axis": axis,
        "owners": list(_owners(result, axis)),
        "courses": _pages([_course(course, axis) for course in courses], offsets.SHOWN),
        "courses_left_out": followed - len(courses),
        "chains": [Drawing(chain.title, "", draw(chain.attempts)) for chain in chains],
        "groups": list(_groups(result)),
        "stuck": sections.shown(result, result.verdict("every-queue-moves")),
        "rules": rules.glossary(rule for answer in result.verdicts for rule in answer.claim.rules),
        "known_rules": rules.all_rules(),
        "style": _text("style.css"),
        "script": _text("script.js"),
    }
    return printable_document(_environment().get_template("template.html").render(context))


def _environment() -> Environment:
    environment = Environment(
        loader=PackageLoader(__package__, "."),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters |= {"utc": utc, "span": span, "counted": counted, "code": _code, "moment": _time}
    environment.globals |= {
        "CERTAIN": CERTAIN,
        "Verdict": Verdict,
        "in_words": in_words,
        "incident_limit": INCIDENTS_SHOWN,
        "signs": sections.SIGNS,
        "queue": queue,
        "columns": sections.columns,
        "changes_shown": CHANGES_SHOWN,
    }
    return environment


def _text(name: str) -> Markup:
    return Markup(resources.files(__package__).joinpath(name).read_text(encoding="utf-8"))


def _time(ms: int) -> Markup:
    """A time that can be switched, by a click, between UTC and the reader's time zone."""
    return Markup('<time data-ms="{}">{}</time>').format(ms, utc(ms))


def _code(text: str) -> Markup:
    """Text in which parts in backquotes are shown as code."""
    parts = str(escape(text)).split("`")
    return Markup("".join(f"<code>{part}</code>" if place % 2 else part for place, part in enumerate(parts)))


def _claim(result: CheckResult, answer: ClaimVerdict, stories: Sequence[Story]) -> Claim:
    return Claim(
        answer=answer,
        findings=sections.shown(result, answer),
        explained=sections.explained(result, answer),
        stories=[story for story in stories if story.claim.id == answer.claim.id],
    )


def _owners(result: CheckResult, axis: Axis) -> Iterator[Owners]:
    for group, lanes in ownership.lanes(result).items():
        colour = ownership.colours(lanes)
        drawings = [
            Drawing(
                queue(lane.slot),
                counted(len(lane.marks), "violation") if lane.marks else "",
                ownership.draw(lane, axis, colour, rounds=result.settings.rounds),
            )
            for lane in lanes[: ownership.MOST]
        ]
        yield Owners(
            group=group,
            legend=ownership.clients(colour),
            pages=_pages(drawings, ownership.SHOWN),
            left_out=len(lanes) - len(drawings),
        )


def _course(course: offsets.Course, axis: Axis) -> Drawing:
    of = f" of {course.slot.group}" if course.slot.group else ""
    odd = [f"{course.count(oddity)} × {oddity}" for oddity in Oddity if oddity and course.count(oddity)]
    note = ", ".join([f"{course.lowest:,} – {course.highest:,}", *odd])
    return Drawing(queue(course.slot) + of, note, offsets.draw(course, axis))


def _pages(drawings: Sequence[Drawing], size: int) -> list[Page]:
    return [
        Page(f"queues {first + 1} – {min(first + size, len(drawings))} of {len(drawings)}", list(part))
        for first in range(0, len(drawings), size)
        for part in [drawings[first : first + size]]
    ]


def _groups(result: CheckResult) -> Iterator[Group]:
    told = {str(event["group"]) for event in result.context.events if event.get("group")}
    for name in sorted(told):
        changes = rebalance_history(result.context, name)
        subscriptions = subscription_table(result.context, name, settings=result.settings)
        if changes or subscriptions:
            yield Group(name, subscriptions, changes, flapping(changes))

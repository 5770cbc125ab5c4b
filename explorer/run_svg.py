"""A run as one SVG picture: lanes with what travels between them, and the cells of each queue at the end.

The picture is self-contained: its colors follow the reader's light or dark scheme, every step has its sentence as a
title, and nothing is loaded from elsewhere.
"""

from __future__ import annotations

import functools
from collections.abc import Iterator
from html import escape
from importlib import resources

from ..checkers.run import Run
from ..model.kernel.lowered import Lowered
from .picture import ELSEWHERE, Travel, drawn, lanes

WIDTH = 760
_ROW = 30
_TOP = 56
_LEFT = 34
_CELL = 62


def run_svg(run: Run, *, title: str = "", width: int = WIDTH) -> str:
    """The picture of a run, ``width`` pixels wide, below its title, which a screen reader reads first."""
    taken = [run.lowered.instances[number] for number in run.steps]
    on = [
        lane
        for lane in lanes(run.lowered)
        if lane != ELSEWHERE or any(drawn(step, ()).source == lane for step in taken)
    ]
    gap = (width - _LEFT - 16) / len(on)
    places = {lane: _LEFT + gap * (number + 0.5) for number, lane in enumerate(on)}
    lifelines = _TOP + _ROW * max(len(run), 1) + 6
    parts = [*_heads(places, lifelines), *_steps(run, places)]
    bottom = lifelines + 14
    if run.loop is not None:
        told = (
            f"from step {run.loop} on this repeats for ever" if run.loop < len(run) else "the run stays here for ever"
        )
        parts.append(_text(_LEFT, bottom + 6, told, "t d"))
        bottom += 22
    cells, height = _queues(run, bottom)
    said = escape(title or f"A run of {run.lowered.configuration.machine.name} in {len(run)} steps")
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}" height="{height}" '
        f'role="img" aria-label="{said}"><title>{said}</title><style>{_style()}</style>'
        f'<rect class="p" width="{width}" height="{height}" rx="12"/>'
        f"{_text(_LEFT - 18, 18, title, 't b') if title else ''}{''.join(parts)}{''.join(cells)}</svg>"
    )


def _heads(places: dict[str, float], bottom: float) -> Iterator[str]:
    kinds = {"c": "client", "q": "queue", "b": "broker"}
    for lane, x in places.items():
        name = "world" if lane == ELSEWHERE else lane
        yield f'<line class="l" x1="{x:.1f}" x2="{x:.1f}" y1="48" y2="{bottom}"/>'
        yield f'<rect class="h {kinds.get(lane[0], "world")}" x="{x - 27:.1f}" y="26" width="54" height="24" rx="8"/>'
        yield _text(x, 42, name, "t b m")


def _steps(run: Run, places: dict[str, float]) -> Iterator[str]:
    for position, number in enumerate(run.steps):
        instance = run.lowered.instances[number]
        step = drawn(instance, places)
        y = _TOP + _ROW * position + 16
        start, end = places[step.source], places[step.target]
        label = " ".join(filter(None, [instance.action.name.replace("_", " "), step.cargo]))
        classes = " ".join(filter(None, [step.travel, "f" if step.fault else ""]))
        yield f'<g class="{classes}"><title>{position + 1}. {escape(instance.tells)}</title>'
        yield _text(_LEFT - 14, y + 4, str(position + 1), "t d e")
        if step.source == step.target:
            wide = len(label) * 6.6 + 18
            left = min(max(_LEFT - 8, start - wide / 2), max(places.values()) + 60 - wide)
            yield f'<rect class="n" x="{left:.1f}" y="{y - 11}" width="{wide:.1f}" height="22" rx="11"/>'
            yield _text(left + wide / 2, y + 4, label, "t m")
        else:
            yield from _arrow(start, end, y, step.travel)
            yield _text((start + end) / 2, y - 3, label, "t m")
        yield "</g>"


def _arrow(start: float, end: float, y: float, travel: Travel) -> Iterator[str]:
    sign = 1 if end > start else -1
    if travel is Travel.LOST:
        stop = start + (end - start) * 0.62
        yield f'<path class="a" d="M{start:.1f} {y + 2}H{stop:.1f}"/>'
        yield f'<path class="x" d="M{stop - 5:.1f} {y - 3}l10 10m0 -10l-10 10"/>'
        return
    yield f'<path class="a" d="M{start:.1f} {y + 2}H{end - sign * 6:.1f}"/>{_tip(end, y + 2, sign)}'
    if travel is Travel.BOTH:
        yield f'<path class="a r" d="M{end:.1f} {y + 9}H{start + sign * 6:.1f}"/>{_tip(start, y + 9, -sign)}'


def _tip(x: float, y: float, sign: int) -> str:
    return f'<path class="k" d="M{x:.1f} {y}l{-8 * sign} -4v8z"/>'


def _queues(run: Run, top: float) -> tuple[list[str], int]:
    """The windows over each queue in the last state, one row each, and the y position below them."""
    lowered, state = run.lowered, run.states[-1]
    values = {cell.key: value for cell, value in zip(lowered.cells, state, strict=True)}
    sizes = _sizes(lowered)
    if sizes is None:
        return [], int(top)
    clients, queues, messages = sizes
    y = top + 4
    parts: list[str] = []
    for q in range(queues):
        stored = values.get(("committed", (q,)))
        end = values.get(("log_end", (q,)), messages)
        told = f"q{q} in the end" + (f", stored offset {stored}" if stored is not None else "")
        parts.append(_text(_LEFT - 18, y + 10, told, "t b"))
        y += 20
        log = ["stored" if m < end else "" for m in range(messages)]
        for m in range(min(end, messages)):
            if values.get(("handled", (q, m))):
                log[m] = "handled"
        parts.extend(_row("broker", log, y, mark=stored, marks="stored"))
        y += 44
        for c in range(clients):
            stages = [_stage(lowered, values, c, q, m) for m in range(messages)]
            owns = bool(values.get(("owns", (c, q))))
            if owns or any(stages):
                memory = values.get(("memory", (c, q)))
                marked = memory if memory is not None and memory >= 0 else None
                parts.extend(_row(f"c{c}{' owns' if owns else ''}", stages, y, mark=marked, marks="memory"))
                y += 44
    return parts, int(y + 4)


def _row(name: str, words: list[str], y: float, *, mark: int | None, marks: str) -> Iterator[str]:
    yield _text(_LEFT - 18, y + 17, name, "t d")
    for m, word in enumerate(words):
        x = _LEFT + 52 + m * _CELL
        yield f'<rect class="{word or "c"}" x="{x}" y="{y}" width="{_CELL - 5}" height="26" rx="6"/>'
        if word:
            yield _text(x + (_CELL - 5) / 2, y + 11, f"m{m}", "t b m")
            yield _text(x + (_CELL - 5) / 2, y + 22, word, "t d m")
    if mark is not None:
        x = _LEFT + 49 + mark * _CELL
        yield f'<path class="a" d="M{x} {y}v36"/>{_text(x + 4, y + 37, marks, "t o")}'


def _stage(lowered: Lowered, values: dict[tuple[str, tuple[int | None, ...]], int], c: int, q: int, m: int) -> str:
    family = next(cell.family for cell in lowered.cells if cell.family.name == "stage")
    stage = family.show(values["stage", (c, q, m)]).lower()
    if stage != "absent":
        return stage
    return "orphan" if values.get(("orphan", (c, q, m))) else ""


def _sizes(lowered: Lowered) -> tuple[int, int, int] | None:
    """Numbers of clients, queues and messages in the windows; None if the machine has no windows."""
    for cell in lowered.cells:
        if cell.family.name == "stage" and len(cell.family.dims) == 3:
            clients, queues, messages = (dim.size or 0 for dim in cell.family.dims)
            return int(clients), int(queues), int(messages)
    return None


@functools.cache
def _style() -> str:
    return resources.files(__package__).joinpath("page/run.css").read_text(encoding="utf-8")


def _text(x: float, y: float, text: str, classes: str) -> str:
    return f'<text class="{classes}" x="{x:.1f}" y="{y:.1f}">{escape(text)}</text>'

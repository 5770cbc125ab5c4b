"""The output of ``rocketproof diagnose``: the answer first, then each candidate with its evidence and what helps."""

from __future__ import annotations

from html import escape
from typing import Any

from ..diagnosis.candidates import Candidate, apart
from ..diagnosis.diagnosis import Answer, Diagnosis
from ..diagnosis.known import how, sources
from ..traces.format.printable import json_text, printable
from .console import SafeConsole

SHOWN = 3
"""Number of candidates that the terminal describes; the others are only named."""

_STYLES = {
    Answer.NOTHING_WRONG: "bold green",
    Answer.NAMED: "bold red",
    Answer.ALIKE: "bold red",
    Answer.NOT_KNOWN: "bold red",
    Answer.NOT_TOLD: "bold yellow",
}

_EVEN = 0.05
"""A difference of scores up to which neither candidate counts as the better one."""


def first_line(diagnosis: Diagnosis) -> str:
    """The answer in one line."""
    answer, signs = diagnosis.answer, diagnosis.looked.signs
    if answer in (Answer.NAMED, Answer.ALIKE):
        first = diagnosis.candidates[0]
        even = [one.bug for one in diagnosis.candidates[1:] if first.score - one.score <= _EVEN]
        beside = f", or as well {', '.join(even)}" if even else ""
        return f"{answer}: {first.bug} {first.entries[0].mutant.slug}{beside}"
    if answer is Answer.NOT_TOLD:
        return f"{answer}: {signs.unsure}"
    if answer is Answer.NOT_KNOWN:
        return f"{answer}: {len(signs.words)} signs of trouble, of which no known bug in the model shows any"
    return f"{answer}: no claim is violated, and the model allows every event that was followed; no bug is named"


def print_diagnosis(console: SafeConsole, diagnosis: Diagnosis) -> None:
    """Print a diagnosis."""
    for line, style in _lines(diagnosis):
        console.say(line, style)


def _lines(diagnosis: Diagnosis) -> list[tuple[str, str]]:
    signs, found = diagnosis.looked.signs, diagnosis.candidates
    lines = [(first_line(diagnosis), _STYLES[diagnosis.answer])]
    if signs.words:
        lines += [("", ""), ("what is wrong", "bold")]
        lines += [(f"  {sign}  {signs.shown_by[sign]}", "") for sign in signs.words]
    for queue in diagnosis.explained:
        bugs = ", ".join([*queue.wholly, *(f"{id} (up to a later event)" for id in queue.further)]) or "none"
        asked = f"of {queue.asked} known bugs that this group may have"
        part = "; only the beginning of the queue was followed" if queue.cut else ""
        lines.append((f"  {queue.place}: the right model stops at {queue.mismatch.event}", ""))
        lines.append((f"    {asked} these go on: {bugs}{part}", ""))
    for rank, one in enumerate(found[:SHOWN], 1):
        lines += [("", ""), *_candidate(rank, one)]
    if len(found) > SHOWN:
        lines += [("", ""), (f"less likely: {', '.join(one.bug for one in found[SHOWN:])}", "dim")]
    if len(found) > 1:
        lines += [("", ""), ("what would tell them apart", "bold")]
        evidence = diagnosis.looked.trace.header.evidence
        lines += [(f"  {found[0].bug} or {one.bug}: {apart(found[0], one, evidence)}", "") for one in found[1:SHOWN]]
    if found and signs.unsure:
        lines += [("", ""), (f"not all could be judged: {signs.unsure}", "dim")]
    return lines


def _candidate(rank: int, one: Candidate) -> list[tuple[str, str]]:
    entry = one.entries[0]
    forms = ", ".join(each.id for each in one.entries)
    lines = [(f"{rank}. {one.bug} {entry.mutant.slug}  (fits {one.score:.2f} of 3; {one.advice.where})", "bold")]
    lines.append((f"   how       {how(entry)}", ""))
    if one.explains:
        which = "every event" if one.wholly else "events"
        lines.append((f"   explains  with it the model allows {which} of {', '.join(one.explains)}", ""))
    if one.shared:
        lines.append((f"   shows     {'; '.join(one.shared)}", ""))
    lines.append((f"   breaks    {entry.killer.statement}", ""))
    if one.advice.mended:
        lines.append((f"   mended    {one.advice.mended}", ""))
    lines.append((f"   remedy    {one.advice.remedy}", ""))
    lines.append((f"   see       {', '.join(sources(entry)) or 'its text'}; rocketproof mutants {forms}", ""))
    return lines


def diagnosis_as_json(diagnosis: Diagnosis) -> str:
    """The diagnosis for programs."""
    signs = diagnosis.looked.signs
    evidence = diagnosis.looked.trace.header.evidence
    found = diagnosis.candidates
    told: dict[str, Any] = {
        "files": list(diagnosis.looked.trace.files),
        "answer": str(diagnosis.answer),
        "told": first_line(diagnosis),
        "signs": [{"sign": sign, "shown_by": signs.shown_by[sign]} for sign in signs.words],
        "unsure": signs.unsure,
        "followed": [
            {
                "place": str(one.place),
                "time": one.mismatch.time,
                "seq": one.mismatch.seq,
                "event": one.mismatch.event,
                "why": one.mismatch.why,
                "explained_by": list(one.wholly),
                "explained_in_part_by": list(one.further),
                "asked": one.asked,
            }
            for one in diagnosis.explained
        ],
        "candidates": [
            {
                "bug": one.bug,
                "mutants": [entry.id for entry in one.entries],
                "slug": one.entries[0].mutant.slug,
                "score": one.score,
                "how": how(one.entries[0]),
                "sources": list(sources(one.entries[0])),
                "where": one.advice.where,
                "mended": one.advice.mended,
                "remedy": one.advice.remedy,
                "breaks": one.entries[0].killer.statement,
                "explains": list(one.explains),
                "shows": list(one.shared),
                "shows_besides": list(one.missing),
                "apart_from_first": "" if one is found[0] else apart(found[0], one, evidence),
            }
            for one in found
        ],
    }
    return json_text(told)


def diagnosis_as_page(diagnosis: Diagnosis) -> str:
    """The diagnosis as a page that needs no network, and runs no code."""
    body = "\n".join(
        f"<p class={'lead' if style.startswith('bold') else 'line'}>{escape(printable(line)) or '&nbsp;'}</p>"
        for line, style in _lines(diagnosis)
    )
    files = escape(printable(", ".join(diagnosis.looked.trace.files)))
    return (
        "<!doctype html>\n<html lang=en>\n<meta charset=utf-8>\n"
        "<meta http-equiv=Content-Security-Policy content=\"default-src 'none'; style-src 'unsafe-inline'\">\n"
        f"<title>Diagnosis of {files}</title>\n"
        "<style>body{font:16px/1.5 system-ui,sans-serif;max-width:60rem;margin:2rem auto;padding:0 1rem;"
        "color-scheme:light dark}p{margin:0;white-space:pre-wrap;overflow-wrap:anywhere}.lead{font-weight:600}"
        "</style>\n"
        f"<h1>Diagnosis</h1>\n<p class=line>{files}</p>\n{body}\n</html>\n"
    )

"""The page: template, style, script and configurations combined into one HTML file that needs no network."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from html import escape
from importlib import resources
from typing import Any

from .model_data import Data
from .packed import Packed, unpacked

_IMPORT = re.compile(r"^import .*?;\n", re.MULTILINE | re.DOTALL)
_IMPORTED = re.compile(r'from "(.*?)";')
_EXPORT = re.compile(r"^export ", re.MULTILINE)
_HOLE = re.compile(r"\{\{ (\w+) \}\}")
_PACKED = re.compile(r'id="packed">([^<]*)<')

MOST_BYTES = 300_000
"""Maximum size of a page: entries whose configuration does not fit are listed with the command that opens them."""


@dataclass(frozen=True, kw_only=True)
class Recorded:
    """An event of a recording, shown beside a run."""

    text: str  # what happened, in a sentence
    step: int | None = None  # number of steps of the run at the time of the event; None if the run does not match it


@dataclass(frozen=True, kw_only=True)
class Entry:
    """Something that the page opens: a configuration, possibly with a run of it.

    Attributes:
        id: its name in links.
        title: in a few words.
        doc: in a sentence.
        data: the configuration, from :func:`.model_data.model_data`.
        steps: labels of the steps of its run, such as ``take(c0, q0)``; None if it has no run.
        loop: state to which the last one returns, for a run that never ends.
        hunt: id of the property whose indicator is opened; if there is no run, its shortest violation or witness is
            searched.
        verdict, note: an engine's verdict, and the words in which it is shown.
        recorded: the corresponding events of a real run; shown beside the pictures.
        follows: whether the run matches the recording, for the events that have steps.
        rank: entries with a smaller one come first if there is no room for all.
        command: the command that opens it separately.
    """

    id: str
    title: str
    doc: str
    data: Data
    steps: Sequence[str] | None = None
    loop: int | None = None
    hunt: str = ""
    verdict: str = ""
    note: str = ""
    recorded: Sequence[Recorded] = ()
    follows: bool = False
    rank: int = 0
    command: str = ""


def page(
    entries: Sequence[Entry],
    *,
    title: str = "",
    served: bool = False,
    opens: bool = False,
    most: int = MOST_BYTES,
    elsewhere: Mapping[str, str] | None = None,
) -> str:
    """The page for some entries; a single one opens at once, several are listed.

    Args:
        entries: what it opens, at least one.
        title: title of a page with several entries.
        served: whether a server answers for other constants, see ``rocketproof explore --serve``.
        opens: whether the first of several entries also opens at once.
        most: bytes up to which configurations are included; the first one always is.
        elsewhere: id of an entry → the neighbouring page in which it opens instead.
    """
    elsewhere = elsewhere or {}
    rest = _text("page/style.css") + _text("page/template.html") + script()
    packed = Packed(most - len(rest.encode()))
    for place, entry in sorted(enumerate(entries), key=lambda item: item[1].rank):
        other = elsewhere.get(entry.id)
        packed.add(place, {**_listed(entry), "page": other}, None if other else entry.data)
    holes = {
        "title": escape(title or entries[0].title),
        "style": _text("page/style.css"),
        "view": "one" if opens or len(entries) == 1 else "home",
        "served": ' data-served="yes"' if served else "",
        "opens": ' data-opens="yes"' if opens else "",
        "packed": packed.text(),
        "program": script(),
    }
    return _filled(_text("page/template.html"), holes)


def pages(entries: Sequence[Entry], *, title: str, name: str, most: int = MOST_BYTES) -> dict[str, str]:
    """The page for some entries, and further pages for those that do not fit into it: name → text.

    The first page, called ``name``, lists all entries, the others those that open there.
    """
    stem, dot, ending = name.rpartition(".")
    rest, opening = list(entries), list[set[str]]()
    while rest:
        opening.append({listed["id"] for listed in entries_in(page(rest, most=most)) if listed["model"] is not None})
        rest = [entry for entry in rest if entry.id not in opening[-1]]
    names = [name, *(f"{stem}-{number}{dot}{ending}" for number in range(2, len(opening) + 1))]
    elsewhere = {id_: other for other, found in zip(names[1:], opening[1:], strict=True) for id_ in found}
    texts = {name: page(entries, title=title, most=sys.maxsize, elsewhere=elsewhere)}
    for number, (other, found) in enumerate(zip(names[1:], opening[1:], strict=True), 2):
        there = [entry for entry in entries if entry.id in found]
        texts[other] = page(there, title=f"{title} ({number} of {len(names)})", most=sys.maxsize)
    return texts


def _listed(entry: Entry) -> dict[str, object]:
    run = None if entry.steps is None else "~".join(step.replace(" ", "") for step in entry.steps)
    return {
        "id": entry.id,
        "title": entry.title,
        "doc": entry.doc,
        "machine": entry.data["machine"],
        "set": ",".join(_changed(entry.data)),
        "run": run,
        "loop": entry.loop,
        "hunt": entry.hunt,
        "verdict": entry.verdict,
        "note": entry.note,
        "recorded": [[event.text, event.step] for event in entry.recorded],
        "follows": entry.follows,
        "command": entry.command,
    }


def entries_in(text: str) -> list[dict[str, Any]]:
    """The entries of a page, as its script reads them; ``model`` is None for an entry that does not open here."""
    found = _PACKED.search(text)
    return unpacked(found[1])[0] if found else []


def _changed(data: Data) -> Iterable[str]:
    """Constants that differ from the usual ones, as written in a link."""
    for name, constant in data["constants"].items():
        if constant["value"] != constant["usual"]:
            yield f"{name}={constant['value']}"


def script() -> str:
    """All modules of the page as one, each after those that it imports."""
    done: dict[str, str] = {}
    for path in _in_order("main.mjs", []):
        text = _EXPORT.sub("", _IMPORT.sub("", _text(f"script/{path}")))
        done[path] = text.strip()
    return "\n\n".join(done.values()) + "\n"


def _in_order(path: str, done: list[str]) -> Iterable[str]:
    folder = path.rpartition("/")[0]
    for name in _IMPORTED.findall("".join(_IMPORT.findall(_text(f"script/{path}")))):
        imported = _resolved(folder, name)
        if imported not in done:
            _in_order(imported, done)
    if path not in done:
        done.append(path)
    return done


def _resolved(folder: str, name: str) -> str:
    """The path of an imported module, relative to the folder of scripts."""
    parts = folder.split("/") if folder else []
    for part in name.split("/"):
        if part == "..":
            parts.pop()
        elif part != ".":
            parts.append(part)
    return "/".join(parts)


def _text(path: str) -> str:
    return resources.files(__package__).joinpath(path).read_text(encoding="utf-8")


def _filled(template: str, holes: Mapping[str, str]) -> str:
    return _HOLE.sub(lambda hole: holes[hole[1]], template)

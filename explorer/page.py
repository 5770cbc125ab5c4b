"""The page: template, style, script and configurations put into one HTML file that asks nothing of the network."""

from __future__ import annotations

import base64
import gzip
import json
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from html import escape
from importlib import resources

from .model_data import Data

_IMPORT = re.compile(r"^import .*?;\n", re.MULTILINE | re.DOTALL)
_IMPORTED = re.compile(r'from "(.*?)";')
_EXPORT = re.compile(r"^export ", re.MULTILINE)
_HOLE = re.compile(r"\{\{ (\w+) \}\}")


@dataclass(frozen=True, kw_only=True)
class Recorded:
    """An event of a recording, beside a run.

    Attributes:
        text: what happened, in a sentence.
        step: how many steps the run has taken when it has happened; None where the run does not go along with it.
    """

    text: str
    step: int | None = None


@dataclass(frozen=True, kw_only=True)
class Entry:
    """Something the page opens: a configuration, perhaps with a run of it.

    Attributes:
        id: what links name it by.
        title: in a few words.
        doc: in a sentence.
        data: the configuration, from :func:`.model_data.model_data`.
        steps: labels of the steps of its run, such as ``take(c0, q0)``; None where it has no run.
        loop: state to which the last one returns, for a run that never ends.
        hunt: id of a property whose light is opened, and whose shortest violation or witness is looked for where
            there is no run.
        verdict, note: what an engine said of it, and in which words that is shown.
        recorded: what was recorded of the same in a real run; shown beside the pictures.
        follows: whether the run goes along with what was recorded, as far as events have steps.
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


def page(entries: Sequence[Entry], *, title: str = "", served: bool = False, opens: bool = False) -> str:
    """The page for some entries; with one it opens at once, with more it lists them.

    Args:
        entries: what it opens, at least one.
        title: of a page with several entries.
        served: whether a server answers for other constants, see ``rocketproof explore --serve``.
        opens: whether the first of several entries opens at once, too.
    """
    packed: dict[str, str] = {}
    listed = []
    for entry in entries:
        text = json.dumps(entry.data, separators=(",", ":"), ensure_ascii=False)
        key = packed.setdefault(text, str(len(packed)))
        run = None if entry.steps is None else "~".join(step.replace(" ", "") for step in entry.steps)
        listed.append(
            {
                "id": entry.id,
                "title": entry.title,
                "doc": entry.doc,
                "model": key,
                "machine": entry.data["machine"],
                "set": ",".join(_changed(entry.data)),
                "run": run,
                "loop": entry.loop,
                "hunt": entry.hunt,
                "verdict": entry.verdict,
                "note": entry.note,
                "recorded": [[event.text, event.step] for event in entry.recorded],
                "follows": entry.follows,
            }
        )
    models = {key: base64.b64encode(gzip.compress(text.encode(), mtime=0)).decode() for text, key in packed.items()}
    holes = {
        "title": escape(title or entries[0].title),
        "style": _text("page/style.css"),
        "view": "one" if opens or len(entries) == 1 else "home",
        "served": ' data-served="yes"' if served else "",
        "opens": ' data-opens="yes"' if opens else "",
        "entries": _json(listed),
        "models": _json(models),
        "program": script(),
    }
    return _filled(_text("page/template.html"), holes)


def _changed(data: Data) -> Iterable[str]:
    """Constants with other values than the usual ones, as a link has them."""
    for name, constant in data["constants"].items():
        if constant["value"] != constant["usual"]:
            yield f"{name}={constant['value']}"


def script() -> str:
    """All modules of the page as one, each after those it imports."""
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


def _json(value: object) -> str:
    """JSON that may stand in an HTML script element."""
    return json.dumps(value, ensure_ascii=False, separators=(",", ":")).replace("<", "\\u003c")


def _filled(template: str, holes: Mapping[str, str]) -> str:
    return _HOLE.sub(lambda hole: holes[hole[1]], template)

"""A headless browser that opens a page and says what came of it."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
from dataclasses import dataclass
from html import unescape
from pathlib import Path
from typing import Any

import pytest

BROWSER = shutil.which("chromium")
OPTIONS = (
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--hide-scrollbars",
    "--enable-logging=stderr",
)

_TELL = """
const tell = document.createElement("pre");
tell.id = "answers";
tell.textContent = JSON.stringify(answers);
document.body.append(tell);
"""
_CONSOLE = re.compile(r":CONSOLE[:(].*")


@dataclass(frozen=True)
class Opened:
    """A page in the browser.

    Attributes:
        dom: the page after its scripts have run.
        console: what was written to the console: errors, refused resources.
        answers: what the questions gave.
    """

    dom: str
    console: list[str]
    answers: dict[str, Any]


def browse(
    text: str, folder: Path, *, script: str = "", width: int = 1300, zone: str = "UTC", shot: Path | None = None
) -> Opened:
    """Open a page; ``script`` is run after its own scripts, and fills the object ``answers``."""
    if BROWSER is None:
        # A CI run must not pass because the browser is missing.
        (pytest.fail if os.environ.get("CI") == "true" else pytest.skip)("there is no chromium here")
    told = (
        "const tell = document.createElement('pre'); tell.id = 'answers'; tell.textContent = JSON.stringify(answers);"
    )
    asked = f"<script>const answers = {{}};\n{script}\n{told} document.body.append(tell);</script></body>"
    file = folder / "page.html"
    file.write_text(text.replace("</body>", asked), encoding="utf-8")
    what = f"--screenshot={shot}" if shot else "--dump-dom"
    window = (f"--user-data-dir={folder / 'profile'}", f"--window-size={width},1400")
    done = subprocess.run(
        [BROWSER, *OPTIONS, *window, what, file.as_uri()],
        capture_output=True,
        text=True,
        timeout=60,
        env={**os.environ, "TZ": zone},
        check=True,
    )
    answers = re.search(r'<pre id="answers">(.*?)</pre>', done.stdout, re.DOTALL)
    return Opened(
        dom=done.stdout,
        console=_CONSOLE.findall(done.stderr),
        answers=json.loads(unescape(answers[1])) if answers else {},
    )

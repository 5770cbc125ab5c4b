"""A headless browser that is driven: real clicks and keys, answers of scripts, the console, pictures."""

from __future__ import annotations

import base64
import json
import os
import shutil
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
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
    "--remote-debugging-pipe",
)
PATIENCE = 20
"""Seconds after which something that was waited for is taken to never come."""


class Chrome:
    """One page of a browser that speaks the DevTools protocol over a pipe."""

    def __init__(self, requests: int, answers: int, process: int) -> None:
        self._requests = requests
        self._process = process
        self._answers = answers
        self._waiting = b""
        self._count = 0
        self._session = ""
        self.console: list[str] = []
        target = self._ask("Target.createTarget", url="about:blank")["targetId"]
        self._session = self._ask("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Log", "Network"):
            self._ask(f"{domain}.enable")

    def _ask(self, method: str, **parameters: Any) -> dict[str, Any]:
        self._count += 1
        message = {"id": self._count, "method": method, "params": parameters}
        if self._session:
            message["sessionId"] = self._session
        os.write(self._requests, json.dumps(message).encode() + b"\0")
        while True:
            told = self._next()
            if told.get("id") == self._count:
                assert "error" not in told, told["error"]
                answer: dict[str, Any] = told["result"]
                return answer
            self._note(told)

    def _next(self) -> dict[str, Any]:
        while b"\0" not in self._waiting:
            more = os.read(self._answers, 1 << 16)
            assert more, "the browser has ended"
            self._waiting += more
        text, _, self._waiting = self._waiting.partition(b"\0")
        told: dict[str, Any] = json.loads(text)
        return told

    def _note(self, told: dict[str, Any]) -> None:
        what, given = told.get("method"), told.get("params", {})
        if what == "Runtime.exceptionThrown":
            self.console.append(given["exceptionDetails"].get("exception", {}).get("description", "exception"))
        elif what == "Runtime.consoleAPICalled":
            self.console.append(" ".join(str(item.get("value")) for item in given["args"]))
        elif what == "Log.entryAdded":
            self.console.append(given["entry"]["text"])
        elif what == "Network.requestWillBeSent" and given["request"]["url"].startswith("http"):
            self.console.append(f"request of {given['request']['url']}")

    def size(self, width: int, height: int, *, dark: bool = False, touch: bool = False) -> None:
        """The window, the scheme of colors, and whether it is a phone."""
        self._ask("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=touch)
        self._ask("Emulation.setTouchEmulationEnabled", enabled=touch)
        scheme = {"name": "prefers-color-scheme", "value": "dark" if dark else "light"}
        self._ask("Emulation.setEmulatedMedia", features=[scheme])

    def open(self, address: str) -> None:
        """Open a page of the explorer, and wait until it is ready."""
        self._ask("Page.navigate", url="about:blank")
        self._ask("Page.navigate", url=address)
        self.until("document.body && document.body.dataset.ready === 'yes'")

    def run(self, script: str) -> Any:
        """The value of an expression in the page."""
        told = self._ask("Runtime.evaluate", expression=script, returnByValue=True, awaitPromise=True)
        assert "exceptionDetails" not in told, told["exceptionDetails"]
        return told["result"].get("value")

    def until(self, condition: str) -> None:
        """Wait until an expression is true."""
        end = time.monotonic() + PATIENCE
        while not self.run(condition):
            assert time.monotonic() < end, f"never true: {condition}"
            time.sleep(0.05)

    def click(self, selector: str, *, touch: bool = False) -> None:
        """Press with the mouse, or a finger, in the middle of an element."""
        found = self.run(
            f"(() => {{ const e = document.querySelector({json.dumps(selector)}); if (!e) return null;"
            "e.scrollIntoView({ block: 'center' }); const r = e.getBoundingClientRect();"
            "return [r.x + r.width / 2, r.y + r.height / 2]; })()"
        )
        assert found, f"there is no {selector}"
        x, y = found
        if touch:
            self._ask("Input.dispatchTouchEvent", type="touchStart", touchPoints=[{"x": x, "y": y}])
            self._ask("Input.dispatchTouchEvent", type="touchEnd", touchPoints=[])
            return
        for kind in ("mousePressed", "mouseReleased"):
            self._ask("Input.dispatchMouseEvent", type=kind, x=x, y=y, button="left", clickCount=1)

    def press(self, key: str) -> None:
        """Press a key, such as ``ArrowLeft`` or ``r``."""
        text = {"text": key} if len(key) == 1 else {}
        self._ask("Input.dispatchKeyEvent", type="keyDown", key=key, **text)
        self._ask("Input.dispatchKeyEvent", type="keyUp", key=key)

    def processor_seconds(self) -> float:
        """Processor time of the browser and its processes so far, as Linux counts it."""
        times: dict[int, tuple[int, int]] = {}
        for stat in Path("/proc").glob("[0-9]*/stat"):
            with suppress(OSError):
                words = stat.read_text().rpartition(")")[2].split()
                times[int(stat.parent.name)] = int(words[1]), int(words[11]) + int(words[12])
        own = {self._process}
        while more := {each for each, (parent, _) in times.items() if parent in own} - own:
            own |= more
        return sum(times[each][1] for each in own if each in times) / os.sysconf("SC_CLK_TCK")

    def shot(self, file: Path) -> None:
        """Write a picture of the window."""
        file.write_bytes(base64.b64decode(self._ask("Page.captureScreenshot", format="png")["data"]))


@contextmanager
def chrome(profile: Path) -> Iterator[Chrome]:
    """A browser with a profile of its own, ended afterwards."""
    if BROWSER is None:
        # A CI run must not pass because the browser is missing.
        (pytest.fail if os.environ.get("CI") == "true" else pytest.skip)("there is no chromium here")
    read_requests, requests = os.pipe()
    answers, write_answers = os.pipe()
    command = [
        "bash",  # other shells know descriptors of one digit only
        "-c",
        f'exec "$@" 3<&{read_requests} 4>&{write_answers}',
        "bash",
        BROWSER,
        *OPTIONS,
        f"--user-data-dir={profile}",
    ]
    browser = subprocess.Popen(
        command, pass_fds=(read_requests, write_answers), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    )
    os.close(read_requests)
    os.close(write_answers)
    try:
        yield Chrome(requests, answers, browser.pid)
    finally:
        os.close(requests)
        os.close(answers)
        browser.terminate()
        browser.wait(timeout=20)

"""The explorer in a browser: how large its page is, when it is painted, how many successors a second it computes."""

from __future__ import annotations

import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from rocketproof.commands.explore import entry
from rocketproof.explorer.page import page

PRESET = "delivery"
LIMIT = 2_000_000
"""States after which a search ends."""

# What the page itself does: the script again as a worker, and the model as a message.
SEARCH = """
new Promise((resolve, reject) => {
  const source = document.getElementById("program").textContent;
  const worker = new Worker(URL.createObjectURL(new Blob([source], { type: "text/javascript" })));
  worker.onerror = (event) => reject(event.message);
  worker.onmessage = ({ data }) => { if (data.done) { worker.terminate(); resolve(data); } };
  const { model } = explorer;
  const goal = { kind: "cell", cell: 0, sign: "\\u2265", value: 99 };
  worker.postMessage({ model: { ...model, properties: [], rules: {} }, goal, limit: %d, from: model.initial });
})
"""
PAINTED = "performance.getEntriesByName('first-contentful-paint')[0]?.startTime ?? null"


def measure() -> Iterator[dict[str, Any]]:
    """Figures of one preset, in chromium without a window."""
    root = Path(__file__).resolve().parents[1]
    sys.path.append(str(root))  # how a browser is driven is the tests' business
    from tests.explorer.chrome import chrome

    text = page([entry(PRESET, {})])
    with tempfile.TemporaryDirectory() as folder, chrome(Path(folder)) as browser:
        file = Path(folder) / f"{PRESET}.html"
        file.write_text(text, encoding="utf-8")
        yield {"figure": "page", "preset": PRESET, "bytes": len(text.encode()), "target": "≤ 300,000"}
        browser.size(1400, 900)
        browser.open(file.as_uri())
        browser.until(f"{PAINTED} !== null")
        ready = browser.run("performance.now()")
        yield {
            "figure": "first paint",
            "milliseconds": round(browser.run(PAINTED)),
            "ready_milliseconds": round(ready),
            "target": "< 1,000",
        }
        before, started = browser.processor_seconds(), time.perf_counter()
        found = browser.run(SEARCH % LIMIT)
        seconds = browser.processor_seconds() - before
        yield {
            "figure": "breadth-first search in a worker",
            "preset": PRESET,
            "states": found["states"],
            "transitions": found["transitions"],
            "seconds": round(time.perf_counter() - started, 1),
            "processor_seconds": round(seconds, 1),
            "successors_per_second": round(found["transitions"] / found["seconds"]),
            "successors_per_processor_second": round(found["transitions"] / seconds),
            "target": "≥ 500,000 successors a second",
        }

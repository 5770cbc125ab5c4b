"""Damaged inputs: whatever a file holds, a check tells what it is in words, in time, and nothing of it acts.

``ROCKETPROOF_FUZZ_INPUTS`` says how many inputs (a million), ``ROCKETPROOF_FUZZ_FOLDER`` where the number of those that
are done, and inputs that fail, are kept; a later run tries those again and goes on there. Input N is always the same.
"""

from __future__ import annotations

import contextlib
import io
import json
import multiprocessing
import os
import re
import signal
import tempfile
import time
from collections import Counter
from collections.abc import Iterator
from multiprocessing.connection import Connection, wait
from pathlib import Path
from types import FrameType
from typing import Any

from rocketproof.cli import DEFECT, main

from .fuzz_inputs import damaged

INPUTS = 1_000_000

SECONDS = 20
"""Within so many seconds of processor time an input has to be done with; a worker that does not end is killed later."""

PATIENCE = 120

AT_A_TIME = 1000
"""Inputs of a worker; each begins anew, so that what one leaves behind does not stay."""

_ACTING = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u200b-\u200f\u2028-\u202e\u2066-\u2069\ufeff\ud800-\udfff]")
_COMMAND = re.compile(r"^\s*::|##\w*\[", re.MULTILINE)


class Hang(BaseException):
    """An input took too long."""


def tried(seed: int, folder: Path) -> str:
    """What goes wrong with the input of a seed; empty if nothing does. The folder is empty before and after."""
    name, data = damaged(seed)
    path = folder / name
    path.write_bytes(data)
    answers = {kind: folder / f"answer.{kind}" for kind in ("json", "junit", "sarif")} if seed % 4 == 0 else {}
    more = [part for kind, file in answers.items() for part in (f"--{kind}", str(file))]
    report = folder / "answer"
    if seed % 16 == 0:
        more += ["--report", str(report)]
    command = ["conform", str(path)] if seed % 16 == 1 else ["check", str(path), *more]
    if name.startswith("consumerOffset"):
        command += ["--format", "consumer-offset"] if command[0] == "check" else []
    try:
        code, texts = _run(command)
        texts += [file.read_text("utf-8") for file in answers.values() if file.is_file()]
        page = report / "index.html"
        shown = [*texts, *([page.read_text("utf-8")] if page.is_file() else [])]
    except Hang:
        return "hang"
    finally:
        for file in sorted(folder.rglob("*"), reverse=True):
            file.rmdir() if file.is_dir() else file.unlink()
    if code == DEFECT:
        return f"traceback: {texts[1].strip().splitlines()[-2]}"
    if any(_ACTING.search(text) for text in shown) or any(_COMMAND.search(text) for text in texts):
        return "unescaped output"
    return "" if code in range(4) else f"exit code {code}"


def _run(command: list[str]) -> tuple[int, list[str]]:
    def stop(_number: int, _frame: FrameType | None) -> None:
        raise Hang

    out, err = io.StringIO(), io.StringIO()
    signal.signal(signal.SIGPROF, stop)
    signal.setitimer(signal.ITIMER_PROF, SECONDS)
    try:
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
            main(command)
    except SystemExit as left:
        return int(left.code or 0), [out.getvalue(), err.getvalue()]
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
    raise AssertionError("main always leaves")


def measure() -> Iterator[dict[str, Any]]:
    """How many inputs were tried, and how many went wrong, by how."""
    inputs = int(os.environ.get("ROCKETPROOF_FUZZ_INPUTS", INPUTS))
    folder = Path(os.environ.get("ROCKETPROOF_FUZZ_FOLDER", "build/fuzz"))
    folder.mkdir(parents=True, exist_ok=True)
    done = folder / "done.json"
    known: dict[str, Any] = json.loads(done.read_text("utf-8")) if done.is_file() else {"next": 0, "failures": {}}
    started = time.perf_counter()
    for seed in list(known["failures"]):
        for _, failures in _batches(int(seed), int(seed) + 1):
            del known["failures"][seed]
            known["failures"] |= failures
        done.write_text(json.dumps(known, indent=1), "utf-8")
    for first, failures in _batches(known["next"], inputs):
        known["failures"] |= failures
        for seed in failures:
            (folder / f"{seed}-{damaged(int(seed))[0]}").write_bytes(damaged(int(seed))[1])
        known["next"] = first
        done.write_text(json.dumps(known, indent=1), "utf-8")
    yield {
        "figure": "damaged inputs",
        "inputs": known["next"],
        "seconds of this run": round(time.perf_counter() - started),
        "target": "0 failures",
        "failures": dict(Counter(what.partition(":")[0] for what in known["failures"].values())),
    }


def _batches(first: int, inputs: int) -> Iterator[tuple[int, dict[str, str]]]:
    """Up to which input all were tried, in order, with those that failed."""
    jobs = len(os.sched_getaffinity(0))
    pending = iter(range(first, inputs, AT_A_TIME))
    workers: dict[Connection, tuple[Any, int, int, float, dict[str, str]]] = {}
    found: dict[int, dict[str, str]] = {}

    def begin(start: int, at: int, failures: dict[str, str]) -> None:
        ours, theirs = multiprocessing.Pipe()
        process = multiprocessing.get_context("spawn").Process(
            target=_work, args=(theirs, at, min(start + AT_A_TIME, inputs)), daemon=True
        )
        process.start()
        theirs.close()
        workers[ours] = process, start, at, time.monotonic(), failures

    def assign() -> None:
        start = next(pending, None)
        if start is not None:
            begin(start, start, {})

    for _ in range(jobs):
        assign()
    while workers:
        ready = wait(list(workers), timeout=1)
        for connection in list(workers):
            process, start, at, since, failures = workers[connection]
            if connection in ready:
                try:
                    seed, what = connection.recv()
                except EOFError:
                    seed, what = at, f"killed: exit code {process.exitcode}"
            elif time.monotonic() - since > PATIENCE:
                seed, what = at, "hang: killed"
            else:
                continue
            if what:
                failures[str(seed)] = what
            workers[connection] = process, start, seed + 1, time.monotonic(), failures
            last = min(start + AT_A_TIME, inputs)
            if what.startswith(("killed", "hang: killed")) or seed + 1 == last:
                process.kill() if what else process.join()
                del workers[connection]
                connection.close()
                if seed + 1 < last:
                    begin(start, seed + 1, failures)
                    continue
                found[start] = failures
                while first in found:
                    yield min(first + AT_A_TIME, inputs), found.pop(first)
                    first += AT_A_TIME
                assign()


def _work(connection: Connection, first: int, last: int) -> None:
    with tempfile.TemporaryDirectory() as folder:
        for seed in range(first, last):
            connection.send((seed, tried(seed, Path(folder))))

"""``rocketproof lab capture``: what the agents have written so far, as one trace."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from ..errors import InputError
from ..lab.capture import Capture, keep_capture
from ..output.console import PROBLEMS_SHOWN, make_console
from ..output.files import check_folder_writable
from ..traces.explain.report.words import counted

ENDINGS = (".jsonl", ".jsonl.zst", ".jsonl.gz", ".parquet")


def capture(out: str, folders: Sequence[Path]) -> int:
    """Join recordings into one trace and print the result; returns the exit code.

    The suffix of ``out`` determines the form.

    Raises:
        InputError: the trace cannot be written there.
        TraceError: nothing was recorded, or a file cannot be read.
    """
    if not out.endswith(ENDINGS):
        raise InputError(f"{out}: the name must end in {', '.join(ENDINGS[:-1])} or {ENDINGS[-1]}.")
    target = Path(out)
    check_folder_writable(str(target.parent))
    inside = [folder for folder in folders if folder.is_dir() and folder.resolve() in target.resolve().parents]
    if inside:
        raise InputError(f"{out}: it would be read as a recording the next time; write it outside of {inside[0]}.")
    kept = keep_capture(folders, out=target)
    console = make_console(quiet=False)
    for line in told(kept, out):
        console.say(line)
    return 0


def told(kept: Capture, out: str) -> list[str]:
    """The result of joining, one line each."""
    lines = [f"{counted(kept.events, 'event')}: {out}"]
    lines += [f"  {count:,} {what}" for what, count in kept.left_out.items()]
    lines += [
        f"  group {group}: {counted(len(who), 'member')} not recorded, so the trace has a gap: {', '.join(who)}"
        for group, who in kept.unrecorded.items()
    ]
    lines += [f"  {problem}" for problem in kept.problems[:PROBLEMS_SHOWN]]
    if len(kept.problems) > PROBLEMS_SHOWN:
        lines.append(f"  … and {len(kept.problems) - PROBLEMS_SHOWN:,} more problems")
    lines.append(f"check it: rocketproof check {out}")
    return lines

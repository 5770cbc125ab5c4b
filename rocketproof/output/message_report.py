"""The output of ``rocketproof check --message``: the answer about a message first, then its attempts and story."""

from __future__ import annotations

from collections.abc import Sequence

from rich.text import Text

from ..traces.engine.result import CheckResult
from ..traces.explain.message_answer import answers, first_line
from ..traces.explain.message_attempts import Attempt
from ..traces.explain.message_story import MessageStory
from ..traces.explain.report.words import counted, span, utc
from ..traces.format.printable import json_text
from .console import Cells, SafeConsole, print_columns
from .trace_report import folder_of, place_of


def print_message(console: SafeConsole, story: MessageStory, result: CheckResult) -> None:
    """Print the answer of each group in the first line, where copies were stored, the attempts, and all events.

    ``result`` is that of a check of the same trace, which knows why the message came again.
    """
    keys = ", ".join(key for key in story.keys if key != story.asked)
    console.say(Text.assemble((first_line(story, result), "bold"), f"  key {keys}" if keys else ""))
    for copy in story.copies:
        console.say(f"  stored {copy}")
    for outcome in story.outcomes:
        console.say()
        console.say(Text.assemble((f"group {outcome.group or 'unknown'}{outcome.at}: ", "bold"), outcome.told))
        print_columns(console, ("", _attempts(outcome.attempts)))
    console.say()
    folder = folder_of(result.files)
    for sentence in story.sentences:
        console.say(Text.assemble(f"  {sentence.text}  ", (place_of(sentence, result.files, folder), "dim")))
    if story.left_out:
        console.say(f"  … and {counted(story.left_out, 'more event')}", "dim")


def message_as_json(story: MessageStory, result: CheckResult) -> str:
    """The same as a JSON object: times in ms since 1970, waits in ms."""
    return json_text(
        {
            "message": story.asked,
            "keys": list(story.keys),
            "origins": list(story.origins),
            "copies": list(story.copies),
            "groups": [
                {
                    "group": answer.outcome.group,
                    "client": answer.outcome.client,
                    "answer": str(answer.answer),
                    "deliveries": answer.deliveries,
                    "because": list(answer.because),
                    "told": answer.outcome.told,
                    "attempts": [
                        {
                            "attempt": attempt.number,
                            "time": attempt.time,
                            "where": attempt.place,
                            "client": str(attempt.client),
                            "result": attempt.result or None,
                            "waited": attempt.waited,
                        }
                        for attempt in answer.outcome.attempts
                    ],
                }
                for answer in answers(story, result)
            ],
            "story": [
                {"time": one.time, "text": one.text, "file": one.place.file, one.place.unit: one.place.number}
                for one in story.sentences
            ],
            "left_out": story.left_out,
        }
    )


def _attempts(attempts: Sequence[Attempt]) -> Sequence[Cells]:
    """A table of the attempts of a message: when, where, how it ended, and how long the next one had to wait."""
    if not attempts:
        return []
    head = ("attempt", "time (UTC)", "where", "client", "result", "level", "next waits", "waited")
    return [head] + [
        (
            "?" if item.number is None else str(item.number),
            utc(item.time),
            item.place,
            str(item.client),
            item.result or "none recorded",
            str(item.level if item.level is not None else item.expected_level or ""),
            "" if item.expected_wait is None else f"≥ {span(item.expected_wait)}",
            "" if item.waited is None else span(item.waited),
        )
        for item in attempts
    ]

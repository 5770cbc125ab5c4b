"""How many causes a second delivery may have: the model, its texts, the documents and the samples say the same."""

import re
from pathlib import Path

from rocketproof.model.history import Cause

ROOT = Path(__file__).parents[2]
WORDS = {13: "Thirteen", 14: "fourteen"}
CAUSES = [cause for cause in Cause if cause is not Cause.NONE]


def noted() -> set[Cause]:
    """The causes that texts of the model note; an overlap of owners is seen by the history itself."""
    texts = "".join(
        path.read_text(encoding="utf-8") for path in (ROOT / "model").rglob("*.py") if path.stem != "history"
    )
    return {cause for cause in CAUSES if re.search(rf"Cause\.{cause.name}\b", texts)} | {Cause.OVERLAP}


def test_documents_name_every_cause_of_the_model_and_no_other() -> None:
    document = (ROOT / "docs" / "checking-traces.md").read_text(encoding="utf-8")
    table = document.partition("## Why a message came again")[2].partition("\n\n## ")[0]
    assert re.findall(r"^\| ([a-z ]+) \|", table, flags=re.MULTILINE)[1:] == [
        cause.name.lower().replace("_", " ") for cause in CAUSES
    ]
    assert f"Each second delivery has one of {WORDS[len(CAUSES)]} causes" in table
    assert f"{WORDS[len(noted())]} of them are noted in the histories of the [model]" in table
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    assert f"Each second delivery has a known cause: {WORDS[len(CAUSES)]} of them, no others." in readme


def test_a_schedule_replay_is_what_the_histories_of_the_model_do_not_note() -> None:
    assert set(CAUSES) - noted() == {Cause.SCHEDULE_REPLAY}


OTHERWISE = {
    Cause.TIMEOUT: "retry-only-after-a-failure",
    Cause.STORED_BUT_REFUSED: "one-copy-of-a-message --where lost_replies=1",
    Cause.SENT_TWICE: "one-copy-of-a-message --where repeated_fallbacks=1",
    Cause.SCHEDULE_REPLAY: "schedule-once --where broker_crashes=1",
}
"""Causes that make a second copy: the property whose run shows it, and in which configuration."""


def test_the_lesson_about_duplicates_has_a_run_for_each_cause() -> None:
    lesson = (ROOT / "docs" / "learn" / "04-idempotence.md").read_text(encoding="utf-8")
    shown = re.findall(r"^\$ rocketproof verify ([a-z-]+(?: --where \w+=\w+)?)", lesson, flags=re.MULTILINE)
    wanted = {OTHERWISE.get(cause, f"again-{cause.name.lower().replace('_', '-')}") for cause in CAUSES}
    assert sorted(shown) == sorted(wanted | {"duplicates-only-after-a-crash", "quiet-group-has-no-duplicates"})
    assert len(wanted) == 5 + 9
    assert "All five can. Here is a run for each of them and for nine more" in lesson

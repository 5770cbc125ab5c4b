"""The files in which broadcasting clients keep their offsets."""

from __future__ import annotations

from pathlib import Path

import pytest

from rocketproof.properties.verdict import Verdict

from .recorded import of_lines, whys

READ = (
    "assign c0 offset=0 epoch=0",
    "pull c0 offset=0 epoch=0",
    "pull_result c0 result=found offset=0 next=1 count=1 epoch=0",
    "deliver c0 offset=0 count=1 epoch=0",
    "result c0 offset=0 result=ok epoch=0",
    "removed c0 offset=0 next=1 epoch=0",
    "commit_memory c0 offset=1",
    "commit c0 offset=1 path=file",
    "revoke c0 path=shutdown epoch=0",
    "client_stop c0",
    "client_start c0 incarnation=1",
    "file_load c0 incarnation=1",
)
"""A client has read the first message, and begins anew."""


@pytest.mark.parametrize(("offset", "wrong"), [(1, []), (0, ["its in-memory offset never was 0"])])
def test_a_client_notes_what_its_file_has_before_it_takes_a_queue(
    offset: int, wrong: list[str], tmp_path: Path
) -> None:
    noted = f"commit_memory c0 offset={offset} incarnation=1"
    lines = (*READ, noted, "assign c0 offset=1 epoch=0 incarnation=1")
    answer = of_lines(tmp_path, *lines, mode="broadcasting")
    assert whys(answer) == wrong
    assert answer.verdict is (Verdict.VIOLATED if wrong else Verdict.HOLDS)


@pytest.mark.parametrize("offset", [0, 1])
def test_where_two_ran_at_once_a_later_one_may_find_the_file_of_either(offset: int, tmp_path: Path) -> None:
    one = [line.replace("c0", "c0 incarnation=1") for line in READ[:-4]]
    two = ("assign c0 offset=0 epoch=0 incarnation=0", "commit c0 offset=0 path=file incarnation=0")
    ends = [f"client_crash c0 incarnation={n}" for n in (0, 1)]
    begins = (
        "client_start c0 incarnation=2",
        "file_load c0 incarnation=2",
        f"commit_memory c0 offset={offset} incarnation=2",
        f"assign c0 offset={offset} epoch=0 incarnation=2",
    )
    answer = of_lines(tmp_path, *two, *one, *ends, *begins, mode="broadcasting")
    assert whys(answer) == []

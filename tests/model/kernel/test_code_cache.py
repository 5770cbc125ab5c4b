"""Compiled code kept between runs."""

from pathlib import Path

import pytest

from rocketproof.checkers.explore import explore
from rocketproof.model.examples import two_phase_commit
from rocketproof.model.kernel import code_cache
from rocketproof.model.kernel.code_cache import FileCodeCache, user_cache

CONFIGURATION = two_phase_commit.machine.configure(managers=3)


def test_the_second_run_uses_what_the_first_one_kept(tmp_path: Path) -> None:
    cache = FileCodeCache(tmp_path / "new" / "folder")
    assert cache.load("key") is None
    cache.store("key", b"code")
    assert cache.load("key") == b"code"


def test_a_search_is_the_same_with_kept_code(tmp_path: Path) -> None:
    cache = FileCodeCache(tmp_path)
    assert [explore(CONFIGURATION, cache=cache).states for _ in range(2)] == [288, 288]
    assert len(list(tmp_path.iterdir())) == 1


@pytest.mark.parametrize("junk", [b"", b"junk", b"\0" * 5000])
def test_a_damaged_file_counts_as_none(tmp_path: Path, junk: bytes) -> None:
    cache = FileCodeCache(tmp_path)
    explore(CONFIGURATION, cache=cache)
    (file,) = tmp_path.iterdir()
    file.write_bytes(junk)
    assert explore(CONFIGURATION, cache=cache).states == 288
    assert file.read_bytes() != junk


def test_the_oldest_files_go_first(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(code_cache, "MAX_FILES", 2)
    cache = FileCodeCache(tmp_path)
    for number in range(4):
        cache.store(f"key{number}", b"code")
    assert len(list(tmp_path.iterdir())) == 2
    assert cache.load("key3") == b"code"


def test_a_folder_that_cannot_be_written_is_no_error(tmp_path: Path) -> None:
    blocked = tmp_path / "file"
    blocked.write_text("not a folder")
    cache = FileCodeCache(blocked / "below")
    cache.store("key", b"code")
    assert cache.load("key") is None


def test_the_user_may_name_the_folder(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("ROCKETPROOF_CACHE", str(tmp_path))
    assert user_cache().folder == tmp_path
    monkeypatch.delenv("ROCKETPROOF_CACHE")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    assert user_cache().folder == tmp_path / "rocketproof"

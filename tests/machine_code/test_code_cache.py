"""Compiled code kept between runs."""

import os
import pwd
import stat
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from threading import Barrier
from types import SimpleNamespace

import pytest

from rocketproof.checkers.explore import explore
from rocketproof.checkers.search import plain_search
from rocketproof.machine_code import code_cache
from rocketproof.machine_code.code_cache import FileCodeCache, user_cache
from rocketproof.model.examples import two_phase_commit

CONFIGURATION = two_phase_commit.machine.configure(managers=3)


@pytest.fixture(autouse=True)
def _machine_code(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(plain_search, "MOST_STEPS", 0)


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


def test_what_several_need_at_once_is_made_by_one(tmp_path: Path) -> None:
    made: list[int] = []
    ready = Barrier(4)

    def need(number: int) -> bytes | None:
        cache = FileCodeCache(tmp_path / "cache")
        ready.wait()
        with cache.alone("key"):
            if cache.load("key") is None:
                made.append(number)
                cache.store("key", b"code")
            return cache.load("key")

    with ThreadPoolExecutor(4) as pool:
        assert [*pool.map(need, range(4))] == [b"code"] * 4
    assert len(made) == 1
    assert [path.name for path in (tmp_path / "cache").iterdir()] == ["key.code"]


def test_a_folder_that_cannot_be_written_is_no_error(tmp_path: Path) -> None:
    blocked = tmp_path / "file"
    blocked.write_text("not a folder")
    cache = FileCodeCache(blocked / "below")
    with cache.alone("key"), cache.alone("key"):
        cache.store("key", b"code")
    assert cache.load("key") is None


def test_the_user_may_name_the_folder(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("ROCKETPROOF_CACHE", str(tmp_path))
    assert user_cache() == FileCodeCache(tmp_path, "searches")
    monkeypatch.delenv("ROCKETPROOF_CACHE")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    assert user_cache("traces") == FileCodeCache(tmp_path / "rocketproof", "traces")


def test_only_the_user_can_read_what_is_kept(tmp_path: Path) -> None:
    before = os.umask(0)
    try:
        FileCodeCache(tmp_path / "cache", "part").store("key", b"code")
    finally:
        os.umask(before)
    modes = {path.name: stat.S_IMODE(path.stat().st_mode) for path in tmp_path.rglob("*")}
    assert modes == {"cache": 0o700, "part": 0o700, "key.code": 0o600}


@pytest.mark.parametrize("name", ["cache", "cache/part", "cache/part/key.code"])
@pytest.mark.parametrize("mode", [0o020, 0o002])
def test_what_others_can_write_to_is_not_loaded(
    tmp_path: Path, caplog: pytest.LogCaptureFixture, name: str, mode: int
) -> None:
    cache = FileCodeCache(tmp_path / "cache", "part")
    cache.store("key", b"code")
    assert cache.load("key") == b"code"
    path = tmp_path / name
    path.chmod(0o700 | mode)
    for _ in range(2):
        assert cache.load("key") is None
    (record,) = caplog.records
    assert record.message.startswith(
        f"{path} can be written to by others (mode 07{mode:02o}; chmod go-w would mend it)"
    )
    cache.store("key", b"new")
    assert cache.load("key") == (b"new" if path.is_file() else None)


@pytest.mark.parametrize("name", ["cache", "cache/part", "cache/part/key.code"])
def test_what_belongs_to_somebody_else_is_not_loaded(
    tmp_path: Path, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    cache, path = FileCodeCache(tmp_path / "cache", "part"), tmp_path / name
    cache.store("key", b"code")
    real, foreign = os.fstat, path.stat().st_ino

    def fstat(descriptor: int) -> os.stat_result:
        status = real(descriptor)
        fields = list(status)
        fields[stat.ST_UID] = os.geteuid() + (status.st_ino == foreign)
        return os.stat_result(fields)

    monkeypatch.setattr(os, "fstat", fstat)
    assert cache.load("key") is None
    assert f"{path} belongs to user {os.geteuid() + 1}" in caplog.text


def test_a_file_that_is_a_link_is_not_loaded(tmp_path: Path) -> None:
    cache = FileCodeCache(tmp_path)
    cache.store("key", b"code")
    (tmp_path / "key.code").rename(tmp_path / "other")
    (tmp_path / "key.code").symlink_to("other")
    assert cache.load("key") is None


def test_a_file_is_bound_to_its_key(tmp_path: Path) -> None:
    cache = FileCodeCache(tmp_path)
    cache.store("key", b"code")
    (tmp_path / "key.code").rename(tmp_path / "other.code")
    assert cache.load("other") is None


def test_with_the_environment_of_somebody_else_the_cache_is_below_the_own_home(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("ROCKETPROOF_CACHE", "XDG_CACHE_HOME"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("HOME", str(tmp_path))
    assert user_cache().folder == tmp_path / ".cache" / "rocketproof"
    monkeypatch.setattr(os, "geteuid", lambda: tmp_path.stat().st_uid + 1)
    home = SimpleNamespace(pw_dir="/home/of/runner")
    monkeypatch.setattr(pwd, "getpwuid", lambda uid: home if uid == os.geteuid() else None)
    assert user_cache().folder == Path("/home/of/runner/.cache/rocketproof")

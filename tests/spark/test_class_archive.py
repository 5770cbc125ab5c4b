"""An archive of Java's classes is written once, adopted when it is complete, and never in the way."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

from rocketproof.machine_code.code_cache import FileCodeCache
from rocketproof.spark import session
from rocketproof.spark.class_archive import archive_options
from rocketproof.spark.session import java_version


def option(folder: Path, what: str = "Java 17") -> tuple[str, Path]:
    """The name of the option that is given, and the file it names."""
    name, _, path = archive_options(FileCodeCache(folder), what).removesuffix(" -Xlog:cds*=off").partition("=")
    return name, Path(path)


def write(path: Path, content: bytes = b"\xa8\xab\x0b\xf0 classes") -> Path:
    path.write_bytes(content)
    return path


def test_an_archive_that_was_written_is_used_from_then_on(tmp_path: Path) -> None:
    name, path = option(tmp_path)
    assert name == "-XX:ArchiveClassesAtExit"
    assert path.stem.endswith(f"-{os.getpid()}")
    write(path)
    name, used = option(tmp_path)
    assert (name, used.read_bytes()) == ("-XX:SharedArchiveFile", b"\xa8\xab\x0b\xf0 classes")
    assert option(tmp_path) == (name, used)
    assert [path.name for path in tmp_path.iterdir()] == [used.name]


def test_another_java_has_another_archive(tmp_path: Path) -> None:
    write(option(tmp_path)[1])
    assert option(tmp_path, "Java 21")[0] == "-XX:ArchiveClassesAtExit"


def test_an_archive_that_is_not_complete_is_not_used(tmp_path: Path) -> None:
    _, path = option(tmp_path)
    write(path, bytes(4) + b"classes")
    assert option(tmp_path)[0] == "-XX:ArchiveClassesAtExit"
    assert path.exists()  # it may still be written
    long_ago = time.time() - 7_200
    os.utime(path, (long_ago, long_ago))
    assert option(tmp_path)[0] == "-XX:ArchiveClassesAtExit"
    assert not path.exists()


def test_two_archives_are_kept(tmp_path: Path) -> None:
    archives = []
    for at, java in enumerate(("Java 17", "Java 21", "Java 25")):
        write(option(tmp_path, java)[1])
        archives.append(option(tmp_path, java)[1])
        os.utime(archives[-1], (at, at))
    assert [path.exists() for path in archives] == [False, True, True]


def test_a_cache_that_others_can_write_is_not_used(tmp_path: Path) -> None:
    tmp_path.chmod(0o777)
    assert archive_options(FileCodeCache(tmp_path), "Java 17") == ""
    assert list(tmp_path.iterdir()) == []


def test_a_path_that_java_cannot_be_given_is_not_used(tmp_path: Path) -> None:
    folder = tmp_path / "with: a space"
    assert archive_options(FileCodeCache(folder), "Java 17") == ""


_OPTIONS = """
from rocketproof.spark import open_session
session = open_session("local[1]")
arguments = session._jvm.java.lang.management.ManagementFactory.getRuntimeMXBean().getInputArguments()
print(session.range(3).count(), *(word for word in arguments if "Archive" in word))
"""


@pytest.mark.slow
def test_java_writes_an_archive_and_maps_it(tmp_path: Path) -> None:
    if java_version() < session.OLDEST_JAVA:
        pytest.skip("no Java")

    def said() -> str:
        given = {**os.environ, "ROCKETPROOF_CACHE": str(tmp_path)}
        return subprocess.run(
            [sys.executable, "-c", _OPTIONS], capture_output=True, check=True, env=given
        ).stdout.decode()

    assert said().startswith("3 -XX:ArchiveClassesAtExit=")
    for _ in range(600):  # Java writes when the process has ended
        if any(any(path.read_bytes()[:4]) for path in tmp_path.rglob("*.jsa")):
            break
        time.sleep(0.5)
    assert said().startswith("3 -XX:SharedArchiveFile=")
    (archive,) = tmp_path.rglob("*.jsa")
    assert archive.stat().st_size > 50_000_000

"""What is installed without a clone: a wheel and an archive of the sources, and the commands from the wheel."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import sysconfig
import tarfile
import venv
import zipfile
from pathlib import Path

import pytest

pytestmark = [pytest.mark.slow, pytest.mark.quality]

ROOT = Path(__file__).parents[1]


def done(*arguments: object, folder: Path) -> str:
    environment = {name: value for name, value in os.environ.items() if name not in ("PYTHONPATH", "PYTHONSAFEPATH")}
    finished = subprocess.run(
        [str(argument) for argument in arguments],
        cwd=folder,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    assert finished.returncode == 0, finished.stdout + finished.stderr
    return finished.stdout


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the wheel and the archive, made from what version control knows."""
    folder = tmp_path_factory.mktemp("built")
    sources = folder / "sources"
    names = done("git", "ls-files", "-z", "--cached", "--others", "--exclude-standard", folder=ROOT).split("\0")
    for name in filter(None, names):
        target = sources / name
        target.parent.mkdir(parents=True, exist_ok=True)
        if (ROOT / name).is_file():
            shutil.copy(ROOT / name, target)
    program = "from setuptools import build_meta as b; b.build_sdist('../dist'); b.build_wheel('../dist')"
    done(sys.executable, "-c", program, folder=sources)
    return folder / "dist"


@pytest.fixture(scope="module")
def installed(built: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The programs of a fresh environment that has the wheel; the libraries are those of this one."""
    home = tmp_path_factory.mktemp("environment")
    venv.create(home, with_pip=True)
    (wheel,) = built.glob("*.whl")
    programs = home / "bin"
    done(programs / "python", "-m", "pip", "install", "--quiet", "--no-deps", "--no-index", wheel, folder=home)
    (site,) = home.glob("lib/python*/site-packages")
    # Behind the wheel: an editable install in there comes later in the path than the package itself.
    (site / "libraries.pth").write_text(sysconfig.get_paths()["purelib"] + "\n")
    return programs


def test_the_wheel_has_all_files_of_the_packages_and_nothing_else(built: Path) -> None:
    (wheel,) = built.glob("*.whl")
    names = zipfile.ZipFile(wheel).namelist()
    tops = {name.split("/")[0].split("-")[0] for name in names}
    assert tops == {"rocketproof"}
    for needed in ("py.typed", "traces/explain/report/template.html", "traces/samples/steady-5.3.3.jsonl.zst"):
        assert f"rocketproof/{needed}" in names
    assert any(name.startswith("rocketproof/lab/java/agent/src/") for name in names)


def test_the_archive_has_what_the_wheel_is_built_from(built: Path) -> None:
    (archive,) = built.glob("*.tar.gz")
    with tarfile.open(archive) as opened:
        names = {name.partition("/")[2] for name in opened.getnames()}
    for needed in ("pyproject.toml", "LICENSE", "model/kernel/state.py", "lab/scenarios/steady.toml"):
        assert needed in names


def test_the_example_project_runs_from_the_wheel(installed: Path, tmp_path: Path) -> None:
    project = tmp_path / "outbox"
    shutil.copytree(ROOT / "examples" / "outbox", project, ignore=shutil.ignore_patterns("__pycache__"))
    python = installed / "python"
    where = done(python, "-c", "import rocketproof; print(rocketproof.__file__)", folder=project)
    assert Path(where.strip()).is_relative_to(installed.parent)
    assert "7 of 7 as expected" in done(python, "-m", "rocketproof", "verify", "--module", "outbox", folder=project)
    assert "9 passed" in done(python, "-m", "pytest", "-q", "rocketproof.toml", "test_outbox.py", folder=project)


def test_a_recording_is_checked_from_the_wheel(installed: Path, tmp_path: Path) -> None:
    sample = tmp_path / "steady.jsonl.zst"
    shutil.copy(ROOT / "traces" / "samples" / "steady-5.3.3.jsonl.zst", sample)
    assert " HOLDS  " in done(installed / "rocketproof", "check", sample, folder=tmp_path)
    assert "conform" in done(installed / "rocketproof", "--help", folder=tmp_path)

"""Which tests mirror which files: with them a change is tried first. Prints those of ``make test-quick``."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterable
from pathlib import Path

TESTS = Path(__file__).parent
ROOT = TESTS.parent


def mirrored(path: Path) -> Path | None:
    """The test file of a file, else the nearest folder of tests above it; None for what has none.

    Args:
        path: relative to the project.
    """
    if path.parts[0] == "tests":
        return path if path.name.startswith("test_") and (ROOT / path).exists() else None
    own = Path("tests") / path.with_name(f"test_{path.stem}.py")
    if path.suffix == ".py" and (ROOT / own).exists():
        return own
    above = (Path("tests") / folder for folder in path.parents if folder != Path("."))
    return next((folder for folder in above if (ROOT / folder).is_dir()), None)


def changed() -> list[Path]:
    """Files that differ from where this branch left ``main``, those not committed included."""
    base = _git("merge-base", "HEAD", "main") or ["HEAD"]
    names = [*_git("diff", "--name-only", base[0]), *_git("ls-files", "-o", "--exclude-standard")]
    return [Path(name) for name in names]


def quick() -> list[Path]:
    """The model's tests, all files with a ``smoke`` test, and what mirrors the changes."""
    smoke = [path for path in TESTS.rglob("test_*.py") if "pytest.mark.smoke" in path.read_text(encoding="utf-8")]
    found = [Path("tests/model"), *(path.relative_to(ROOT) for path in smoke)]
    return outermost([*found, *filter(None, map(mirrored, changed()))])


def outermost(paths: Iterable[Path]) -> list[Path]:
    """Paths without those that are in another one."""
    once = sorted(set(paths))
    return [path for path in once if not set(path.parents) & set(once)]


def _git(*arguments: str) -> list[str]:
    run = subprocess.run(["git", *arguments], cwd=ROOT, capture_output=True, text=True, check=False)
    return run.stdout.split() if run.returncode == 0 else []


if __name__ == "__main__":
    sys.stdout.writelines(f"{path}\n" for path in quick())

"""Hypothesis profiles, the longer tier, and the order of the tests: first what is quick and deep in the layers."""

import os
from pathlib import Path

import pytest
from hypothesis import settings

HERE = Path(__file__).parent
FOLDERS = ("model", "properties", "machine_code", "checkers", "traces", "spark", "lab")

settings.register_profile("dev", max_examples=25, deadline=None)
settings.register_profile("ci", max_examples=150, deadline=None, derandomize=True, print_blob=True)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE") or ("ci" if os.environ.get("CI") == "true" else "dev"))

LONGER = {
    line.split(maxsplit=1)[1]: float(line.split(maxsplit=1)[0])
    for line in (HERE / "longer.txt").read_text(encoding="utf-8").splitlines()
    if not line.startswith("#")
}
"""Tests of the longer tier that are named there and not marked themselves, with their processor seconds."""


def speed(item: pytest.Item) -> int:
    """0 for `smoke`, 2 for `slow`, 1 for all others."""
    return 2 if item.get_closest_marker("slow") else 0 if item.get_closest_marker("smoke") else 1


def layer(path: Path) -> int:
    """Place of the folder of a test file, from the bottom layer up."""
    folder = path.relative_to(HERE).parts[0] if path.is_relative_to(HERE) else ""
    if path.parent == HERE:
        return -1
    return FOLDERS.index(folder) if folder in FOLDERS else len(FOLDERS)


def in_order(items: list[pytest.Item]) -> list[pytest.Item]:
    """`smoke` first and `slow` last, and within each the folders from the bottom layer up.

    What is slow stays in a file with what is not, lest what the file makes for its tests be made twice.
    """
    first: dict[Path, int] = {}
    for item in items:
        first[item.path] = min(first.get(item.path, 2), speed(item))
    return sorted(
        items, key=lambda item: (min(speed(item), max(first[item.path], 1)), layer(item.path), item.path, speed(item))
    )


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        if item.nodeid.partition("[")[0] in LONGER or item.nodeid in LONGER:
            item.add_marker("slow")
    items[:] = in_order(items)

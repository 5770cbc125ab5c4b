"""Hypothesis profiles, and the order of the tests: what is quick and deep in the layers comes first."""

import os
from pathlib import Path

import pytest
from hypothesis import settings

HERE = Path(__file__).parent
FOLDERS = ("model", "properties", "checkers", "traces", "spark", "lab")

settings.register_profile("dev", max_examples=25, deadline=None)
settings.register_profile("ci", max_examples=150, deadline=None, derandomize=True, print_blob=True)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE") or ("ci" if os.environ.get("CI") == "true" else "dev"))


def tier(item: pytest.Item) -> tuple[int, int]:
    """Sort key: `smoke` first and `slow` last, and within each the folders from the bottom layer up."""
    speed = 2 if item.get_closest_marker("slow") else 0 if item.get_closest_marker("smoke") else 1
    path = item.path
    folder = path.relative_to(HERE).parts[0] if path.is_relative_to(HERE) else ""
    if path.parent == HERE:
        return speed, -1
    return speed, FOLDERS.index(folder) if folder in FOLDERS else len(FOLDERS)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    items.sort(key=tier)

"""The browser that tests of the page share."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from .chrome import Chrome, chrome


@pytest.fixture(scope="module")
def browser(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Chrome]:
    with chrome(tmp_path_factory.mktemp("profile")) as opened:
        opened.size(1400, 900)
        yield opened


@pytest.fixture
def opened(browser: Chrome, address: str) -> Iterator[Chrome]:
    """The preset in a page of the module, its ``address``; whatever a test does, the console stays empty."""
    browser.console.clear()
    browser.open(f"{address}#open=delivery")
    yield browser
    assert browser.console == []

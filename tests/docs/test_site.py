"""The site: what `make site` puts together from the documents has no link that leads nowhere."""

import importlib.util
import re
from pathlib import Path

import pytest

SCRIPT = Path(__file__).resolve().parents[2] / "docs" / "site" / "pages.py"
MADE = ("explorer", "reference/")
"""What the script makes besides documents, and the beginnings of its names."""
_LINK = re.compile(r"\]\(([^)\s#]+)[^)\s]*\)")
_BLOCK = re.compile(r"^```.*?^```", re.MULTILINE | re.DOTALL)


def test_every_link_of_the_site_leads_to_a_page(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    spec = importlib.util.spec_from_file_location("site_pages", SCRIPT)
    assert spec is not None
    assert spec.loader is not None
    script = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(script)
    monkeypatch.setattr(script, "PAGES", tmp_path / "pages")
    script.documents()
    links = [
        (page.relative_to(script.PAGES).as_posix(), target)
        for page in script.PAGES.rglob("*.md")
        for target in _LINK.findall(_BLOCK.sub("", page.read_text(encoding="utf-8")))
        if not target.startswith(("http", *MADE))
    ]
    assert len(links) > 100
    lost = [(page, target) for page, target in links if not (script.PAGES / page).parent.joinpath(target).exists()]
    assert lost == []


def test_the_search_of_the_site_finds_parts_of_chinese_sentences() -> None:
    settings = (SCRIPT.parent / "mkdocs.yml").read_text(encoding="utf-8")
    (separator,) = re.findall(r"separator: '(.*)'", settings)
    words = [word for word in re.split(separator, "为什么会重复消费？Broker-a 重启") if word]
    assert words == [*"为什么会重复消费", "Broker", "a", *"重启"]

"""Put the pages of the site together in ``build/site-pages``: documents, explorer pages of presets, API reference.

Documents link each other as they do in the repository. What they link outside ``docs/`` is copied, or becomes code.
"""

import json
import re
import shutil
import sys
from pathlib import Path

from rocketproof.cli import main
from rocketproof.learn.lessons import ENGLISH, languages, lessons
from rocketproof.model.presets import PRESETS

ROOT = Path(__file__).resolve().parents[2]
PAGES = ROOT / "build" / "site-pages"
CONFIGURATION = ROOT / "build" / "site.yml"
"""What MkDocs is given: the settings beside this file, and the navigation."""
FOLDERS = ("model", "properties", "machine_code", "checkers", "traces", "spark", "lab", "explorer", "rocketproof")
PAGE_ENDINGS = (".md", ".html")
"""What the site has a page of."""
_LINK = re.compile(r"(?<!!)\[([^\]]+)\]\(([^)\s]+)\)")
_TITLED = re.compile(r"^```(\w+) title=(\S+)$", re.MULTILINE)


def documents() -> None:
    """Everything of ``docs/``, and what stands at the root of the repository."""
    shutil.rmtree(PAGES, ignore_errors=True)
    shutil.copytree(ROOT / "docs", PAGES, ignore=shutil.ignore_patterns("site"))
    for path in [*PAGES.rglob("*.md")]:
        text = path.read_text(encoding="utf-8")
        up = "../" * (len(path.relative_to(PAGES).parts) - 1)
        # What is one level above docs/ in the repository is beside it here.
        text = re.sub(rf"\]\({re.escape(up)}\.\./([A-Za-z.-]+\.md)", rf"]({up}\1", text)
        path.write_text(_spelled(text.replace(f"]({up}README.md", f"]({up}index.md")), encoding="utf-8")
    for path in ROOT.glob("*.md"):
        text = path.read_text(encoding="utf-8").replace("](docs/", "](").replace("](README.md", "](index.md")
        name = "index.md" if path.name == "README.md" else path.name
        (PAGES / name).write_text(_spelled(text), encoding="utf-8")


def _spelled(text: str) -> str:
    """Titles of blocks as the site writes them, and links to files that are no pages as code."""
    return _LINK.sub(_as_code, _TITLED.sub(r'```\1 title="\2"', text))


def _as_code(link: re.Match[str]) -> str:
    shown, target = link.groups()
    if target.startswith(("http", "#")) or target.partition("#")[0].endswith(PAGE_ENDINGS):
        return link[0]
    return shown if shown.startswith("`") else f"`{shown}`"


def explorers() -> None:
    """A page for each preset in which the model itself runs."""
    folder = PAGES / "explorer"
    folder.mkdir()
    for preset in PRESETS:
        _run(["explore", preset.name, "--out", str(folder / f"{preset.name}.html")])
    lines = [
        f"* [{preset.name}](explorer/{preset.name}.html) ([中文](explorer/{preset.name}.html#lang=zh)): {preset.doc}"
        for preset in PRESETS
    ]
    what = "Each page runs the model in your browser, without a network. 每个页面都在浏览器里运行模型，不需要网络。"
    text = "\n".join(["# Explore the model", "", what, "", *lines, ""])
    (PAGES / "explorers.md").write_text(text, encoding="utf-8")


GUIDES = {
    "Recordings": "checking-traces importing collecting capturing captured conformance incident trace-mutants "
    "differential lab spark pipeline",
    "Deployments": "in-your-ci deployment-file strategies",
    "The model": "mutants writing-a-machine python",
}
REFERENCES = "command-line guarantees rules trace-format limitations"


def navigation() -> None:
    """What is where in the site; a page that is nowhere is an error of the build."""

    def pages(names: str) -> list[str]:
        return [f"{name}.md" for name in names.split()]

    def folder(path: str) -> list[str]:
        return [
            found.relative_to(PAGES).as_posix()
            for found in sorted((PAGES / path).glob("*.md"), key=lambda page: page.stem)
        ]

    nav = [
        {"Start": [{"English": "index.md"}, {"中文": "README.zh-CN.md"}]},
        {"Learn": [*folder("learn"), "notebooks.md"]},
        {"课程": folder("learn/zh-CN")},
        {"Explore": ["explorers.md", "explorer.md"]},
        {"Guides": [{title: pages(names)} for title, names in GUIDES.items()]},
        {"Reference": pages(REFERENCES)},
        {"API": folder("reference")},
        {"Project": ["ARCHITECTURE.md", "CONTRIBUTING.md", "CHANGELOG.md"]},
    ]
    # JSON is YAML.
    settings = {
        "INHERIT": "../docs/site/mkdocs.yml",
        "docs_dir": "site-pages",
        "site_dir": "site",
        "hooks": ["../docs/site/language.py"],
        "nav": nav,
    }
    CONFIGURATION.write_text(json.dumps(settings, ensure_ascii=False, indent=1), encoding="utf-8")


def notebooks() -> None:
    """Each lesson as a notebook, in each language, to download."""
    folder = PAGES / "notebooks"
    folder.mkdir()
    what = "For Jupyter, where `rocketproof` is installed. 供 Jupyter 使用，需要先安装 `rocketproof`。"
    lines = ["# Lessons as notebooks", "", what, ""]
    for language in languages():
        for lesson in lessons(language):
            name = f"{lesson.path.stem}{'' if language == ENGLISH else f'.{language}'}.ipynb"
            _run(["learn", lesson.name, "--language", language, "--notebook", str(folder / name)])
            lines.append(f"* [{lesson.number}. {lesson.title}](notebooks/{name})")
    (PAGES / "notebooks.md").write_text("\n".join(lines) + "\n", encoding="utf-8")


def _run(arguments: list[str]) -> None:
    try:
        main(arguments)
    except SystemExit as stop:
        if stop.code:
            raise


def reference() -> None:
    """A page for each package, with what its modules say of themselves."""
    folder = PAGES / "reference"
    folder.mkdir()
    for top in FOLDERS:
        for package in sorted({path.parent for path in (ROOT / top).rglob("*.py")}):
            if package.name == "__pycache__":
                continue
            parts = package.relative_to(ROOT).parts
            dotted = ".".join(parts if parts[0] == "rocketproof" else ("rocketproof", *parts))
            modules = [path.stem for path in sorted(package.glob("*.py")) if path.stem not in ("__init__", "__main__")]
            blocks = [f"::: {dotted}.{module}\n" for module in modules]
            (folder / f"{dotted}.md").write_text("\n".join([f"# {dotted}\n", *blocks]), encoding="utf-8")


if __name__ == "__main__":
    documents()
    explorers()
    notebooks()
    reference()
    navigation()
    print(f"site: {sum(1 for _ in PAGES.rglob('*.md'))} pages in {PAGES.relative_to(ROOT)}", file=sys.stderr)

"""The page in Chinese: every word of its own, by switch, link and browser; links remember it, copies stay English."""

import itertools
import re
from html import unescape
from importlib import resources
from pathlib import Path

import pytest

from rocketproof.explorer.page import page
from rocketproof.explorer.subjects import data_of, entry_of, named, subject
from rocketproof.model.presets import PRESETS

from .chrome import Chrome

FILES = resources.files("rocketproof.explorer")
SCRIPTS = {
    path.name: path.read_text(encoding="utf-8")
    for folder in (FILES / "script", FILES / "script" / "page")
    for path in folder.iterdir()
    if path.name.endswith(".mjs")
}
ENTRY = re.compile(r'^  "((?:[^"\\]|\\.)*)":\s+"((?:[^"\\]|\\.)*)",$', flags=re.MULTILINE)
CHINESE = dict(ENTRY.findall(SCRIPTS.pop("chinese.mjs")))
OF_MODEL = dict(ENTRY.findall(SCRIPTS.pop("chinese_model.mjs")))
NAME = re.compile(r"\b[a-z]\d+\b|\b[A-Z]+(?:_[A-Z]+)+\b")
"""Names in what the model says, such as c0: ``language.mjs`` has the same."""
LITERAL = r'"((?:[^"\\]|\\.)*)"'
KEYS_OF_A_KEYBOARD = {"Home", "End"}


def said() -> set[str]:
    """Texts that scripts say, and those that stand in the template."""
    scripts = "".join(SCRIPTS.values())
    found = set(re.findall(rf"\bsay\({LITERAL}", scripts))
    for pair in re.findall(rf"\bsay\((?:[a-z.]+|[a-z]+ === \S+|[a-z.]+\(\S+\)) \? {LITERAL} : {LITERAL}", scripts):
        found |= set(pair)
    body = (FILES / "page" / "template.html").read_text(encoding="utf-8").partition("<body")[2]
    body = re.sub(r"<script.*?</script>", "", body, flags=re.DOTALL)
    texts = [*re.findall(r'(?:title|aria-label|placeholder)="([^"]*)"', body), *re.findall(r">([^<>]*)<", body)]
    words = {unescape(text).strip() for text in texts if "{{" not in text}
    return found | {text for text in words if re.search("[A-Za-z]{2}", text)} - KEYS_OF_A_KEYBOARD


def test_every_text_of_the_page_is_there_in_chinese() -> None:
    assert said() - set(CHINESE) == set()


def test_nothing_is_there_in_chinese_that_the_page_does_not_say() -> None:
    literals = set(re.findall(LITERAL, "".join(SCRIPTS.values())))
    notes = {"an expected finding", "a known bug", "recorded"}  # of entries, which Python makes
    orphans = {"running", "failed"}  # stages in lower case
    assert set(CHINESE) - said() - literals == notes | orphans - literals


@pytest.mark.parametrize(("english", "chinese"), [*CHINESE.items(), *OF_MODEL.items()])
def test_both_texts_have_the_same_holes_and_rules(english: str, chinese: str) -> None:
    for pattern in (r"\{\d\}", r"\b[A-Z]{2}-\d+"):
        assert sorted(re.findall(pattern, chinese)) == sorted(re.findall(pattern, english))


def test_what_the_model_says_of_the_presets_is_there_in_chinese_and_nothing_else() -> None:
    found: set[str] = set()
    for preset in PRESETS:
        _, data = data_of(named(preset.name))
        texts = [instance["tells"] for instance in data["instances"]]
        texts += [family["doc"] for family in data["families"]]
        texts += [told["statement"] for told in data["properties"]]
        found |= {_template(text) for text in texts if text}
    assert found == set(OF_MODEL)


def _template(text: str) -> str:
    """A sentence with a number for each name in it."""
    numbers = itertools.count()
    return NAME.sub(lambda _: f"{{{next(numbers)}}}", text)


def test_steps_are_told_in_chinese(browser: Chrome, addresses: dict[str, str]) -> None:
    browser.open(f"{addresses['one']}#lang=zh&{RUN}")
    told = browser.run("document.querySelector('#happened .tells span:last-child').textContent")
    assert told == "c0 用 q0 的 m0 启动一个监听器"
    assert browser.run("document.querySelector('.variables dt span').textContent") == "下一个空的位点"


@pytest.fixture(scope="module")
def addresses(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """A page with one configuration, and one that lists two."""
    folder = tmp_path_factory.mktemp("pages")
    small = [entry_of(subject(name)) for name in ("one-copy-of-a-message", "peterson")]
    texts = {"one": page(small[:1]), "two": page(small, title="Two")}
    for name, text in texts.items():
        (folder / f"{name}.html").write_text(text, encoding="utf-8")
    return {name: (folder / f"{name}.html").as_uri() for name in texts}


RUN = "run=take(c0,q0)~pull(c0,q0)~begin(c0,q0,m0)"
EVERY_WORD = """(() => {
  const english = 'script, style, textarea, code, kbd, [lang=en]:not(html), option, #name, .light .name';
  const outside = (node) => node.closest(english);
  const texts = [...document.querySelectorAll('body *')].filter((node) => !outside(node)).flatMap((node) => [
    ...[...node.childNodes].filter((child) => child.nodeType === 3).map((child) => child.data),
    ...['title', 'aria-label', 'placeholder'].map((name) => node.getAttribute(name) ?? '')]);
  return [...new Set(texts.map((text) => text.trim()))];
})()"""


@pytest.mark.parametrize("name", ["one", "two"])
def test_a_link_in_chinese_opens_in_chinese(browser: Chrome, addresses: dict[str, str], name: str) -> None:
    browser.console.clear()
    browser.open(f"{addresses[name]}#lang=zh&{RUN}" if name == "one" else f"{addresses[name]}#lang=zh")
    assert browser.run("document.documentElement.lang") == "zh-CN"
    shown = browser.run(EVERY_WORD)
    assert [text for text in shown if text in CHINESE and CHINESE[text] != text] == []
    assert browser.console == []


def test_the_switch_keeps_the_run_and_the_link_remembers_the_language(
    browser: Chrome, addresses: dict[str, str]
) -> None:
    browser.open(f"{addresses['one']}#{RUN}")
    heading = "document.querySelector('#panel-act h2').textContent"
    assert (browser.run("document.documentElement.lang"), browser.run(heading)) == ("en", "What can happen")
    browser.click("#language")
    assert (browser.run("document.documentElement.lang"), browser.run(heading)) == ("zh-CN", "可能发生什么")
    assert browser.run("document.querySelector('.queue').getAttribute('aria-label')") == "队列 q0：已存储 0"
    assert browser.run("explorer.run.steps.length") == 3
    browser.until("location.hash.startsWith('#lang=zh&')")
    browser.open(browser.run("location.href"))
    assert (browser.run(heading), browser.run("explorer.run.steps.length")) == ("可能发生什么", 3)
    browser.click("#language")
    assert browser.run(heading) == "What can happen"
    browser.until("location.hash.startsWith('#lang=en&')")


def test_a_choice_made_in_the_list_is_kept_by_what_is_opened_from_it(
    browser: Chrome, addresses: dict[str, str]
) -> None:
    browser.open(addresses["two"])
    browser.click("#language")
    browser.click("#home-list a")
    browser.until("document.body.dataset.view === 'one'")
    assert browser.run("document.getElementById('undo').title") == "撤销（←）"
    browser.click("#home-link")
    browser.until("document.body.dataset.view === 'home'")
    assert browser.run("document.getElementById('home-link').title") == "全部运行"


def test_what_leaves_the_page_stays_as_commands_print_it(browser: Chrome, addresses: dict[str, str]) -> None:
    copied = []
    for language in ("en", "zh"):
        browser.open(f"{addresses['one']}#lang={language}&{RUN}")
        for command in ("test", "story"):
            browser.run(f"explorer.commands().{command}()")
            browser.until("document.getElementById('copied').open")
            copied.append(browser.run("document.getElementById('copied-text').value"))
            browser.run("document.getElementById('copied').close()")
    assert copied[:2] == copied[2:]


def test_on_a_phone_nothing_is_wider_than_the_screen(
    browser: Chrome, addresses: dict[str, str], tmp_path: Path
) -> None:
    browser.size(360, 740, dark=True, touch=True)
    browser.open(f"{addresses['one']}#lang=zh&{RUN}")
    for tab in ("act", "run", "lights", "state"):
        browser.click(f'[data-tab="{tab}"]', touch=True)
        assert browser.run("document.documentElement.scrollWidth") <= 360
    browser.size(1400, 900)

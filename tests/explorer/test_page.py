"""The page in a real browser: clicks, keys, fingers, links, the worker; an empty console, and no network."""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from rocketproof.explorer import rerun
from rocketproof.explorer.page import MOST_BYTES, Entry, Recorded, entries_in, page, script
from rocketproof.explorer.page import pages as pages_of
from rocketproof.explorer.subjects import entry_of, subject

from .chrome import Chrome
from .node import check_syntax

BELIEF = "mark-below-unfinished"
"""A belief that is false as it stands; its shortest violation takes a few steps."""


@pytest.fixture(scope="module")
def pages(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """Addresses of pages: a preset, and a page with two entries, of which the second has a run."""
    folder = tmp_path_factory.mktemp("pages")
    delivery = entry_of(subject("delivery"), rules={"CC-13": ("what is finished is removed", "`A#b`")})
    belief = subject(BELIEF)
    texts = {"delivery": page([delivery]), "belief": page([entry_of(belief)])}
    two = [delivery, Entry(id="peterson", title="Peterson", doc="", data=entry_of(subject("peterson")).data, steps=())]
    texts["two"] = page(two, title="Two")
    small = entry_of(subject("two-phase-commit", {"managers": 2}))
    recorded = (Recorded(text="it begins", step=0), Recorded(text="c0 is prepared", step=1), Recorded(text="what?"))
    other = replace(entry_of(subject("two-phase-commit", {"managers": 1})), id="one", recorded=recorded, follows=True)
    texts["configurations"] = page([small, other], opens=True)
    for name, text in texts.items():
        (folder / f"{name}.html").write_text(text, encoding="utf-8")
    return {name: (folder / f"{name}.html").as_uri() for name in texts}


@pytest.fixture
def opened(browser: Chrome, pages: dict[str, str]) -> Iterator[Chrome]:
    """The preset, freshly opened; whatever a test does, the console stays empty."""
    browser.size(1400, 900)
    browser.console.clear()
    browser.open(pages["delivery"])
    yield browser
    assert browser.console == []


def steps(browser: Chrome) -> list[str]:
    labels: list[str] = browser.run("explorer.run.steps.map((number) => explorer.model.instances[number].label)")
    return labels


def act(browser: Chrome, label: str) -> None:
    browser.click(f'.action[data-label="{label}"]')


def test_the_script_is_one_module_without_mistakes(tmp_path: Path) -> None:
    check_syntax(script(), tmp_path)


def test_a_click_takes_a_step_and_shows_what_changed(opened: Chrome) -> None:
    act(opened, "take(c0, q0)")
    act(opened, "pull(c0, q0)")
    assert steps(opened) == ["take(c0, q0)", "pull(c0, q0)"]
    told = opened.run("document.getElementById('happened').innerText")
    assert "c0 pulls from q0" in told
    assert "stage[c0, q0, m0] ABSENT → WAITING" in told
    assert opened.run("document.querySelectorAll('#sequence .step').length") == 2
    assert opened.run("document.querySelector('.lane-row.owns .cell.waiting').innerText.startsWith('m0')")


def test_undo_jump_and_random_steps_by_keys(opened: Chrome) -> None:
    act(opened, "take(c1, q0)")
    for key in ("r", "r", "ArrowLeft", "ArrowLeft"):
        opened.press(key)
    assert opened.run("[explorer.run.at, explorer.run.steps.length]") == [1, 3]
    opened.press("End")
    assert opened.run("explorer.run.at") == 3
    opened.press("Home")
    opened.press("1")
    assert opened.run("[explorer.run.at, explorer.run.steps.length]") == [1, 1]


def test_what_cannot_happen_says_which_part_of_its_guard_fails(opened: Chrome) -> None:
    opened.click(".group .cannot summary")
    opened.until("document.querySelector('.reasons li[data-label=\"pull(c0, q0)\"]') !== null")
    told = opened.run("document.querySelector('.reasons li[data-label=\"pull(c0, q0)\"]').innerText")
    assert "needs owns[c0, q0]" in told
    assert "now owns[c0, q0] = no" in told


def test_a_link_restores_the_run_and_the_place_in_it(opened: Chrome, pages: dict[str, str]) -> None:
    for label in ("take(c0, q0)", "pull(c0, q0)", "begin(c0, q0, m0)"):
        act(opened, label)
    opened.press("ArrowLeft")
    opened.until("location.hash.includes('at=2')")
    link = opened.run("location.href")
    state = opened.run("[...explorer.run.state]")
    opened.open(link)
    assert steps(opened) == ["take(c0, q0)", "pull(c0, q0)", "begin(c0, q0, m0)"]
    assert opened.run("[...explorer.run.state]") == state
    assert opened.run("explorer.run.at") == 2


@pytest.mark.parametrize(
    ("fragment", "told"),
    [
        ("run=take(c0,q0)~fly(c0)", "There is no step fly(c0)"),
        ("run=take(c0,q0)~take(c0,q0)", "Step 2 of the link cannot happen here"),
        ("set=messages=7", "This link is about other constants (messages=7)"),
        ("set=tags=Aa,C,messages=7", "--set tags=Aa,C --set messages=7"),
        ("run=%E0%A4&at=x&loop=y", "There is no step"),
    ],
)
def test_a_damaged_link_is_told_and_shown_as_far_as_it_goes(
    opened: Chrome, pages: dict[str, str], fragment: str, told: str
) -> None:
    opened.open(f"{pages['delivery']}#{fragment}")
    assert told in opened.run("document.getElementById('toast').textContent")
    assert steps(opened) == (["take(c0, q0)"] if "take" in fragment else [])


def test_the_worker_finds_the_shortest_run_and_the_light_turns_red(opened: Chrome, pages: dict[str, str]) -> None:
    opened.open(pages["belief"])
    opened.until("explorer.run.steps.length > 0")
    light = f'.light[data-property="{BELIEF}"]'
    assert opened.run(f"document.querySelector('{light}').className") == "light bad"
    assert opened.run(f"document.querySelector('{light} .lesson').innerText").startswith("Lesson.")
    found = rerun(BELIEF, {}, steps(opened))
    assert [found.holds(BELIEF, at=at) for at in range(len(found.states))] == [True] * len(found.run) + [False]


def test_the_worker_says_that_there_is_no_run_and_that_a_limit_was_reached(opened: Chrome) -> None:
    for limit, told in ((50, "No run"), (10**9, "There is no run")):
        goal = "{ kind: 'cell', cell: explorer.words.labels.indexOf('crashes_left'), sign: '≥', value: 2 }"
        if limit > 50:  # a small machine, or the search would take long
            opened.run("explorer.model.instances.length = 1; explorer.run.load([])")
        opened.run(f"explorer.hunter.start({goal}, {{ limit: {limit} }})")
        opened.until(f"document.getElementById('hunt-state').innerText.startsWith('{told}')")


def test_the_dialog_looks_for_what_is_chosen(opened: Chrome) -> None:
    opened.press("s")
    step = "explorer.model.instances.findIndex(({ label }) => label === 'fail(c1, q0, m1)')"
    opened.run(f"document.getElementById('goal').value = 'step ' + {step}")
    opened.click("#goal-go")
    opened.until("explorer.run.steps.length > 0")
    assert steps(opened)[-1] == "fail(c1, q0, m1)"


def test_the_copied_test_passes_and_the_story_tells_each_step(opened: Chrome) -> None:
    for label in ("take(c0, q0)", "pull(c0, q0)", "begin(c0, q0, m0)", "succeed(c0, q0, m0)", "commit(c0, q0)"):
        act(opened, label)
    opened.click('[data-command="test"]')
    opened.until("document.getElementById('copied').open")
    text = opened.run("document.getElementById('copied-text').value")
    written: dict[str, Any] = {}
    exec(text, written)
    test = next(item for name, item in written.items() if name.startswith("test_"))
    test()
    broken = text.replace('run["committed[q0]"] == 1', 'run["committed[q0]"] == 0')
    assert broken != text
    exec(broken, written)
    with pytest.raises(AssertionError):
        written[test.__name__]()
    opened.run("document.getElementById('copied').close()")
    opened.click('[data-command="story"]')
    opened.until("document.getElementById('copied').open")
    story = opened.run("document.getElementById('copied-text').value")
    assert "5. c0 commits the offset of q0\n     committed[q0]: 0 → 1" in story


def test_the_copied_test_of_a_known_bug_passes(opened: Chrome, tmp_path: Path) -> None:
    # Its machine is none of the catalogue; a test names it as the page does.
    bug = entry_of(subject("B7"))
    (tmp_path / "bug.html").write_text(page([bug]), encoding="utf-8")
    opened.open((tmp_path / "bug.html").as_uri())
    opened.until("explorer.run.steps.length > 0")
    opened.click('[data-command="test"]')
    opened.until("document.getElementById('copied').open")
    text = opened.run("document.getElementById('copied-text').value")
    assert 'rerun("consumption~B7", CONSTANTS, STEPS)' in text
    assert f'assert not run.holds("{bug.hunt}")' in text
    written: dict[str, Any] = {}
    exec(text, written)
    next(item for name, item in written.items() if name.startswith("test_"))()


def test_the_state_graph_is_collapsed_to_what_is_picked(opened: Chrome) -> None:
    opened.click('[data-show="graph"]')
    opened.until("document.querySelectorAll('.graph .node').length > 4")
    few = opened.run("document.querySelectorAll('.graph .node').length")
    opened.click("#graph .pick:nth-of-type(3) input")
    opened.until(f"document.querySelectorAll('.graph .node').length > {few}")
    opened.run("document.querySelectorAll('.graph .node')[3].dispatchEvent(new MouseEvent('click'))")
    assert opened.run("explorer.run.steps.length") > 0


def test_it_works_on_a_phone(opened: Chrome) -> None:
    opened.size(360, 740, touch=True)
    opened.click('.action[data-label="take(c0, q0)"]', touch=True)
    opened.until("explorer.run.steps.length === 1")
    for tab in ("run", "lights", "state", "act"):
        opened.click(f'button[data-tab="{tab}"]', touch=True)
        opened.until(f"document.body.dataset.tab === '{tab}'")
        assert opened.run("document.documentElement.scrollWidth") <= 360, tab


def test_whoever_walks_by_keyboard_goes_on_where_they_were(opened: Chrome) -> None:
    for label in ("take(c0, q0)", "take(c1, q0)", "die(c0)"):
        opened.run(f"document.querySelector('.action[data-label=\"{label}\"]').focus()")
        opened.run("document.activeElement.click()")
        assert opened.run("document.activeElement.classList.contains('action')"), label


def test_the_keyboard_is_not_lost_when_the_page_is_drawn_anew(opened: Chrome) -> None:
    opened.click('[data-show="graph"]')
    focused = "document.activeElement.dataset.key ?? document.activeElement.tagName"

    def at(selector: str, key: str) -> str:
        opened.run(f"document.querySelector({selector!r}).focus()")
        opened.press(key)
        return str(opened.run(focused))

    assert at("#graph .pick:nth-of-type(3) input", " ") == opened.run(
        "document.querySelector('#graph .pick:nth-of-type(3) input').dataset.key"
    )
    # What is no text to write in leaves the keys of the page alone.
    opened.press("1")
    assert opened.run("explorer.run.steps.length") == 1
    for key in (" ", "Enter"):
        opened.run("explorer.run.load([])")
        assert at(".graph .node:not(.current)", key).startswith("node ")
        assert opened.run("explorer.run.steps.length") > 0
    assert at(".group .cannot summary", "r").startswith("why ")
    assert at(".light summary", "ArrowLeft").startswith("light ")


def test_the_state_graph_says_where_the_run_is(opened: Chrome) -> None:
    act(opened, "take(c1, q0)")
    opened.click('[data-show="graph"]')
    assert opened.run("document.getElementById('graph-here').textContent") == (
        "Here: owns[c1, q0] = yes, life[c0] = UP, life[c1] = UP"
    )


def test_whoever_does_not_see_it_is_told(opened: Chrome) -> None:
    act(opened, "take(c0, q0)")
    assert opened.run("document.getElementById('said').textContent").startswith("c0 takes q0.")
    nameless = (
        "[...document.querySelectorAll('button, input, select, svg[role], [role=img]')]"
        ".filter((e) => !(e.getAttribute('aria-label') || e.labels?.length || e.textContent.trim()))"
        ".map((e) => e.outerHTML)"
    )
    assert opened.run(nameless) == []


def test_a_page_with_several_entries_lists_them(opened: Chrome, pages: dict[str, str]) -> None:
    opened.open(pages["two"])
    assert opened.run("document.querySelectorAll('#home-list li').length") == 2
    opened.click("#home-list li:nth-child(2) a")
    opened.until("window.explorer && explorer.model.machine === 'peterson'")
    assert opened.run("explorer.model.lanes") != []


def test_constants_lead_to_the_configurations_that_the_page_has(opened: Chrome, pages: dict[str, str]) -> None:
    opened.open(pages["configurations"])
    assert opened.run("explorer.model.constants.managers.value") == 2
    opened.click('[data-show="constants"]')
    told = opened.run("document.getElementById('constants').innerText")
    assert "it cannot make others" in told
    opened.click(".configurations li:nth-child(2) a")
    opened.until("explorer.model.constants.managers.value === 1")
    assert opened.run("document.querySelector('.configurations [aria-current]').textContent").endswith("managers=1")
    first = opened.run(
        "explorer.model.instances[explorer.machine.enabled(explorer.run.state)[0]].label.replaceAll(' ', '')"
    )
    opened.open(f"{pages['configurations']}#set=managers=1&run={first}")
    assert opened.run("[explorer.model.constants.managers.value, explorer.run.steps.length]") == [1, 1]


def test_recorded_events_lead_to_their_step_and_the_one_without_is_told(opened: Chrome, pages: dict[str, str]) -> None:
    opened.open(f"{pages['configurations']}#open=one")
    opened.press("1")
    assert opened.run("document.querySelector('.recorded [aria-current]').textContent") == "c0 is prepared step 1"
    assert (
        opened.run("document.querySelector('.recorded .beyond').textContent") == "what? The model has no step for this."
    )
    opened.click(".recorded .event")
    assert opened.run("explorer.run.at") == 0


@pytest.mark.parametrize("name", ["delivery", pytest.param("retry", marks=pytest.mark.slow)])
def test_a_page_is_small(name: str) -> None:
    assert len(page([entry_of(subject(name))]).encode()) <= MOST_BYTES


def test_texts_of_a_model_cannot_break_out_of_the_page() -> None:
    data = entry_of(subject("peterson")).data
    text = page([Entry(id="x", title="<b>&", doc="</script><script>alert(1)</script>", data=data)])
    assert text.count("</script>") == 2
    assert "<title>&lt;b&gt;&amp; " in text
    assert entries_in(text)[0]["title"] == "<b>&"


def test_configurations_that_do_not_fit_are_listed_with_their_command(opened: Chrome, tmp_path: Path) -> None:
    names = ["peterson", "dining_philosophers", "bounded_buffer"]
    entries = [replace(entry_of(subject(name)), command=f"rocketproof explore {name}") for name in names]
    first = replace(entries[0], rank=1)
    text = page([first, *entries[1:]], title="Three", most=1)
    assert [(entry["id"], entry["model"]) for entry in entries_in(text)] == [
        ("peterson", None),
        ("dining_philosophers", 0),
        ("bounded_buffer", None),
    ]
    assert [entry["model"] for entry in entries_in(page(entries, title="Three"))] == [0, 1, 2]
    file = tmp_path / "three.html"
    file.write_text(text, encoding="utf-8")
    opened.open(file.as_uri())
    told = opened.run("document.getElementById('home').innerText")
    assert "1 of 3 open here" in told
    assert "rocketproof explore bounded_buffer" in told
    opened.click("#home-list a")
    opened.until("window.explorer && explorer.model.machine === 'dining_philosophers'")


def test_what_has_no_room_opens_in_a_page_beside_it(opened: Chrome, tmp_path: Path) -> None:
    entries = [entry_of(subject(name)) for name in ("peterson", "bounded_buffer")]
    texts = pages_of(entries, title="Two", name="two.html", most=1)
    assert list(texts) == ["two.html", "two-2.html"]
    for name, text in texts.items():
        (tmp_path / name).write_text(text, encoding="utf-8")
    opened.open((tmp_path / "two.html").as_uri())
    assert opened.run("document.getElementById('home-note').textContent").startswith("1 of 2 open here; the others in")
    assert [entry["page"] for entry in entries_in(texts["two.html"])] == [None, "two-2.html"]
    opened.click("#home-list li:last-child a")
    opened.until("window.explorer && explorer.model.machine === 'bounded_buffer'")

"""What the page draws of a run: sequence diagram, queues, boards and lights; and what keys, slider and searches do."""

from dataclasses import replace

import pytest

from rocketproof.explorer.page import page
from rocketproof.explorer.subjects import entry_of, subject

from .chrome import Chrome


@pytest.fixture(scope="module")
def address(tmp_path_factory: pytest.TempPathFactory) -> str:
    """A page about one queue, and about who knows of whom."""
    found = replace(entry_of(subject("join-overlap")), verdict="VIOLATED")
    entries = [replace(entry_of(subject("delivery")), verdict="HOLDS"), found]
    file = tmp_path_factory.mktemp("pages") / "two.html"
    file.write_text(page(entries, title="Two"), encoding="utf-8")
    return file.as_uri()


def take(browser: Chrome, *labels: str) -> None:
    """Load a run from the start."""
    steps = ", ".join(f'explorer.model.instances.findIndex(({{ label }}) => label === "{label}")' for label in labels)
    assert browser.run(f"explorer.run.load([{steps}])") == -1


def texts(browser: Chrome, selector: str) -> list[str]:
    found: list[str] = browser.run(f"[...document.querySelectorAll('{selector}')].map((each) => each.textContent)")
    return found


def count(browser: Chrome, selector: str) -> int:
    return len(texts(browser, selector))


OWNED_TWICE = ("take(c0, q0)", "take(c1, q0)")
BOTH_AT_WORK = (*OWNED_TWICE, "pull(c0, q0)", "pull(c1, q0)", "begin(c0, q0, m0)", "begin(c1, q0, m0)")


def test_what_travels_is_drawn_between_its_lanes(opened: Chrome) -> None:
    take(opened, "take(c0, q0)", "pull(c0, q0)", "begin(c0, q0, m0)", "fail(c0, q0, m0)", "send_back_fails(c0, q0, m0)")
    opened.press("ArrowLeft")
    drawn = opened.run(
        "[...document.querySelectorAll('#sequence .step')].map((step) => [step.getAttribute('class'),"
        "...['.arrow', '.back', '.cross'].map((part) => step.querySelectorAll(part).length)])"
    )
    assert [(" ".join(name.split()), *rest) for name, *rest in drawn] == [
        ("step both", 2, 1, 0),
        ("step both", 2, 1, 0),
        ("step local", 0, 0, 0),
        ("step local fault here", 0, 0, 0),
        ("step lost fault future", 1, 0, 1),
    ]
    arrows = "[...document.querySelectorAll('#sequence .step .arrow:not(.back)')]"
    whole, _, lost = opened.run(f"{arrows}.map((each) => Number(each.getAttribute('x2')))")
    assert lost < whole


def test_a_click_in_the_diagram_looks_at_the_state_after_the_step(opened: Chrome) -> None:
    take(opened, *BOTH_AT_WORK)
    opened.click('#sequence .step[data-at="2"] .row')
    assert opened.run("explorer.run.at") == 2


def test_the_step_that_turns_a_property_is_marked(opened: Chrome) -> None:
    opened.run("explorer.model.properties.find(({ id }) => id === 'one-listener-a-message').elsewhere = false")
    take(opened, *BOTH_AT_WORK)
    marks = "[...document.querySelectorAll('#sequence .mark')]"
    assert opened.run(f"{marks}.map((each) => each.closest('.step').dataset.at)") == ["6"]


def flags(browser: Chrome, row: int) -> dict[str, int]:
    """Where the flags of a row of the queue stand, the broker's first."""
    found: dict[str, int] = browser.run(
        f"Object.fromEntries([...document.querySelectorAll('.queue .lane-row')[{row}].querySelectorAll('.flag')]"
        ".map((flag) => [flag.textContent, Number(flag.parentElement.style.left.match(/\\d+/)[0])]))"
    )
    return found


def test_offsets_stand_where_they_are(opened: Chrome) -> None:
    take(opened, "take(c0, q0)", "pull(c0, q0)", "pull(c0, q0)", "begin(c0, q0, m0)", "succeed(c0, q0, m0)")
    assert flags(opened, 0) == {"stored": 0, "on disk": 0}
    assert flags(opened, 1) == {"pull": 2, "low-water": 1, "memory": 1}
    opened.press("ArrowLeft")
    assert flags(opened, 1) == {"pull": 2, "low-water": 0, "memory": 0}
    take(opened, "take(c0, q0)", "pull(c0, q0)", "begin(c0, q0, m0)", "succeed(c0, q0, m0)", "commit(c0, q0)")
    assert flags(opened, 0) == {"stored": 1, "on disk": 0}


def test_a_listener_that_outlives_its_window_is_seen(opened: Chrome) -> None:
    take(opened, "take(c0, q0)", "pull(c0, q0)", "begin(c0, q0, m0)", "drop(c0, q0)")
    assert opened.run("document.querySelectorAll('.queue .lane-row')[1].querySelector('.cell.orphan').title") == (
        "running in a dropped window"
    )


def test_the_board_says_who_owns_what(opened: Chrome) -> None:
    take(opened, "take(c0, q0)")
    assert texts(opened, ".board tfoot td.one") == ["1"]
    assert count(opened, ".board td.twice") == 0
    take(opened, *OWNED_TWICE)
    assert texts(opened, ".board tfoot td.many") == ["2"]
    assert count(opened, ".board td.twice") == 2
    take(opened, "die(c0)")
    assert texts(opened, ".board tr.gone th") == ["c0"]
    assert texts(opened, ".board tr.gone .life") == ["gone"]


def test_the_board_says_who_knows_of_whom(opened: Chrome) -> None:
    opened.run("location.hash = 'open=join-overlap'")
    opened.until("explorer.entry.id === 'join-overlap'")
    opened.run("explorer.hunter.stop()")
    opened.run("explorer.run.load([])")
    known = (
        "[...[...document.querySelectorAll('.board')].find(({ caption }) => caption.textContent === "
        "'Members, as brokers know them').querySelectorAll('td')].map((each) => Number(each.matches('.owns')))"
    )
    believed = (
        "[...explorer.run.state].filter((_, cell) => "
        "explorer.model.families[explorer.model.cells[cell][0]].name === 'members')"
    )
    for _ in range(3):
        assert opened.run(known) == opened.run(believed) != []
        opened.run("explorer.run.random()")


def lamp(browser: Chrome, name: str) -> tuple[str, str]:
    """Color and word of a light."""
    light = f'.light[data-property="{name}"]'
    color = str(browser.run(f"document.querySelector('{light}').className")).removeprefix("light ")
    return color, str(browser.run(f"document.querySelector('{light} .word').textContent"))


def test_lights_say_what_the_run_shows_so_far(opened: Chrome) -> None:
    take(opened, *BOTH_AT_WORK)
    assert lamp(opened, "at-least-once") == ("good", "holds so far")
    assert lamp(opened, "one-listener-a-message") == ("bad", "violated")
    take(opened, *BOTH_AT_WORK, "succeed(c1, q0, m0)")
    assert lamp(opened, "one-listener-a-message") == ("bad", "was violated")
    opened.run("document.querySelector('.light[data-property=one-listener-a-message] .link').click()")
    assert opened.run("explorer.run.at") == 6
    assert lamp(opened, "lost-commit-repeats") == ("none", "not seen yet")
    assert lamp(opened, "every-message-is-handled") == ("warn", "still owed")
    done = ("begin(c0, q0, m0)", "succeed(c0, q0, m0)", "pull(c0, q0)", "begin(c0, q0, m1)", "succeed(c0, q0, m1)")
    take(opened, "take(c0, q0)", "pull(c0, q0)", *done)
    assert lamp(opened, "every-message-is-handled") == ("good", "reached")


def test_a_claim_of_another_configuration_does_not_turn_red(opened: Chrome) -> None:
    property = "explorer.model.properties.find(({ id }) => id === 'one-listener-a-message')"
    opened.run(f"{property}.expected = 'HOLDS'")
    take(opened, *BOTH_AT_WORK)
    assert lamp(opened, "one-listener-a-message") == ("warn", "does not hold here")


@pytest.mark.parametrize(
    ("kind", "before", "after"),
    [
        ("sometimes", ("none", "not seen yet"), ("good", "seen")),
        ("settles", ("warn", "not settled here"), ("good", "settled here")),
        ("eventually", ("warn", "still owed"), ("good", "reached")),
    ],
)
def test_each_kind_of_property_has_its_lights(
    opened: Chrome, kind: str, before: tuple[str, str], after: tuple[str, str]
) -> None:
    # One that does not hold at first: that messages were handled, say.
    opened.run(f"explorer.model.properties.find(({{ id }}) => id === 'every-message-is-handled').kind = '{kind}'")
    take(opened)
    first = lamp(opened, "every-message-is-handled")
    steps = [f"{name}(c0, q0{message})" for message in (", m0", ", m1") for name in ("begin", "succeed")]
    take(opened, "take(c0, q0)", "pull(c0, q0)", "pull(c0, q0)", *steps)
    assert (first, lamp(opened, "every-message-is-handled")) == (before, after)


def found(browser: Chrome, goal: str, *, here: bool = False) -> list[str]:
    """The steps of the run that the worker finds."""
    browser.run("void (window.before = explorer.run.states)")
    browser.run(f"explorer.hunter.start({goal}, {{ fromHere: {str(here).lower()} }})")
    browser.until("explorer.hunter.worker === null && explorer.run.states !== window.before")
    labels: list[str] = browser.run("explorer.run.steps.map((number) => explorer.model.instances[number].label)")
    return labels


def cell(label: str, sign: str, value: int) -> str:
    return f"{{ kind: 'cell', cell: explorer.words.labels.indexOf('{label}'), sign: '{sign}', value: {value} }}"


def test_a_value_is_looked_for_as_it_is_compared(opened: Chrome) -> None:
    assert found(opened, cell("memory[c0, q0]", "is", 1))[-1] == "succeed(c0, q0, m0)"
    assert found(opened, cell("crashes_left", "≤", 0)) in (["die(c0)"], ["die(c1)"])


def test_a_search_from_the_state_that_is_shown_goes_on_from_there(opened: Chrome) -> None:
    take(opened, "take(c1, q0)", "pull(c1, q0)")
    steps = found(opened, cell("committed[q0]", "≥", 1), here=True)
    assert steps[:4] == ["take(c1, q0)", "pull(c1, q0)", "begin(c1, q0, m0)", "succeed(c1, q0, m0)"]
    assert len(steps) == 5


def test_a_search_goes_on_as_far_as_asked_and_stops_when_told(opened: Chrome) -> None:
    nowhere = cell("crashes_left", "≥", 2)
    opened.run(f"explorer.hunter.start({nowhere}, {{ limit: 50 }})")
    told = "document.getElementById('hunt-state').innerText"
    opened.until(f"{told}.includes('within 50 states')")
    opened.click("#hunt-state button")
    opened.until(f"{told}.includes('within 200 states')")
    opened.run(f"explorer.hunter.start({nowhere}, {{ limit: 1e9 }})")
    opened.until("document.querySelector('#hunt-state progress') !== null")
    opened.run("document.querySelector('#hunt-state button').click()")
    assert opened.run("[explorer.hunter.worker, document.getElementById('hunt-state').hidden]") == [None, True]


def test_a_story_says_from_where_it_repeats(opened: Chrome) -> None:
    opened.run("location.hash = 'open=join-overlap&run=rebalance_pass(c0,b0)~rebalance_pass(c0,b0)&loop=1'")
    opened.until("explorer.entry.id === 'join-overlap' && explorer.run.steps.length === 2")
    assert opened.run("explorer.run.loop") == 1
    opened.run("explorer.commands().story()")
    opened.until("document.getElementById('copied').open")
    story = opened.run("document.getElementById('copied-text').value").splitlines()
    assert story.index("from here on the run repeats for ever:") < next(
        at for at, line in enumerate(story) if line.startswith("2. ")
    )


def test_the_command_opens_the_configuration_that_is_shown(opened: Chrome) -> None:
    opened.run("explorer.commands().command()")
    opened.until("document.getElementById('copied').open")
    words = opened.run("document.getElementById('copied-text').value").split()
    assert words[:3] == ["rocketproof", "explore", "consumption"]
    shown = opened.run("Object.entries(explorer.model.constants).map(([name, { value }]) => `${name}=${value}`)")
    assert set(words[4::2]) <= set(shown)
    assert "crashes=1" in words


def test_the_list_colors_what_holds_and_what_does_not(opened: Chrome) -> None:
    opened.click("#home-link")
    opened.until("document.body.dataset.view === 'home'")
    assert opened.run("[...document.querySelectorAll('#home-list .chip')].map((each) => each.className)") == [
        "chip good",
        "chip bad",
    ]


def test_the_end_of_everything_is_found_and_told(opened: Chrome) -> None:
    opened.run("void explorer.run.load([])")
    found(opened, "{ kind: 'dead' }")
    assert opened.run("explorer.machine.enabled(explorer.run.state)") == []
    assert texts(opened, "#actions .end") == ["Nothing can happen any more: the run ends here."]


def test_slider_keys_and_filter_do_what_they_say(opened: Chrome) -> None:
    take(opened, *BOTH_AT_WORK)
    opened.run("document.getElementById('at').value = 2")
    opened.run("document.getElementById('at').dispatchEvent(new Event('input'))")
    assert opened.run("explorer.run.at") == 2
    second = opened.run("document.querySelectorAll('.action')[1].dataset.label")
    opened.press("2")
    assert opened.run("explorer.model.instances[explorer.run.steps.at(-1)].label") == second
    opened.press("/")
    opened.press("u")
    assert opened.run("explorer.run.at") == 3
    opened.run("document.activeElement.blur()")
    opened.press("?")
    opened.press("u")
    assert opened.run("[document.getElementById('help').open, explorer.run.at]") == [True, 3]
    opened.run("document.getElementById('help').close()")
    take(opened, *BOTH_AT_WORK)
    opened.run("document.getElementById('filter').value = 'Succeed'")
    opened.run("document.getElementById('filter').dispatchEvent(new Event('input'))")
    kept = opened.run("[...document.querySelectorAll('.action')].map((each) => each.dataset.label)")
    assert kept == ["succeed(c0, q0, m0)", "succeed(c1, q0, m0)"]


def test_a_rule_opens_what_it_says(opened: Chrome) -> None:
    opened.run("explorer.model.rules['CC-13'] = ['what is finished is removed', '`A#b`']")
    opened.run("explorer.show()")
    opened.run("[...document.querySelectorAll('button.rule')].find((each) => each.textContent === 'CC-13').click()")
    assert opened.run("document.getElementById('rule-text').innerText").split("\n\n") == [
        "CC-13",
        "what is finished is removed",
        "Java source: A#b",
    ]

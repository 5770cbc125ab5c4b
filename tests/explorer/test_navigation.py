"""Links that were damaged, and what becomes of a configuration when another one, or the list, is shown."""

import pytest

from rocketproof.explorer.page import page
from rocketproof.explorer.subjects import entry_of, subject

from .chrome import Chrome


@pytest.fixture(scope="module")
def address(tmp_path_factory: pytest.TempPathFactory) -> str:
    """A page that lists two configurations, one of them with constants of its own."""
    entries = [entry_of(subject("delivery")), entry_of(subject("peterson"))]
    file = tmp_path_factory.mktemp("pages") / "two.html"
    file.write_text(page(entries, title="Two"), encoding="utf-8")
    return file.as_uri()


TOAST = "document.getElementById('toast').textContent"
SHOWN = "document.getElementById('name').textContent"
TAKEN = "run=take(c0,q0)~pull(c0,q0)"


@pytest.mark.parametrize("at", ["0.5", "-3", "1e1", "", "y", "99"])
def test_a_place_that_the_run_does_not_have_is_its_end(opened: Chrome, address: str, at: str) -> None:
    opened.open(f"{address}#open=delivery&{TAKEN}&at={at}")
    assert opened.run("[explorer.run.at, explorer.run.steps.length]") == [2, 2]


@pytest.mark.parametrize("loop", ["0", "1", "7", "-1", "0.5", "y"])
def test_a_run_that_does_not_come_back_repeats_nothing(opened: Chrome, address: str, loop: str) -> None:
    opened.open(f"{address}#open=delivery&{TAKEN}&loop={loop}")
    assert opened.run("explorer.run.loop") is None
    assert opened.run(TOAST) == f"The run of the link does not come back to step {loop}."
    assert "repeats" not in opened.run("document.getElementById('happened').innerText")


def test_a_run_that_comes_back_repeats_for_ever(opened: Chrome, address: str) -> None:
    round_trip = "run=take(c0,q0)~drop(c0,q0)~take(c0,q0)~die(c0)~take(c1,q0)"
    opened.open(f"{address}#open=delivery&{round_trip}&loop=5")
    assert opened.run("document.querySelector('#happened .warn').textContent") == (
        "From step 5 on this repeats for ever."
    )
    opened.open(f"{address}#open=delivery&{round_trip}&loop=4")
    assert opened.run("explorer.run.loop") is None


def test_a_link_may_name_constants_in_any_order_and_have_spaces(opened: Chrome, address: str) -> None:
    opened.press("r")
    opened.until("location.hash.includes('set=')")
    link = opened.run("location.hash")
    constants = opened.run("new URLSearchParams(location.hash.slice(1)).get('set')").split(",")
    assert len(constants) > 1
    turned = ",".join(reversed(constants))
    assert turned not in link
    opened.open(f"{address}#open=delivery&set={turned}&run=take(c0, q0)~ pull(c0, q0)")
    assert opened.run("explorer.run.steps.length") == 2


def test_a_name_that_the_page_does_not_have_is_told(opened: Chrome, address: str) -> None:
    opened.open(f"{address}#open=__proto__")
    assert opened.run("document.body.dataset.view") == "home"
    assert opened.run(TOAST) == "There is no “__proto__” in this page."


def test_a_walk_ends_where_something_else_is_shown(opened: Chrome) -> None:
    for there, view in (("open=peterson", "one"), ("", "home")):
        opened.run("location.hash = 'open=delivery'")
        opened.until("explorer.entry.id === 'delivery' && document.body.dataset.view === 'one'")
        opened.press("w")
        opened.until("explorer.run.steps.length > 1")
        opened.run("void (window.left = explorer)")
        opened.run(f"location.hash = '{there}'")
        opened.until(f"document.body.dataset.view === '{view}' && {SHOWN} !== 'delivery'")
        assert opened.run("[left.walking, document.getElementById('walk').getAttribute('aria-pressed')]") == [
            None,
            "false",
        ]
        assert opened.run("location.hash") == (f"#{there}" if there else "")


def test_a_step_does_not_change_the_link_of_what_is_shown_by_then(opened: Chrome) -> None:
    opened.run("explorer.run.random(); location.hash = ''")
    opened.until("document.body.dataset.view === 'home'")
    opened.run("new Promise((done) => setTimeout(done, 200))")
    assert opened.run("location.hash") == ""


def test_the_list_has_its_own_name_again(opened: Chrome) -> None:
    assert opened.run(SHOWN) == "delivery"
    opened.click("#home-link")
    opened.until("document.body.dataset.view === 'home'")
    assert opened.run(f"[{SHOWN}, document.title]") == ["Two", "Two · rocketproof explorer"]


def test_searches_and_dialogs_end_with_what_they_are_about(opened: Chrome) -> None:
    opened.run("explorer.huntProperty(explorer.model.properties[0])")
    opened.press("s")
    opened.until("document.getElementById('ask').open")
    opened.run("location.hash = 'open=peterson'")
    opened.until("explorer.entry.id === 'peterson'")
    assert opened.run("document.querySelector('dialog[open]')") is None
    assert opened.run("document.getElementById('hunt-state').hidden")


def test_what_is_looked_at_stays_and_is_drawn_for_what_is_shown(opened: Chrome) -> None:
    opened.run("document.getElementById('filter').value = 'take'")
    opened.run("document.getElementById('filter').dispatchEvent(new Event('input'))")
    opened.click('[data-show="graph"]')
    opened.until("document.querySelectorAll('.graph .node').length > 0")
    opened.run("location.hash = 'open=peterson'")
    opened.until("explorer.entry.id === 'peterson'")
    assert opened.run("[explorer.view, document.getElementById('view-graph').hidden]") == ["graph", False]
    picks = "[...document.querySelectorAll('#graph .pick')].map((each) => each.textContent.trim())"
    assert set(opened.run(picks)) == {"flag", "place", "turn"}
    assert opened.run("[explorer.filter, document.getElementById('filter').value]") == ["", ""]


def test_the_command_for_other_constants_is_one_that_a_shell_reads(opened: Chrome) -> None:
    opened.click('[data-show="constants"]')
    opened.run("document.querySelector('[data-constant=tags]').value = \"Aa b'c\"")
    opened.click("#apply")
    opened.until("document.getElementById('copied').open")
    command = opened.run("document.getElementById('copied-text').value")
    assert "--set 'tags=Aa b'\\''c'" in command

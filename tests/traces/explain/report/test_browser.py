"""The page in a browser: its scripts run, its filters filter, its drawings zoom, and nothing is fetched."""

from __future__ import annotations

from pathlib import Path

import pytest

from rocketproof.traces.claims.claims import CLAIMS
from rocketproof.traces.explain.report.html import page

from .browser import Opened, browse
from .examples import clean, troubled

ASK = """
const all = (selector) => Array.from(document.querySelectorAll(selector));
const seen = () => all(".claims tbody tr").filter((row) => !row.hidden).length;
const click = (selector) => document.querySelector(selector).click();
const point = (type, target, x) => target.dispatchEvent(
  new PointerEvent(type, { bubbles: true, button: 0, clientX: x, clientY: target.getBoundingClientRect().top + 3 }));
const labels = (axis) => Array.from(axis.querySelectorAll("text")).map((text) => text.textContent);

answers.ready = document.documentElement.dataset.ready;
answers.fetched = performance.getEntriesByType("resource").length;
answers.wide = document.documentElement.scrollWidth - innerWidth;

answers.rows = [seen()];
click('[data-verdict="violated"]'); answers.rows.push(seen());
click('.filters [data-verdict=""]'); answers.rows.push(seen());
const search = document.querySelector(".filters input");
search.value = "dead letter"; search.dispatchEvent(new Event("input")); answers.rows.push(seen());
search.value = ""; search.dispatchEvent(new Event("input")); answers.rows.push(seen());

const time = document.querySelector("time[data-ms]");
answers.local = document.querySelector(".local").textContent;
answers.times = [time.textContent];
click("#zone"); answers.times.push(time.textContent);
answers.zone = document.querySelector("#zone").textContent;
const axis = document.querySelector("#ownership svg.axis");
answers.labels = [labels(axis)];
click("#zone"); answers.labels.push(labels(axis));

const strip = document.querySelector("#ownership svg.strip");
const box = strip.getBoundingClientRect();
point("pointerdown", strip, box.left + box.width / 3);
point("pointerup", strip, box.left + box.width / 2);
answers.labels.push(labels(axis));
answers.zoomed = all("#ownership svg.zoomed, #offsets svg.zoomed").map((each) => each.getAttribute("width"));
answers.unzoomed = all(".own-axis svg.zoomed").map((each) => each.getAttribute("width"));
answers.whole = [document.querySelector("#whole").hidden];
click("#whole");
answers.labels.push(labels(axis));
answers.whole.push(document.querySelector("#whole").hidden);

const bar = document.querySelector("#ownership .strip rect.gap");
point("pointermove", bar, bar.getBoundingClientRect().left + 2);
answers.tips = [document.querySelector("#tip").textContent];
click("#zone");
point("pointermove", bar, bar.getBoundingClientRect().left + 2);
answers.tips.push(document.querySelector("#tip").textContent);
point("pointermove", document.querySelector("h1"), 5);
answers.noTip = document.querySelector("#tip").hidden;
location.hash = "#nothing-skipped";
"""


@pytest.fixture(scope="module")
def opened(tmp_path_factory: pytest.TempPathFactory) -> Opened:
    check, stories = troubled(flood=300)
    folder = tmp_path_factory.mktemp("browser")
    return browse(page(check, stories=stories), folder, script=ASK, zone="Asia/Shanghai")


def test_scripts_run_without_a_complaint_and_nothing_is_fetched(opened: Opened) -> None:
    assert opened.console == []
    assert (opened.answers["ready"], opened.answers["fetched"]) == ("yes", 0)


def test_claims_are_filtered_by_verdict_and_by_words(opened: Opened) -> None:
    assert opened.answers["rows"] == [len(CLAIMS), 4, len(CLAIMS), 4, len(CLAIMS)]


def test_times_are_shown_in_the_zone_of_the_reader(opened: Opened) -> None:
    assert opened.answers["local"] == " = 2026-03-01 20:00:00.000 Asia/Shanghai"
    assert opened.answers["times"] == ["2026-03-01 12:00:00.000", "2026-03-01 20:00:00.000"]
    assert opened.answers["zone"] == "times: Asia/Shanghai"


def test_the_axis_is_zoomed_and_back(opened: Opened) -> None:
    local, before, zoomed, after = opened.answers["labels"]
    assert local == ["20:00", "20:05", "20:10", "20:15", "20:20", "20:25", "20:30"]
    assert before == ["12:00", "12:05", "12:10", "12:15", "12:20", "12:25", "12:30"]
    assert zoomed == ["12:10", "12:11", "12:12", "12:13", "12:14", "12:15"]
    assert after == before
    widths = {round(float(width.removesuffix("%"))) for width in opened.answers["zoomed"]}
    assert widths == {600}
    assert len(opened.answers["zoomed"]) == 16
    assert opened.answers["whole"] == [False, True]


def test_what_is_pointed_at_says_what_it_is(opened: Opened) -> None:
    assert opened.answers["tips"] == [
        "no owner for 2 min\n2026-03-01 12:10:00.000 – 2026-03-01 12:12:00.000",
        "no owner for 2 min\n2026-03-01 20:10:00.000 – 2026-03-01 20:12:00.000",
    ]
    assert opened.answers["noTip"] is True


def test_a_narrow_page_does_not_scroll_sideways(tmp_path: Path) -> None:
    check, stories = troubled(flood=300)
    narrow = browse(
        page(check, stories=stories),
        tmp_path,
        script="answers.wide = document.documentElement.scrollWidth - innerWidth; answers.width = innerWidth;",
        width=500,
    )
    assert narrow.console == []
    assert narrow.answers["width"] <= 500
    assert narrow.answers["wide"] <= 0


def test_a_clean_page_has_nothing_to_complain_about(tmp_path: Path) -> None:
    script = "answers.ready = document.documentElement.dataset.ready;"
    opened = browse(page(clean()), tmp_path, script=script)
    assert (opened.console, opened.answers) == ([], {"ready": "yes"})


def test_a_complaint_is_noticed(tmp_path: Path) -> None:
    text = page(clean()).replace("</main>", '<img src="http://localhost:9/x.png"></main><script>nothing.there</script>')
    assert len(browse(text, tmp_path).console) == 2

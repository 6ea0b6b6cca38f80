"""The page in a real browser: nothing complains, nothing runs, it fits a phone, and a keyboard is enough."""

from __future__ import annotations

import copy
import itertools
import os

import pytest

from pytest_skillevo.report.gate import GateLine, GateScreen
from pytest_skillevo.report.html import gate_page, page
from pytest_skillevo.report.json_file import clean

from .browser import Browser, installed
from .samples import SAMPLES, accept, reject_critical
from .test_html import HOSTILE, pairs


@pytest.fixture(scope="module")
def browser():
    program = installed()
    if program is None:
        if os.environ.get("CI"):
            pytest.fail("no Chromium: CI must test the page in a real browser (Debian: apt-get install chromium)")
        pytest.skip("no Chromium here (Debian: apt-get install chromium)")
    started = Browser(program)
    yield started
    started.close()


@pytest.fixture
def shown(browser, tmp_path):
    """Show a report; gives the browser."""

    def show(report, details=None, **settings):
        path = tmp_path / "page.html"
        path.write_text(page(clean(report), details), encoding="utf-8")
        browser.open(path, **settings)
        return browser

    return show


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [360, 1280])
@pytest.mark.parametrize("name", ["accept", "blocked", "no_change", "inconclusive_with_few_cases"])
def test_a_page_is_quiet_and_fits_the_screen(shown, name, width, scheme):
    browser = shown(SAMPLES[name](), width=width, scheme=scheme)
    assert browser.complaints() == []
    assert browser.ask("document.documentElement.scrollWidth") <= width
    page_colour = browser.ask("getComputedStyle(document.body).backgroundColor")
    assert page_colour == {"light": "rgb(251, 251, 249)", "dark": "rgb(20, 23, 26)"}[scheme]


def test_the_first_screen_has_verdict_reason_and_both_figures(shown):
    browser = shown(accept(), width=1280, height=800)
    bottoms = browser.ask(
        "[...document.querySelectorAll('.verdict, .answer, .reason, svg.paired, svg.plane')]"
        ".map(each => each.getBoundingClientRect().bottom)"
    )
    assert len(bottoms) == 5
    assert max(bottoms) <= 800


def test_on_a_phone_figures_stand_below_each_other_and_conversations_too(shown):
    report = accept()
    browser = shown(report, pairs(report, "short", "w" * 500), width=360, height=740)
    lefts = browser.ask(
        "[...document.querySelectorAll('.plots figure')].map(each => each.getBoundingClientRect().left)"
    )
    assert lefts[0] == lefts[1]
    browser.ask("document.querySelector('.case-fold').open = true")
    lefts = browser.ask("[...document.querySelectorAll('.case-fold[open] .run')].map(each => each.offsetLeft)")
    assert lefts[0] == lefts[1]
    assert browser.ask("document.documentElement.scrollWidth") <= 360


def test_a_link_in_the_table_opens_the_case(shown):
    browser = shown(accept())
    browser.ask("document.querySelector('.cases tbody a').click()")
    assert browser.ask("document.querySelector(location.hash).closest('details').open")


def test_a_keyboard_walks_through_the_page_and_opens_a_case(shown):
    report = reject_critical()
    browser = shown(report, pairs(report, *HOSTILE))
    focus = "document.activeElement"
    browser.press("Tab", 9)
    assert browser.ask(f"{focus}.className") == "skip"
    browser.press("Enter", 13, "\r")
    assert browser.ask("location.hash") == "#evidence"
    seen = []
    for _ in range(200):
        browser.press("Tab", 9)
        seen.append(browser.ask(f"{focus}.tagName"))
        assert browser.ask(f"getComputedStyle({focus}).outlineStyle") == "solid"
        if browser.ask(f"{focus}.matches('.case-fold > summary')"):
            break
    assert {"DIV", "A", "SUMMARY"} <= set(seen)
    browser.press("Enter", 13, "\r")
    assert browser.ask(f"{focus}.parentElement.open")
    assert browser.complaints() == []


def test_a_screen_reader_finds_names_headings_and_tables(shown):
    browser = shown(accept())
    nodes = browser.accessibility()

    def of(role):
        return [node for node in nodes if node.get("role", {}).get("value") == role]

    levels = [next(p["value"]["value"] for p in node["properties"] if p["name"] == "level") for node in of("heading")]
    assert levels[0] == 1
    assert levels.count(1) == 1
    assert all(after - before <= 1 for before, after in itertools.pairwise(levels))
    for role in ("image", "link", "region", "table", "heading"):
        assert of(role), role
        assert all(node["name"]["value"].strip() for node in of(role)), role
    assert len(of("main")) == 1
    assert any("15 cases better" in (node.get("description") or {}).get("value", "") for node in of("image"))


def test_five_megabytes_of_hostile_text_stay_text(shown):
    report = reject_critical()
    flood = "".join(HOSTILE) * (5_000_000 // len("".join(HOSTILE)))
    report["skill"]["diff"] = f"--- a\n+++ b\n@@ -0,0 +1,2 @@\n+{flood}\n"
    report["warnings"] = [flood]
    report["decision"]["notes"] = [flood, *HOSTILE]
    for number, row in enumerate(report["confirmation"]["cases"]):
        row["case"] = f"{HOSTILE[number % len(HOSTILE)]}{number}"
    details = pairs(copy.deepcopy(report), flood, *HOSTILE, flood)
    browser = shown(report, details)
    assert browser.complaints() == []
    assert browser.ask("window.pwned === undefined && document.querySelectorAll('script, img, base').length === 0")
    assert browser.ask("document.querySelectorAll('*').length") < 20_000
    assert browser.ask("document.title").startswith("recipe-cookbook")
    # Folded text costs no layout: the page is as long as without it.
    assert browser.ask("document.documentElement.scrollHeight") < 15_000


@pytest.mark.parametrize(("width", "scheme"), [(360, "dark"), (1280, "light")])
def test_a_gate_shows_all_its_skills_on_one_quiet_page(browser, tmp_path, width, scheme):
    unsearched = {"search": None, "replay": None}  # as in every report of a gate
    lines = [
        GateLine(
            f"{name}{HOSTILE[0]}",
            "edited",
            "REJECT",
            HOSTILE[1],
            False,
            tuple(HOSTILE),
            clean({**report, **unsearched}),
        )
        for name, report in (("one", reject_critical()), ("two", accept()))
    ]
    lines.append(GateLine("three", "added", "BLOCKED", "no holdout case", False))
    screen = GateScreen("merge base with main (1234)", tuple(lines), 12, simulated=True)
    path = tmp_path / "gate.html"
    path.write_text(gate_page(screen, {"one" + HOSTILE[0]: pairs(accept(), *HOSTILE)}), encoding="utf-8")
    browser.open(path, width=width, scheme=scheme)
    assert browser.complaints() == []
    assert browser.ask("document.documentElement.scrollWidth") <= width
    assert browser.ask("document.querySelector('h1').textContent").startswith("skill gate: FAIL (3 of 3")
    assert browser.ask("document.querySelectorAll('script, img, base').length") == 0
    ids = browser.ask("[...document.querySelectorAll('[id]')].map(each => each.id)")
    assert len(ids) == len(set(ids))
    targets = browser.ask("[...document.querySelectorAll('a')].map(each => each.getAttribute('href').slice(1))")
    assert set(targets) <= set(ids)
    browser.ask("document.querySelector('#skill-2 .cases tbody a').click()")
    assert browser.ask("document.querySelector(location.hash).closest('#skill-2 details').open")


def test_nothing_in_the_page_may_run_even_if_it_were_put_there(shown):
    browser = shown(accept())
    browser.ask(
        "(() => { const each = document.createElement('script'); each.textContent = 'window.pwned = 1';"
        "document.body.append(each); const link = document.createElement('img'); link.src = 'https://evil.example/x';"
        "document.body.append(link); return 1 })()"
    )
    assert browser.ask("window.pwned === undefined")
    assert sum("Content Security Policy" in complaint for complaint in browser.complaints()) == 2
    failed = [event["params"] for event in browser.events if event.get("method") == "Network.loadingFailed"]
    assert [each["blockedReason"] for each in failed] == ["csp"]

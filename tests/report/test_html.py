"""The page as text: what foreign text can and cannot do in it, its size, its parts."""

from __future__ import annotations

import base64
import copy
import hashlib
import itertools
import re
from html.parser import HTMLParser

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pytest_skillevo.core.records import Evaluation, Outcome
from pytest_skillevo.report.details import MOST, CasePair, Details, conversation
from pytest_skillevo.report.html import page
from pytest_skillevo.report.html.markup import Html, element, joined
from pytest_skillevo.report.json_file import clean
from pytest_skillevo.report.text import visible_lines

from .foreign import FOREIGN, poisoned
from .samples import SAMPLES, accept, reject_critical

ENDINGS = {name: clean(sample()) for name, sample in SAMPLES.items()}

HOSTILE = [
    "<script>window.pwned = 1</script>",
    "</pre></details></section><img src=x onerror='window.pwned = 1'>",
    "<svg onload=window.pwned=1><style>*{display:none}</style>",
    "javascript:window.pwned=1",
    "'\" onfocus=window.pwned=1 autofocus x='",
    "<!-- --!> <base href=//evil.example> <meta http-equiv=refresh content=0;url=//evil.example>",
    "&lt;script&gt;&#60;script&#62;",
    "]]> \u202egnp.exe \u0000 \ud800 \x1b[2J",
]


class Reader(HTMLParser):
    """Elements with their attributes, and all text."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.elements: list[tuple[str, dict[str, str | None]]] = []
        self.open: list[str] = []
        self.text = ""
        self.feed(text)
        self.close()

    def handle_starttag(self, tag, attributes):
        self.elements.append((tag, dict(attributes)))
        if tag not in ("meta", "br", "hr"):
            self.open.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        self.text += data

    def named(self, tag):
        return [attributes for name, attributes in self.elements if name == tag]


@settings(max_examples=100, deadline=None)
@given(st.one_of(FOREIGN, st.sampled_from(HOSTILE)))
def test_text_stays_text_in_content_and_in_attributes(text):
    read = Reader(element("p", text, element("b", "x"), [text, None], title=text))
    assert [tag for tag, _ in read.elements] == ["p", "b"]
    shown = visible_lines(text)
    assert read.text == f"{shown}x{shown}"
    assert read.elements[0][1] == {"title": shown}


def test_attributes_can_be_left_out_and_only_finished_markup_is_taken_as_it_is():
    assert element("a", Html("<b>"), class_="x", aria_label=None, tabindex=0) == '<a class="x" tabindex="0"><b></a>'
    assert joined(["<b>", None, Html("<i>")]) == "&lt;b&gt;<i>"


def checked(text: str) -> Reader:
    """The page, read; asserts what must hold for every page whatever stands in it."""
    assert text.startswith('<!doctype html>\n<html lang="en">')
    read = Reader(text)
    assert read.open == []
    assert read.named("script") == []
    assert len(read.named("style")) == 1
    for _, attributes in read.elements:
        assert not any(name.startswith("on") or name in ("style", "src", "srcset", "action") for name in attributes)
        assert (attributes.get("href") or "#").startswith("#")
    names = [attributes["id"] for _, attributes in read.elements if "id" in attributes]
    assert len(names) == len(set(names))
    for link in read.named("a"):
        assert link["href"][1:] in names
    return read


@pytest.mark.parametrize("name", SAMPLES)
def test_every_ending_has_a_page_that_begins_with_the_verdict(name):
    read = checked(page(ENDINGS[name]))
    verdict = ENDINGS[name]["decision"]["verdict"].replace("_", " ")
    body = read.text[read.text.index("Skip to the evidence") :]
    assert body.index(verdict) < body.index("Evidence", 30)
    assert "imulated" in body[: body.index("Evidence", 30)] or name == "accept_on_cost"


def test_the_policy_allows_this_style_and_nothing_else():
    read = checked(page(ENDINGS["accept"]))
    policy = next(each["content"] for each in read.named("meta") if "http-equiv" in each)
    style = re.search("<style>(.*?)</style>", page(ENDINGS["accept"]), re.DOTALL)[1]
    digest = base64.b64encode(hashlib.sha256(style.encode()).digest()).decode()
    assert policy == f"default-src 'none'; style-src 'sha256-{digest}'; base-uri 'none'; form-action 'none'"


@settings(max_examples=25, deadline=None)
@given(st.data(), st.sampled_from(sorted(ENDINGS)))
def test_no_report_can_bring_markup_of_its_own(data, name):
    turns = itertools.cycle(data.draw(st.lists(FOREIGN | st.sampled_from(HOSTILE), min_size=1, max_size=8)))
    checked(page(poisoned(copy.deepcopy(ENDINGS[name]), lambda: next(turns))))


def test_a_huge_report_gives_a_page_of_bounded_size():
    report = copy.deepcopy(ENDINGS["accept"])
    report["skill"]["diff"] = "--- a\n+++ b\n@@ -0,0 +1,90000 @@\n" + "".join(
        f"+{HOSTILE[0]}\n" for _ in range(150_000)
    )
    rows = report["confirmation"]["cases"]
    report["confirmation"]["cases"] = [
        {**rows[number % len(rows)], "case": f"{HOSTILE[number % 8]}-{number}"} for number in range(2_000)
    ]
    report["search"]["events"] *= 100
    report["warnings"] = ["w" * 5_000_000]
    text = page(report)
    checked(text)
    assert len(text) < 3_000_000
    assert "more are in the JSON report" in text


def pairs(report, *texts):
    """Details with a conversation for every case."""
    trace = {"sessions": [{"messages": [{"role": "user", "content": text} for text in texts]}]}
    told = conversation(Outcome("scored", Evaluation(0.5, feedback=texts[0])), trace)
    return Details(pairs={row["case"]: CasePair(0, told, told) for row in report["confirmation"]["cases"]})


def test_conversations_stand_side_by_side_and_hostile_ones_stay_text():
    report = ENDINGS["reject_critical"]
    read = checked(page(report, pairs(report, *HOSTILE)))
    for text in HOSTILE[:-1]:
        assert visible_lines(text) in read.text
    assert read.text.count("Before, repeat 1: 0.50") == len(report["confirmation"]["cases"])


@pytest.mark.parametrize("text", ["<", "\x01", "\U000e0001", "\u5bff"])
def test_conversations_whose_escapes_are_longer_than_their_text_do_not_make_a_larger_page(text):
    report = ENDINGS["reject_critical"]
    whole = page(report, pairs(report, *[text * 6_000] * 10))
    assert len(whole.encode()) < 6_000_000
    checked(whole)


def test_without_a_store_the_page_says_how_to_get_the_conversations():
    assert "skillevo report ex-5f0c2a91 --html -o FILE" in page(ENDINGS["accept"])


def test_a_long_conversation_is_cut_and_says_so():
    trace = {"sessions": [{"messages": [{"role": "user", "content": "x" * 5_000_000}] * 50}]}
    told = conversation(Outcome("scored", Evaluation(0.5)), trace)
    assert told.size < MOST / 20
    assert "more characters]" in told.messages[0].text
    assert "later messages are left out" in told.cut


@pytest.mark.parametrize(
    ("trace", "said"),
    [
        (None, []),
        ("plain text", [("recorded", "plain text")]),
        ({"sessions": "none"}, [("recorded", '{\n "sessions": "none"\n}')]),
        ({"sessions": [{"messages": [3, {"role": "tool", "name": "find", "content": {"a": 1}}]}]}, None),
        ({"sessions": [None, {}]}, [("session", "1 of 2"), ("session", "2 of 2")]),
        ({"cut": "left out: 9 bytes", "trace": None}, []),
    ],
)
def test_whatever_a_test_recorded_can_be_shown(trace, said):
    told = conversation(Outcome("scored", Evaluation(0.5)), trace)
    if said is None:
        said = [("recorded", "3"), ("tool find", '{\n "a": 1\n}')]
    assert [(one.role, one.text) for one in told.messages] == said


def test_tool_calls_are_part_of_a_conversation():
    call = {"id": "c1", "type": "function", "function": {"name": "meal_search", "arguments": '{"name": "x"}'}}
    trace = {"sessions": [{"messages": [{"role": "assistant", "content": "", "tool_calls": [call]}]}]}
    (said,) = conversation(Outcome("scored", Evaluation(0.5)), trace).messages
    assert (said.role, said.text) == ("assistant calls meal_search", '{"name": "x"}')


def test_an_errored_run_shows_its_reason():
    told = conversation(Outcome("errored", None, "the provider answered 503"), None)
    assert told.score is None
    assert told.feedback == "the provider answered 503"


def test_the_lineage_shows_who_came_from_whom_and_what_changed():
    report = accept()
    winner = report["search"]["winner"]
    text = page(clean(report), Details(diffs={winner: "--- a\n+++ b\n@@ -1 +1 @@\n-old\n+new <b>\n"}))
    assert "changes steps, from c1, validation 0.93" in text
    assert '<span class="added">+new &lt;b&gt;\n</span>' in text


def test_an_unmeasured_cost_is_said_and_not_drawn():
    report = clean(reject_critical())
    report["confirmation"]["holdout"] |= {"tokens": None, "unknown_usage": 30}
    text = page(report)
    assert "Tokens were not measured in 30 cases" in text
    assert 'class="plot plane"' not in text


def luminance(colour: str) -> float:
    parts = [int(colour[at : at + 2], 16) / 255 for at in (1, 3, 5)]
    red, green, blue = (part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def contrast(one: str, other: str) -> float:
    dark, bright = sorted((luminance(one), luminance(other)))
    return (bright + 0.05) / (dark + 0.05)


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_text_has_enough_contrast(scheme):
    style = re.search("<style>(.*?)</style>", page(ENDINGS["accept"]), re.DOTALL)[1]
    blocks = re.findall(r":root \{(.*?)\}", style, re.DOTALL)
    colours = dict(re.findall(r"--([\w-]+): (#\w{6})", blocks[0 if scheme == "light" else 1]))
    for ink in ("ink", "soft", "link", "better", "worse", "critical"):
        for ground in ("page", "card", "code"):
            assert contrast(colours[ink], colours[ground]) >= 4.5, (ink, ground)
    for ground in ("added", "removed", "good", "bad"):
        assert contrast(colours["ink"], colours[ground]) >= 4.5, ground
        assert contrast(colours["soft"], colours[ground]) >= 4.0, ground
    for verdict in ("accept", "reject", "inconclusive", "blocked", "no-change"):
        # Large bold text.
        assert contrast("#ffffff", colours[verdict]) >= 3.0, verdict

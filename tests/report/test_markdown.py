"""Markdown: the answer first, small enough for a comment, and foreign text that only shows."""

from __future__ import annotations

import copy
import html
import itertools
import re

import cmarkgfm
import pytest
from cmarkgfm.cmark import Options
from hypothesis import given, settings
from hypothesis import strategies as st

from pytest_skillevo.report.json_file import clean
from pytest_skillevo.report.markdown import COMMENT_LIMIT, cell_code, code, escaped, markdown
from pytest_skillevo.report.text import visible

from .foreign import FOREIGN, poisoned
from .samples import SAMPLES, accept, accept_on_cost, reject_critical

ENDINGS = {name: clean(sample()) for name, sample in SAMPLES.items()}


@pytest.mark.parametrize("name", SAMPLES)
def test_every_ending_as_markdown(name, snapshot):
    assert markdown(ENDINGS[name]) == snapshot


@pytest.mark.parametrize(
    ("name", "answer"),
    [
        ("accept", "no ground for a merge: the model is simulated"),
        ("accept_on_cost", "may be merged once somebody has read the change"),
        ("reject_critical", "do not merge"),
        ("inconclusive", "do not merge on this evidence"),
        ("blocked", "cannot be judged"),
        ("no_change", "there is nothing to merge"),
    ],
)
def test_the_first_line_says_whether_it_may_be_merged_and_why(name, answer):
    first = markdown(ENDINGS[name]).split("\n")[0]
    assert answer in first
    assert ENDINGS[name]["decision"]["verdict"].replace("_", " ") in first
    assert len(first.split(").", 1)[1]) > 20


def test_the_first_lines_say_that_a_model_was_simulated():
    assert "**Simulated model:**" in "\n".join(markdown(ENDINGS["accept"]).split("\n")[:3])
    live = copy.deepcopy(ENDINGS["accept"])
    live["model"] |= {"kind": "live", "name": "gpt-x", "roles": dict.fromkeys(live["model"]["roles"], "gpt-x")}
    assert "imulated" not in markdown(live)


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("thanks @octocat", "thanks @&#8203;octocat"),
        ("fixes #12", "fixes \\#&#8203;12"),
        ("fixes owner/repo#12 and GH-7", "fixes owner/repo\\#&#8203;12 and GH-&#8203;7"),
        ("see https://evil.example www.evil.example", "see https:&#8203;//evil.example www&#8203;.evil.example"),
        ("<img src=x onerror=alert(1)>", "\\<img src=x onerror=alert(1)\\>"),
        ("<!-- hidden -->", "\\<!-- hidden --\\>"),
        ("![x](https://evil)", "!\\[x\\](https:&#8203;//evil)"),
        ("a | b", "a \\| b"),
        ("&amp; $x$ ~~no~~ *b* _i_", "\\&amp; \\$x\\$ \\~\\~no\\~\\~ \\*b\\* \\_i\\_"),
        ("- a list", "\\- a list"),
        ("1. a list", "1\\. a list"),
        ("0.72", "0.72"),
        ("-0.02", "-0.02"),
        ("line\nbreak\x1b[2J", "line\\\\nbreak\\\\x1b\\[2J"),
    ],
)
def test_foreign_text_is_shown_and_does_nothing(text, shown):
    assert escaped(text) == shown


@pytest.mark.parametrize(("text", "shown"), [("a", "`a`"), ("a`b", "``a`b``"), ("`", "`` ` ``"), ("", "`   `")])
def test_code_cannot_be_left_by_backticks(text, shown):
    assert code(text) == shown


def rendered(markdown_text: str) -> str:
    """HTML as GitHub's own parser makes it, before GitHub's filters."""
    return cmarkgfm.github_flavored_markdown_to_html(markdown_text, Options.CMARK_OPT_UNSAFE)


def words(markup: str) -> list[str]:
    """The text of rendered HTML, word by word."""
    return html.unescape(re.sub(r"<[^>]*>", "", markup)).replace("\u200b", "").split()


PUNCTUATED = st.text("ab1 @#*_`~|<>[]()!\\&;:/.-+={}$^\"'\n\twhGH", max_size=20)


@settings(max_examples=300, deadline=None)
@given(st.one_of(PUNCTUATED, FOREIGN))
def test_githubs_parser_reads_foreign_text_as_that_text(text):
    shown = visible(text)
    for frame in ("- {}\n", "**x** {}\n", "x {} y\n"):
        markup = rendered(frame.format(escaped(text)))
        assert set(re.findall(r"<(\w+)", markup)) <= {"ul", "li", "p", "strong"}
        assert words(markup) == frame.replace("- ", "", 1).replace("**", "").format(shown).split()
    row = rendered(f"| a | b |\n|---|---|\n| {escaped(text)} | {cell_code(text)} |\n")
    first, second = re.findall("<td>(.*?)</td>", row, re.DOTALL)
    assert words(first) == words(second) == shown.split()


@settings(max_examples=25, deadline=None)
@given(st.data(), st.sampled_from(sorted(ENDINGS)))
def test_githubs_parser_finds_only_our_own_elements_in_a_report(data, name):
    turns = itertools.cycle(data.draw(st.lists(FOREIGN | PUNCTUATED, min_size=1, max_size=8)))
    markup = rendered(markdown(poisoned(copy.deepcopy(ENDINGS[name]), lambda: next(turns))))
    ours = {"p", "strong", "blockquote", "ul", "li", "code", "pre", "details", "summary"}
    assert set(re.findall(r"<(\w+)", markup)) <= ours | {"table", "thead", "tbody", "tr", "th", "td"}
    assert markup.count("<details>") == markup.count("</details>")


def test_a_fence_is_longer_than_any_run_of_backticks_in_the_diff():
    report = accept()
    report["skill"]["diff"] = "--- a\n+++ b\n@@ -1 +1 @@\n-```\n+````` @octocat\n"
    text = markdown(report)
    body = text[text.index("``````diff") :]
    assert body.startswith("``````diff\n")
    assert body.index("\n``````\n") > body.index("@octocat")


def test_the_diff_and_the_cases_are_folded_away():
    text = markdown(ENDINGS["accept"])
    assert text.count("<details>") == text.count("</details>") == 3
    assert text.index("<details>") > text.index("| quality")


@pytest.mark.parametrize("name", ["accept", "reject_critical", "accept_on_cost"])
def test_a_huge_report_still_fits_into_a_comment_and_says_what_is_missing(name):
    report = copy.deepcopy(ENDINGS[name])
    report["skill"]["diff"] = "--- a\n+++ b\n@@ -0,0 +1,90000 @@\n" + "+@all fixes #1 <b>\u5bff\n" * 90_000
    rows = report["confirmation"]["cases"]
    report["confirmation"]["cases"] = [
        {**rows[number % len(rows)], "case": f"{rows[0]['case']}{'[deep]' * 200}-{number}"} for number in range(5_000)
    ]
    report["warnings"] = ["w" * 100_000] * 1000
    text = markdown(report)
    assert len(text) <= COMMENT_LIMIT
    assert "more cases are in the report" in text
    assert "more characters of the diff are in the report" in text
    assert text.count("<details>") == text.count("</details>")


@settings(max_examples=60, deadline=None)
@given(st.data(), st.sampled_from(sorted(ENDINGS)))
def test_no_foreign_text_reaches_github_as_anything_but_text(data, name):
    turns = itertools.cycle(data.draw(st.lists(FOREIGN, min_size=1, max_size=8)))
    text = markdown(poisoned(copy.deepcopy(ENDINGS[name]), lambda: next(turns)))
    assert len(text) < COMMENT_LIMIT
    assert not any(line.lstrip().startswith("::") for line in text.split("\n"))
    prose = re.sub(r"^(`{3,})diff\n.*?^\1$", "", text, flags=re.MULTILINE | re.DOTALL)
    prose = re.sub(r"(?<![\\`])(`+)(?!`).*?(?<!`)\1(?!`)", "", prose)
    prose = prose.replace("&#8203;", "\u200b")
    assert not re.search(r"@\w", prose)
    assert not re.search(r"#\d", prose)
    tags = re.findall(r"(?<!\\)<[^>]*>", prose)
    assert set(tags) <= {"<details>", "</details>", "<summary>", "</summary>"}


@pytest.mark.parametrize("limit", [10, 600, 4_000, 20_000])
def test_a_small_share_of_a_comment_holds_whole_folds_or_the_answer_alone_or_nothing(limit):
    text = markdown(ENDINGS["accept"], limit)
    assert len(text) <= limit
    assert text.count("<details>") == text.count("</details>")
    assert (limit < 600) == (text == "")


def test_an_unknown_figure_is_not_a_number():
    report = copy.deepcopy(clean(accept_on_cost()))
    report["confirmation"]["cases"][-1] |= {"tokens_before": None, "after": None, "before": None}
    assert "| unknown | unknown | unknown | unknown |" in markdown(report)


def test_critical_cases_are_marked():
    assert "(critical)" in markdown(clean(reject_critical()))

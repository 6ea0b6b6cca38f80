"""GitHub Actions: annotations within their number, commands that carry foreign text, and a step summary that fits."""

from __future__ import annotations

import copy
import itertools

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pytest_skillevo.report.gate import GateLine, GateScreen, gate_annotations, gate_markdown
from pytest_skillevo.report.github import MOST_ANNOTATIONS, SUMMARY_BYTES, add_to_summary, annotate
from pytest_skillevo.report.json_file import clean
from pytest_skillevo.report.markdown import COMMENT_LIMIT

from .foreign import FOREIGN, poisoned
from .samples import SAMPLES, reject_worse

ENDINGS = {name: clean(sample()) for name, sample in SAMPLES.items()}


@pytest.mark.parametrize(
    ("name", "kind"),
    [
        ("accept", "notice"),
        ("no_change", "notice"),
        ("inconclusive", "warning"),
        ("reject_critical", "warning"),
        ("blocked", "error"),
    ],
)
def test_the_first_annotation_tells_the_verdict(name, kind):
    first = annotate(ENDINGS[name])[0]
    assert first.startswith(f"::{kind} title=skill recipe-cookbook%3A {ENDINGS[name]['decision']['verdict']}"[:40])
    assert "(simulated model)" in first


def test_cases_that_lost_are_shown_at_their_file_and_no_more_than_github_takes():
    lines = annotate(clean(reject_worse()), "services/shop")
    assert len(lines) == MOST_ANNOTATIONS
    assert all(line.startswith("::warning file=services/shop/suites/recipe/test_recipe.py,") for line in lines[1:])


def test_text_cannot_end_a_command_or_add_a_property():
    report = copy.deepcopy(ENDINGS["reject_worse"])
    report["skill"]["name"] = "a,file=/etc/passwd::x\n::error::y"
    report["decision"]["reason"] = "100%\n::stop-commands::z"
    (line,) = annotate(report)[:1]
    assert line.count("::") == 2 + report["decision"]["reason"].count("::")
    assert "\n" not in line
    assert "a%2Cfile=/etc/passwd%3A%3Ax" in line
    assert "100%25" in line


@settings(max_examples=40, deadline=None)
@given(st.data(), st.sampled_from(sorted(ENDINGS)))
def test_foreign_text_makes_no_further_commands(data, name):
    turns = itertools.cycle(data.draw(st.lists(FOREIGN, min_size=1, max_size=8)))
    lines = annotate(poisoned(copy.deepcopy(ENDINGS[name]), lambda: next(turns)))
    assert 1 <= len(lines) <= MOST_ANNOTATIONS
    for line in lines:
        assert line.isprintable()
        assert line.startswith(("::notice ", "::warning ", "::error "))


def test_the_step_summary_is_added_to_until_it_is_full(tmp_path):
    path = tmp_path / "summary.md"
    path.write_text("# earlier\n", encoding="utf-8")
    assert add_to_summary(path, "**recipe-cookbook: yes**\n")
    text = path.read_text(encoding="utf-8")
    assert text.startswith("# earlier\n**recipe-cookbook: ")
    path.write_bytes(b"x" * SUMMARY_BYTES)
    assert not add_to_summary(path, "**recipe-cookbook: yes**\n")
    assert path.stat().st_size == SUMMARY_BYTES


def test_a_gate_tells_first_what_may_not_be_merged_and_stays_within_the_number():
    stopped, fine = ENDINGS["reject_worse"], ENDINGS["accept"]
    lines = (
        GateLine("fine", "edited", "ACCEPT", "not worse", True, (), fine),
        GateLine("a,b\n::error::x", "added", "BLOCKED", "no case", False),
        GateLine("worse", "edited", "REJECT", "worse on 14 cases", False, (), stopped),
    )
    told = gate_annotations(GateScreen("origin/main", lines, 0, False), "shop")
    assert len(told) == MOST_ANNOTATIONS
    assert told[0].startswith("::error title=skill gate%3A a%2Cb %3A%3Aerror%3A%3Ax BLOCKED::no case")
    assert told[1] == "::error title=skill gate%3A worse REJECT::worse on 14 cases"
    assert told[2].startswith("::notice title=skill gate%3A fine ACCEPT::")
    assert all(line.startswith("::warning file=shop/suites/recipe/test_recipe.py,") for line in told[3:])


def test_the_comment_of_a_gate_with_many_skills_still_fits():
    lines = tuple(
        GateLine(f"skill-{n}", "edited", "ACCEPT", "not worse", True, (), ENDINGS["accept"]) for n in range(60)
    )
    text = gate_markdown(GateScreen("origin/main", lines, 0, True))
    assert len(text) <= COMMENT_LIMIT
    assert text.count("<details>") == text.count("</details>")
    assert text.count("**recipe-cookbook: ") == 60

"""The end screens: the answer first, readable at 80 columns without colour, and deaf to what foreign text tells it."""

from __future__ import annotations

import copy
import itertools

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pytest_skillevo.core.verdict import Decision, Verdict
from pytest_skillevo.report.terminal import Screen, end_screen
from pytest_skillevo.report.text import columns

from .foreign import FOREIGN, poisoned
from .samples import REVISION, SAMPLES, accept, accept_on_cost, base, inconclusive, no_change

PATHS = (".skillevo/reports/ex-5f0c2a91.json",)
SIMULATED = "model simulated: these numbers test the machinery"

ENDINGS = {name: sample() for name, sample in SAMPLES.items()}


def drawn(screen: Screen) -> str:
    """The screen as pytest's terminal writer draws it at 80 columns."""
    rule = "=" * ((80 - len(screen.title) - 2) // 2)
    return "\n".join([f"{rule} {screen.title} {rule}", *screen.lines])


def text(screen: Screen) -> str:
    return " ".join(" ".join(screen.lines).split())


@pytest.fixture(params=ENDINGS)
def ending(request):
    return copy.deepcopy(ENDINGS[request.param])


@pytest.mark.parametrize("name", ENDINGS)
def test_the_end_screen_of(name, snapshot):
    assert drawn(end_screen(ENDINGS[name], PATHS)) == snapshot


def test_every_line_fits_into_80_columns_and_is_plain_text(ending):
    screen = end_screen(ending, PATHS)
    for line in drawn(screen).split("\n"):
        assert columns(line) <= 80
        assert line.isascii()
        assert line.isprintable()
        assert line == line.rstrip()


def test_a_screen_is_short_enough_to_be_read(ending):
    assert len(end_screen(ending, PATHS).lines) <= 64


def test_the_first_line_is_the_verdict_and_the_title_says_it_too(ending):
    screen = end_screen(ending)
    words = ending["decision"]["verdict"].replace("_", " ")
    assert screen.lines[0].startswith(f"{words}: ")
    assert screen.title.startswith(f"recipe-cookbook: {words}")


def test_a_simulated_run_says_so_in_the_title_and_at_the_end(ending):
    screen = end_screen(ending)
    simulated = ending["model"]["kind"] == "simulated"
    assert screen.title.endswith("(simulated model)") == simulated
    assert (SIMULATED in text(screen)) == simulated


def test_a_simulated_agent_is_enough_to_call_the_run_simulated():
    report = accept_on_cost()
    report["model"]["roles"]["agent"] = "simulated"
    assert end_screen(report).title.endswith("(simulated model)")


def test_what_waits_for_approval_is_approved_by_the_command_on_the_screen():
    screen = end_screen(accept(), PATHS)
    assert "waiting for approval" in screen.title
    assert any(line.strip().startswith(f"skillevo revisions approve {REVISION}") for line in screen.lines)
    assert screen.lines[-1] == f"  report: {PATHS[0]}"


@pytest.mark.parametrize("status", ["active", "archived", "rejected", "expired"])
def test_a_revision_that_is_past_approval_is_not_offered_for_it(status):
    report = accept()
    report["revision"]["status"] = status
    screen = end_screen(report)
    assert "approve" not in text(screen)
    assert status in screen.title


@pytest.mark.parametrize(("settle", "told"), [(1, "at least 1)"), (5, "at least 5)"), (None, "add holdout cases,")])
def test_an_undecided_run_says_how_many_more_cases_would_settle_it(settle, told):
    report = inconclusive()
    report["decision"]["settle"] = settle
    assert told in text(end_screen(report))


def test_unknown_figures_are_called_unknown_and_never_zero():
    report = accept()
    report["confirmation"]["holdout"] |= {"tokens": None, "unknown_usage": 30, "mean_after": None, "interval": None}
    report["usage"]["agent"] |= {"input_tokens": None, "usd": None}
    for group in report["replay"]["groups"]:
        group["end_to_end_tokens"] = None
    lines = end_screen(report).lines
    (quality,) = (line for line in lines if line.startswith("  quality"))
    (tokens,) = (line for line in lines if line.startswith("  tokens per case"))
    (replay,) = (line for line in lines if line.startswith("  replay tokens"))
    (spent,) = (line for line in lines if line.startswith("  tokens    "))
    assert "unknown" in quality
    assert tokens.split()[3:] == ["unknown"] * 3 + ["not", "measured", "in", "30", "cases"]
    assert replay.count("unknown") == 3
    assert "agent unknown" in spent
    assert spent.endswith("cost unknown")


def test_passes_are_left_out_when_nobody_judged_them():
    report = accept()
    report["confirmation"]["holdout"]["passes_after"] = None
    assert not any(line.startswith("  passed") for line in end_screen(report).lines)


@pytest.mark.parametrize(
    ("before", "after", "told"),
    [([90, 90], [90, 90], "the same"), ([90, 90], [87, 90], "-3"), ([78, 80], [78, 78], "78/78")],
)
def test_passes_are_compared_only_out_of_the_same_number_of_runs(before, after, told):
    report = accept()
    report["confirmation"]["holdout"] |= {"passes_before": before, "passes_after": after}
    (line,) = (line for line in end_screen(report).lines if line.startswith("  passed"))
    assert line.endswith(told)


def test_scores_of_suites_without_families_are_not_called_strict_or_official():
    report = accept()
    report["confirmation"]["objectives"] = []
    shown = text(end_screen(report))
    assert "(strict)" not in shown
    assert "official" not in shown


def test_a_long_diff_is_clipped_and_says_where_the_rest_is():
    report = accept()
    lines = "".join(f"+line {number}\n" for number in range(40))
    report["skill"]["diff"] = f"--- a/SKILL.md\n+++ b/SKILL.md\n@@ -0,0 +1,40 @@\n{lines}"
    shown = end_screen(report).lines
    assert sum(line.startswith("    + line") for line in shown) == 12
    assert f"    ... 28 more lines; full diff: skillevo revisions diff {REVISION}" in shown
    report["revision"] = None
    assert "    ... 28 more lines; full diff: in the report" in end_screen(report).lines


def test_a_changed_line_that_looks_like_a_file_header_stays_a_changed_line():
    report = accept()
    report["skill"]["diff"] = (
        "--- a/SKILL.md\n+++ b/SKILL.md\n@@ -1,2 +1,2 @@\n same\n--- a rule\n+++ a better rule\n"
        "@@ -9 +9 @@\n-old end\n\\ No newline at end of file\n+new end\n"
    )
    shown = end_screen(report).lines
    start = shown.index("    - -- a rule")
    assert shown[start : start + 5] == (
        "    - -- a rule",
        "    + ++ a better rule",
        "    ...",
        "    - old end",
        "    + new end",
    )


def test_the_files_of_a_diff_are_named_when_there_are_several():
    report = accept()
    report["skill"]["diff"] = (
        "--- a/SKILL.md\n+++ b/SKILL.md\n@@ -1 +1 @@\n-x\n+y\n--- /dev/null\n+++ b/notes.md\n@@ -0,0 +1 @@\n+new\n"
    )
    shown = end_screen(report).lines
    assert "    b/SKILL.md" in shown
    assert "    b/notes.md" in shown


def test_long_lists_are_cut_and_counted():
    report = accept()
    report["warnings"] = [f"warning {number}" for number in range(20)]
    report["dataset"]["left_out"] = [{"case": f"case-{number}", "why": "skipped"} for number in range(9)]
    report["skill"]["changed"] = [{"component": f"part-{n}", "added": 1, "removed": 0} for n in range(20)]
    shown = text(end_screen(report))
    assert "... and 14 more warnings" in shown
    assert "... and 6 more cases left out" in shown
    assert "12 more; everything else" in shown


def test_a_report_before_any_search_still_has_a_screen():
    report = base(Decision(Verdict.BLOCKED, "missing-runs", "the model could not be reached"), changed=False)
    report["search"] = None
    screen = end_screen(report)
    assert screen.lines[0] == "BLOCKED: the model could not be reached."
    assert "remove the cause above" in text(screen)


def test_the_title_of_a_long_name_still_fits_on_the_line():
    report = accept()
    report["skill"]["name"] = "a-very-long-name-" * 20
    screen = end_screen(report)
    assert len(screen.title) <= 76
    assert screen.title.endswith("waiting for approval (simulated model)")


def test_a_partial_dataset_is_told_once():
    told = end_screen(ENDINGS["inconclusive_partial"])
    assert text(told).count("24 cases were deselected") == 1
    report = copy.deepcopy(ENDINGS["no_change"])
    report["experiment"]["partial"] = "--lf selects the cases that failed last"
    assert "Partial dataset: --lf selects the cases that failed last." in text(end_screen(report))


def test_an_unchanged_skill_has_no_diff():
    assert "  changed: nothing" in end_screen(no_change()).lines


@settings(max_examples=60, deadline=None)
@given(st.data(), st.sampled_from(sorted(ENDINGS)))
def test_foreign_text_never_controls_the_terminal_or_the_runner_nor_leaves_its_lines(data, name):
    pool = data.draw(st.lists(FOREIGN, min_size=1, max_size=8))
    turns = itertools.cycle(pool)
    screen = end_screen(poisoned(copy.deepcopy(ENDINGS[name]), lambda: next(turns)))
    assert len(screen.lines) <= 120
    for line in (screen.title, *screen.lines):
        assert line.isprintable()
        assert columns(line) <= 80
        assert not line.lstrip().startswith("::")
        assert "##[" not in line


def test_a_critical_case_without_fresh_runs_is_told_by_its_first_ones():
    report = accept()
    finding = report["confirmation"]["criticals"][0]
    finding |= {"verdict": "worse", "rule": "any", "before": [1.0, 1.0, 1.0], "after": [1.0, 0.0, 0.0]}
    assert "got worse: 1/3 after 3/3." in text(end_screen(report))

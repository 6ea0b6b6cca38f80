"""`skillevo report` and `skillevo compare`: a record as a page, two records side by side, and clear refusals."""

from __future__ import annotations

import copy
import json
from pathlib import Path

import pytest

from pytest_skillevo.core.records import Evaluation, Outcome
from pytest_skillevo.report.json_file import clean
from pytest_skillevo.stages.packing import packed
from pytest_skillevo.store import JournalEntry
from tests.report.samples import accept, inconclusive, no_change, reject_worse

CASE = "suites/recipe/test_recipe.py::test_recipe[e1-h00]"


@pytest.fixture
def record(bench):
    """Put a report into the store as a finished experiment, with the runs of one holdout and one validation case."""

    def enter(report, id: str = "ex-5f0c2a91") -> dict:
        report = copy.deepcopy(report)
        report["experiment"]["id"] = id
        rows = report["confirmation"]["cases"] if report["confirmation"] else []
        with bench.open() as store:
            store.create_experiment(id, report["skill"]["name"], id, {})
            cases = {row["case"]: {"split": row["split"], "key": f"content of {row['case']}"} for row in rows}
            entries = [JournalEntry("cases", "cases", cases)]
            for row in rows[:1] + rows[-1:]:
                for arm in ("before", "after"):
                    said = f"secret of {row['split']}, {arm}"
                    trace = store.put_trace({"sessions": [{"messages": [{"role": "user", "content": said}]}]})
                    outcome = packed(Outcome("scored", Evaluation(row[f"{arm}_runs"][0], feedback=f"so it was {arm}")))
                    payload = {"variant": "v", "seed": 1, "case": row["case"], "outcome": outcome, "trace": trace}
                    entries.append(JournalEntry(f"confirm/{row['split']}0000/{arm}/r0", "rollout", payload))
            store.append(id, entries)
            store.finish_experiment(id, report["decision"], report)
        return report

    return enter


def test_a_report_is_shown_like_the_end_of_the_run(record, skillevo):
    record(accept())
    shown = skillevo("report", "last")
    assert shown.startswith("recipe-cookbook: ACCEPT, waiting for approval (simulated model)\n")
    assert "Better on 15 of 30 holdout cases" in shown or "better on 15 of 30 holdout cases" in shown
    assert shown == skillevo("report", "ex-5f")


def test_a_report_is_printed_as_markdown_and_as_json(record, skillevo):
    report = record(accept())
    assert skillevo("report", "last", "--md").startswith("**recipe-cookbook: no ground for a merge")
    assert json.loads(skillevo("report", "last", "--json")) == clean(report)


@pytest.mark.parametrize(
    ("name", "begins"), [("out/r.html", "<!doctype html>"), ("r.md", "**recipe-cookbook"), ("r.json", "{")]
)
def test_the_suffix_of_the_file_chooses_the_kind(record, capsys, name, begins):
    from pytest_skillevo.cli import main

    record(accept())
    assert main(["report", "last", "-o", name]) == 0
    assert f"written: {name}" in capsys.readouterr().err
    assert Path(name).read_text(encoding="utf-8").startswith(begins)


def test_a_report_file_needs_no_store(bench, skillevo):
    Path("report.json").write_text(json.dumps(clean(accept())), encoding="utf-8")
    assert skillevo("report", "report.json", "--md").startswith("**recipe-cookbook")
    assert not Path(".skillevo").exists()


def test_the_page_shows_validation_conversations_and_keeps_the_holdout_closed(record, bench, capsys):
    from pytest_skillevo.cli import main

    record(accept())
    assert main(["report", "last", "--html", "-o", "page.html"]) == 0
    text = Path("page.html").read_text(encoding="utf-8")
    assert "secret of validation, before" in text
    assert "secret of validation, after" in text
    assert "so it was after" in text
    assert "secret of holdout" not in text
    with bench.open() as store:
        assert store.openings([f"content of {CASE}"]).count == 0


def test_conversations_beyond_the_limit_are_left_out_and_counted(record, capsys, monkeypatch):
    from pytest_skillevo.cli import main
    from pytest_skillevo.report import details

    record(accept())
    monkeypatch.setattr(details, "MOST", 10)
    assert main(["report", "last", "--html", "-o", "page.html"]) == 0
    text = Path("page.html").read_text(encoding="utf-8")
    assert "secret of" not in text
    assert "the conversations of 1 more case are left out: this page would grow too large" in text


def test_showing_the_holdout_is_an_opening(record, bench, capsys):
    from pytest_skillevo.cli import main

    report = record(accept())
    assert main(["report", "last", "--html", "-o", "page.html", "--show-holdout"]) == 0
    assert "the exposure ledger notes" in capsys.readouterr().err
    assert "secret of holdout, before" in Path("page.html").read_text(encoding="utf-8")
    last = report["confirmation"]["cases"][-1]["case"]
    with bench.open() as store:
        (opening,) = store.openings([f"content of {last}"]).openings
    assert opening.experiment == "skillevo report"


def test_a_revision_leads_to_the_report_of_its_experiment(record, bench, skillevo):
    record(accept(), "exp-1")
    assert skillevo("report", bench.enter()) == skillevo("report", "exp-1")


@pytest.mark.parametrize(
    ("arguments", "exits", "told"),
    [
        (["report", "nothing.json"], 4, "nothing.json cannot be read: No such file"),
        (["report", "text.json"], 4, "text.json is not JSON"),
        (["report", "list.json"], 4, "list.json is no report of version 1 (schema_version is None)"),
        (["report", "old.json"], 4, "old.json is no report of version 1 (schema_version is 7)"),
        (["report", "short.json"], 4, "short.json is no valid report: report lacks the key 'decision'"),
        (["report", "wrong.json"], 4, "wrong.json is no valid report: report.confirmation.holdout.cases is 'many'"),
        (["report", "extra.json"], 4, "extra.json is no valid report: report has the unknown key 'more'"),
        (["report", "deep.json"], 4, "deep.json is not JSON"),
        (["report", "ex-none"], 1, "there is no one experiment 'ex-none' in the store"),
        (["report", "rv-none"], 1, "rv-none"),
        (["report", "last", "--html"], 4, "an HTML page is a file: add -o FILE"),
        (["report", "last", "--md", "--json"], 4, "one kind at a time: not --md and --json"),
        (["report", "last", "-o", "report.txt"], 4, "say which kind with --html, --md or --json"),
        (["report", "last", "--md", "--show-holdout"], 4, "--show-holdout goes with --html"),
        (["report", "good.json", "-o", "x.html", "--show-holdout"], 1, "--show-holdout needs the store"),
        (["report", "good.json", "-o", "text.json/x.html"], 4, "the report could not be written"),
        (["report", "unfinished"], 1, "experiment unfinished is not finished"),
        (["compare", "last"], 4, "required: B"),
    ],
)
def test_what_cannot_be_shown_is_said_clearly(record, bench, skillevo, arguments, exits, told):
    good = clean(accept())
    wrong, short = copy.deepcopy(good), copy.deepcopy(good)
    wrong["confirmation"]["holdout"]["cases"] = "many"
    del short["decision"]
    files = {"list": [1], "old": {"schema_version": 7}, "short": short, "wrong": wrong, "good": good}
    files["extra"] = {**good, "more": 1}
    for name, data in files.items():
        Path(f"{name}.json").write_text(json.dumps(data), encoding="utf-8")
    Path("text.json").write_text("{not json", encoding="utf-8")
    Path("deep.json").write_text("[" * 100_000, encoding="utf-8")
    with bench.open() as store:
        store.create_experiment("unfinished", "demo", "f", {})
    assert told in skillevo(*arguments, exits=exits)


def write(name: str, report, **experiment) -> str:
    report = copy.deepcopy(report)
    report["experiment"] |= experiment
    Path(name).write_text(json.dumps(clean(report)), encoding="utf-8")
    return name


def test_two_experiments_on_the_same_cases_are_paired(bench, skillevo):
    a, b = write("a.json", reject_worse(), id="ex-a"), write("b.json", accept(), id="ex-b", seed=2)
    shown = skillevo("compare", a, b)
    assert shown.startswith(
        "B did better than A: better on 14, same on 15, worse on 1 of 30 holdout cases;\nchance alone"
    )
    assert "  A  ex-a: recipe-cookbook" in shown
    assert "same seed skill" in shown
    assert "the seeds differ (1, 2)" in shown
    assert "both ended with the same version" in shown
    assert "decides nothing" in shown
    assert skillevo("compare", b, a).startswith("B did worse than A")
    data = json.loads(skillevo("compare", a, b, "--json"))
    assert data["versions"]["better"] == 14
    assert data["seeds"]["cases"] == 30
    assert data["why_not"] is None


def test_an_experiment_is_compared_with_itself_without_a_claim(bench, skillevo):
    a = write("a.json", inconclusive())
    assert skillevo("compare", a, a).startswith("The records cannot tell B from A: better on 0, same on 30, worse on 0")


@pytest.mark.parametrize(
    ("change", "why"),
    [
        (lambda b: b["dataset"].update(fingerprint="0" * 64), "their cases differ (dataset fingerprints)"),
        (lambda b: b["skill"].update(name="other"), "they are about different skills"),
        (lambda b: b["confirmation"].update(cases=[]), "no holdout case has runs in both"),
        (lambda b: b.update(no_change()), "B ended with NO CHANGE before any confirmation"),
    ],
)
def test_what_cannot_be_paired_is_said_and_exits_1(bench, capsys, change, why):
    from pytest_skillevo.cli import main

    a, report = write("a.json", accept()), accept()
    change(report)
    assert main(["compare", a, write("b.json", report)]) == 1
    out, err = capsys.readouterr()
    told = " ".join(out.split())
    assert told.startswith(f"A and B cannot be compared case by case: {why}")
    assert err == ""
    assert main(["compare", a, "b.json", "--json"]) == 1
    assert why.split(" (")[0] in json.loads(capsys.readouterr().out)["why_not"]

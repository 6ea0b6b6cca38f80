"""`skillevo rollouts`: one run of a case, readable, and the holdout closed unless it is opened."""

from __future__ import annotations

import json

import pytest

from pytest_skillevo.core.records import Evaluation, Outcome, Usage
from pytest_skillevo.stages.packing import packed
from pytest_skillevo.store import JournalEntry

CASES = {
    "t.py::test_a[e1-01]": {"split": "feedback", "key": "f1", "critical": False},
    "t.py::test_a[e1-02]": {"split": "holdout", "key": "h1", "critical": False},
}
FAULT = {
    "index": 1,
    "tool": "meal_search",
    "arguments": {"name": "Pad Thai"},
    "attempt": 2,
    "fault": "T",
    "success": False,
    "bytes": 90,
    "digest": "d",
}
CALL = {**FAULT, "index": 0, "attempt": 1, "fault": None, "success": True, "bytes": 1200}
MESSAGES = [
    {"role": "system", "content": "You are an agent."},
    {"role": "user", "content": "Cook \x1b[31mnow\n::error::hello\n" + "word " * 400},
    {
        "role": "assistant",
        "content": "",
        "tool_calls": [{"id": "1", "function": {"name": "meal_search", "arguments": '{"name": "Pad Thai"}'}}],
    },
    {"role": "tool", "name": "meal_search", "content": '{"success": true}'},
    {"role": "assistant", "content": "Done."},
]
GRADED = {
    "parts": {"artifact": 5.0, "values": 24.0, "process": 9.5},
    "caps": [{"limit": 0.79, "reason": "a deliverable value is missing"}],
    "calls": [CALL, FAULT],
    "faults_met": [FAULT],
    "calls_left_out": 3,
    "artifact": "{}",
}
SESSION = {"prompt": "Cook", "messages": MESSAGES, "turns": 2, "stop_reason": "answered", "skills_loaded": ["recipe"]}
TRACE = {"input": "Cook", "output": "Done.", "recorded": GRADED, "sessions": [SESSION]}


@pytest.fixture
def log(bench):
    """An experiment with three rollouts; further ones are added by key, case and trace."""
    with bench.open() as store:
        store.create_experiment(
            "ex-7aae4355", "recipe-cookbook", "fp", {"identity": {"models": {"agent": "simulated"}}}
        )
        store.append("ex-7aae4355", [JournalEntry("cases", "cases", CASES)])

    def add(key, case="t.py::test_a[e1-01]", trace=TRACE, score=0.78, outcome=None):
        usage = {"agent": Usage(23841, 586, 0, 0, None, True)}
        scored = Outcome("scored", Evaluation(score, False, "missing fields: cuisine.", {"strict": score}, None, usage))
        with bench.open() as store:
            payload = {"case": case, "variant": "dfee33ed5973ba2c", "seed": 7, "outcome": packed(outcome or scored)}
            if trace is not None:
                payload["trace"] = store.put_trace(trace)
            store.append("ex-7aae4355", [JournalEntry(key, "rollout", payload)])

    add("search/it001/parent/0")
    add("confirm/holdout0000/before/r0", "t.py::test_a[e1-02]", score=0.4)
    add("confirm/holdout0000/after/r0", "t.py::test_a[e1-02]", score=0.9)
    return add


def test_a_rollout_tells_where_its_score_was_lost(log, skillevo):
    screen = skillevo("rollouts", "show", "ex-7aae4355/search/it001/parent/0")
    assert "values     24.0 of 40   -16.0" in screen
    assert "process     9.5 of 10   -0.5" in screen
    assert "artifact" not in screen.split("feedback\n")[0]
    assert "capped at 0.79: a deliverable value is missing" in screen
    assert '#1   time-out: meal_search(name="Pad Thai"), attempt 2' in screen
    assert "tool calls (5, 1 failed)" in screen
    assert "... and 3 more" in screen
    assert "conversation (2 turns; ended: answered; skills loaded: recipe)" in screen
    assert "agent: 23,841 in, 586 out, estimated; unknown" in screen
    assert '-> meal_search {"name": "Pad Thai"}' in screen
    assert "simulated (this tests the machinery, not a language model)" in screen


@pytest.mark.parametrize("width", [64, 80, 120])
def test_no_line_is_wider_than_the_terminal_and_model_text_is_no_command(log, skillevo, monkeypatch, width):
    monkeypatch.setenv("COLUMNS", str(width))
    screen = skillevo("rollouts", "show", "search/it001/parent/0", "--full")
    assert max(map(len, screen.splitlines())) <= width
    assert "\x1b" not in screen
    assert not any(line.lstrip().startswith("::") for line in screen.splitlines())
    assert screen.count("word") == 400


def test_long_texts_are_cut_and_the_cut_is_told(log, skillevo):
    screen = skillevo("rollouts", "show", "search/it001/parent/0")
    assert "characters in all; --full shows them]" in screen
    assert screen.count("word") < 400


def test_programs_get_everything_as_json(log, skillevo):
    record = json.loads(skillevo("rollouts", "show", "search/it001/parent/0", "--json"))
    assert record["id"] == "ex-7aae4355/search/it001/parent/0"
    assert {"part": "values", "points": 24.0, "of": 40, "lost": 16.0} in record["lost"]
    assert record["faults"] == [FAULT]
    assert record["sessions"][0]["messages"] == MESSAGES
    assert record["usage"]["agent"]["usd"] is None


def test_holdout_rollouts_stay_closed(log, skillevo, bench):
    screen = skillevo("rollouts", "show", "confirm/holdout0000/after/r0")
    assert "0.90, failed" in screen
    assert "--show-holdout opens it" in screen
    record = json.loads(skillevo("rollouts", "show", "confirm/holdout0000/after/r0", "--json"))
    assert "feedback" not in record
    assert "sessions" not in record
    with bench.open() as store:
        assert store.openings(["h1"]).count == 0


def test_opening_a_holdout_rollout_is_noted_in_the_ledger(log, bench, capsys):
    from pytest_skillevo.cli import main

    assert main(["rollouts", "show", "confirm/holdout0000/after/r0", "--show-holdout"]) == 0
    out, err = capsys.readouterr()
    assert "missing fields: cuisine." in out
    assert "ledger notes" in err
    with bench.open() as store:
        assert store.openings(["h1"]).count == 1
        assert store.openings(["f1"]).count == 0


def test_the_list_gives_ids_that_show_takes(log, skillevo):
    listed = [row["id"] for row in json.loads(skillevo("rollouts", "list", "--json"))]
    assert len(listed) == 3
    for id in listed:
        assert f"rollout {id}" in skillevo("rollouts", "show", id)


def test_the_list_can_be_narrowed_and_sorted(log, skillevo):
    def keys(*options):
        rows = json.loads(skillevo("rollouts", "list", "--json", *options))
        return [row["id"].partition("/")[2] for row in rows]

    before, after = "confirm/holdout0000/before/r0", "confirm/holdout0000/after/r0"
    assert keys("--worst") == [before, "search/it001/parent/0", after]
    assert keys("--stage", "confirm") == [before, after]
    assert keys("--below", "0.5") == [before]
    assert keys("--case", "e1-01") == ["search/it001/parent/0"]
    assert "... and 2 more" in skillevo("rollouts", "list", "--limit", "1")
    assert "none of 3 rollouts is meant" in skillevo("rollouts", "list", "--case", "nothing")


def test_the_beginning_of_an_id_is_enough(log, skillevo):
    assert "ex-7aae4355/search/it001/parent/0" in skillevo("rollouts", "show", "ex-7/search")


@pytest.mark.parametrize(
    ("id", "complaint"),
    [
        ("ex-7/confirm/holdout0000", "2 rollouts of experiment ex-7aae4355 begin with 'confirm/holdout0000'"),
        ("search/it001/parnet/0", "Did you mean 'search/it001/parent/0'?"),
        ("ex-7aae4355", "is an experiment, not one of its rollouts"),
        ("ex-9/search", "`skillevo experiments list` shows all"),
    ],
)
def test_an_id_that_means_no_rollout_is_answered_with_help(log, skillevo, id, complaint):
    assert complaint in skillevo("rollouts", "show", id, exits=1)


def test_whatever_a_test_recorded_is_shown(log, skillevo):
    log("search/it002/parent/0", trace={"mine": ["x\x1b"], "parts": 3})
    assert "recorded by the test" in skillevo("rollouts", "show", "search/it002/parent/0")
    odd = {"parts": [1], "caps": "no", "calls": ["[... cut ...]", {"tool": 3}], "calls_left_out": 0}
    log("search/it003/parent/0", trace={"recorded": odd, "sessions": ["x", {"messages": ["cut", {"role": 1}]}]})
    assert "... and 2 more" in skillevo("rollouts", "show", "search/it003/parent/0")
    log("search/it004/parent/0", trace=None, outcome=Outcome("errored", None, "no answer"))
    assert "errored  no answer" in skillevo("rollouts", "show", "search/it004/parent/0")


def test_an_experiment_that_did_not_record_its_cases_says_so(bench, skillevo):
    with bench.open() as store:
        store.create_experiment("ex-1", "recipe-cookbook", "fp", {})
        payload = {"variant": "v", "seed": 1, "outcome": packed(Outcome("scored", Evaluation(1.0)))}
        store.append("ex-1", [JournalEntry("search/it001/parent/0", "rollout", payload)])
    assert "did not record its cases" in skillevo("rollouts", "list", exits=1)

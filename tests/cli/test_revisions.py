"""`skillevo revisions`, as a person and as a program see it."""

from __future__ import annotations

import json
import sqlite3
from datetime import timedelta

import pytest

import pytest_skillevo
from pytest_skillevo.cli import main
from pytest_skillevo.core.revisions import Action, Status
from pytest_skillevo.core.skill import Skill

NAME = "recipe-cookbook"


def test_the_list_shows_what_waits_in_80_columns(bench, run):
    id = bench.enter()
    other = bench.enter(
        timedelta(hours=1),
        "cat-facts",
        content=Skill.from_bytes("cat-facts", b"# Cat facts\n"),
        parent=Skill.absent("cat-facts"),
        action=Action.CREATE,
        source="reviewer",
        status=Status.PENDING_EVAL,
        evidence={"outcome": {"status": "success", "score": 0.4}},
    )
    old = bench.enter(
        timedelta(days=3), source="submission", evidence={}, content=Skill.from_bytes(NAME, bench.better.document)
    )
    assert run("list").splitlines() == [
        "  revision     status            action  from        when",
        NAME,
        f"  {old}  pending approval  update  submission  3 days ago",
        "    -",
        f"  {id}  pending approval  update  experiment  2 min ago",
        "    ACCEPT +0.12 (30 cases, simulated)",
        "cat-facts",
        f"  {other}  pending eval      create  reviewer    1 h ago",
        "    outcome 0.40",
    ]


def test_the_list_takes_one_line_each_where_there_is_room(bench, run, monkeypatch):
    id = bench.enter()
    monkeypatch.setenv("COLUMNS", "140")
    head, line = run("list").splitlines()
    assert head.split() == ["skill", "revision", "status", "action", "from", "evidence", "when"]
    assert line == (
        f"{NAME}  {id}  pending approval  update  experiment  ACCEPT +0.12 (30 cases, simulated)  2 min ago"
    )


def test_the_list_can_be_narrowed(bench, run):
    id = bench.enter()
    assert id in run("list", "--skill", NAME, "--status", "pending_approval")
    assert "no revisions" in run("list", "--skill", "other")
    assert "no revisions" in run("list", "--status", "active")
    assert "invalid choice" in run("list", "--status", "nonsense", exits=4)


def test_looking_at_a_project_without_a_store_makes_none(bench, run):
    assert run("list") == "no revisions; pytest --evolve makes them\n"
    assert json.loads(run("list", "--json")) == []
    assert "there is no store in .skillevo" in run("show", "rv-1", exits=1)
    assert not (bench.root / ".skillevo").exists()


def test_show_says_first_that_the_model_was_simulated(bench, run):
    id = bench.enter()
    lines = run("show", id[:6]).splitlines()
    assert lines[0] == "model simulated: these numbers test the machinery, they say nothing about a"
    assert lines[1] == "language model"
    assert lines[2] == f"{id}: update of {NAME}"
    assert lines[3:] == [
        "  status      pending approval, since 2 min ago",
        "  from        experiment:exp-1, 2026-11-30 11:58 UTC",
        f"  replaces    version {bench.seed.digest[:12]}",
        f"  content     {bench.better.digest[:12]}",
        "evidence",
        "  verdict     ACCEPT by rule quality-superior",
        "  reason      Better on 15 of 30 holdout cases.",
        "  counts      better on 15 of 30 holdout cases, same on 14, worse on 1 (3 runs",
        "              each)",
        "  quality     0.79 -> 0.91, change +0.12, 90 % interval [+0.07, +0.17]",
        "  tokens      x0.86 per case",
        "  critical    0 of 1 critical case worse",
        "  model       simulated (simulated)",
        "history",
        "  2026-11-30 11:58 pending approval by skillevo: ACCEPT",
        f"next: skillevo revisions diff {id}",
        f"      skillevo revisions approve {id}",
    ]


def test_a_real_model_is_not_called_simulated(bench, run):
    id = bench.enter(evidence=bench.evidence | {"model": {"name": "gpt-x", "kind": "live"}})
    assert "simulated" not in run("show", id)
    assert "simulated" not in run("list")


def test_show_names_worse_critical_cases_and_what_it_does_not_know(bench, run):
    confirmation = bench.evidence["confirmation"] | {"criticals": [{"case_id": "h1-07", "verdict": "worse"}]}
    evidence = {"decision": {"verdict": "NO_CHANGE"}, "confirmation": confirmation, "lineage": ["a", 1]}
    text = run("show", bench.enter(evidence=evidence))
    assert "1 of 1 critical case worse: h1-07" in text
    assert "NO CHANGE" in text
    assert 'lineage     ["a", 1]' in text


def test_the_diff_is_a_unified_one_for_each_file(bench, run):
    assert run("diff", bench.enter()).splitlines() == [
        "--- a/recipe-cookbook/SKILL.md",
        "+++ b/recipe-cookbook/SKILL.md",
        "@@ -10,4 +10,4 @@",
        " ## Steps",
        " ",
        " 1. Look.",
        "-2. Cook.",
        "+2. Cook once.",
        "--- /dev/null",
        "+++ b/recipe-cookbook/notes.md",
        "@@ -0,0 +1 @@",
        "+new",
    ]


def test_approve_and_rollback_change_the_files_and_say_how_to_go_back(bench, run):
    id = bench.enter()
    assert " ".join(run("approve", id, "--reason", "reads well").split()) == (
        f"{id} is now the active version of {NAME} (skills/{NAME}). to undo: skillevo revisions rollback {NAME}"
    )
    assert (bench.folder / "SKILL.md").read_bytes() == bench.better.document
    assert (bench.folder / "notes.md").read_bytes() == b"new\n"
    text = run("show", id)
    assert "active by nina: reads well" in text
    assert "next:" not in text
    told = run("rollback", NAME, "--actor", "omar").splitlines()
    assert told[0].startswith(f"{NAME} is back at rv-")
    assert told[1] == f"to undo: skillevo revisions rollback {NAME} --to {id}"
    assert (bench.folder / "SKILL.md").read_bytes() == bench.seed.document
    assert not (bench.folder / "notes.md").exists()
    run("rollback", NAME, "--to", id)
    assert (bench.folder / "SKILL.md").read_bytes() == bench.better.document


def test_reject_is_final(bench, run):
    id = bench.enter()
    assert run("reject", id) == f"{id} is rejected; the active {NAME} stays as it is.\n"
    assert (bench.folder / "SKILL.md").read_bytes() == bench.seed.document
    assert f"skillevo: {id} is rejected" in run("approve", id, exits=1)
    assert "that is final" in run("reject", id, exits=1)


def test_a_refusal_is_one_sentence_and_exit_code_1(bench, run):
    id = bench.enter()
    (bench.folder / "SKILL.md").write_bytes(b"# edited\n")
    err = run("approve", id, exits=1)
    assert "SKILL.md differs" in err
    assert len(err.splitlines()) == 1
    assert "no revision 'rv-999'" in run("show", "rv-999", exits=1)
    assert "nothing was ever published" in run("rollback", NAME, exits=1)


@pytest.mark.parametrize(
    "arguments",
    [[], ["nonsense"], ["show"], ["approve", "a", "b"], ["list", "--nonsense"], ["approve", "--rea", "x", "rv-1"]],
    ids=" ".join,
)
def test_wrong_usage_is_exit_code_4(bench, run, arguments):
    assert "usage: skillevo" in run(*arguments, exits=4)


@pytest.mark.parametrize("arguments", [[], ["experiments"], ["report"], ["--nonsense"]], ids=" ".join)
def test_commands_that_are_not_there_are_wrong_usage(bench, capsys, arguments):
    assert main(arguments) == 4
    assert "usage: skillevo" in capsys.readouterr().err


def test_help_and_version_are_no_errors(bench, capsys):
    assert main(["--help"]) == 0
    assert main(["revisions", "approve", "--help"]) == 0
    assert main(["--version"]) == 0
    assert capsys.readouterr().out.endswith(f"skillevo {pytest_skillevo.__version__}\n")


def test_json_is_for_programs(bench, run):
    id = bench.enter()
    (listed,) = json.loads(run("list", "--json"))
    assert (listed["id"], listed["status"], listed["evidence"]) == (id, "pending_approval", bench.evidence)
    shown = json.loads(run("show", id, "--json"))
    assert shown["history"][0] == {
        "at": "2026-11-30T11:58:00.000000Z",
        "action": "submit",
        "skill": NAME,
        "revision": id,
        "from": None,
        "to": "pending_approval",
        "actor": "skillevo",
        "reason": "ACCEPT",
    }
    (main_file, notes) = json.loads(run("diff", id, "--json"))["files"]
    assert (main_file["path"], notes["path"], notes["change"]) == ("SKILL.md", "notes.md", "added")
    assert "+2. Cook once." in main_file["diff"].splitlines()
    assert json.loads(run("approve", id, "--json"))["status"] == "active"
    assert json.loads(run("rollback", NAME, "--json"))["source"] == "import"


def test_folders_come_from_the_settings_or_the_command_line(bench, run, tmp_path, monkeypatch):
    id = bench.enter()
    below = bench.root / "deep" / "down"
    below.mkdir(parents=True)
    monkeypatch.chdir(below)
    assert id in run("list")
    monkeypatch.chdir(tmp_path.parent)
    assert "no revisions" in run("list")
    home, skills = str(bench.root / ".skillevo"), str(bench.root / "skills")
    run("approve", id, "--home", home, "--skills", skills)
    assert (bench.folder / "SKILL.md").read_bytes() == bench.better.document


def test_settings_that_cannot_be_read_are_wrong_usage(bench, run):
    (bench.root / "pytest.ini").write_text("broken", encoding="utf-8")
    assert "pytest.ini" in run("list", exits=4)


def test_a_damaged_store_is_one_sentence(bench, run):
    bench.enter()
    (bench.root / ".skillevo" / "store.db").write_bytes(b"garbage" * 1000)
    assert "Move it away" in run("list", exits=1)


@pytest.mark.parametrize(
    ("column", "value", "words"),
    [
        ("created_at", "9999-99-99", "is damaged: '9999-99-99' is no time"),
        ("evidence", '{"decision"', "is damaged: a value is no JSON"),
        ("skill", b"rec\xc9pe", "Could not decode"),
    ],
)
def test_a_value_that_was_damaged_in_the_store_is_one_sentence(bench, run, column, value, words):
    bench.enter()
    with sqlite3.connect(bench.root / ".skillevo" / "store.db") as connection:
        connection.execute(f"UPDATE revisions SET {column} = CAST(? AS TEXT)", (value,))
    connection.close()
    said = run("list", exits=1)
    assert words in said
    assert "Move it away" in said

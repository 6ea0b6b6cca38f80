"""`skillevo revisions`, as a person and as a program see it."""

from __future__ import annotations

import io
import json
import os
import subprocess
import sys
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

import pytest_skillevo
from pytest_skillevo.cli import main
from pytest_skillevo.commands.differences import folder_diff
from pytest_skillevo.commands.screen import ago
from pytest_skillevo.core.revisions import Action, Status
from pytest_skillevo.core.skill import Skill
from pytest_skillevo.report.text import columns
from pytest_skillevo.store import Store

NAME = "recipe-cookbook"
NOW = datetime(2026, 11, 30, 12, 0, tzinfo=UTC)
SEED = b"""---
name: recipe-cookbook
description: Build a cookbook.
---

## When to use

Always.

## Steps

1. Look.
2. Cook.
"""
BETTER = SEED.replace(b"2. Cook.", b"2. Cook once.")
EVIDENCE = {
    "model": {"name": "simulated", "kind": "simulated"},
    "decision": {"verdict": "ACCEPT", "rule": "quality-superior", "reason": "Better on 15 of 30 holdout cases."},
    "confirmation": {
        "holdout": {
            "cases": 30,
            "repeats": 3,
            "better": 15,
            "same": 14,
            "worse": 1,
            "mean_before": 0.79,
            "mean_after": 0.91,
            "change": 0.12,
            "interval": [0.07, 0.17],
            "interval_level": 0.9,
            "tokens": {"ratio": 0.86},
        },
        "criticals": [{"case_id": "h1-07", "verdict": "ok"}],
    },
}


class Bench:
    """A project in the working folder, with a store whose clock can be set."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.folder = root / "skills" / NAME
        self.time = NOW
        self.seed = Skill.from_bytes(NAME, SEED)
        self.better = Skill.from_bytes(NAME, BETTER, {"notes.md": b"new\n"})
        self.seed.write(self.folder)
        (root / "pytest.ini").write_text("[pytest]\n", encoding="utf-8")

    def open(self) -> Store:
        return Store.open(self.root / ".skillevo", skills=self.root / "skills", clock=lambda: self.time)

    def enter(self, age: timedelta = timedelta(minutes=2), name: str = NAME, **fields: object) -> str:
        self.time = NOW - age
        values = {
            "action": Action.UPDATE,
            "source": "experiment:exp-1",
            "status": Status.PENDING_APPROVAL,
            "evidence": EVIDENCE,
            "actor": "skillevo",
            "reason": "ACCEPT",
        } | fields
        content, parent = values.pop("content", self.better), values.pop("parent", self.seed)
        with self.open() as store:
            return store.add_revision(name, content, parent, **values).id


@pytest.fixture
def bench(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "80")
    monkeypatch.setenv("USER", "nina")
    monkeypatch.setenv("LOGNAME", "nina")
    return Bench(tmp_path)


@pytest.fixture
def run(capsys):
    def command(*arguments: str, exits: int = 0) -> str:
        code = main(["revisions", *arguments], clock=lambda: NOW)
        out, err = capsys.readouterr()
        assert code == exits, err
        assert "Traceback" not in err
        if exits == 0:
            assert err == ""
            return out
        assert out == ""
        return err

    return command


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
    old = bench.enter(timedelta(days=3), source="submission", evidence={}, content=Skill.from_bytes(NAME, BETTER))
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
    id = bench.enter(evidence=EVIDENCE | {"model": {"name": "gpt-x", "kind": "live"}})
    assert "simulated" not in run("show", id)
    assert "simulated" not in run("list")


def test_show_names_worse_critical_cases_and_what_it_does_not_know(bench, run):
    confirmation = EVIDENCE["confirmation"] | {"criticals": [{"case_id": "h1-07", "verdict": "worse"}]}
    evidence = {"decision": {"verdict": "NO_CHANGE"}, "confirmation": confirmation, "lineage": ["a", 1]}
    text = run("show", bench.enter(evidence=evidence))
    assert "1 of 1 critical case worse: h1-07" in text
    assert "NO CHANGE" in text
    assert 'lineage     ["a", 1]' in text


@pytest.mark.parametrize(
    "evidence",
    [
        {"decision": 3, "confirmation": [], "model": None},
        {"confirmation": {"holdout": {"cases": "many", "change": None, "interval": [1, "x"], "mean_before": True}}},
        {"confirmation": {"holdout": {"cases": 10**400, "mean_before": 1e308, "mean_after": 0.5, "change": 1e308}}},
        {"confirmation": {"criticals": ["?", None]}, "outcome": "fine"},
        {},
    ],
    ids=["wrong kinds", "wrong values", "huge values", "odd criticals", "nothing"],
)
def test_evidence_from_elsewhere_never_breaks_the_screen(bench, run, evidence):
    id = bench.enter(evidence=evidence)
    assert id in run("show", id)
    assert id in run("list")


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


def test_a_diff_tells_line_ends_and_binary_files_apart():
    before = {"a.md": b"one\r\ntwo\x0cstill two\n", "b.bin": b"\0\1", "same": b"same", "gone.md": b"last line"}
    after = {"a.md": b"one\ntwo\x0cstill two\n", "b.bin": b"\0\1\2", "same": b"same"}
    found = folder_diff("s", before, after)
    assert [(file.path, file.change) for file in found] == [
        ("a.md", "changed"),
        ("b.bin", "changed"),
        ("gone.md", "removed"),
    ]
    assert found[0].lines[2:] == ("@@ -1,2 +1,2 @@", "-one\r", "+one", " two\x0cstill two")
    assert found[1].lines == ("Binary files a/s/b.bin and b/s/b.bin differ (2 -> 3 bytes)",)
    assert found[2].lines[-2:] == ("-last line", "\\ No newline at end of file")


def test_approve_and_rollback_change_the_files_and_say_how_to_go_back(bench, run):
    id = bench.enter()
    assert " ".join(run("approve", id, "--reason", "reads well").split()) == (
        f"{id} is now the active version of {NAME} (skills/{NAME}). to undo: skillevo revisions rollback {NAME}"
    )
    assert (bench.folder / "SKILL.md").read_bytes() == BETTER
    assert (bench.folder / "notes.md").read_bytes() == b"new\n"
    text = run("show", id)
    assert "active by nina: reads well" in text
    assert "next:" not in text
    told = run("rollback", NAME, "--actor", "omar").splitlines()
    assert told[0].startswith(f"{NAME} is back at rv-")
    assert told[1] == f"to undo: skillevo revisions rollback {NAME} --to {id}"
    assert (bench.folder / "SKILL.md").read_bytes() == SEED
    assert not (bench.folder / "notes.md").exists()
    run("rollback", NAME, "--to", id)
    assert (bench.folder / "SKILL.md").read_bytes() == BETTER


def test_reject_is_final(bench, run):
    id = bench.enter()
    assert run("reject", id) == f"{id} is rejected; the active {NAME} stays as it is.\n"
    assert (bench.folder / "SKILL.md").read_bytes() == SEED
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
    assert (listed["id"], listed["status"], listed["evidence"]) == (id, "pending_approval", EVIDENCE)
    shown = json.loads(run("show", id, "--json"))
    assert shown["history"][0] == {
        "at": "2026-11-30T11:58:00.000000Z",
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
    assert (bench.folder / "SKILL.md").read_bytes() == BETTER


def test_settings_that_cannot_be_read_are_wrong_usage(bench, run):
    (bench.root / "pytest.ini").write_text("broken", encoding="utf-8")
    assert "pytest.ini" in run("list", exits=4)


def test_a_damaged_store_is_one_sentence(bench, run):
    bench.enter()
    (bench.root / ".skillevo" / "store.db").write_bytes(b"garbage" * 1000)
    assert "Move it away" in run("list", exits=1)


HOSTILE = "\x1b[2J\x1b]0;title\x07 \u202eevil\u200b\r\n::error::x \ud800\0 \u6599\u7406 caf\u00e9"


def test_stored_text_cannot_speak_to_the_terminal(bench, run):
    content = Skill.from_bytes(NAME, SEED + "\x1b[31mred \u202e \u6599\u7406\n::warning::x\n".encode())
    evidence = {"decision": {"verdict": HOSTILE, "reason": HOSTILE, "rule": HOSTILE}, HOSTILE: HOSTILE}
    id = bench.enter(content=content, source=f"experiment:{HOSTILE}", actor=HOSTILE, reason=HOSTILE, evidence=evidence)
    for command in (["list"], ["show", id], ["diff", id]):
        text = run(*command)
        assert not [char for char in text if not char.isprintable() and char not in "\n\t"]
        assert not [line for line in text.splitlines() if line.lstrip().startswith("::")]
        assert "\\x1b" in text
    assert [line for line in run("show", id).splitlines() if columns(line) > 80] == []
    assert "\\x1b" in run("show", HOSTILE, exits=1)
    assert "\\x1b" in run("list", HOSTILE, exits=4)


def subprocess_run(*arguments: str, **environment: str) -> subprocess.CompletedProcess[bytes]:
    package = str(Path(pytest_skillevo.__file__).parents[1])
    return subprocess.run(
        [sys.executable, "-m", "pytest_skillevo.cli", *arguments],
        capture_output=True,
        env=os.environ | {"PYTHONPATH": package} | environment,
        timeout=60,
    )


def test_an_ascii_terminal_gets_escapes_and_no_error(bench):
    id = bench.enter(reason=HOSTILE, evidence={"decision": {"verdict": "ACCEPT", "reason": HOSTILE}})
    for arguments in (["list"], ["show", id], ["diff", id], ["show", id, "--json"]):
        done = subprocess_run("revisions", *arguments, PYTHONIOENCODING="ascii", PYTHONUTF8="0", LC_ALL="C")
        assert done.returncode == 0, done.stderr
        assert done.stdout.isascii()
    done = subprocess_run("revisions", "show", id, PYTHONIOENCODING="ascii")
    assert b"caf\\xe9" in done.stdout
    failed = subprocess_run("revisions", "show", "rv-caf\u00e9", PYTHONIOENCODING="ascii")
    assert (failed.returncode, failed.stdout) == (1, b"")
    assert b"caf\\xe9" in failed.stderr


def test_a_reader_that_leaves_early_gets_no_traceback(bench):
    bench.enter()
    read, write = os.pipe()
    os.close(read)
    package = str(Path(pytest_skillevo.__file__).parents[1])
    done = subprocess.run(
        [sys.executable, "-m", "pytest_skillevo.cli", "revisions", "list"],
        stdout=write,
        stderr=subprocess.PIPE,
        env=os.environ | {"PYTHONPATH": package},
        timeout=60,
    )
    os.close(write)
    assert done.stderr == b""


def test_what_was_left_half_done_is_told_on_stderr(bench, capsys, monkeypatch):
    id = bench.enter()

    class Killed(BaseException):
        pass

    def die(*arguments: object) -> None:
        raise Killed

    with monkeypatch.context() as patch, bench.open() as store:
        patch.setattr("pytest_skillevo.store.promotion.publish", die)
        with pytest.raises(Killed):
            store.approve(id, "nina")
    assert main(["revisions", "list", "--json"], clock=lambda: NOW) == 0
    out, err = capsys.readouterr()
    assert json.loads(out)[-1]["id"] == id
    assert err.startswith(f"note: an interrupted approve of {id}")


@pytest.mark.parametrize(
    ("age", "words"),
    [
        (timedelta(seconds=5), "just now"),
        (timedelta(seconds=-30), "just now"),
        (timedelta(seconds=61), "1 min ago"),
        (timedelta(minutes=59, seconds=59), "59 min ago"),
        (timedelta(hours=23), "23 h ago"),
        (timedelta(days=1), "1 day ago"),
        (timedelta(days=59), "59 days ago"),
        (timedelta(days=200), "2026-05-14"),
        (timedelta(days=-2), "2026-12-02"),
    ],
)
def test_times_are_told_as_people_tell_them(age, words):
    assert ago((NOW - age).isoformat(), NOW) == words


def test_a_stream_without_an_encoding_is_written_as_utf_8():
    from pytest_skillevo.commands.screen import Screen

    out = io.StringIO()
    Screen(out, 80).line("caf\u00e9")
    assert out.getvalue() == "caf\u00e9\n"

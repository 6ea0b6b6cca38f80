"""`skillevo revisions audit | repair | export | import`."""

from __future__ import annotations

import json
from datetime import timedelta

import pytest

from pytest_skillevo.cli import main
from pytest_skillevo.core.skill import Skill

from .conftest import NOW

NAME = "recipe-cookbook"


def test_the_audit_trail_is_told_the_newest_first(bench, run, monkeypatch):
    id = bench.enter()
    run("approve", id, "--reason", "reads well")
    run("rollback", NAME, "--actor", "omar")
    monkeypatch.setenv("COLUMNS", "160")
    head, *rows = run("audit").splitlines()
    assert head.split() == ["when", "(UTC)", "skill", "revision", "done", "by", "status", "why"]
    assert [row.split()[4] for row in rows] == ["rollback", "archive", "approve", "archive", "adopt", "submit"]
    assert id in rows[2]
    assert rows[2].endswith("reads well")
    assert len(run("audit", "--limit", "2").splitlines()) == 3
    assert len(run("audit", "--limit", "0", NAME).splitlines()) == 7
    assert run("audit", "other") == "nothing was done yet\n"
    told = json.loads(run("audit", "--json", "--limit", "1"))
    assert [(one["action"], one["actor"], one["to"]) for one in told] == [("rollback", "omar", "active")]


def test_the_audit_trail_fits_80_columns_with_full_ids(bench, run):
    id = bench.enter()
    run("approve", id, "--reason", "because " * 30)
    lines = run("audit").splitlines()
    assert max(map(len, lines)) <= 80
    assert sum(id in line for line in lines) >= 2


@pytest.mark.parametrize("limit", ["-1", "x", "1.5", "9" * 12])
def test_a_limit_is_a_number_from_0(bench, run, limit):
    assert "expected a number from 0" in run("audit", f"--limit={limit}", exits=4)


def test_looking_after_a_project_without_a_store_makes_none(bench, run):
    assert run("audit") == "nothing was done yet\n"
    assert "there is no store" in run("repair", exits=1)
    assert "there is no store" in run("export", "rv-1", exits=1)
    assert not (bench.root / ".skillevo").exists()


def test_repair_says_what_differs_and_how_to_mend_it(bench, run, capsys):
    run("approve", bench.enter())
    assert run("repair") == "all 1 published skills are as their active version\n"
    (bench.folder / "SKILL.md").write_bytes(b"# by hand\n")
    assert main(["revisions", "repair"], clock=lambda: NOW) == 1
    lines = capsys.readouterr().out.splitlines()
    assert lines[0] == "1 of 1 published skills differ from their active version"
    assert "SKILL.md differs" in lines[1]
    assert lines[2].strip() == f"skillevo revisions repair --restore {NAME}   or   --adopt {NAME}"
    assert main(["revisions", "repair", "--json"], clock=lambda: NOW) == 1
    (drift,) = json.loads(capsys.readouterr().out)["drift"]
    assert (drift["skill"], drift["kind"]) == (NAME, "edited")


def test_repair_restores_or_adopts(bench, run):
    run("approve", bench.enter())
    (bench.folder / "SKILL.md").write_bytes(b"# by hand\n")
    assert f"{NAME} was restored." in run("repair", "--restore", NAME, "--reason", "not agreed")
    assert (bench.folder / "SKILL.md").read_bytes() == bench.better.document
    (bench.folder / "SKILL.md").write_bytes(b"# by hand\n")
    assert f"{NAME} was adopted as rv-" in run("repair", "--adopt", NAME)
    assert (bench.folder / "SKILL.md").read_bytes() == b"# by hand\n"
    assert "not allowed with" in run("repair", "--adopt", NAME, "--restore", NAME, exits=4)
    assert "nothing was ever published" in run("repair", "--restore", "other", exits=1)
    assert {one["action"] for one in json.loads(run("audit", "--json"))} >= {"restore", "adopt"}


def test_repair_of_an_empty_store_has_nothing_to_do(bench, run):
    bench.open().close()
    assert run("repair") == "nothing to do\n"


def test_a_bundle_goes_from_a_runner_to_the_teams_store(bench, run, tmp_path, monkeypatch):
    id = bench.enter()
    lines = run("export", id, "--output", "bundle.json").splitlines()
    assert lines == [
        f"{id} was written to bundle.json",
        "next, where it should live: skillevo revisions import bundle.json",
    ]
    team = tmp_path / "team"
    bench.seed.write(team / "skills" / NAME)
    (team / "pytest.ini").write_text("[pytest]\n", encoding="utf-8")
    monkeypatch.chdir(team)
    told = run("import", "../bundle.json").splitlines()
    assert told[0].endswith(f": update of {NAME}, pending approval")
    new = told[0].partition(":")[0]
    assert "bundle:experiment:exp-1" in run("show", new)
    run("approve", new)
    assert (team / "skills" / NAME / "SKILL.md").read_bytes() == bench.better.document


def test_a_bundle_goes_through_a_pipe(bench, run):
    id = bench.enter()
    (bench.root / "b.json").write_text(run("export", id), encoding="utf-8")
    assert json.loads(run("export", id, "--output", "c.json", "--json")) == {"id": id, "file": "c.json"}
    assert (bench.root / "b.json").read_bytes() == (bench.root / "c.json").read_bytes()
    first = json.loads(run("import", "b.json", "--json"))
    assert json.loads(run("import", "c.json", "--json")) == first
    assert first["status"] == "pending_approval"


def test_what_is_no_bundle_is_refused_in_a_sentence(bench, run):
    (bench.root / "x.json").write_text("{}", encoding="utf-8")
    assert "neither a bundle nor a report" in run("import", "x.json", exits=1)
    assert "cannot be read" in run("import", "missing.json", exits=4)
    assert "cannot be read" in run("import", "skills", exits=4)
    assert "cannot be written" in run("export", bench.enter(), "--output", "no/such/folder.json", exits=4)


def test_the_list_is_cut_and_says_so(bench, run):
    for number in range(4):
        content = Skill.from_bytes(NAME, f"# {number}\n".encode())
        bench.enter(timedelta(minutes=number), source=f"experiment:{number}", content=content)
    assert run("list", "--limit", "3").splitlines()[-1] == "1 older ones are not shown; --limit 0 shows all"
    assert len(json.loads(run("list", "--limit", "0", "--json"))) == 4


def test_the_store_may_be_a_database_that_the_environment_names(bench, run, monkeypatch):
    monkeypatch.setenv("SKILLEVO_STORE", "mysql://host/db")
    assert "cannot be kept in 'mysql'" in run("list", exits=4)
    assert "no revisions" in run("list", "--home", str(bench.root / "elsewhere"))

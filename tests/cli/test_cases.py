"""`skillevo cases` and `skillevo exposure`: holdout cases that are used up, told and retired."""

from __future__ import annotations

import json

import pytest

from pytest_skillevo.store import JournalEntry, Store
from pytest_skillevo.store.committed import EXPOSURE_FILE, RETIRED_FILE, read_openings, read_retirements

NAME = "recipe-cookbook"
CASES = {
    "t.py::test_a[c1]": {"split": "feedback", "key": "k1", "critical": False},
    "t.py::test_a[c2]": {"split": "holdout", "key": "k2", "critical": False},
    "t.py::test_a[c3]": {"split": "holdout", "key": "k3", "critical": False},
    "t.py::test_a[c4]": {"split": "holdout", "key": "k4", "critical": True},
    "t.py::test_a[c5]": {"split": "holdout", "key": "k5", "critical": False},
}


@pytest.fixture
def opened(bench):
    """An experiment that opened three of its four holdout cases, one of them critical."""
    with bench.open() as store:
        store.create_experiment("ex-1", NAME, "fp", {})
        store.append("ex-1", [JournalEntry("cases", "cases", CASES)])
        store.record_opening(["k2", "k3", "k4"], "ex-1", NAME, "decided on")
        store.record_opening(["k2"], "plain run", NAME, "shown to a person")
    return bench


def rows(skillevo):
    return {row["case"]: row for row in json.loads(skillevo("cases", "list", "--json"))}


def test_the_list_tells_how_often_a_case_was_opened(opened, skillevo):
    found = rows(skillevo)
    assert [found[case]["opened"] for case in sorted(found)] == [0, 2, 1, 1, 0]
    screen = skillevo("cases", "list")
    assert "t.py::test_a[c2]  holdout             2x" in screen
    assert "t.py::test_a[c4]  holdout   yes       1x" in screen


def test_one_command_retires_what_was_opened_and_keeps_critical_and_fresh_cases(opened, skillevo):
    screen = skillevo("cases", "retire", "--reason", "decided on")
    assert "2 holdout cases count as validation from now on" in screen
    assert "1 critical case stays in the holdout" in screen
    lines = read_retirements(opened.root / RETIRED_FILE)
    assert [(one.skill, one.case, one.fingerprint, one.actor, one.reason) for one in lines] == [
        (NAME, "t.py::test_a[c2]", "k2", "nina", "decided on"),
        (NAME, "t.py::test_a[c3]", "k3", "nina", "decided on"),
    ]
    found = rows(skillevo)
    assert [found[case]["split"] for case in sorted(found)] == [
        "feedback",
        "validation",
        "validation",
        "holdout",
        "holdout",
    ]
    assert "no opened holdout case is left to retire" in skillevo("cases", "retire")
    assert len(read_retirements(opened.root / RETIRED_FILE)) == 2


def test_a_dry_run_writes_nothing(opened, skillevo):
    assert "2 holdout cases would count as validation" in skillevo("cases", "retire", "--dry-run")
    assert not (opened.root / RETIRED_FILE).exists()


def test_whoever_retires_the_last_fresh_case_is_told(opened, skillevo):
    with opened.open() as store:
        store.record_opening(["k5"], "ex-2", NAME, "decided on")
    assert "has no unopened holdout case left" in skillevo("cases", "retire")


@pytest.mark.parametrize(
    ("case", "complaint"),
    [
        ("c1]", "is a feedback case"),
        ("c5]", "was never opened"),
        ("c4]", "is critical"),
        ("t.py::test_b[c2]", "Did you mean 't.py::test_a[c2]'?"),
    ],
)
def test_a_case_that_cannot_be_retired_is_refused_with_the_reason(opened, skillevo, case, complaint):
    assert complaint in skillevo("cases", "retire", case, exits=4)
    assert not (opened.root / RETIRED_FILE).exists()


def test_single_cases_are_retired_by_a_part_of_their_id(opened, skillevo):
    skillevo("cases", "retire", "c3]")
    assert [one.fingerprint for one in read_retirements(opened.root / RETIRED_FILE)] == ["k3"]


def test_openings_are_exported_once_and_sorted(opened, skillevo, capsys):
    assert "lacks 4 openings" in _left(skillevo, capsys)
    assert "4 openings added" in skillevo("exposure", "export")
    first = (opened.root / EXPOSURE_FILE).read_bytes()
    assert "holds every opening" in skillevo("exposure", "export", "--check")
    assert "holds every opening" in skillevo("exposure", "export")
    assert (opened.root / EXPOSURE_FILE).read_bytes() == first
    records = read_openings(opened.root / EXPOSURE_FILE)
    assert records == sorted(records)


def _left(skillevo, capsys):
    from pytest_skillevo.cli import main

    assert main(["exposure", "export", "--check"]) == 1
    return capsys.readouterr().out


def test_a_fresh_machine_knows_what_was_committed(opened, skillevo):
    skillevo("exposure", "export")
    (opened.root / ".skillevo").rename(opened.root / "elsewhere")
    records = json.loads(skillevo("exposure", "show", "--json"))
    assert {record["fingerprint"] for record in records} == {"k2", "k3", "k4"}
    assert all(record["committed"] for record in records)
    with Store.open(opened.root / ".skillevo") as store:
        assert store.openings(["k3"]).count == 1
        assert store.openings(["k2"]).first == "2026-11-30T12:00:00.000000Z"


def test_the_screen_tells_what_is_not_committed(opened, skillevo):
    screen = skillevo("exposure", "show")
    assert "decided on         3      no" in screen
    skillevo("exposure", "export")
    with opened.open() as store:
        store.record_opening(["k5"], "ex-1", NAME, "decided on")
    screen = skillevo("exposure", "show")
    assert "shown to a person  1      yes" in screen
    assert "3 of 4" in screen
    assert "1 opening not in skillevo-exposure.jsonl" in screen


def test_nothing_opened_is_told_and_makes_no_store(bench, skillevo):
    assert "no holdout case was opened" in skillevo("exposure", "show")
    assert not (bench.root / ".skillevo").exists()


@pytest.mark.parametrize("line", ["<<<<<<< HEAD", '{"at": 1}', "[]", '{"at": "x", "skill": "s"}'])
def test_a_broken_line_of_a_committed_file_is_named(opened, skillevo, line):
    skillevo("exposure", "export")
    file = opened.root / EXPOSURE_FILE
    file.write_text(file.read_text(encoding="utf-8") + line + "\n", encoding="utf-8")
    assert f"{EXPOSURE_FILE}:5: expected one JSON object" in skillevo("exposure", "show", exits=4)

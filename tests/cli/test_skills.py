"""`skillevo skills list | show | validate`."""

from __future__ import annotations

import json

import pytest

from pytest_skillevo.cli import main
from pytest_skillevo.commands.validation import validate
from pytest_skillevo.core.revisions import Action
from pytest_skillevo.core.skill import Skill

from .conftest import NOW

NAME = "recipe-cookbook"
GOOD = "---\nname: good\ndescription: Does good things.\n---\n\n# Good\n\nSee [the guide](references/guide.md).\n"


@pytest.fixture
def lay(bench):
    def write(name: str, text: str | bytes, **files: bytes) -> None:
        folder = bench.root / "skills" / name
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "SKILL.md").write_bytes(text if isinstance(text, bytes) else text.encode())
        for path, data in files.items():
            (folder / path).parent.mkdir(parents=True, exist_ok=True)
            (folder / path).write_bytes(data)

    return write


def test_the_list_has_every_skill_with_its_version_and_state(bench, skillevo, run, lay):
    lay("cat-facts", "# Cats\n")
    assert skillevo("skills", "list").splitlines() == [
        "skill            version  state  description",
        "cat-facts        -        -",
        f"{NAME}  -        -      Build a cookbook.",
    ]
    id = bench.enter()
    run("approve", id)
    assert f"{NAME}  {id}  active  Build a cookbook." in skillevo("skills", "list")
    (bench.folder / "SKILL.md").write_bytes(bench.seed.document)
    assert f"{NAME}  {id}  edited since" in skillevo("skills", "list")
    listed = {one["name"]: one for one in json.loads(skillevo("skills", "list", "--json"))}
    assert (listed[NAME]["revision"], listed[NAME]["state"]) == (id, "edited since")
    assert listed["cat-facts"]["revision"] is None


def test_looking_at_skills_makes_no_store_and_needs_none(bench, skillevo):
    skillevo("skills", "list")
    skillevo("skills", "show", NAME)
    skillevo("skills", "validate")
    assert not (bench.root / ".skillevo").exists()
    assert "no skills in nowhere" in skillevo("skills", "list", "--skills", "nowhere")


def test_a_skill_is_shown_with_its_files_and_its_version(bench, skillevo, run):
    id = bench.enter()
    run("approve", id)
    lines = skillevo("skills", "show", NAME).splitlines()
    assert lines[0] == f"{NAME}: skills/{NAME}"
    assert f"  version      {id}" in lines
    assert "  form         structured" in lines
    assert "  notes.md  4 bytes" in lines
    told = json.loads(skillevo("skills", "show", NAME, "--json"))
    assert told["digest"] == bench.better.digest
    assert told["components"]["steps"].startswith("1. Look.")
    assert [file["path"] for file in told["files"]] == ["SKILL.md", "notes.md"]
    assert "Did you mean 'recipe-cookbook'?" in skillevo("skills", "show", "recipe-cookbok", exits=4)


def test_a_skill_that_cannot_be_read_is_told_beside_the_others(bench, lay, capsys):
    lay("broken", b"\xff\xfe")
    assert main(["skills", "list"], clock=lambda: NOW) == 0
    out, err = capsys.readouterr()
    assert NAME in out
    # How long the path of the test's folder is decides where the line is wrapped.
    assert "broken" in "".join(err.split())


def test_skills_of_a_user_are_listed_with_those_that_the_user_sees(bench, skillevo):
    Skill.from_bytes("mine", b"# Mine\n").write(bench.root / "skills" / "@users" / "crm" / "nina" / "mine")
    listed = json.loads(skillevo("skills", "list", "--json", "--app", "crm", "--user", "nina"))
    assert [(one["name"], one["managed"]) for one in listed] == [("mine", True), (NAME, False)]
    assert "mine" not in skillevo("skills", "list")


def test_a_skill_in_the_published_format_has_no_findings(bench, skillevo, lay):
    lay("good", GOOD, **{"references/guide.md": b"# Guide\n"})
    assert skillevo("skills", "validate", "good") == "1 skill: 0 errors, 0 warnings\n"
    assert skillevo("skills", "validate", "--strict", "skills/good/SKILL.md") == "1 skill: 0 errors, 0 warnings\n"


LENIENT = {
    "no frontmatter": b"# Just text\n",
    "no name": b"---\ndescription: d\n---\n\nText.\n",
    "no description": b"---\nname: s\n---\n\nText.\n",
    "another name": b"---\nname: other\ndescription: d\n---\n\nText.\n",
    "capitals": b"---\nname: My_Skill\ndescription: d\n---\n\nText.\n",
    "long name": b"---\nname: " + b"x" * 70 + b"\ndescription: d\n---\n\nText.\n",
    "long description": b"---\nname: s\ndescription: " + b"d" * 1_100 + b"\n---\n\nText.\n",
    "unknown key": b"---\nname: s\ndescription: d\nversion: 1.10\n---\n\nText.\n",
    "byte order mark": b"\xef\xbb\xbf---\nname: s\ndescription: d\n---\n\nText.\n",
    "CRLF": b"---\r\nname: s\r\ndescription: d\r\n---\r\n\r\nText.\r\n",
    "unquoted colon": b"---\nname: s\ndescription: Use when: asked\n---\n\nText.\n",
    "list of tools": b"---\nname: s\ndescription: d\nallowed-tools: [a, b]\n---\n\nText.\n",
    "comment above": b"<!-- license -->\n---\nname: s\ndescription: d\n---\n\nText.\n",
    "empty body": b"---\nname: s\ndescription: d\n---\n",
    "long": b"---\nname: s\ndescription: d\n---\n" + b"line\n" * 600,
    "wordy": b"---\nname: s\ndescription: d\n---\n" + b"word " * 6_000,
    "dead link": b"---\nname: s\ndescription: d\n---\n\n[x](missing.md)\n",
    "link outside": b"---\nname: s\ndescription: d\n---\n\n[x](../other/SKILL.md)\n",
}


@pytest.mark.parametrize("text", LENIENT.values(), ids=LENIENT)
def test_what_real_clients_accept_is_a_warning_never_an_error(bench, skillevo, lay, text, capsys):
    lay("s", text)
    told = skillevo("skills", "validate", "s").splitlines()
    assert told[0].startswith("1 skill: 0 errors, ")
    assert len(told) > 1
    assert told[1].startswith("  warning: skills/s/SKILL.md")
    assert max(map(len, told)) <= 80
    assert main(["skills", "validate", "--strict", "s"]) == 1


ERRORS = {
    "UTF-16": "Text.".encode("utf-16"),
    "broken YAML": b"---\nname: [s\ndescription: d\n---\n\nText.\n",
    "key twice": b"---\nname: s\nname: t\ndescription: d\n---\n\nText.\n",
}


@pytest.mark.parametrize("text", ERRORS.values(), ids=ERRORS)
def test_what_no_client_can_load_is_an_error(bench, lay, text, capsys):
    lay("s", text)
    assert main(["skills", "validate", "s"]) == 1
    told = capsys.readouterr().out.splitlines()
    assert told[0].startswith("1 skill: 1 errors, 0 warnings")
    assert told[1].startswith("  error: skills/s/SKILL.md:")


def test_all_skills_are_validated_by_default_also_folders_without_a_skill(bench, lay, capsys):
    lay("good", GOOD, **{"references/guide.md": b"# Guide\n"})
    (bench.root / "skills" / "empty").mkdir()
    (bench.root / "skills" / "@apps").mkdir()
    assert main(["skills", "validate", "--json"]) == 1
    found = {one["skill"]: one["findings"] for one in json.loads(capsys.readouterr().out)}
    assert set(found) == {"empty", "good", NAME}
    assert found["good"] == []
    assert "has no SKILL.md" in found["empty"][0]["message"]


def test_what_is_no_skill_at_all_is_wrong_usage(bench, skillevo):
    assert "neither a folder nor a skill" in skillevo("skills", "validate", "nothing", exits=4)
    assert "there is no folder" in skillevo("skills", "validate", "--skills", "nowhere", exits=4)
    assert "usage: skillevo" in skillevo("skills", exits=4)


def test_links_are_followed_where_they_are_links(tmp_path):
    text = (
        GOOD + "[web](https://x.test/a.md) [mail](mailto:a@b.c) [part](#good) [folder](references/) "
        "[spaced](references/a%20b.md) [deep](a/b/c.md)\n\n```\n[code](never.md)\n```\n"
    )
    skill = Skill.from_bytes(
        "good", text.encode(), {"references/guide.md": b"g", "references/a b.md": b"s", "a/b/c.md": b"d"}
    )
    skill.write(tmp_path / "good")
    (finding,) = validate(tmp_path / "good")
    assert "'a/b/c.md' is more than one folder deep" in finding.message
    assert finding.line == 9


def test_a_script_that_may_not_be_executed_is_told(tmp_path):
    skill = Skill.from_bytes("good", GOOD.encode(), {"references/guide.md": b"g", "run.sh": b"#!/bin/sh\n"})
    skill.write(tmp_path / "good")
    (finding,) = validate(tmp_path / "good")
    assert finding.message == "run.sh begins with #! but may not be executed: chmod +x it"
    (tmp_path / "good" / "run.sh").chmod(0o755)
    assert validate(tmp_path / "good") == ()


def test_a_deletion_leaves_nothing_to_list(bench, skillevo, run):
    run("approve", bench.enter(content=Skill.absent(NAME), action=Action.DELETE))
    assert "no skills in skills" in skillevo("skills", "list")

"""A revision carried from one store to another, and everything that may be wrong with what is carried."""

from __future__ import annotations

import copy
import json
import os

import pytest

from pytest_skillevo.core.errors import StoreError
from pytest_skillevo.core.gates.records import Gates
from pytest_skillevo.core.judging import standard_gates
from pytest_skillevo.core.revisions import Action, Status
from pytest_skillevo.core.skill import Skill
from pytest_skillevo.store.bundles import export_revision, import_revision, version_json

from .gate import gates

EVERY_DATABASE = True
NAME = "recipe-cookbook"


@pytest.fixture
def runner(new_project, tmp_path):
    """A project on a machine that is thrown away, with the same skill."""
    root = tmp_path / "runner"
    root.mkdir()
    made = new_project(root)
    made.lay_out()
    return made


@pytest.fixture
def bundle(runner):
    (runner.folder / "scripts/fetch.py").chmod(0o755)
    binary = Skill.from_bytes(NAME, runner.better.document, {**runner.better.files, "data/x.bin": b"\xff\0\xfe"})
    with runner.open() as store:
        told = export_revision(store, runner.enter(store, content=binary))
    # As it is read from a file.
    return json.loads(json.dumps(told))


def changed(bundle, *path, to):
    other = copy.deepcopy(bundle)
    place = other
    for key in path[:-1]:
        place = place[key]
    if to is KeyError:
        del place[path[-1]]
    else:
        place[path[-1]] = to
    return other


def test_a_revision_arrives_whole_and_waits_for_a_person(bundle, store, project):
    revision = import_revision(store, bundle, "nina")
    assert (revision.status, revision.action) == (Status.PENDING_APPROVAL, Action.UPDATE)
    assert revision.source == "bundle:experiment:e1"
    assert revision.evidence == {"decision": {"verdict": "ACCEPT"}}
    assert revision.digest == bundle["content"]["digest"]
    assert revision.executable == ("scripts/fetch.py",)
    assert bundle["revision"]["id"] in store.history(revision)[-1].reason
    store.approve(revision.id, "nina")
    assert project.files() == project.tree(store.skill_of(revision))
    assert project.files()["data/x.bin"] == b"\xff\0\xfe"
    assert os.access(project.folder / "scripts/fetch.py", os.X_OK)


def test_the_same_bundle_twice_is_one_revision(bundle, store):
    assert import_revision(store, bundle, "nina") == import_revision(store, bundle, "omar")
    assert store.count() == 1


@pytest.mark.parametrize(
    ("there", "here"),
    [("active", Status.PENDING_APPROVAL), ("archived", Status.PENDING_APPROVAL), ("pending_eval", Status.PENDING_EVAL)],
)
def test_no_status_is_believed(bundle, store, there, here):
    assert import_revision(store, changed(bundle, "revision", "status", to=there), "nina").status is here


@pytest.mark.parametrize("status", ["rejected", "expired"])
def test_what_was_refused_there_is_not_brought_here(bundle, store, status):
    with pytest.raises(StoreError, match=f"was {status} where it was made"):
        import_revision(store, changed(bundle, "revision", "status", to=status), "nina")


def test_the_gates_here_judge_what_comes(bundle, project):
    with project.open(gates=gates(safety="secret")) as store:
        assert import_revision(store, bundle, "nina").status is Status.REJECTED
    with project.open(gates=Gates(effectiveness=standard_gates().effectiveness)) as store:
        worse = changed(bundle, "revision", "source", to="experiment:e2")
        worse["revision"]["evidence"] = {"decision": {"verdict": "INCONCLUSIVE"}}
        assert import_revision(store, worse, "nina").status is Status.PENDING_EVAL


def test_a_creation_and_a_deletion_travel_too(runner, store, project):
    new, absent = Skill.from_bytes("cat-facts", b"# Cats\n"), Skill.absent("cat-facts")
    with runner.open() as there:
        made = there.add(
            runner.proposal(skill="cat-facts", content=new, parent=absent, action=Action.CREATE, name="Cat facts!"),
            status=Status.PENDING_APPROVAL,
            actor="ci",
            reason="",
        )
        gone = runner.enter(there, content=Skill.absent(NAME), action=Action.DELETE)
        bundles = [export_revision(there, one) for one in (made, gone)]
    created, deleted = (import_revision(store, one, "nina") for one in bundles)
    assert (created.action, created.name, deleted.action) == (Action.CREATE, "Cat facts!", Action.DELETE)
    store.approve(created.id, "nina")
    store.approve(deleted.id, "nina")
    assert (project.skills / "cat-facts" / "SKILL.md").read_bytes() == b"# Cats\n"
    assert not project.folder.exists()


@pytest.mark.parametrize(
    ("path", "to", "problem"),
    [
        (("schema_version",), 9, "schema version 9"),
        (("content", "digest"), "0" * 64, "does not have the digest"),
        (("content", "files", 0, "text"), "# Changed\n", "does not have the digest"),
        (("parent", "files", 0, "text"), "# Changed\n", "does not have the digest"),
        (("revision", "digest"), "0" * 64, "names other versions"),
        (("revision", "parent_digest"), "0" * 64, "names other versions"),
        (("content", "files", 0, "path"), "../../evil.md", "has no SKILL.md"),
        (("content", "files", 1, "path"), "../../evil.md", "is no skill: .*inside the skill's folder"),
        (("content", "files", 1, "path"), "/etc/cron.d/x", "is no skill"),
        (("content", "files", 1, "path"), "SKILL.md", "a file twice"),
        (("content", "files", 1, "path"), 7, "must be text"),
        (("content", "files", 1), {"path": "data/units.csv"}, "no content that can be read"),
        (("content", "files", 1), {"path": "a", "text": "x", "base64": "eA=="}, "no content that can be read"),
        (("content", "files", 1), {"path": "a", "base64": "*"}, "no content that can be read"),
        (("content", "files"), "none", "no list of files"),
        (("content",), KeyError, "has no content"),
        (("revision",), [], "has no revision"),
        (("revision", "skill"), "../x", "cannot be the name of a skill folder"),
        (("revision", "skill"), "@apps", "cannot be the name of a skill folder"),
        (("revision", "skill"), "x" * 2_000, "at most 1000 characters"),
        (("revision", "source"), None, "source must be text"),
        (("revision", "evidence"), [1], "evidence is no object"),
        (("kind",), "something", "neither a bundle nor a report"),
    ],
    ids=lambda value: "/".join(map(str, value)) if isinstance(value, tuple) else None,
)
def test_what_is_not_whole_is_refused_and_changes_nothing(bundle, store, path, to, problem):
    with pytest.raises(StoreError, match=problem):
        import_revision(store, changed(bundle, *path, to=to), "nina")
    assert store.count() == 0


@pytest.mark.parametrize("data", [None, [], "text", {}, {"skill": {}, "experiment": {}}])
def test_what_is_something_else_is_refused(store, data):
    with pytest.raises(StoreError, match=r"neither a bundle nor a report|no revision"):
        import_revision(store, data, "nina")


def report(project, **changes):
    told = {
        "schema_version": "1.0",
        "model": {"name": "simulated", "kind": "simulated"},
        "skill": {
            "name": NAME,
            "before": project.seed.digest,
            "after": project.better.digest,
            "versions": {"before": version_json(project.seed), "after": version_json(project.better)},
        },
        "experiment": {"id": "ex-1"},
        "dataset": {},
        "confirmation": {},
        "decision": {"verdict": "ACCEPT"},
        "usage": {},
        "revision": {"id": "rv-11112222", "status": "pending_approval"},
    }
    return told | changes


def test_a_report_that_carries_its_skill_brings_its_revision_along(store, project):
    revision = import_revision(store, report(project), "nina")
    assert (revision.source, revision.digest) == ("bundle:experiment:ex-1", project.better.digest)
    assert set(revision.evidence) == {"model", "experiment", "dataset", "confirmation", "decision"}
    assert revision.executable == (), "as the folder here has it"
    assert store.approve(revision.id, "nina").status is Status.ACTIVE


def test_a_report_without_files_says_how_to_get_them(store, project):
    bare = report(project, skill={"name": NAME, "before": "", "after": ""})
    with pytest.raises(StoreError, match="skillevo revisions export rv-11112222 --output FILE"):
        import_revision(store, bare, "nina")
    with pytest.raises(StoreError, match="ended without one"):
        import_revision(store, report(project, revision=None), "nina")

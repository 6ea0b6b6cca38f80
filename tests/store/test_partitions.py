"""Everyone's skills, an app's and a user's: read from far, written near."""

from __future__ import annotations

import pytest

from pytest_skillevo.core.errors import StoreError
from pytest_skillevo.core.revisions import Action, Status
from pytest_skillevo.core.scopes import NO_SCOPE, Scope
from pytest_skillevo.core.skill import Skill

from .gate import gates
from .invariants import assert_whole

EVERY_DATABASE = True
NAME = "cat-facts"
SCOPES = (NO_SCOPE, Scope("crm"), Scope("crm", "nina"), Scope("crm", "Nina"), Scope("billing"))


def publish(project, store, text: bytes = b"# Cat facts\n", **fields):
    content = Skill.from_bytes(NAME, text)
    proposal = project.proposal(
        **{"skill": NAME, "content": content, "parent": Skill.absent(NAME), "action": Action.CREATE} | fields
    )
    return store.offer(proposal, actor="reviewer", reason="")


def test_each_partition_has_a_skill_of_its_own_under_one_name(project, store):
    for scope in SCOPES:
        revision = publish(project, store.at(scope.key), f"# For {scope.words}\n".encode())
        assert (revision.scope, revision.status) == (scope.key, Status.ACTIVE)
    for scope in SCOPES:
        folder = project.skills.joinpath(*scope.parts, NAME)
        assert (folder / "SKILL.md").read_bytes() == f"# For {scope.words}\n".encode()
        assert len(store.at(scope.key).revisions(NAME)) == 2
    assert set(store.partitions()) == {scope.key for scope in SCOPES}
    assert_whole(store)


def test_the_same_version_may_be_offered_in_two_partitions(project, store):
    ids = {publish(project, store.at(scope.key)).id for scope in SCOPES}
    assert len(ids) == len(SCOPES)


def test_a_revision_of_another_partition_is_neither_seen_nor_decided(project, store):
    mine, yours = store.at(Scope("crm", "nina").key), store.at(Scope("crm", "omar").key)
    with project.open(gates=gates(human="held"), scope=Scope("crm", "nina")) as held:
        waiting = publish(project, held)
    assert waiting.status is Status.PENDING_APPROVAL
    assert mine.revision(waiting.id) == waiting
    for act in (yours.revision, store.revision):
        with pytest.raises(StoreError, match="there is no revision"):
            act(waiting.id)
    for act in (yours.approve, yours.reject, yours.expire, store.approve):
        with pytest.raises(StoreError, match="there is no revision"):
            act(waiting.id, "omar")
    with pytest.raises(StoreError, match="nothing was ever published"):
        yours.rollback(NAME, "omar")
    assert yours.revisions() == yours.audit() == yours.pointers() == ()
    assert mine.approve(waiting.id, "nina").status is Status.ACTIVE


@pytest.mark.parametrize("name", ["@apps", "@users", "@anything"])
def test_no_skill_can_stand_where_partitions_are(project, store, name):
    with pytest.raises(StoreError, match="cannot be the name of a skill folder"):
        store.add_revision(
            name,
            Skill.from_bytes(name, b"# X\n", {"crm/cat-facts/SKILL.md": b"# Mine now\n"}),
            Skill.absent(name),
            action=Action.CREATE,
            source="submission",
            status=Status.PENDING_APPROVAL,
            evidence={},
            actor="x",
            reason="",
        )


def test_a_partition_is_named_by_the_key_of_a_scope(store):
    with pytest.raises(StoreError, match="is no partition"):
        store.at("../outside")


def test_a_linked_partition_is_not_written_through(project, store, tmp_path):
    outside = tmp_path / "outside"
    outside.mkdir()
    (project.skills / "@apps").mkdir()
    (project.skills / "@apps" / "crm").symlink_to(outside)
    with pytest.raises(StoreError, match="is a symbolic link"):
        publish(project, store.at("@apps/crm"))
    assert list(outside.iterdir()) == []


def test_duplicates_are_looked_for_in_everything_that_is_seen(project, store):
    publish(project, store, b"# Shared\n")
    publish(project, store.at("@apps/crm"), b"# Of the app\n")
    publish(project, store.at("@users/crm/omar"), b"# Of Omar\n")
    asked = gates(spec="duplicate_name")
    with project.open(gates=asked, scope=Scope("crm", "nina")) as mine:
        assert publish(
            project, mine, skill="new", content=Skill.from_bytes("new", b"# New\n"), parent=Skill.absent("new")
        ).status
        assert mine.count() == 1
    assert set(asked.spec.asked[0].existing) == {"Recipe cookbook", "Shared", "Of the app"}
    assert not (project.skills / "@users" / "crm" / "nina").exists()


def test_new_names_get_folders_that_nobody_seen_from_here_has(project, store):
    user = store.at(Scope("crm", "nina").key)
    publish(
        project,
        store,
        skill="c-build",
        content=Skill.from_bytes("c-build", b"# C++ Build\n"),
        parent=Skill.absent("c-build"),
    )
    assert user.folder_for("C++ Build") == "c-build"
    assert user.folder_for("C Build").startswith("c-build-")
    assert store.at("@apps/billing").folder_for("C Build").startswith("c-build-")
    with project.open(gates=gates(human="held")) as held:
        publish(
            project,
            held,
            skill="go-build",
            content=Skill.from_bytes("go-build", b"# x\n"),
            parent=Skill.absent("go-build"),
            name="Go! Build",
        )
        assert held.folder_for("Go Build").startswith("go-build-"), "a name that waits is taken too"
        held.reject(held.revisions("go-build")[0].id, "nina")
        assert held.folder_for("Go Build") == "go-build"


def test_names_in_any_script_get_folders_that_stay_theirs(project, store):
    folders = {}
    for name in ("月次決算", "在庫確認", "Отчёт"):
        folder = store.folder_for(name)
        content = Skill.from_bytes(folder, f"---\nname: {folder}\ndescription: d\n---\n\n# {name}\n".encode())
        made = publish(project, store, skill=folder, content=content, parent=Skill.absent(folder), name=name)
        assert made.status is Status.ACTIVE
        folders[name] = folder
    assert len(set(folders.values())) == 3
    assert {name: store.folder_for(name) for name in folders} == folders

"""Time decides only what it was told to decide."""

from __future__ import annotations

from datetime import timedelta

import pytest

from pytest_skillevo.core.revisions import Action, Deed, Status
from pytest_skillevo.core.skill import Skill
from pytest_skillevo.store.timers import Timers, sweep

from .gate import gates
from .invariants import assert_whole

NAME = "recipe-cookbook"
HOUR, DAY = timedelta(hours=1), timedelta(days=1)


def later(project, wait: timedelta):
    return project.clock.now + wait


def outcomes(swept) -> list[tuple[str, str]]:
    return [(one.revision, one.outcome.partition(":")[0]) for one in swept]


def test_without_a_timer_nothing_is_decided_by_silence(store, project):
    revision = project.enter(store)
    assert sweep(store, Timers(), later(project, 365 * DAY)) == ()
    assert store.revision(revision.id).status is Status.PENDING_APPROVAL


def test_what_nobody_objected_to_is_promoted_in_the_name_of_the_timer(store, project):
    revision = project.enter(store)
    timers = Timers(promote_after=DAY)
    assert sweep(store, timers, later(project, DAY - HOUR)) == ()
    assert outcomes(sweep(store, timers, later(project, DAY + HOUR))) == [(revision.id, "promoted")]
    event = store.history(store.revision(revision.id))[-1]
    assert (event.deed, event.actor, event.reason) == (Deed.APPROVE, "timer", "nobody objected for 1 day")
    assert project.files() == project.tree(project.better)
    assert_whole(store)


@pytest.mark.parametrize("source", ["submission", "submission:lab", "bundle:experiment:e1", "import"])
def test_what_came_from_outside_always_waits_for_a_person(store, project, source):
    revision = project.enter(store, source=source)
    assert sweep(store, Timers(promote_after=HOUR), later(project, 9 * DAY)) == ()
    assert store.revision(revision.id).status is Status.PENDING_APPROVAL


def test_deletions_always_wait_for_a_person(store, project):
    project.enter(store, content=Skill.absent(NAME), action=Action.DELETE)
    assert sweep(store, Timers(promote_after=HOUR), later(project, 9 * DAY)) == ()
    assert project.files() == project.tree(project.seed)


def test_what_waits_for_evidence_is_not_promoted(store, project):
    project.enter(store, status=Status.PENDING_EVAL)
    assert sweep(store, Timers(promote_after=HOUR), later(project, 9 * DAY)) == ()


def test_the_time_counts_from_when_it_began_to_wait(store, project):
    revision = project.enter(store, status=Status.PENDING_EVAL)
    project.clock.now += 9 * DAY
    store.reevaluate(revision.id, {"more": 1}, actor="ci")
    assert sweep(store, Timers(promote_after=DAY), later(project, HOUR)) == ()
    assert len(sweep(store, Timers(promote_after=DAY), later(project, 2 * DAY))) == 1


def test_one_of_a_skill_is_promoted_the_oldest_that_still_fits(store, project):
    stale = project.enter(store, content=project.version(5), parent=project.version(4), source="experiment:0")
    first = project.enter(store, source="experiment:1")
    second = project.enter(store, content=project.version(1), source="experiment:2")
    swept = sweep(store, Timers(promote_after=HOUR), later(project, DAY))
    assert outcomes(swept) == [(stale.id, "stale"), (first.id, "promoted")]
    assert outcomes(sweep(store, Timers(promote_after=HOUR), later(project, DAY))) == [
        (stale.id, "stale"),
        (second.id, "stale"),
    ]
    assert len(store.history(stale)) == 1, "a timer that looks leaves no trace"


def test_a_revision_that_cannot_be_moved_keeps_no_other_waiting(project):
    with project.open() as store:
        bad = project.enter(store)
        Skill.from_bytes("cat-facts", b"# Cats\n").write(project.skills / "cat-facts")
        good = store.add(
            project.proposal(
                skill="cat-facts",
                content=Skill.from_bytes("cat-facts", b"# Cats 2\n"),
                parent=Skill.from_bytes("cat-facts", b"# Cats\n"),
            ),
            status=Status.PENDING_APPROVAL,
            actor="reviewer",
            reason="",
        )
    picky = gates(safety=lambda candidate: "secret" if candidate.skill == project.better else None)
    with project.open(gates=picky) as store:
        swept = sweep(store, Timers(promote_after=HOUR), later(project, DAY))
        assert [one.revision for one in swept] == [bad.id, good.id]
        assert "do not let it pass" in swept[0].outcome
        assert store.revision(bad.id).status is Status.REJECTED
        assert store.revision(good.id).status is Status.ACTIVE


def test_what_waited_too_long_expires(store, project):
    parked = project.enter(store, status=Status.PENDING_EVAL)
    gone = project.enter(store, content=Skill.absent(NAME), action=Action.DELETE, source="submission")
    swept = sweep(store, Timers(expire_after=30 * DAY), later(project, 31 * DAY))
    assert sorted(outcomes(swept)) == sorted([(parked.id, "expired"), (gone.id, "expired")])
    assert {one.status for one in store.revisions()} == {Status.EXPIRED}
    assert store.history(store.revision(gone.id))[-1].reason == "nobody decided for 30 days"


def test_every_partition_is_swept(store, project):
    for key in ("@apps/crm", "@users/crm/nina"):
        store.at(key).add(
            project.proposal(skill="x", content=Skill.from_bytes("x", b"# X\n"), parent=Skill.absent("x")),
            status=Status.PENDING_APPROVAL,
            actor="reviewer",
            reason="",
        )
    swept = sweep(store, Timers(promote_after=HOUR), later(project, DAY))
    assert [(one.partition, one.outcome) for one in swept] == [
        ("@apps/crm", "promoted"),
        ("@users/crm/nina", "promoted"),
    ]


@pytest.mark.parametrize(
    ("timers", "interval"),
    [
        (Timers(promote_after=DAY), HOUR),
        (Timers(promote_after=7 * DAY), HOUR),
        (Timers(promote_after=2 * HOUR), HOUR / 2),
        (Timers(expire_after=timedelta(seconds=2)), timedelta(seconds=1)),
        (Timers(), HOUR),
    ],
)
def test_a_sweep_is_due_four_times_within_the_shortest_timer(timers, interval):
    assert timers.interval == interval

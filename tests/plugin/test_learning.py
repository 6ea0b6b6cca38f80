"""`--evolve-learn`: a suite learns from its own feedback cases, and nothing changes without a person."""

from __future__ import annotations

import json

import pytest

from pytest_skillevo.core.revisions import Status
from pytest_skillevo.store import Store
from pytest_skillevo.store.learning_records import JobStatus

SUITE = """
import pytest
pytestmark = pytest.mark.skill("demo")

def talk(rollout, score, feedback):
    messages = [{"role": "user", "content": "# Demo question: a cookbook"}, {"role": "assistant", "content": "x"}]
    rollout.add_session({"prompt": "p", "answer": "x", "messages": messages, "skills_loaded": ["demo"]})
    rollout.record(score=score, passed=score == 1.0, feedback=feedback)

@pytest.mark.split("feedback")
@pytest.mark.parametrize("n", range(4))
def test_told(skill, rollout, n):
    talk(rollout, 0.4, "missing fields: category_dishes (4 of 4).")

@pytest.mark.split("validation")
def test_closed(skill, rollout): talk(rollout, 0.1, "validation secret")

@pytest.mark.split("holdout")
def test_hidden(skill, rollout): talk(rollout, 0.1, "holdout secret")

@pytest.mark.split("feedback")
def test_silent(skill): assert skill.exists
"""


def store_of(project):
    return Store.open(project.path / ".skillevo", skills=project.path / "skills")


def test_feedback_cases_become_jobs_with_their_scores_and_proposals_wait(project):
    project.makepyfile(SUITE)
    before = (project.path / "skills" / "demo" / "SKILL.md").read_bytes()
    result = project.runpytest("--evolve-learn")
    result.assert_outcomes(passed=7)
    result.stdout.fnmatch_lines(
        [
            "*skillevo learning*",
            "4 accepted, 4 reviewed, * proposed, * gated, 0 published",
            "look at what was proposed: skillevo revisions list",
            "not learned from: 1 holdout, 1 validation, 1 without a conversation",
        ]
    )
    with store_of(project) as store:
        jobs = store.learning.jobs(JobStatus.DONE)
        assert len(jobs) == 4
        assert all(job.outcome.score == 0.4 and job.outcome.evaluator == "pytest" for job in jobs)
        assert "secret" not in json.dumps([event.to_json() for job in jobs for event in job.session.events])
        made = store.revisions()
        assert made
        assert {one.status for one in made} <= {Status.PENDING_EVAL, Status.PENDING_APPROVAL}
        assert {one.skill for one in made} == {"demo"}
    assert (project.path / "skills" / "demo" / "SKILL.md").read_bytes() == before


def test_without_the_option_nothing_is_kept(project):
    project.makepyfile(
        SUITE
        + """
def test_by_hand(learning):
    from pytest_skillevo import LearningJob, Session
    receipt = learning.enqueue(LearningJob(Session.of("s", [{"role": "user", "content": "x"}])))
    assert (learning.on, receipt.status) == (False, "off")
"""
    )
    result = project.runpytest()
    result.assert_outcomes(passed=8)
    assert not (project.path / ".skillevo").exists()


def test_a_hook_may_change_or_refuse_jobs_and_a_fixture_hands_in_by_hand(project):
    project.makeconftest(
        """
        import dataclasses
        def pytest_skillevo_learning_job(item, job):
            if item.name == "test_told[3]":
                return False
            return dataclasses.replace(job, kind="renamed")
        """
    )
    project.makepyfile(
        SUITE
        + """
@pytest.mark.parametrize("split", [
    pytest.param("feedback", marks=pytest.mark.split("feedback")),
    pytest.param("holdout", marks=pytest.mark.split("holdout")),
])
def test_by_hand(learning, split):
    from pytest_skillevo import LearningJob, Session
    job = LearningJob(Session.of(split, [{"role": "user", "content": "x"}]))
    assert learning.enqueue(job).status == {"feedback": "queued", "holdout": "closed"}[split]
"""
    )
    result = project.runpytest("--evolve-learn")
    result.stdout.fnmatch_lines(["not learned from: 2 holdout, 1 left out by a hook, 1 validation, 2 without*"])
    with store_of(project) as store:
        jobs = store.learning.jobs()
        assert sorted(job.kind for job in jobs) == ["", "renamed", "renamed", "renamed"]
        assert "feedback" in {job.session_id for job in jobs}


def test_workers_of_xdist_hand_in_and_the_controller_learns(project):
    project.makepyfile(SUITE)
    result = project.runpytest_subprocess("--evolve-learn", "-n2", "-p", "no:cacheprovider")
    result.assert_outcomes(passed=7)
    result.stdout.fnmatch_lines(["*skillevo learning*", "* look at what was proposed*"][:1])
    with store_of(project) as store:
        assert store.learning.depths()[JobStatus.DONE] == 4
        assert len({job.session_id for job in store.learning.jobs()}) == 4


def test_a_reviewer_that_breaks_down_changes_no_result(project):
    project.makeconftest(
        """
        class Broken:
            name = kind = "broken"
            priced = False
            def complete(self, messages, tools=(), **settings):
                raise RuntimeError("dial refused")
        def pytest_skillevo_chat_model(name, role):
            return Broken() if name == "broken" else None
        """
    )
    project.makepyfile(SUITE)
    result = project.runpytest("--evolve-learn", "--evolve-model=reviewer=broken", "--evolve-learn-seconds=20")
    result.assert_outcomes(passed=7)
    result.stdout.fnmatch_lines(["4 accepted, 0 reviewed*"])
    with store_of(project) as store:
        jobs = store.learning.jobs()
        assert {job.status for job in jobs} <= {JobStatus.PARKED, JobStatus.QUEUED}
        assert "dial refused" in jobs[-1].error


def test_an_experiment_does_not_learn_on_the_side(project):
    project.makepyfile(SUITE)
    result = project.runpytest("--evolve", "--evolve-learn")
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines(["*--evolve-learn is for plain runs*"])

"""The Reviewer, through the very prompt that core/review builds."""

from __future__ import annotations

import pytest

from pytest_skillevo.core.records import Evaluation
from pytest_skillevo.core.review.applying import Shelf, changes
from pytest_skillevo.core.review.decision import Rejection
from pytest_skillevo.core.review.parsing import parse
from pytest_skillevo.core.review.prompt import ReviewInput, ShownSkill, build_prompt
from pytest_skillevo.core.review.reviewer import Reviewer
from pytest_skillevo.core.sessions import TaskOutcome
from pytest_skillevo.core.skill import Skill, SkillSpec
from pytest_skillevo.models.simulated import EditMix, SimulatedModel

SKILL = Skill.create(SkillSpec("recipe-cookbook", "Cookbooks of dishes.", "For cookbooks.", ("Search.",), ()))
OTHER = Skill.create(SkillSpec("weather", "Weather reports.", "For weather.", ("Ask.",), ()))
TASK = {"role": "user", "content": "# Recipe cookbook: a table of dishes from the meal catalogue"}
FEEDBACK = "missing fields: category_dishes (4 of 4)."
ONLY_GOOD = EditMix(1, 0, 0, 0, 0, 0)


def ask(feedback, skills, loaded=(), messages=(TASK,)):
    outcome = TaskOutcome.of(Evaluation(0.7, False, feedback))
    return ReviewInput(messages, outcome, [ShownSkill.of(skill, loaded=skill.name in loaded) for skill in skills])


def review(feedback, skills, seed=1, loaded=(), messages=(TASK,), mix=ONLY_GOOD):
    prompt = build_prompt(ask(feedback, skills, loaded, messages), redact=lambda t: t)
    reply = SimulatedModel(mix=mix).complete(prompt.messages, seed=seed)
    return parse(reply.text, reply.finish_reason)


def change(decision, skills):
    (made,), refused = changes(decision, Shelf(skills, {skill.name: skill.digest for skill in skills}))
    assert refused == ()
    return made.after


def test_the_loaded_skill_is_updated_with_the_remedy():
    decision = next(d for s in range(9) if (d := review(FEEDBACK, [OTHER, SKILL], s, ["recipe-cookbook"])).updates)
    changed = change(decision, [OTHER, SKILL])
    assert "category_dishes" in changed.components[decision.updates[0].component]


def test_a_skill_that_fits_the_task_is_updated_although_it_was_not_loaded():
    found = {update.name for seed in range(30) for update in review(FEEDBACK, [OTHER, SKILL], seed).updates}
    assert found == {"recipe-cookbook"}


def test_a_read_only_skill_is_left_alone():
    shown = ShownSkill.of(SKILL, loaded=True, read_only="it is pinned")
    for seed in range(9):
        given = ReviewInput([TASK], TaskOutcome.of(Evaluation(0.7, False, FEEDBACK)), [shown])
        assert Reviewer(SimulatedModel(mix=ONLY_GOOD)).review(given, seed=seed).decision.updates == ()


def test_without_a_fitting_skill_one_is_created():
    decision = next(d for s in range(9) if (d := review(FEEDBACK, [OTHER], s)).skills)
    created = change(decision, [OTHER])
    assert "category_dishes" in created.components["steps"]
    assert created.spec.description


def test_a_recovery_in_the_transcript_becomes_a_pitfall():
    transcript = [
        TASK,
        {"role": "tool", "content": '{"success": false, "code": "TIMEOUT"}'},
        {"role": "tool", "content": '{"success": true}'},
    ]
    decision = next(d for s in range(9) if (d := review(FEEDBACK, [], s, messages=transcript)).skills)
    assert "time-out" in decision.skills[0].pitfalls[0]


@pytest.mark.parametrize(("feedback", "low", "high"), [(FEEDBACK, 0.05, 0.16), ("", 0.93, 1.0)])
def test_the_documented_errors_occur_at_their_rates(feedback, low, high):
    skipped = sum(bool(review(feedback, [SKILL], seed, ["recipe-cookbook"]).skip_reason) for seed in range(400))
    assert low <= skipped / 400 <= high


def test_invalid_answers_are_rejected_by_the_parser():
    found = [review(FEEDBACK, [SKILL], seed, mix=EditMix(0, 0, 0, 0, 0, 1)) for seed in range(40)]
    assert any(isinstance(each, Rejection) for each in found)
    assert all(isinstance(each, Rejection) or each.skip_reason for each in found)


def test_asked_again_it_draws_anew():
    model = SimulatedModel(mix=EditMix(0.5, 0, 0, 0, 0, 0.5))
    notes = [Reviewer(model, tries=4).review(ask(FEEDBACK, [SKILL]), seed=seed).notes for seed in range(12)]
    assert any(notes)

"""The Reviewer, through the very prompt that core/review builds."""

from __future__ import annotations

import pytest

from pytest_skillevo.core.records import Evaluation
from pytest_skillevo.core.review.reviewer import Rejection, apply, build_messages, parse
from pytest_skillevo.core.skill import Skill, SkillSpec
from pytest_skillevo.models.simulated import EditMix, SimulatedModel

SKILL = Skill.create(SkillSpec("recipe-cookbook", "Cookbooks of dishes.", "For cookbooks.", ("Search.",), ()))
OTHER = Skill.create(SkillSpec("weather", "Weather reports.", "For weather.", ("Ask.",), ()))
TASK = {"role": "user", "content": "# Recipe cookbook: a table of dishes from the meal catalogue"}
FEEDBACK = "missing fields: category_dishes (4 of 4)."
ONLY_GOOD = EditMix(1, 0, 0, 0, 0, 0)


def review(feedback, skills, seed=1, loaded=(), messages=(TASK,), mix=ONLY_GOOD):
    prompt = build_messages(Evaluation(0.7, False, feedback), skills, messages, loaded=loaded, redact=lambda t: t)
    reply = SimulatedModel(mix=mix).complete(prompt, seed=seed)
    return parse(reply.text, reply.finish_reason)


def test_the_loaded_skill_is_updated_with_the_remedy():
    decision = next(
        d for s in range(9) if (d := review(FEEDBACK, [OTHER, SKILL], s, ["recipe-cookbook"])).action == "update"
    )
    changed = apply(decision, [OTHER, SKILL])
    assert "category_dishes" in changed.components[decision.component]


def test_a_skill_that_fits_the_task_is_updated_although_it_was_not_loaded():
    actions = {review(FEEDBACK, [OTHER, SKILL], seed).skill for seed in range(30)}
    assert actions == {"recipe-cookbook", ""}


def test_without_a_fitting_skill_one_is_created():
    decision = next(d for s in range(9) if (d := review(FEEDBACK, [OTHER], s)).action == "create")
    created = apply(decision, [OTHER])
    assert "category_dishes" in created.components["steps"]
    assert created.spec.description


def test_a_recovery_in_the_transcript_becomes_a_pitfall():
    transcript = [
        TASK,
        {"role": "tool", "content": '{"success": false, "code": "TIMEOUT"}'},
        {"role": "tool", "content": '{"success": true}'},
    ]
    decision = next(d for s in range(9) if (d := review(FEEDBACK, [], s, messages=transcript)).action == "create")
    assert "time-out" in decision.spec.pitfalls[0]


@pytest.mark.parametrize(
    ("feedback", "action", "low", "high"), [(FEEDBACK, "skip", 0.05, 0.16), ("", "update", 0.0, 0.07)]
)
def test_the_documented_errors_occur_at_their_rates(feedback, action, low, high):
    actions = [review(feedback, [SKILL], seed, ["recipe-cookbook"]).action for seed in range(400)]
    assert low <= actions.count(action) / 400 <= high


def test_invalid_answers_are_rejected_by_the_parser():
    found = [review(FEEDBACK, [SKILL], seed, mix=EditMix(0, 0, 0, 0, 0, 1)) for seed in range(40)]
    assert any(isinstance(each, Rejection) for each in found)
    assert all(isinstance(each, Rejection) or each.action == "skip" for each in found)

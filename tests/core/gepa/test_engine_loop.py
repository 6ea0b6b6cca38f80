"""The search loop: what is asked, in which order, and what becomes of a proposal."""

from __future__ import annotations

import pytest

from pytest_skillevo.core.gepa import Engine, ReflectionRequest, SearchSettings, StopReason, Strategy
from pytest_skillevo.core.records import Evaluation, RolloutRequest
from pytest_skillevo.core.skill import Skill

from .driver import always_better, answer_text, appended, by_length, cases, drive, search, section, seed_skill


def kinds(result) -> list[str]:
    return [event.kind.value for event in result.events]


def test_an_accepted_iteration_asks_in_four_batches_with_paired_seeds():
    engine = Engine(seed_skill(), cases(5, 2), SearchSettings(iterations=1))
    log = drive(engine, by_length, always_better)
    ids = [request.id for request in log.requests]
    assert ids[:2] == ["search/it000/seed/0", "search/it000/seed/1"]
    assert ids[5] == "search/it001/reflection"
    assert [i.split("/")[2] for i in ids[2:]] == ["parent"] * 3 + ["reflection"] + ["child"] * 3 + ["validation"] * 2
    assert len(set(ids)) == len(ids)
    rollouts = [request for request in log.requests if isinstance(request, RolloutRequest)]
    parents, children = rollouts[2:5], rollouts[5:8]
    assert [(r.case_id, r.seed) for r in parents] == [(r.case_id, r.seed) for r in children]
    assert len({r.seed for r in parents}) == 1
    assert {r.variant for r in parents} == {seed_skill().digest}
    assert len({r.seed for r in rollouts if r.phase == "validation"}) == 1
    assert all(0 <= r.seed < 2**31 for r in rollouts)
    assert [r.phase for r in rollouts[2::3]] == ["feedback-parent", "feedback-child", "validation"]


def test_the_result_names_winner_pool_and_lineage():
    result, log = search(iterations=3, dataset=cases(5, 2))
    seed, *rest = result.pool
    assert (seed.digest, seed.parent, seed.component, seed.iteration) == (seed_skill().digest, None, None, 0)
    assert [entry.iteration for entry in rest] == [1, 2, 3]
    assert result.winner == max(result.pool, key=lambda entry: entry.mean).digest
    assert all(set(entry.scores) == {"v-0", "v-1"} for entry in result.pool)
    assert result.rollouts == log.rollouts == 2 + 3 * (3 + 3 + 2)
    assert kinds(result) == ["seed_validated"] + ["candidate_accepted"] * 3
    assert [event.iteration for event in result.events] == [0, 1, 2, 3]
    assert result.usage["reflection"].tokens == 3 * 120


def test_each_candidate_has_its_own_cursor_that_a_child_inherits_advanced():
    engine = Engine(seed_skill(), cases(3, 2), SearchSettings(iterations=8))
    log = drive(engine, by_length, always_better)
    components = [request.component for request in log.requests if isinstance(request, ReflectionRequest)]
    # by_length makes every child better on all cases, so the newest is always the parent.
    assert components == ["steps", "pitfalls", "when_to_use", "description"] * 2


def test_the_cursor_advances_also_when_nothing_comes_of_the_proposal():
    log = search(reflect=lambda request: "no json", iterations=4)[1]
    assert [r.component for r in log.requests if isinstance(r, ReflectionRequest)] == [
        "steps",
        "pitfalls",
        "when_to_use",
        "description",
    ]


def test_a_child_that_is_not_strictly_better_is_rejected_without_validation():
    result, log = search(lambda skill, request: 0.5, iterations=2)
    assert kinds(result)[1:] == ["candidate_rejected"] * 2
    assert result.winner == result.seed
    assert result.rollouts == log.rollouts == 4 + 2 * 6
    event = result.events[1]
    assert (event.parent_sum, event.child_sum) == (1.5, 1.5)
    assert "no improvement" in event.verdict
    assert event.text
    assert "Check number 1." in event.text


def test_noise_in_the_last_digit_is_no_improvement():
    def noisy(skill: Skill, request: RolloutRequest) -> float:
        return 0.1 + 0.2 if "Check number" in skill.text else 0.3

    assert kinds(search(noisy, iterations=1)[0])[1:] == ["candidate_rejected"]


def test_an_accepted_child_enters_the_pool_whatever_its_validation_is():
    def overfit(skill: Skill, request: RolloutRequest) -> float:
        fresh = "Check number" in skill.text
        return (0.2 if fresh else 0.6) if request.phase == "validation" else (0.9 if fresh else 0.1)

    result = search(overfit, iterations=1)[0]
    assert [entry.mean for entry in result.pool] == [0.6, 0.2]
    assert result.winner == result.seed


def test_ties_in_the_mean_go_to_the_oldest():
    def flat(skill: Skill, request: RolloutRequest) -> float:
        return 0.5 if request.phase == "validation" else by_length(skill, request)

    result = search(flat, iterations=3)[0]
    assert len(result.pool) == 4
    assert result.winner == result.seed


def test_a_perfect_minibatch_costs_no_reflection_and_counts_as_an_iteration():
    def perfect_feedback(skill: Skill, request: RolloutRequest) -> float:
        return 0.5 if request.phase == "validation" else 1.0

    result, log = search(perfect_feedback, iterations=3)
    assert kinds(result)[1:] == ["minibatch_perfect"] * 3
    assert log.reflections == 0
    assert result.rollouts == 4 + 3 * 3
    assert result.stop_reason is StopReason.MAX_ITERATIONS


def test_a_perfect_seed_is_saturated_before_any_iteration():
    result, log = search(lambda skill, request: 1.0, iterations=3)
    assert result.stop_reason is StopReason.SATURATED
    assert log.rollouts == 4
    assert result.iterations == 0


def test_a_perfect_candidate_ends_the_search_at_the_threshold():
    result = search(lambda skill, request: 1.0 if "Check number" in skill.text else 0.5, iterations=9)[0]
    assert result.stop_reason is StopReason.SCORE_THRESHOLD
    assert result.iterations == 1


def test_a_proposal_equal_to_a_rejected_one_is_not_evaluated_again():
    result = search(
        lambda s, r: 0.5, lambda request: appended(request, "Always the same."), iterations=5, dataset=cases(3, 4)
    )[0]
    assert kinds(result)[1:] == ["candidate_rejected"] * 4 + ["candidate_duplicate"]
    assert result.rollouts == 4 + 4 * 6 + 3
    assert "rejected before" in result.events[-1].verdict


def test_a_proposal_that_lost_on_other_cases_is_tried_again():
    def score(skill: Skill, request: RolloutRequest) -> float:
        # The one good change shows on one feedback case only.
        return 0.9 if "Always the same." in skill.text and request.case_id in ("f-0", "v-0") else 0.5

    only_steps = Strategy(select_component=lambda skill, cursor, evidence: "steps")
    result = search(
        score, lambda request: appended(request, "Always the same."), iterations=3, minibatch=1, dataset=cases(3, 2),
        engine={"strategy": only_steps},
    )[0]  # fmt: skip
    assert kinds(result).count("candidate_accepted") == 1
    assert kinds(result).count("candidate_duplicate") == 0


def test_a_proposal_equal_to_a_pool_member_is_not_evaluated_again():
    same = answer_text("steps", "1. Read the whole text twice.")

    def score(skill: Skill, request: RolloutRequest) -> float:
        # The child wins the minibatch but no validation case, so the seed stays the only parent.
        new = "twice" in skill.text
        return float(not new) / 2 if request.phase == "validation" else float(new) / 2

    only_steps = Strategy(select_component=lambda skill, cursor, evidence: "steps")
    result = search(score, lambda request: same, iterations=2, engine={"strategy": only_steps})[0]
    assert kinds(result)[1:] == ["candidate_accepted", "candidate_duplicate"]
    assert "in the pool" in result.events[-1].verdict


def test_rejected_proposals_of_the_parent_go_into_the_next_prompt_with_their_reasons():
    def reflect(request: ReflectionRequest) -> str:
        return "broken" if request.id == "search/it003/reflection" else always_better(request)

    result, log = search(lambda skill, request: 0.5, reflect, iterations=5, rejected_shown=2)
    shown = [[attempt["text"] for attempt in section(prompt, "rejected")] for prompt in log.prompts()]
    texts = [event.text for event in result.events[1:]]
    assert shown == [[], texts[:1], texts[:2], texts[:2], [texts[1], texts[3]]]
    assert (
        "no improvement: the parent scored 1.5 on the minibatch" in section(log.prompts()[1], "rejected")[0]["reason"]
    )


def test_rejections_belong_to_their_parent():
    def only_first_child(skill: Skill, request: RolloutRequest) -> float:
        return 0.9 if "Check number 2." in skill.text else 0.5

    log = search(only_first_child, iterations=3)[1]
    assert [len(section(prompt, "rejected")) for prompt in log.prompts()] == [0, 1, 0]


def test_feedback_of_the_minibatch_reaches_the_prompt_and_validation_never_does():
    def telling(skill: Skill, request: RolloutRequest) -> Evaluation:
        return Evaluation(0.5, False, f"told by {request.phase} of {request.variant[:8]}")

    log = search(telling, iterations=2)[1]
    for prompt in log.prompts():
        feedback = [record["feedback"] for record in section(prompt, "records")]
        assert feedback == [f"told by feedback-parent of {seed_skill().digest[:8]}"] * 3
        assert "validation" not in prompt


def test_the_strategy_replaces_every_policy():
    calls: list[str] = []

    def parent(pool, *, seed, iteration):
        calls.append("parent")
        return 0

    def sample(cases, size, *, seed, iteration, history):
        calls.append("sample")
        return cases[:1]

    def component(skill, cursor, evidence):
        calls.append("component")
        return "description"

    def accept(before, after):
        calls.append("accept")
        return True

    strategy = Strategy(parent, sample, component, accept)
    result, log = search(lambda skill, request: 0.5, iterations=2, pace=0, engine={"strategy": strategy})
    assert calls == ["parent", "sample", "component", "accept"] * 2
    assert [entry.parent for entry in result.pool[1:]] == [result.seed] * 2
    assert log.minibatches() == [["f-0"], ["f-0"]]


def test_an_absent_skill_grows_a_first_version():
    result = search(by_length, skill=Skill.absent("new-skill"), iterations=4)[0]
    assert kinds(result)[1:] == ["candidate_accepted"] * 4
    assert [entry.component for entry in result.pool[1:]] == ["steps", "pitfalls", "when_to_use", "description"]


def test_a_free_form_skill_evolves_section_by_section():
    skill = Skill.from_bytes(
        "notes", b"---\nname: notes\nlicense: MIT\n---\n# Notes\n\n## Alpha\n\na\n\n## Beta\n\nb\n"
    )
    engine = Engine(skill, cases(3, 2), SearchSettings(iterations=3))
    drive(engine, by_length, always_better)
    result = engine.result()
    assert [entry.component for entry in result.pool[1:]] == ["section:alpha", "section:beta", "description"]
    assert b"name: notes\n" in engine.skill(result.winner).document
    assert b"license: MIT\n" in engine.skill(result.winner).document


@pytest.mark.parametrize("leak", ["the answer holds a sealed text", None])
def test_the_leak_check_sees_every_proposal(leak):
    result = search(iterations=2, engine={"leak_check": lambda text: leak})[0]
    expected = "reflection_rejected" if leak else "candidate_accepted"
    assert kinds(result)[1:] == [expected] * 2


def test_watched_texts_are_not_copied():
    prompt = "Extract every one of the seven tables of the annual report and give me the sum of the last column."
    result = search(
        reflect=lambda request: appended(request, prompt), iterations=1, engine={"watched": {"f-0": [prompt]}}
    )[0]
    assert kinds(result)[1:] == ["reflection_rejected"]
    assert "word for word" in result.events[1].verdict


def test_the_engine_gives_every_skill_that_it_asks_about():
    engine = Engine(seed_skill(), cases(3, 2), SearchSettings(iterations=2))
    log = drive(engine, by_length, always_better)
    for request in log.requests:
        if isinstance(request, RolloutRequest):
            assert engine.skill(request.variant).digest == request.variant
    with pytest.raises(KeyError):
        engine.skill("unknown")

"""Infrastructure, skips, bad answers and stops from outside."""

from __future__ import annotations

import pytest

from pytest_skillevo.core.errors import ConfigError
from pytest_skillevo.core.gepa import (
    Engine,
    EventKind,
    ReflectionAnswer,
    ReflectionFailed,
    RolloutAnswer,
    SearchSettings,
    StopReason,
)
from pytest_skillevo.core.records import NO_USAGE, Evaluation, Outcome
from pytest_skillevo.core.skill import Skill

from .driver import REFLECTION_USAGE, always_better, by_length, cases, drive, search, section, seed_skill

ERRORED = Outcome("errored", None, "provider is down")
SKIPPED = Outcome("skipped", None, "needs a display")


def kinds(result) -> list[str]:
    return [event.kind.value for event in result.events]


def is_child(skill: Skill) -> bool:
    return "Check number" in skill.text


@pytest.mark.parametrize("phase", ["feedback-child", "validation"])
def test_a_child_that_cannot_be_evaluated_is_rejected_and_the_search_goes_on(phase):
    def evaluate(skill, request):
        return ERRORED if "Check number 1." in skill.text and request.phase == phase else by_length(skill, request)

    result = search(evaluate, iterations=2)[0]
    assert kinds(result)[1:] == ["candidate_rejected", "candidate_accepted"]
    assert "evaluator_error" in result.events[1].verdict
    assert "provider is down" in result.events[1].verdict
    assert result.stop_reason is StopReason.MAX_ITERATIONS
    assert len(result.pool) == 2


def test_the_model_is_told_of_the_error_without_its_details():
    log = search(lambda skill, request: ERRORED if is_child(skill) else 0.5, iterations=2)[1]
    (attempt,) = section(log.prompts()[1], "rejected")
    assert attempt["reason"] == "evaluator_error: it could not be evaluated on every case"


def test_a_seed_that_cannot_be_validated_stops_the_search_resumable():
    result = search(lambda skill, request: ERRORED if request.case_id == "v-2" else 0.5)[0]
    assert result.stop_reason is StopReason.EVALUATOR_ERROR
    assert result.stop_reason.resumable
    assert "'v-2': provider is down" in result.stop_detail
    assert (result.winner, result.pool) == (result.seed, ())
    assert kinds(result) == ["iteration_cut"]


def test_a_parent_that_cannot_be_evaluated_stops_the_search_and_keeps_the_pool():
    def evaluate(skill, request):
        return ERRORED if request.id.startswith("search/it003/parent") else by_length(skill, request)

    result = search(evaluate, iterations=9)[0]
    assert result.stop_reason is StopReason.EVALUATOR_ERROR
    assert len(result.pool) == 3
    assert kinds(result)[-1] == "iteration_cut"
    assert result.events[-1].rollouts == result.rollouts


def test_resuming_without_the_failed_answers_gives_the_uninterrupted_result():
    straight = search(iterations=5)[0]

    def failing(skill, request):
        down = request.id.startswith("search/it003/parent") and not failed
        if down:
            failed.append(request.id)
        return ERRORED if down else by_length(skill, request)

    failed: list[str] = []
    broken, log = search(failing, iterations=5)
    assert broken.stop_reason is StopReason.EVALUATOR_ERROR
    good = {i: answer for i, answer in log.answers.items() if i not in failed}
    resumed, second = search(iterations=5, recorded=good)
    assert resumed == straight
    assert second.rollouts == straight.rollouts - (log.rollouts - 1)


def test_a_reflection_model_that_is_down_stops_the_search_with_the_best_so_far():
    def reflect(request):
        down = request.id == "search/it003/reflection"
        return ReflectionFailed(request.id, "quota exhausted") if down else always_better(request)

    result = search(reflect=reflect, iterations=9)[0]
    assert result.stop_reason is StopReason.PROVIDER_ERROR
    assert result.stop_detail == "quota exhausted"
    assert result.winner == result.pool[2].digest


def test_a_case_skipped_for_the_seed_takes_no_further_part():
    result, log = search(lambda s, r: SKIPPED if r.case_id == "v-1" else by_length(s, r), iterations=2)
    assert result.left_out == ("v-1",)
    assert result.events[0].left_out == ("v-1",)
    assert [request.id for request in log.requests if request.id.endswith("validation/1")] == []
    assert all(set(entry.scores) == {"v-0", "v-2", "v-3"} for entry in result.pool)


def test_a_skipped_feedback_case_is_sampled_no_more():
    result, log = search(lambda s, r: SKIPPED if r.case_id == "f-4" else by_length(s, r), iterations=12)
    assert result.left_out == ("f-4",)
    assert sum("f-4" in batch for batch in log.minibatches()) == 1
    assert [event.left_out for event in result.events].count(("f-4",)) == 1
    assert all("f-4" not in event.minibatch for event in result.events)


def test_a_minibatch_of_skips_is_an_iteration_without_a_proposal():
    def evaluate(skill, request):
        return SKIPPED if request.id.startswith("search/it001/parent") else by_length(skill, request)

    result, log = search(evaluate, iterations=2)
    assert kinds(result)[1:] == ["minibatch_skipped", "candidate_accepted"]
    assert log.reflections == 1
    assert len(result.left_out) == 3


@pytest.mark.parametrize("split", ["validation", "feedback"])
def test_a_split_without_any_case_left_is_a_usage_error(split):
    def evaluate(skill, request):
        return SKIPPED if request.phase.startswith(split) else 0.5

    with pytest.raises(ConfigError, match=f"every {split} case was skipped"):
        search(evaluate, iterations=9)


@pytest.mark.parametrize("phase", ["feedback-child", "validation"])
def test_a_skip_for_one_skill_only_is_a_usage_error_that_names_the_case(phase):
    def evaluate(skill, request):
        return SKIPPED if is_child(skill) and request.phase == phase else by_length(skill, request)

    engine = Engine(seed_skill(), cases(3, 2), SearchSettings())
    with pytest.raises(ConfigError, match=r"case '[fv]-\d' was skipped for one skill and scored for another"):
        drive(engine, evaluate, always_better)
    assert engine.finished
    assert engine.ask() == ()
    assert engine.result().events[-1].kind is EventKind.ITERATION_CUT


@pytest.mark.parametrize(
    "answer",
    [
        "",
        "not json",
        '{"component": "steps"}',
        '{"component": "steps", "text": ["a"]}',
        "```json\n{}",
        "x" * 300_000,
    ],
)
def test_bad_model_output_is_an_event_and_never_an_exception(answer):
    result = search(reflect=lambda request: answer, iterations=3)[0]
    assert kinds(result)[1:] == ["reflection_rejected"] * 3
    assert all(event.verdict and event.candidate is None for event in result.events[1:])
    assert result.usage["reflection"].tokens == 3 * 120


def test_a_truncated_answer_is_rejected_although_it_reads_well():
    def reflect(request):
        return ReflectionAnswer(request.id, always_better(request), "length", REFLECTION_USAGE)

    assert kinds(search(reflect=reflect, iterations=1)[0])[1:] == ["reflection_rejected"]


@pytest.mark.parametrize("reason", [StopReason.TIME_LIMIT, StopReason.STOP_REQUESTED, StopReason.INTERRUPTED])
def test_a_stop_from_outside_keeps_the_best_so_far(reason):
    engine = Engine(seed_skill(), cases(6, 4), SearchSettings(iterations=9))

    def before(engine, log):
        if any(request.id.startswith("search/it004/parent") for request in engine.ask()):
            engine.stop(reason, "from outside")

    drive(engine, by_length, always_better, before_batch=before)
    result = engine.result()
    assert (result.stop_reason, result.stop_detail) == (reason, "from outside")
    assert reason.resumable
    assert len(result.pool) == 4
    assert result.winner == result.pool[3].digest
    assert engine.ask() == ()
    engine.stop(StopReason.PROVIDER_ERROR)
    assert engine.stop_reason is reason


def test_a_stopped_search_takes_no_answers():
    engine = Engine(seed_skill(), cases(3, 2), SearchSettings())
    answers = [RolloutAnswer(request.id, Outcome("scored", Evaluation(0.5))) for request in engine.ask()]
    engine.stop(StopReason.INTERRUPTED)
    with pytest.raises(ValueError, match="0 requests"):
        engine.tell(answers)


class TestAnswersThatDoNotMatchTheBatch:
    def answers(self) -> list[RolloutAnswer]:
        self.engine = Engine(seed_skill(), cases(3, 2), SearchSettings())
        return [RolloutAnswer(request.id, Outcome("scored", Evaluation(0.5))) for request in self.engine.ask()]

    def refused(self, answers, match: str) -> None:
        batch = self.engine.ask()
        with pytest.raises(ValueError, match=match):
            self.engine.tell(answers)
        assert self.engine.ask() is batch
        assert self.engine.result().rollouts == 0

    def test_too_few(self):
        self.refused(self.answers()[:1], "2 requests, but 1 answers")

    def test_an_unknown_id(self):
        first, _ = self.answers()
        self.refused([first, RolloutAnswer("x", first.outcome)], "'x' was not asked")

    def test_one_twice(self):
        first, _ = self.answers()
        self.refused([first, first], "answered twice")

    def test_the_wrong_kind(self):
        first, second = self.answers()
        self.refused([first, ReflectionAnswer(second.request_id, "", "stop", NO_USAGE)], "ReflectionAnswer")

    @pytest.mark.parametrize("outcome", [Outcome("scored"), Outcome("errored", Evaluation(0.5))])
    def test_an_outcome_that_contradicts_itself(self, outcome):
        first, second = self.answers()
        self.refused([first, RolloutAnswer(second.request_id, outcome)], "if and only if")

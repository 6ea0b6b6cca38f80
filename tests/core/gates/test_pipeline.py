"""The gates in order: what each refusal leads to, what breaks a gate, what shadow mode changes and what not."""

from __future__ import annotations

import json
from dataclasses import dataclass, field, replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_skillevo.core.errors import ConfigError
from pytest_skillevo.core.gates.human import Hold, HumanGate
from pytest_skillevo.core.gates.pipeline import COUNTERS, REFUSED, Judgement, judge
from pytest_skillevo.core.gates.records import GATES, Candidate, Finding, Gates, GateVerdict, verdict_of
from pytest_skillevo.core.revisions import Action, Status

from .gate_samples import created

CANDIDATE = created()
DELETION = Candidate(Action.DELETE, "old", None, "reviewer")


@dataclass
class Fixed:
    """A gate that always answers the same, and remembers that it was asked."""

    name: Any
    passes: bool = True
    error: BaseException | None = None
    answer: Any = None
    version: str = "1"
    asked: list[Candidate] = field(default_factory=list)

    def judge(self, candidate: Candidate) -> Any:
        self.asked.append(candidate)
        if self.error is not None:
            raise self.error
        findings = () if self.passes else (Finding(self.name, "no", "It says no."),)
        return self.answer or verdict_of(self.name, self.version, findings)


def gates(**changes: Fixed) -> Gates:
    return Gates(**{name: changes.get(name, Fixed(name)) for name in GATES})


def test_what_every_gate_lets_through_may_be_published():
    judgement = judge(CANDIDATE, gates())
    assert judgement.passed
    assert [verdict.gate for verdict in judgement.verdicts] == list(GATES)
    assert (judgement.reason, judgement.counts, judgement.bypassed) == ("", {}, ())


@pytest.mark.parametrize("name", GATES)
def test_each_refusal_leads_to_its_status_and_is_counted(name):
    judgement = judge(CANDIDATE, gates(**{name: Fixed(name, passes=False)}))
    assert judgement.status is REFUSED[name]
    assert judgement.reason == f"{name}: no"
    assert judgement.counts == {COUNTERS[name]: 1}


def test_spec_and_safety_both_report_and_nobody_is_asked_after_a_refusal():
    all_gates = gates(spec=Fixed("spec", passes=False), safety=Fixed("safety", passes=False))
    judgement = judge(CANDIDATE, all_gates)
    assert judgement.reason == "spec: no | safety: no"
    assert all_gates.effectiveness.asked == all_gates.human.asked == []


def test_a_parked_candidate_does_not_reach_the_person():
    all_gates = gates(effectiveness=Fixed("effectiveness", passes=False))
    judge(CANDIDATE, all_gates)
    assert all_gates.human.asked == []


@pytest.mark.parametrize("name", GATES)
@pytest.mark.parametrize("shadow", [False, True])
def test_a_gate_that_raises_lets_nothing_pass(name, shadow):
    broken = Fixed(name, error=RuntimeError("password=" + "S3cr3t-Zq81xx"))
    judgement = judge(CANDIDATE, gates(**{name: broken}), shadow=shadow)
    assert judgement.status is (Status.PENDING_APPROVAL if name == "human" else Status.REJECTED)
    assert judgement.verdicts[-1 if name != "spec" else 0].failed
    assert judgement.reason == f"{name}: gate_error"
    assert judgement.counts == {}
    message = next(one for one in judgement.verdicts if one.failed).findings[0].message
    assert "RuntimeError" in message
    assert "Zq81" not in message


@pytest.mark.parametrize("answer", [True, "passed", verdict_of("human", "1", ())])
def test_a_gate_that_answers_something_else_lets_nothing_pass(answer):
    judgement = judge(CANDIDATE, gates(safety=Fixed("safety", answer=answer)))
    assert judgement.status is Status.REJECTED


def test_an_interrupt_is_no_answer():
    with pytest.raises(KeyboardInterrupt):
        judge(CANDIDATE, gates(spec=Fixed("spec", error=KeyboardInterrupt())))


def test_a_gate_without_a_version_lets_nothing_pass():
    class Nameless:
        def judge(self, candidate: Candidate) -> GateVerdict:
            return verdict_of("spec", "1", ())

    broken = judge(CANDIDATE, replace(gates(), spec=Nameless()))  # type: ignore[arg-type]
    assert broken.status is Status.REJECTED


def test_gates_that_are_switched_off_are_not_asked():
    assert judge(CANDIDATE, Gates()) == Judgement((), Status.PENDING, Gates().version)
    assert Gates().version == "spec off; safety off; effectiveness off; human off"


def test_a_deletion_meets_effectiveness_and_human_only():
    all_gates = gates(spec=Fixed("spec", passes=False), safety=Fixed("safety", passes=False))
    assert [one.gate for one in judge(DELETION, all_gates).verdicts] == ["effectiveness", "human"]


@pytest.mark.parametrize("name", ["spec", "safety"])
def test_in_shadow_mode_spec_and_safety_block_all_the_same(name):
    judgement = judge(CANDIDATE, gates(**{name: Fixed(name, passes=False)}), shadow=True)
    assert judgement.status is Status.REJECTED
    assert judgement.bypassed == ()


def test_in_shadow_mode_effectiveness_and_human_are_recorded_and_bypassed():
    refusing = {name: Fixed(name, passes=False) for name in ("effectiveness", "human")}
    judgement = judge(CANDIDATE, gates(**refusing), shadow=True)
    assert judgement.passed
    assert judgement.bypassed == ("effectiveness", "human")
    assert judgement.reason == "effectiveness: no | human: no"
    assert judgement.counts["shadow_mode_bypassed"] == 1
    assert [verdict.passed for verdict in judgement.verdicts] == [True, True, False, False]


def test_a_submission_waits_for_a_person_whatever_the_settings_are():
    submitted = replace(CANDIDATE, source="submission")
    for all_gates in (Gates(), gates(), replace(gates(), human=HumanGate(Hold.NEVER))):
        judgement = judge(submitted, all_gates, shadow=True)
        assert judgement.status is Status.PENDING_APPROVAL
        assert judgement.reason == "human: submission"
        assert judgement.bypassed == ()
    parked = judge(submitted, gates(effectiveness=Fixed("effectiveness", passes=False)), shadow=True)
    assert parked.status is Status.PENDING_EVAL


def test_the_version_changes_with_any_gate():
    before = gates().version
    for name in GATES:
        assert gates(**{name: Fixed(name, version="2")}).version != before


@given(st.lists(st.sampled_from(["pass", "refuse", "raise"]), min_size=4, max_size=4), st.booleans())
def test_a_judgement_survives_being_stored(answers, shadow):
    built = {
        name: Fixed(name, passes=how == "pass", error=ValueError("x") if how == "raise" else None)
        for name, how in zip(GATES, answers, strict=True)
    }
    judgement = judge(CANDIDATE, gates(**built), shadow=shadow)
    assert Judgement.from_json(json.loads(json.dumps(judgement.to_json()))) == judgement
    # Nothing is published past a refusal, but for the two that shadow mode bypasses.
    blocked = any(how != "pass" for how in answers[:2]) or "raise" in answers
    assert judgement.passed is not (blocked or (not shadow and "refuse" in answers))


@pytest.mark.parametrize(
    ("hold", "held"),
    [
        (Hold.ALWAYS, {"create", "update", "delete"}),
        (Hold.CREATE_AND_DELETE, {"create", "delete"}),
        (Hold.NEVER, set()),
    ],
)
def test_the_human_gate_holds_by_the_kind_of_change(hold, held):
    gate = HumanGate(hold)
    assert {action.value for action in Action if not gate.judge(replace(CANDIDATE, action=action)).passed} == held


def test_a_typing_error_does_not_switch_the_human_gate_off():
    with pytest.raises(ConfigError, match="always, create-and-delete, never, not 'alway'"):
        HumanGate("alway")  # type: ignore[arg-type]
    assert HumanGate("never").hold is Hold.NEVER  # type: ignore[arg-type]

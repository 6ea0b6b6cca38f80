"""The Effectiveness gate: evidence parks a candidate, its absence does not."""

from __future__ import annotations

from dataclasses import replace

import pytest

from pytest_skillevo.core.errors import ConfigError
from pytest_skillevo.core.gates.effectiveness import EffectivenessGate
from pytest_skillevo.core.gates.records import Candidate, Evidence
from pytest_skillevo.core.records import Evaluation
from pytest_skillevo.core.revisions import Action
from pytest_skillevo.core.verdict import Verdict

from .gate_samples import created

GATE = EffectivenessGate()


def codes(gate: EffectivenessGate = GATE, **evidence: object) -> tuple[str, ...]:
    return gate.judge(replace(created(), evidence=Evidence(**evidence))).codes  # type: ignore[arg-type]


def test_without_evidence_there_is_nothing_to_hold_against_it():
    assert GATE.judge(created()).passed
    assert codes() == ()


@pytest.mark.parametrize(
    ("evidence", "expected"),
    [
        ({"status": "fail"}, ("outcome_failed",)),
        ({"status": "agent_error"}, ("outcome_failed",)),
        ({"status": "partial"}, ()),
        ({"status": "FAIL"}, ()),
        ({"score": 0.8}, ()),
        ({"score": 0.79}, ("score_below_threshold",)),
        ({"score": 0.0}, ("score_below_threshold",)),
        ({"score": float("nan")}, ("score_out_of_range",)),
        ({"score": float("inf")}, ("score_out_of_range",)),
        ({"score": 41.0}, ("score_out_of_range",)),
        ({"score": -0.5}, ("score_out_of_range",)),
        ({"score": 0.9, "baseline": -0.1}, ("score_out_of_range",)),
        ({"score": 0.7, "baseline": 0.3}, ()),
        ({"score": 0.85, "baseline": 0.95}, ("gain_below_threshold",)),
        ({"score": 0.3, "baseline": 0.1 + 0.2}, ()),
        ({"baseline": 0.5}, ("score_missing",)),
        ({"critical_worse": ("nuts",)}, ("critical_worse",)),
        ({"decision": Verdict.ACCEPT, "score": 0.4, "baseline": 0.5}, ()),
        ({"decision": Verdict.INCONCLUSIVE, "score": 0.9, "baseline": 0.5}, ("not_confirmed",)),
        ({"decision": Verdict.BLOCKED}, ("not_confirmed",)),
        ({"decision": Verdict.ACCEPT, "critical_worse": ("nuts",)}, ("critical_worse",)),
        ({"status": "fail", "score": 0.1}, ("outcome_failed", "score_below_threshold")),
    ],
)
def test_evidence_is_weighed(evidence, expected):
    assert codes(**evidence) == expected


def test_the_message_gives_the_figures_in_full():
    finding = GATE.judge(replace(created(), evidence=Evidence(score=0.7999))).findings[0]
    assert finding.message == "the score 0.7999 is below 0.8."


def test_a_gain_can_be_demanded_and_the_score_rule_switched_off():
    assert codes(EffectivenessGate(min_gain=0.1), score=0.55, baseline=0.5) == ("gain_below_threshold",)
    assert codes(EffectivenessGate(min_score=0), score=0.0) == ()
    assert codes(EffectivenessGate(reject_on_fail=False), status="fail") == ()


def test_a_failed_task_is_no_reason_to_delete_a_skill():
    deletion = Candidate(Action.DELETE, "old", None, "reviewer", evidence=Evidence("fail"))
    assert GATE.judge(deletion).codes == ("outcome_failed",)
    assert GATE.judge(replace(deletion, evidence=None)).passed


def test_an_evaluation_becomes_evidence():
    assert Evidence.of(Evaluation(0.4, passed=False)) == Evidence("fail", 0.4)
    assert Evidence.of(Evaluation(0.9)) == Evidence("", 0.9)


@pytest.mark.parametrize("settings", [{"min_score": 1.1}, {"min_score": float("nan")}, {"min_gain": -2}])
def test_impossible_settings_are_refused(settings):
    with pytest.raises(ConfigError, match="must lie between"):
        EffectivenessGate(**settings)

"""The conformance cases of tests/data/revisions.json that are about gates: each is run or named with its reason."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from pytest_skillevo.core.gates.effectiveness import EffectivenessGate
from pytest_skillevo.core.gates.human import Hold, HumanGate
from pytest_skillevo.core.gates.pipeline import Judgement, judge
from pytest_skillevo.core.gates.records import Candidate, Evidence, Gates
from pytest_skillevo.core.gates.safety import SafetyGate
from pytest_skillevo.core.gates.spec import SpecGate
from pytest_skillevo.core.revisions import Action
from pytest_skillevo.core.skill import Skill, SkillSpec

Case = dict[str, Any]
CASES: list[Case] = json.loads((Path(__file__).parents[2] / "data" / "revisions.json").read_text("utf-8"))
MINE = ("gate.spec", "gate.safety", "gate.effectiveness", "gate.human", "shadow")

#: (area, name) -> the spec's defect or the design decision that it contradicts.
SET_ASIDE = {
    ("gate.spec", "two_non_latin_names_collide"): "defect 12: names in other scripts are told apart",
    ("gate.safety", "http_bearer_header_missed"): "defect 18: found now",
    ("gate.safety", "openai_project_key_missed"): "defect 18: found now",
    ("gate.safety", "rm_fr_flag_order_missed"): "defect 18: what counts is the target, not the order of flags",
    ("gate.safety", "dd_to_nvme_missed"): "defect 18: found now",
    ("gate.safety", "curl_piped_to_sudo_missed"): "defect 18: found now",
    ("gate.human", "create_only_delete"): "defect 11: deletions are held wherever creations are",
    ("shadow", "rejected_is_published_anyway"): "defect 9: Spec and Safety block in shadow mode too",
    ("shadow", "held_update_published_then_approval_is_stale"): (
        "defect 9: a bypassed verdict is recorded beside the status, there is nothing to approve"
    ),
}
#: Cases that are run as far as gates go; publication, pointers, audit and refreshes are the store's.
IN_PART = {
    ("shadow", "passing_candidate_is_normal"),
    ("shadow", "submission_ignores_shadow"),
    ("pipeline", "failed_session_parks_in_pending_eval"),
    ("pipeline", "effectiveness_error_rejects_not_parks"),
    ("pipeline", "held_delete_changes_nothing"),
    ("pipeline", "only_a_gate_configured_still_gates"),
    ("pipeline", "one_failure_does_not_stop_batch"),
    ("submit", "gate_rejection_returns_revision_without_error"),
    ("submit", "human_gate_not_consulted"),
    ("improve", "approval_reruns_safety_gate"),
}
#: Cases of other areas that are about gates alone.
WHOLE = {("improve", "bare_rm_rf_root_detected"), ("improve", "name_is_scanned_for_secrets")}

#: The reference's names of rules -> ours.
CODES = {
    "dangerous_shell:wget_pipe_shell": "dangerous_shell:piped_download",
    "path_traversal:double_dot_write": "path_traversal:climbing",
    "path_traversal:etc_passwd": "credential_file:passwd",
    "path_traversal:ssh_private": "credential_file:ssh_private_key",
}


def key_of(case: Case) -> tuple[str, str]:
    return case["area"], case["name"]


def candidate(spec: dict[str, Any] | None, action: str = "create", source: str = "reviewer", **more: Any) -> Candidate:
    if spec is None:
        return Candidate(Action(action), more.pop("name", ""), None, source, **more)
    texts = (spec["description"], spec["when_to_use"], tuple(spec["steps"]), tuple(spec.get("pitfalls", ())))
    skill = Skill.create(SkillSpec(spec["name"], *texts))
    return Candidate(Action(action), spec["name"], skill, source, **more)


def evidence(outcome: dict[str, Any] | None) -> Evidence | None:
    return None if outcome is None else Evidence(outcome.get("status", ""), outcome.get("score"))


def spec_gate(given: Case, do: Case) -> dict[str, Any]:
    one = None
    if not do.get("nil"):
        one = candidate(do["spec"], do["action"], existing=tuple(given["existing"]))
    verdict = SpecGate(do.get("min_steps", 0), do.get("max_name", 0)).judge(one)
    return {"passed": verdict.passed, "reasons": list(verdict.codes)}


def safety_gate(given: Case, do: Case) -> dict[str, Any]:
    verdict = SafetyGate().judge(candidate(do["spec"]))
    return {"passed": verdict.passed, "reasons": list(dict.fromkeys(verdict.codes))}


def effectiveness_gate(given: Case, do: Case) -> dict[str, Any]:
    gate = EffectivenessGate(do.get("min_score", 0.8), reject_on_fail=do.get("reject_on_fail", True))
    one = None if do.get("nil") else candidate(None, do["action"], evidence=evidence(do["outcome"]))
    verdict = gate.judge(one)
    return {"passed": verdict.passed, "reasons": list(verdict.codes)}


def human_gate(given: Case, do: Case) -> dict[str, Any]:
    hold = {"always": Hold.ALWAYS, "create_only": Hold.CREATE_AND_DELETE}[do["mode"]]
    return {"hold": not HumanGate(hold).judge(candidate(None, do["action"])).passed}


GATE_OPS: dict[str, Callable[[Case, Case], dict[str, Any]]] = {
    "spec_gate": spec_gate,
    "safety_gate": safety_gate,
    "effectiveness_gate": effectiveness_gate,
    "human_gate": human_gate,
}


class _Raises:
    version = "raises"

    def judge(self, candidate: Candidate) -> Any:
        raise RuntimeError("broken")


def gates(config: dict[str, Any]) -> Gates:
    built: dict[str, Any] = {"spec": SpecGate(), "safety": SafetyGate(), "effectiveness": EffectivenessGate()}
    holds = {"always": HumanGate(Hold.ALWAYS), "create_only": HumanGate(Hold.CREATE_AND_DELETE)}
    wanted = config.get("gates", {})
    chosen = {name: _Raises() if how == "error" else holds.get(how, built.get(name)) for name, how in wanted.items()}
    return Gates(**chosen)


def judgements(case: Case) -> list[Judgement]:
    """What the gates say of every candidate of the case's first operation, in order."""
    config, do = case["given"].get("config", {}), case["do"][0]
    found = evidence(do.get("outcome"))
    if do["op"] == "submit":
        candidates = [candidate(do["spec"], do.get("action", "update"), "submission")]
    elif do["op"] == "approve":
        candidates = [candidate(case["given"]["revisions"][0]["spec"], "update")]
    else:
        created = [candidate(spec, evidence=found) for spec in do.get("skills", ())]
        deleted = [candidate(None, "delete", name=name, evidence=found) for name in do.get("deletions", ())]
        candidates = [*created, *deleted]
    return [judge(one, gates(config), shadow=config.get("shadow", False)) for one in candidates]


def check_in_part(case: Case) -> None:
    found, expect = judgements(case), case["expect"]
    # A candidate that every gate lets through is pending to us and active once the store has published it.
    published = {"active": "pending"}
    revisions = {key: value for key, value in expect.get("revisions", {}).items() if "status" in value}
    assert len(found) == max(len(revisions), 1)
    for judgement, revision in zip(found, revisions.values(), strict=False):
        assert judgement.status == published.get(revision["status"], revision["status"])
    for audit, judgement in zip(expect.get("audit", ()), found, strict=False):
        assert judgement.reason.startswith(f"{audit['reason']}:")
    for name in ("effectiveness_gate_rejected", "spec_gate_rejected", "shadow_mode_bypassed"):
        if name in expect.get("metrics", {}):
            assert sum(one.counts.get(name, 0) for one in found) == expect["metrics"][name]


def check_whole(case: Case) -> None:
    (do,) = case["do"]
    result = GATE_OPS[do["op"]](case["given"], do)
    wanted = dict(case["expect"]["result"])
    if "reasons" in wanted:
        wanted["reasons"] = [CODES.get(reason, reason) for reason in wanted["reasons"]]
    assert {key: result[key] for key in wanted} == wanted


RUN = [
    case
    for case in CASES
    if key_of(case) not in SET_ASIDE and (case["area"] in MINE or key_of(case) in IN_PART or key_of(case) in WHOLE)
]


@pytest.mark.parametrize("case", [pytest.param(case, id="/".join(key_of(case))) for case in RUN])
def test_the_gates_behave_as_the_case_says(case):
    (check_in_part if key_of(case) in IN_PART else check_whole)(case)


def test_every_case_about_gates_is_run_or_set_aside_with_its_reason(capsys):
    keys = [key_of(case) for case in CASES]
    assert len(set(keys)) == len(keys)
    assert {*SET_ASIDE, *IN_PART, *WHOLE} <= set(keys)
    mine = [key for key in keys if key[0] in MINE]
    run = [key_of(case) for case in RUN]
    assert sorted(mine) == sorted(key for key in {*run, *SET_ASIDE} if key[0] in MINE)
    with capsys.disabled():
        print(
            f"\nrevisions.json, gates: {len(run)} cases run ({len(IN_PART)} in part), {len(SET_ASIDE)} set aside; "
            f"{len(keys) - len(run) - len(SET_ASIDE)} belong to store, worker, scopes and command line"
        )
    for (area, name), why in SET_ASIDE.items():
        print(f"set aside: {area}/{name}: {why}")


@pytest.mark.parametrize(
    "name", [name for area, name in SET_ASIDE if area == "gate.safety" and name.endswith("_missed")]
)
def test_what_the_reference_misses_is_found(name):
    (case,) = [case for case in CASES if key_of(case) == ("gate.safety", name)]
    (do,) = case["do"]
    passed = safety_gate({}, do)["passed"]
    # The one that deletes a folder below /srv is no deletion of the root, in whichever order its flags stand.
    assert passed is (name == "rm_fr_flag_order_missed")

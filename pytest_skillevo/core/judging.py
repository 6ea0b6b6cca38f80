"""What the gates' answer means for where a revision stands, and whether an older answer still holds."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from .gates.effectiveness import EffectivenessGate
from .gates.human import HumanGate
from .gates.pipeline import judge as ask
from .gates.records import Candidate, Evidence, Gates
from .gates.safety import SafetyGate
from .gates.spec import SpecGate
from .revisions import Revision, Status
from .verdict import Verdict

#: From the freest to the strictest status in which a candidate may enter.
_STRICTNESS: Final = (Status.PENDING, Status.PENDING_APPROVAL, Status.PENDING_EVAL, Status.REJECTED)


@dataclass(frozen=True, slots=True)
class Standing:
    """Where a candidate stands after the gates. `pending` means that nothing keeps it from being published."""

    status: Status
    #: Why the gates hold it; "" when they do not.
    reason: str
    #: Gates whose hold was only recorded (shadow mode).
    bypassed: tuple[str, ...]
    #: As kept with the revision; None without gates.
    record: Mapping[str, Any] | None


def standard_gates() -> Gates:
    """The four gates with their default settings: a person decides about everything that the others let through."""
    return Gates(SpecGate(), SafetyGate(), EffectivenessGate(), HumanGate())


def stand(
    gates: Gates | None, candidate: Candidate, *, least: Status = Status.PENDING, shadow: bool = False
) -> Standing:
    """Let the gates judge a candidate; it stands at least as strictly as `least`. Without gates it stands there."""
    if gates is None:
        return Standing(least, "", (), None)
    judgement = ask(candidate, gates, shadow=shadow)
    record = judgement.to_json() | {
        "skill": _digest(candidate.skill),
        "parent": _digest(candidate.parent),
    }
    status = max(judgement.status, least, key=_STRICTNESS.index)
    return Standing(status, judgement.reason, judgement.bypassed, record)


def is_judged(gates: Gates, revision: Revision) -> bool:
    """Whether the present gates have judged exactly this content against exactly this parent."""
    record = revision.gates
    if record is None or record.get("version") != gates.version:
        return False
    # The absent skill is None to the gates.
    return all(
        record.get(key) in (digest, None)
        for key, digest in (("skill", revision.digest), ("parent", revision.parent_digest))
    )


def gate_evidence(evidence: Mapping[str, Any]) -> Evidence | None:
    """What a revision's evidence says to the gates; None when it says nothing that they know.

    It may hold the parts of a JSON report (decision, confirmation), the outcome of a task (status, score), or the
    scores of a submission (baseline_score, candidate_score, case_count). Strange values are passed on as they are,
    because the gates refuse them by name.
    """
    decision, confirmation = _part(evidence, "decision"), _part(evidence, "confirmation")
    outcome, submitted = _part(evidence, "outcome"), _part(evidence, "submission")
    if "verdict" in decision:
        compared = _part(confirmation, "holdout")
        findings = confirmation.get("criticals")
        worse = [_part({"one": one}, "one") for one in (findings if isinstance(findings, list) else [])]
        return Evidence(
            score=_number(compared.get("mean_after")),
            baseline=_number(compared.get("mean_before")),
            decision=_verdict(decision["verdict"]),
            critical_worse=tuple(str(one.get("case_id")) for one in worse if one.get("verdict") == "worse"),
        )
    if submitted.get("case_count"):
        return Evidence("success", _number(submitted["candidate_score"]), _number(submitted["baseline_score"]))
    if outcome:
        status = outcome.get("status")
        return Evidence(status if isinstance(status, str) else "", _number(outcome.get("score")))
    return None


def _verdict(value: Any) -> Verdict:
    """A verdict that nobody knows confirms nothing."""
    return Verdict(value) if value in set(Verdict) else Verdict.INCONCLUSIVE


def _digest(skill: Any) -> str | None:
    return None if skill is None else str(skill.digest)


def _part(whole: Mapping[str, Any], key: str) -> Mapping[str, Any]:
    value = whole.get(key)
    return value if isinstance(value, Mapping) else {}


def _number(value: Any) -> float | None:
    """A figure as it is; anything else that stands in its place is out of every range."""
    if value is None:
        return None
    return float(value) if isinstance(value, int | float) and not isinstance(value, bool) else float("nan")

"""The gates in their fixed order, and what their verdicts mean for a revision (spec/online-revisions.md 3, 4)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from ..revisions import Action, Status
from .records import GATES, Candidate, Finding, Gate, GateName, Gates, GateVerdict
from .redaction import redact

#: Where a revision enters when a gate refuses it.
REFUSED: Final[Mapping[GateName, Status]] = {
    "spec": Status.REJECTED,
    "safety": Status.REJECTED,
    "effectiveness": Status.PENDING_EVAL,
    "human": Status.PENDING_APPROVAL,
}
#: The name under which a refusal is counted.
COUNTERS: Final[Mapping[GateName, str]] = {
    "spec": "spec_gate_rejected",
    "safety": "safety_gate_rejected",
    "effectiveness": "effectiveness_gate_rejected",
    "human": "human_gate_held",
}
#: Gates whose refusal is only recorded in shadow mode.
ADVISORY: Final[tuple[GateName, ...]] = ("effectiveness", "human")
_LONGEST_ERROR: Final = 300


@dataclass(frozen=True, slots=True)
class Judgement:
    """What the gates said together."""

    #: In the fixed order; gates that were switched off or never reached are missing.
    verdicts: tuple[GateVerdict, ...]
    #: Where the revision enters; PENDING means that it may be published.
    status: Status
    #: Gates.version at the time.
    version: str
    #: Gates whose refusal was recorded and had no effect, in shadow mode.
    bypassed: tuple[GateName, ...] = ()

    @property
    def passed(self) -> bool:
        """Whether the candidate may be published now."""
        return self.status is Status.PENDING

    @property
    def reason(self) -> str:
        """One text for the audit: which gates refused, and why; "" when none did."""
        refused = (verdict for verdict in self.verdicts if not verdict.passed)
        return " | ".join(f"{one.gate}: {'; '.join(one.codes)}" for one in refused)

    @property
    def counts(self) -> Mapping[str, int]:
        """What to add to the metrics: one for each gate that refused (not for one that broke down)."""
        counts = {COUNTERS[one.gate]: 1 for one in self.verdicts if not one.passed and not one.failed}
        return {**counts, "shadow_mode_bypassed": 1} if self.bypassed else counts

    def to_json(self) -> dict[str, Any]:
        """A JSON object with all fields."""
        return {
            "verdicts": [verdict.to_json() for verdict in self.verdicts],
            "status": self.status.value,
            "version": self.version,
            "bypassed": list(self.bypassed),
        }

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> Judgement:
        """The inverse of to_json."""
        verdicts = tuple(GateVerdict.from_json(verdict) for verdict in data["verdicts"])
        return cls(verdicts, Status(data["status"]), data["version"], tuple(data["bypassed"]))


def judge(candidate: Candidate, gates: Gates, *, shadow: bool = False) -> Judgement:
    """Ask the gates in order.

    Spec and Safety both run, so that both report; the next gate is asked only if all before it let the candidate pass.
    Deletions have no content for Spec and Safety. A submission is held for a person whatever the human gate is set to,
    and knows no shadow mode. In shadow mode the refusals of Effectiveness and Human are recorded and go no further. A
    gate that raises, or answers with something else than its verdict, does not pass, in shadow mode neither.
    """
    shadow = shadow and not candidate.submitted
    verdicts: list[GateVerdict] = []
    bypassed: list[GateName] = []
    status = Status.PENDING
    for name in GATES:
        if status is not Status.PENDING and name != "safety":
            break
        verdict = _ask(name, gates, candidate)
        if verdict is None:
            continue
        verdicts.append(verdict)
        if verdict.passed:
            continue
        if shadow and name in ADVISORY and not verdict.failed:
            bypassed.append(name)
        elif status is Status.PENDING:
            status = _refusal(verdict)
    return Judgement(tuple(verdicts), status, gates.version, tuple(bypassed))


def _refusal(verdict: GateVerdict) -> Status:
    """A gate that broke down rejects, as nothing was learned to wait for; but a person can still look at the rest."""
    if verdict.failed and verdict.gate != "human":
        return Status.REJECTED
    return REFUSED[verdict.gate]


def _ask(name: GateName, gates: Gates, candidate: Candidate) -> GateVerdict | None:
    """The verdict of one gate; None when it is switched off or has nothing to judge here."""
    gate: Gate | None = getattr(gates, name)
    if name == "human" and candidate.submitted:
        reason = Finding("human", "submission", "a person must approve what comes from outside.")
        return GateVerdict("human", "submission", False, (reason,))
    if gate is None or (candidate.action is Action.DELETE and name in ("spec", "safety")):
        return None
    try:
        version = gate.version
        verdict = gate.judge(candidate)
    except Exception as error:
        return _broken(name, "?", f"it raised {type(error).__name__}: {error}")
    if not isinstance(verdict, GateVerdict) or verdict.gate != name:
        return _broken(name, version, f"it answered with {verdict!r} instead of a verdict of its own")
    return verdict


def _broken(name: GateName, version: str, what: str) -> GateVerdict:
    message = redact(f"the {name} gate could not judge: {what}")[:_LONGEST_ERROR]
    return GateVerdict(name, version, False, (Finding(name, "gate_error", message),), failed=True)

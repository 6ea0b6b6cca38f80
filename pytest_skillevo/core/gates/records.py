"""What a gate is asked and what it answers: candidate, evidence, findings, verdict."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, Final, Literal, Protocol, TypeAlias

from ..records import Evaluation
from ..revisions import Action
from ..skill import Skill
from ..verdict import Verdict

GateName: TypeAlias = Literal["spec", "safety", "effectiveness", "human"]
#: The fixed order in which a candidate meets the gates.
GATES: Final[tuple[GateName, ...]] = ("spec", "safety", "effectiveness", "human")


class Severity(StrEnum):
    """What a finding does: an error keeps a candidate from passing, a warning is told and passes."""

    ERROR = "error"
    WARNING = "warning"


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing that a gate found. The message is a sentence for a person and never holds the secret it is about."""

    gate: GateName
    #: Stable name of the rule, such as "too_few_steps" or "secret:github_token".
    code: str
    message: str
    #: A component, "name", or "file:line" inside the skill's folder; "" when it is about no place.
    where: str = ""
    severity: Severity = Severity.ERROR

    def to_json(self) -> dict[str, Any]:
        """A JSON object with all fields."""
        return {
            "gate": self.gate,
            "code": self.code,
            "message": self.message,
            "where": self.where,
            "severity": self.severity.value,
        }

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> Finding:
        """The inverse of to_json."""
        return cls(data["gate"], data["code"], data["message"], data["where"], Severity(data["severity"]))


@dataclass(frozen=True, slots=True)
class GateVerdict:
    """The answer of one gate. Not passed means: rejected (spec, safety), parked (effectiveness), held (human)."""

    gate: GateName
    #: Version of the rules and settings that judged; an approval asks again when it is no longer the present one.
    version: str
    passed: bool
    findings: tuple[Finding, ...] = ()
    #: The gate broke down instead of judging. It never passes then, and no mode lets the candidate through.
    failed: bool = False

    @property
    def codes(self) -> tuple[str, ...]:
        """The codes of what kept the candidate from passing."""
        return tuple(finding.code for finding in self.findings if finding.severity is Severity.ERROR)

    def to_json(self) -> dict[str, Any]:
        """A JSON object with all fields."""
        return {
            "gate": self.gate,
            "version": self.version,
            "passed": self.passed,
            "findings": [finding.to_json() for finding in self.findings],
            "failed": self.failed,
        }

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> GateVerdict:
        """The inverse of to_json."""
        findings = tuple(Finding.from_json(finding) for finding in data["findings"])
        return cls(data["gate"], data["version"], data["passed"], findings, data["failed"])


def verdict_of(gate: GateName, version: str, findings: tuple[Finding, ...]) -> GateVerdict:
    """The verdict of these findings: passed unless one of them is an error."""
    return GateVerdict(gate, version, all(one.severity is Severity.WARNING for one in findings), findings)


@dataclass(frozen=True, slots=True)
class Evidence:
    """What is known about how well a candidate does. Unknown is None; nothing is checked before a gate looks at it."""

    #: How the task ended: "success", "partial", "fail", "agent_error", "" for unknown; others are allowed.
    status: str = ""
    #: Quality with the candidate, meant to lie in [0, 1].
    score: float | None = None
    #: Quality of the version that it would replace, on the same cases.
    baseline: float | None = None
    #: The verdict of an experiment; where there is one it stands above the plain scores.
    decision: Verdict | None = None
    #: Names of critical cases that got worse.
    critical_worse: tuple[str, ...] = ()

    @classmethod
    def of(cls, evaluation: Evaluation) -> Evidence:
        """The evidence of one finished task."""
        status = {True: "success", False: "fail", None: ""}[evaluation.passed]
        return cls(status, evaluation.score)


@dataclass(frozen=True, slots=True)
class Candidate:
    """One proposed change of one skill, as the gates see it."""

    action: Action
    #: The name as it was proposed; the skill itself may carry a folder-safe form of it.
    name: str
    #: The skill after the change; None for a deletion, or when a broken caller has none.
    skill: Skill | None
    #: Where it came from, as in Revision.source: "experiment:<id>", "reviewer", "submission", "import".
    source: str
    #: The skill before the change; None when there was none.
    parent: Skill | None = None
    #: Names of all skills that exist, of every scope in which a duplicate would be seen.
    existing: tuple[str, ...] = ()
    #: None when nobody measured anything.
    evidence: Evidence | None = None

    @classmethod
    def update(cls, skill: Skill, parent: Skill, source: str, evidence: Evidence | None = None) -> Candidate:
        """A new version of a skill that exists."""
        return cls(Action.UPDATE, parent.name, skill, source, parent, evidence=evidence)

    @property
    def made_by_reviewer(self) -> bool:
        """Whether the Reviewer wrote the skill from nothing, so that its layout is ours."""
        return self.action is Action.CREATE and self.source.partition(":")[0] == "reviewer"

    @property
    def submitted(self) -> bool:
        """Whether somebody outside handed it in."""
        return self.source.partition(":")[0] == "submission"


class Gate(Protocol):
    """One gate. A replacement needs these two; `judge` may raise, and the candidate does not pass then."""

    @property
    def version(self) -> str:
        """Changes whenever the same candidate might be judged otherwise: rules, settings, models."""
        ...

    def judge(self, candidate: Candidate) -> GateVerdict:
        """Judge one candidate. Must not change it."""
        ...


@dataclass(frozen=True, slots=True)
class Gates:
    """The gates that are in use; None is one that is switched off."""

    spec: Gate | None = None
    safety: Gate | None = None
    effectiveness: Gate | None = None
    human: Gate | None = None

    @property
    def version(self) -> str:
        """One text that changes when any gate changes. A gate whose version cannot be read is "unknown"."""
        return "; ".join(f"{name} {_version(getattr(self, name))}" for name in GATES)


def _version(gate: Gate | None) -> str:
    try:
        return "off" if gate is None else str(gate.version)
    except Exception:
        return "unknown"

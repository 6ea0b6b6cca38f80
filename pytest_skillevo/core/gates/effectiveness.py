"""The Effectiveness gate: does what was measured speak for the candidate? spec/online-revisions.md 3.5 and 19."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from ..errors import ConfigError
from ..verdict import Verdict
from .records import Candidate, Evidence, Finding, GateVerdict, verdict_of

MIN_SCORE: Final = 0.8
MIN_GAIN: Final = 0.0

_RULES: Final = 1
_FAILED: Final = ("fail", "agent_error")
#: Differences of decimal scores are off by this at most.
_NOISE: Final = 1e-9


@dataclass(frozen=True, slots=True)
class EffectivenessGate:
    """Parks candidates whose evidence is bad; without any evidence there is nothing to hold against one.

    An experiment's verdict decides where there is one; else the gain, where the version before was measured too; else
    the score alone must reach `min_score` (0 switches this off). `reject_on_fail`: a failed task or agent parks, for
    deletions too, as a failure is no reason to throw a skill away unseen. Raises ConfigError for impossible settings.
    """

    min_score: float = MIN_SCORE
    min_gain: float = MIN_GAIN
    reject_on_fail: bool = True

    def __post_init__(self) -> None:
        if not 0 <= self.min_score <= 1:
            raise ConfigError(f"the minimum score must lie between 0 (off) and 1, not {self.min_score!r}")
        if not -1 <= self.min_gain <= 1:
            raise ConfigError(f"the minimum gain must lie between -1 and 1, not {self.min_gain!r}")

    @property
    def version(self) -> str:
        """The version of the rules with the settings."""
        failure = "parks" if self.reject_on_fail else "allowed"
        return f"{_RULES} (score {self.min_score!r}, gain {self.min_gain!r}, failure {failure})"

    def judge(self, candidate: Candidate | None) -> GateVerdict:
        """The verdict; every rule that is broken is reported."""
        return verdict_of("effectiveness", self.version, tuple(self._findings(candidate)))

    def _findings(self, candidate: Candidate | None) -> Iterator[Finding]:
        if candidate is None:
            yield _finding("nil_revision", "there is no candidate to judge")
            return
        evidence = candidate.evidence
        if evidence is None:
            return
        if self.reject_on_fail and evidence.status in _FAILED:
            yield _finding("outcome_failed", f"the task ended as {evidence.status}")
        if evidence.critical_worse:
            yield _finding("critical_worse", f"critical cases got worse: {', '.join(evidence.critical_worse)}")
        invalid = list(_invalid(evidence))
        yield from invalid
        if evidence.decision is not None:
            if evidence.decision is not Verdict.ACCEPT:
                yield _finding("not_confirmed", f"the experiment ended in {evidence.decision}")
        elif not invalid:
            yield from self._scores(evidence)

    def _scores(self, evidence: Evidence) -> Iterator[Finding]:
        score, baseline = evidence.score, evidence.baseline
        if score is None:
            if baseline is not None:
                yield _finding("score_missing", "the version before was measured, the candidate was not")
        elif baseline is None:
            if score < self.min_score:
                yield _finding("score_below_threshold", f"the score {score!r} is below {self.min_score!r}")
        elif score - baseline < self.min_gain - _NOISE:
            change = f"the score went from {baseline!r} to {score!r}"
            wanted = "it must not fall" if self.min_gain == 0 else f"a change of at least {self.min_gain!r} is needed"
            yield _finding("gain_below_threshold", f"{change}; {wanted}")


def _invalid(evidence: Evidence) -> Iterator[Finding]:
    for name, value in (("score", evidence.score), ("baseline", evidence.baseline)):
        if value is not None and not (math.isfinite(value) and 0 <= value <= 1):
            yield _finding("score_out_of_range", f"the {name} must lie between 0 and 1, not {value!r}")


def _finding(code: str, message: str) -> Finding:
    return Finding("effectiveness", code, f"{message}.", "evidence")

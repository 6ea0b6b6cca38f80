"""The decision rules: what may be claimed from paired runs, and in which words (spec/statistics.md 5.2)."""

from .compare import compare
from .critical import false_alarm_rate, flagged_criticals
from .decide import cap, confirm, confirm_together
from .noise import Noise, noise_of
from .power import PowerNote, power_note
from .records import (
    Claim,
    Comparison,
    Confirmation,
    CriticalFinding,
    CriticalRule,
    Decision,
    Goal,
    PairedCase,
    ReplayComparison,
    ReplayEvidence,
    ReplayPair,
    ReplayStatus,
    Rules,
    TokenComparison,
    Verdict,
)
from .reference import ReferenceDecision, reference_rule
from .replay import compare_replay, lower_by_replay, replay_by_family

__all__ = [
    "Claim",
    "Comparison",
    "Confirmation",
    "CriticalFinding",
    "CriticalRule",
    "Decision",
    "Goal",
    "Noise",
    "PairedCase",
    "PowerNote",
    "ReferenceDecision",
    "ReplayComparison",
    "ReplayEvidence",
    "ReplayPair",
    "ReplayStatus",
    "Rules",
    "TokenComparison",
    "Verdict",
    "cap",
    "compare",
    "compare_replay",
    "confirm",
    "confirm_together",
    "false_alarm_rate",
    "flagged_criticals",
    "lower_by_replay",
    "noise_of",
    "power_note",
    "reference_rule",
    "replay_by_family",
]

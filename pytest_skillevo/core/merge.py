"""What a merge gate lets pass, on top of the decision about the figures (design: merge gate).

A gate may only be as good as its comparison: what was narrowed, skipped, not run, or measured on a machine that proves
nothing does not pass, however good the figures look.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from .verdict import Decision, PairedCase, Verdict, words

#: Cases named one by one in a reason.
_NAMED: Final = 5


@dataclass(frozen=True, slots=True)
class CaseMark:
    """What a gate must know of a case to see whether a change takes it away."""

    id: str
    skill: str
    split: str
    critical: bool
    content: str

    def to_json(self) -> dict[str, Any]:
        """The fields by name."""
        return {name: getattr(self, name) for name in self.__slots__}


@dataclass(frozen=True, slots=True)
class Circumstances:
    """What speaks against a comparison whatever its figures. Empty texts and tuples speak against nothing."""

    narrowed: str = ""
    left_out: Sequence[str] = ()
    missing: Sequence[str] = ()
    lost: Sequence[str] = ()
    refused: str = ""
    leak: str = ""
    #: Whether the simulated model ran and is not allowed to let anything pass.
    simulated: bool = False


def judged(decision: Decision, facts: Circumstances) -> Decision:
    """The decision of the gate: that of the figures, unless something speaks against the comparison itself."""
    if facts.lost:
        return _blocked("cases-removed", f"the change takes away what judges it: {_some(facts.lost)}; put it back")
    if facts.refused:
        return Decision(Verdict.REJECT, "gate-refused", facts.refused)
    if facts.leak:
        return _blocked("holdout-leak", f"the new version knows the cases that judge it: {facts.leak}")
    if facts.narrowed:
        return _blocked("narrowed", f"not all of its cases were selected: {facts.narrowed}")
    if facts.left_out:
        skipped = words.counted(len(facts.left_out), "case")
        itself = "itself" if len(facts.left_out) == 1 else "themselves"
        return _blocked("skipped-cases", f"{skipped} skipped {itself} and showed nothing: {_some(facts.left_out)}")
    if facts.missing and decision.verdict is not Verdict.REJECT:
        missing = words.counted(len(facts.missing), "case")
        return _blocked("missing-runs", f"{missing} did not run in both versions: {_some(facts.missing)}")
    if facts.simulated and decision.verdict is Verdict.ACCEPT:
        return _blocked(
            "simulated-model",
            f"{decision.reason} But the simulated model says nothing about a language model; "
            "--allow-simulated lets it pass all the same.",
        )
    return decision


def missing_cases(pairs: Sequence[PairedCase]) -> tuple[str, ...]:
    """The cases without a valid pair of runs."""
    return tuple(pair.case_id for pair in pairs if pair.missing)


def lost_cases(
    reference: Sequence[CaseMark], now: Sequence[CaseMark], renamed: Mapping[str, str]
) -> dict[str, list[str]]:
    """By skill (its name in the reference), the cases and critical marks that the reference has and the change has not.

    A case that moved, with the same content under another id, is not lost, and neither is one whose content changed
    under the same id: the reference's version judges it. `renamed` maps old names of skills to new ones.
    """
    by_id = {case.id: case for case in now}
    by_content = {(case.skill, case.content): case for case in now}
    found: dict[str, list[str]] = {}
    for case in reference:
        skill = renamed.get(case.skill, case.skill)
        same = by_id.get(case.id)
        here = same if same is not None and same.skill == skill else by_content.get((skill, case.content))
        if here is None:
            found.setdefault(case.skill, []).append(f"case {case.id}")
        elif case.critical and not here.critical:
            found.setdefault(case.skill, []).append(f"the critical mark of {case.id}")
    return found


def passes(decision: Decision, accept_reason: str | None) -> bool:
    """Whether the skill may be merged. A person may override INCONCLUSIVE and nothing else."""
    if decision.verdict is Verdict.INCONCLUSIVE:
        return bool(accept_reason)
    return decision.verdict in (Verdict.ACCEPT, Verdict.NO_CHANGE)


def _blocked(rule: str, reason: str) -> Decision:
    return Decision(Verdict.BLOCKED, rule, reason)


def _some(names: Sequence[str]) -> str:
    more = f" and {len(names) - _NAMED} more" if len(names) > _NAMED else ""
    return ", ".join(names[:_NAMED]) + more

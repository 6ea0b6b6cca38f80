"""The version that leaves the search: made whole where the seed was empty, and fit to be published at all."""

from __future__ import annotations

from ..core.gates.records import Candidate, Severity
from ..core.gates.safety import SafetyGate
from ..core.gates.spec import SpecGate
from ..core.revisions import Action
from ..core.skill import Skill


def completed(candidate: Skill, seed: Skill) -> Skill:
    """The candidate; one that was grown from nothing also gets the parts without which no skill can be published.

    A search may win with steps alone. The sentences say nothing new, and the confirmation judges them with the rest.
    """
    if seed.exists or not candidate.exists:
        return candidate
    topic = seed.name.replace("-", " ")
    for component, text in (("description", f"How to do {topic} tasks."), ("when_to_use", f"For every {topic} task.")):
        if component in candidate.components and not candidate.components[component].strip():
            candidate = candidate.with_component(component, text)
    return candidate


def refusal(candidate: Skill, seed: Skill, source: str) -> str | None:
    """Why the Spec or the Safety gate would keep this version from being published; None when neither would."""
    parent = seed if seed.exists else None
    action = Action.CREATE if parent is None else Action.UPDATE
    proposed = Candidate(action, candidate.name, candidate, source, parent)
    verdicts = [gate.judge(proposed) for gate in (SpecGate(), SafetyGate())]
    errors = [one for verdict in verdicts for one in verdict.findings if one.severity is Severity.ERROR]
    if all(verdict.passed for verdict in verdicts):
        return None
    return f"the {errors[0].gate} gate refuses it ({errors[0].code}: {errors[0].message})"

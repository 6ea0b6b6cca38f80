"""The version that leaves the search: made whole where the seed was empty, and fit to be published at all."""

from __future__ import annotations

from ..core.gates.pipeline import judge
from ..core.gates.records import Candidate, Gates, Severity
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


def refusal(candidate: Skill, seed: Skill, source: str, gates: Gates) -> str | None:
    """Why the Spec or the Safety gate would keep this version from being published; None when neither would."""
    parent = seed if seed.exists else None
    action = Action.CREATE if parent is None else Action.UPDATE
    proposed = Candidate(action, candidate.name, candidate, source, parent)
    judgement = judge(proposed, Gates(spec=gates.spec, safety=gates.safety))
    refused = next((verdict for verdict in judgement.verdicts if not verdict.passed), None)
    if refused is None:
        return None
    why = next((one for one in refused.findings if one.severity is Severity.ERROR), None)
    return f"the {refused.gate} gate refuses it ({f'{why.code}: {why.message}' if why else 'it gives no reason'})"

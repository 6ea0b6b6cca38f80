"""The gates of a store: what they are asked about a version, and the names that it must not repeat."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ..core.gates.records import Candidate, Gates
from ..core.judging import Standing, gate_evidence, is_judged, stand
from ..core.revisions import Action, Revision, Status
from ..core.skill import Skill
from .place import Place, title, title_of
from .revisions import Proposal


class Judge:
    """Asks the gates; without gates, everything stands where its caller puts it."""

    def __init__(self, gates: Gates | None, place: Place) -> None:
        self._gates = gates
        self._place = place

    def stand(self, proposal: Proposal, *, least: Status = Status.PENDING, shadow: bool = False) -> Standing:
        """Where a candidate stands."""
        if self._gates is None:
            return stand(None, _candidate(proposal, ()), least=least)
        existing = tuple(self._names(proposal.skill)) if proposal.action is Action.CREATE else ()
        return stand(self._gates, _candidate(proposal, existing), least=least, shadow=shadow)

    def knows(self, revision: Revision) -> bool:
        """Whether there is nothing to ask: no gates, or the present ones have judged this very revision."""
        return self._gates is None or is_judged(self._gates, revision)

    def _names(self, skill: str) -> list[str]:
        """The names of all skills that agents see here, but for the one in this folder."""
        return [
            title_of(folder)
            for key, folder in self._place.skill_folders()
            if (key, folder.name) != (self._place.key, skill)
        ]


def as_proposal(revision: Revision, content: Skill, parent: Skill, evidence: Mapping[str, Any]) -> Proposal:
    """A revision as what it was when it came, with other evidence."""
    return Proposal(
        revision.skill,
        content,
        parent,
        revision.action,
        revision.source,
        evidence,
        revision.name,
        revision.executable,
    )


def _candidate(proposal: Proposal, existing: tuple[str, ...]) -> Candidate:
    content, parent = proposal.content, proposal.parent
    return Candidate(
        proposal.action,
        proposal.name or (title(content) if content.exists else proposal.skill),
        content if content.exists else None,
        proposal.source,
        parent if parent.exists else None,
        existing,
        gate_evidence(proposal.evidence),
    )

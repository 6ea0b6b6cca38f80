"""A gate that says what a test tells it to."""

from __future__ import annotations

from collections.abc import Callable

from pytest_skillevo.core.gates.records import Candidate, Finding, GateName, Gates, GateVerdict


class Said:
    """Passes unless `objection` finds something; every candidate that was judged is kept."""

    def __init__(self, gate: GateName, objection: Callable[[Candidate], str | None], version: str = "1") -> None:
        self._gate = gate
        self._objection = objection
        self.version = version
        self.asked: list[Candidate] = []

    def judge(self, candidate: Candidate) -> GateVerdict:
        self.asked.append(candidate)
        code = self._objection(candidate)
        findings = (Finding(self._gate, code, f"It is {code}."),) if code else ()
        return GateVerdict(self._gate, self.version, not code, findings)


def gates(version: str = "1", **objections: str | Callable[[Candidate], str | None] | None) -> Gates:
    """Gates by name, each with what it always objects, or with what finds an objection; None lets everything pass."""
    made = {
        name: Said(name, told if callable(told) else lambda candidate, told=told: told, version)
        for name, told in objections.items()
    }
    return Gates(**made)

"""The Human gate: which candidates wait for a person. It holds, it never decides (spec/online-revisions.md 3.6)."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import Final

from ..errors import ConfigError
from ..revisions import Action
from .records import Candidate, Finding, GateVerdict, verdict_of

_RULES: Final = 1


class Hold(StrEnum):
    """What waits for a person: everything, what adds or removes a skill, or nothing."""

    ALWAYS = "always"
    CREATE_AND_DELETE = "create-and-delete"
    NEVER = "never"


@dataclass(frozen=True, slots=True)
class HumanGate:
    """Holds by the kind of change alone. Deletions are held wherever creations are: they lose more.

    Raises ConfigError for any other text than the three, as a typing error must not switch the gate off.
    """

    hold: Hold = Hold.ALWAYS

    def __post_init__(self) -> None:
        if self.hold not in tuple(Hold):
            raise ConfigError(f"the human gate holds one of {', '.join(Hold)}, not {self.hold!r}")
        object.__setattr__(self, "hold", Hold(self.hold))

    @property
    def version(self) -> str:
        """The version of the rules with the settings."""
        return f"{_RULES} ({self.hold})"

    def judge(self, candidate: Candidate) -> GateVerdict:
        """Not passed means held."""
        held = self.hold is Hold.ALWAYS or (
            self.hold is Hold.CREATE_AND_DELETE and candidate.action is not Action.UPDATE
        )
        reason = Finding("human", "held", f"a person must approve this {_NOUN[candidate.action]} first.")
        return verdict_of("human", self.version, (reason,) if held else ())


_NOUN: Final = {Action.CREATE: "new skill", Action.UPDATE: "change", Action.DELETE: "deletion"}

"""When a review is worth its tokens: a pure rule over signals and outcome, and a record of why.

Two rules can be chosen: that of tRPC-Agent-Go (tool calls, corrections, recovered errors), improved by outcomes and by
counting over declined deltas, and that of Hermes (tool-calling turns since the last review); spec/online-review.md 2
and spec/hermes.md H4.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from ..sessions.records import TaskOutcome
from .signals import Delta

DEFAULT_TOOL_CALLS: Final = 4
HERMES_TURNS: Final = 10


@dataclass(frozen=True, slots=True)
class PolicySettings:
    """The triggers. A count of 0 means the default, a negative one switches the trigger off."""

    min_tool_calls: int = 0
    #: Tool-calling turns; off by default.
    min_tool_turns: int = -1
    user_correction: bool = True
    recovered_error: bool = True
    #: Outcomes that are worth a review by themselves.
    outcomes: tuple[str, ...] = ("fail", "agent_error", "partial")
    #: Events that may pile up without a review; a long quiet session is looked at once.
    max_unreviewed: int = 200


DEFAULT: Final = PolicySettings()
#: The rule of Hermes: a review every ten tool-calling turns.
HERMES: Final = PolicySettings(
    min_tool_calls=-1,
    min_tool_turns=HERMES_TURNS,
    user_correction=False,
    recovered_error=False,
    outcomes=(),
    max_unreviewed=-1,
)


@dataclass(frozen=True, slots=True)
class PolicyDecision:
    """Whether to review, by which trigger, and the sentence for the record."""

    review: bool
    #: "tool_calls", "tool_turns", "user_correction", "recovered_error", "outcome", "accumulated"; "" when declined.
    trigger: str
    explanation: str
    figures: Mapping[str, Any]

    def to_json(self) -> dict[str, Any]:
        """A JSON object with all fields."""
        return {
            "review": self.review,
            "trigger": self.trigger,
            "explanation": self.explanation,
            "figures": dict(self.figures),
        }


def decide(delta: Delta, outcome: TaskOutcome | None = None, settings: PolicySettings = DEFAULT) -> PolicyDecision:
    """Whether the unreviewed part of a session deserves a review. Declined parts stay in `delta` until one happens."""
    status = outcome.status.strip().lower() if outcome is not None else ""
    figures = {
        "messages": delta.message_count,
        "events": len(delta.events),
        "tool_calls": delta.tool_calls,
        "tool_turns": delta.tool_turns,
        "corrections": len(delta.corrections),
        "recoveries": len(delta.recoveries),
        "outcome": status or None,
    }
    calls = settings.min_tool_calls or DEFAULT_TOOL_CALLS
    turns = settings.min_tool_turns or HERMES_TURNS
    found = (
        ("tool_calls", 0 <= calls <= delta.tool_calls, f"{delta.tool_calls} tool calls, at least {calls} are enough"),
        ("tool_turns", 0 <= turns <= delta.tool_turns, f"{delta.tool_turns} tool turns, at least {turns} are enough"),
        ("user_correction", settings.user_correction and bool(delta.corrections), "the user corrected the agent"),
        ("recovered_error", settings.recovered_error and bool(delta.recoveries), "a failed call was made good"),
        ("outcome", status in settings.outcomes and status != "", f"the task ended as {status}"),
        (
            "accumulated",
            0 <= settings.max_unreviewed <= len(delta.events),
            f"{len(delta.events)} events without a review, at most {settings.max_unreviewed} may pile up",
        ),
    )
    if not delta.message_count:
        return PolicyDecision(False, "", "nobody said anything since the last review", figures)
    for trigger, holds, explanation in found:
        if holds:
            return PolicyDecision(True, trigger, explanation, figures)
    return PolicyDecision(False, "", "no trigger fired; the events count towards the next review", figures)

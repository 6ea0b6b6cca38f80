"""What the engine asks for and what it is told: rollouts and reflections, with ids that are the same in every run."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final, Literal, NamedTuple, TypeAlias

from ..records import Message, Outcome, RolloutRequest, Usage

Step: TypeAlias = Literal["seed", "parent", "child", "validation"]

#: The phase of a rollout request by the step that asks for it; the names are the reference's (spec/gepa.md 1.15).
PHASES: Final[Mapping[Step, str]] = {
    "seed": "validation",
    "parent": "feedback-parent",
    "child": "feedback-child",
    "validation": "validation",
}


@dataclass(frozen=True, slots=True)
class ReflectionRequest:
    """One call of the reflection model."""

    id: str
    messages: tuple[Message, ...]
    #: JSON schema of the answer's text.
    response_schema: Mapping[str, Any]
    seed: int
    max_tokens: int
    #: Digest of the skill under edit and the name of the one component that may change.
    parent: str
    component: str


class RolloutAnswer(NamedTuple):
    """The outcome of one rollout, after the driver's retries."""

    request_id: str
    outcome: Outcome


@dataclass(frozen=True, slots=True)
class ReflectionAnswer:
    """What the reflection model said, good or bad."""

    request_id: str
    text: str
    finish_reason: str
    usage: Usage


@dataclass(frozen=True, slots=True)
class ReflectionFailed:
    """The reflection model could not be reached, after the driver's retries."""

    request_id: str
    error: str


Request: TypeAlias = RolloutRequest | ReflectionRequest
Answer: TypeAlias = RolloutAnswer | ReflectionAnswer | ReflectionFailed


def rollout_id(iteration: int, step: Step) -> str:
    """The beginning of a rollout's id; the case's place in its split completes it, as in "search/it007/child/3"."""
    return f"search/it{iteration:03d}/{step}/"


def reflection_id(iteration: int, part: int = 0) -> str:
    """The id of a reflection of an iteration; `part` numbers the components when several are changed."""
    return f"search/it{iteration:03d}/reflection" + (f"/{part}" if part else "")

"""The records that travel between the layers: cases, evaluations, outcomes, usage, agent runs."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Context, Decimal
from typing import Any, Final, Literal, NamedTuple, TypeAlias

from .errors import EvaluationError

Message: TypeAlias = dict[str, Any]
"""One chat message in the OpenAI shape: role, content, and for tools tool_calls or tool_call_id."""

Split: TypeAlias = Literal["feedback", "validation", "holdout"]
SPLITS: Final[tuple[Split, ...]] = ("feedback", "validation", "holdout")

Role: TypeAlias = Literal["agent", "reflection", "reviewer", "judge"]
ROLES: Final[tuple[Role, ...]] = ("agent", "reflection", "reviewer", "judge")


#: Money is added in a context of its own: a test may change the current one, and cents must not depend on that.
_MONEY: Final = Context(prec=50)


def _sum(a: int | None, b: int | None) -> int | None:
    return None if a is None or b is None else a + b


def _add(a: Decimal | None, b: Decimal | None) -> Decimal | None:
    return None if a is None or b is None else _MONEY.add(a, b)


@dataclass(frozen=True, slots=True)
class Usage:
    """Tokens and money of model calls. None: nobody measured it; a sum with an unknown part is unknown."""

    input_tokens: int | None = None
    output_tokens: int | None = None
    cached_tokens: int | None = None
    reasoning_tokens: int | None = None
    usd: Decimal | None = None
    #: True when the tokens were estimated from text length instead of reported by a provider.
    estimated: bool = False
    #: What the provider says that the calls cost, beside `usd` from the price table; no rule looks at it.
    provider_usd: Decimal | None = None

    @property
    def tokens(self) -> int | None:
        """Input plus output tokens, or None when either is unknown."""
        return _sum(self.input_tokens, self.output_tokens)

    def __add__(self, other: Usage) -> Usage:
        return Usage(
            _sum(self.input_tokens, other.input_tokens),
            _sum(self.output_tokens, other.output_tokens),
            _sum(self.cached_tokens, other.cached_tokens),
            _sum(self.reasoning_tokens, other.reasoning_tokens),
            _add(self.usd, other.usd),
            self.estimated or other.estimated,
            _add(self.provider_usd, other.provider_usd),
        )

    @classmethod
    def total(cls, parts: Iterable[Usage]) -> Usage:
        """The sum of all parts; of no parts, zero."""
        total = NO_USAGE
        for part in parts:
            total = total + part
        return total

    def to_json(self) -> dict[str, Any]:
        """A JSON object; money as a decimal string."""
        return {
            "input_tokens": self.input_tokens,
            "output_tokens": self.output_tokens,
            "cached_tokens": self.cached_tokens,
            "reasoning_tokens": self.reasoning_tokens,
            "usd": None if self.usd is None else f"{self.usd:f}",
            "estimated": self.estimated,
            "provider_usd": None if self.provider_usd is None else f"{self.provider_usd:f}",
        }

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> Usage:
        """The inverse of to_json."""
        usd, said = data["usd"], data.get("provider_usd")
        return cls(
            data["input_tokens"],
            data["output_tokens"],
            data["cached_tokens"],
            data["reasoning_tokens"],
            None if usd is None else Decimal(usd),
            data["estimated"],
            None if said is None else Decimal(said),
        )


NO_USAGE: Final = Usage(0, 0, 0, 0, Decimal(0), provider_usd=Decimal(0))


def merge_usage(a: Mapping[str, Usage], b: Mapping[str, Usage]) -> dict[str, Usage]:
    """Usage by role, added role by role."""
    merged = dict(a)
    for role, usage in b.items():
        merged[role] = merged[role] + usage if role in merged else usage
    return merged


def _finite(name: str, value: Any) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise EvaluationError(f"{name} must be a number, not {value!r}")
    if isinstance(value, int) and value.bit_length() > 1000:
        raise EvaluationError(f"{name} must be a finite number, not a whole number of {value.bit_length()} bits")
    number = float(value)
    if not math.isfinite(number):
        raise EvaluationError(f"{name} must be a finite number, not {value!r}")
    return number


def check_usage(role: Any, usage: Any) -> None:
    """Raise EvaluationError unless this is the Usage of a known role."""
    if role not in ROLES:
        raise EvaluationError(f"usage knows the roles {', '.join(ROLES)}, not {role!r}")
    if not isinstance(usage, Usage):
        raise EvaluationError(f"the usage of role {role} must be a Usage, not {type(usage).__name__}")


@dataclass(frozen=True, slots=True)
class Evaluation:
    """What one rollout of one case was worth.

    `score` is in [0, 1], higher is better. `passed` None means that nothing was judged pass or fail. `objectives` are
    further figures, finite, reported only. `trace` is JSON-able detail for people and for the reflection model.
    `usage` is by role. Raises EvaluationError for anything that is no score.
    """

    score: float
    passed: bool | None = None
    feedback: str = ""
    objectives: Mapping[str, float] = field(default_factory=dict)
    trace: Any = None
    usage: Mapping[str, Usage] = field(default_factory=dict)

    def __post_init__(self) -> None:
        score = _finite("score", self.score)
        if not 0.0 <= score <= 1.0:
            raise EvaluationError(f"score must lie in [0, 1], not {self.score!r}")
        object.__setattr__(self, "score", score)
        if self.passed is not None and not isinstance(self.passed, bool):
            raise EvaluationError(f"passed must be True, False or None, not {self.passed!r}")
        if not isinstance(self.feedback, str):
            raise EvaluationError(f"feedback must be text, not {self.feedback!r}")
        if not isinstance(self.objectives, Mapping):
            raise EvaluationError(f"objectives must map names to numbers, not {type(self.objectives).__name__}")
        if not isinstance(self.usage, Mapping):
            raise EvaluationError(f"usage must map roles to Usage, not {type(self.usage).__name__}")
        for role, usage in self.usage.items():
            check_usage(role, usage)
        objectives = {str(name): _finite(f"objective {name!r}", value) for name, value in self.objectives.items()}
        object.__setattr__(self, "objectives", objectives)

    def to_json(self) -> dict[str, Any]:
        """A JSON object without the trace, which is stored apart."""
        return {
            "score": self.score,
            "passed": self.passed,
            "feedback": self.feedback,
            "objectives": dict(self.objectives),
            "usage": {role: usage.to_json() for role, usage in self.usage.items()},
        }

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> Evaluation:
        """The inverse of to_json."""
        return cls(
            data["score"],
            data["passed"],
            data["feedback"],
            data["objectives"],
            None,
            {role: Usage.from_json(usage) for role, usage in data["usage"].items()},
        )


@dataclass(frozen=True, slots=True)
class Outcome:
    """How one rollout ended: scored (with an evaluation), skipped, or errored (infrastructure: not a score)."""

    status: Literal["scored", "skipped", "errored"]
    evaluation: Evaluation | None = None
    #: Why it was skipped or what the infrastructure error was; empty when scored.
    reason: str = ""

    def to_json(self) -> dict[str, Any]:
        """A JSON object; the trace is not in it."""
        return {
            "status": self.status,
            "evaluation": None if self.evaluation is None else self.evaluation.to_json(),
            "reason": self.reason,
        }

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> Outcome:
        """The inverse of to_json."""
        evaluation = data["evaluation"]
        return cls(data["status"], None if evaluation is None else Evaluation.from_json(evaluation), data["reason"])


class RolloutRequest(NamedTuple):
    """One run of one case with one skill variant and one seed. `id` is unique, and the same in every run."""

    id: str
    case_id: str
    #: Digest of the skill variant; Skill.absent(name).digest for "no skill".
    variant: str
    seed: int
    repeat: int
    phase: str


@dataclass(frozen=True, slots=True)
class Case:
    """The record of one collected pytest item that belongs to an experiment. `id` is the node id."""

    id: str
    skill: str
    split: Split
    critical: bool = False
    family: str | None = None
    level: str | None = None
    group: str | None = None
    #: Digest of what the case asks (design: content and versions).
    content: str = ""
    #: Prompt, expected text and long literals, watched for leaks into skills and prompts.
    watched: tuple[str, ...] = ()
    #: Digest of the content that white space and case do not change; "" where nobody made one.
    fingerprint: str = ""
    #: Whether the case was a holdout case until it was retired.
    retired: bool = False

    @property
    def ledger_key(self) -> str:
        """Under this the exposure ledger knows the case."""
        return self.fingerprint or self.content


@dataclass(frozen=True, slots=True)
class AgentRun:
    """What an agent did with one task."""

    answer: str
    messages: tuple[Message, ...]
    #: The very tools object the run was given; a family's toolbox keeps its call log and workspace there.
    tools: Any
    usage: Usage
    turns: int
    #: "answered", "finished" (a final tool was called), "turn_limit", "token_limit", "context_limit", "empty_reply"
    stop_reason: str
    skills_offered: tuple[str, ...] = ()
    #: Skills whose text came into the conversation, each once: they were used.
    skills_loaded: tuple[str, ...] = ()
    #: One entry for every look into a skill, whether at its text or at a supporting file.
    skills_viewed: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Task:
    """What a family offers to one case: a prompt, tools and a grader.

    `tools` is a fresh toolbox on every access, so that no state passes from one rollout to the next; `grade(run)` reads
    the toolbox that the run used from `run.tools`.
    """

    id: str
    prompt: str
    open_tools: Callable[[], Sequence[Any]] = field(repr=False)
    grader: Callable[[AgentRun], Evaluation] = field(repr=False)
    #: JSON-able description of everything that decides what the case asks; equal content means equal case.
    content: Any = None
    family: str | None = None
    level: str | None = None
    split: Split | None = None
    critical: bool = False
    group: str | None = None
    #: Further text that must not appear in a skill (expected values, long truths).
    watched: tuple[str, ...] = ()

    @property
    def tools(self) -> Sequence[Any]:
        """A fresh set of tools for one rollout."""
        return self.open_tools()

    def grade(self, run: AgentRun) -> Evaluation:
        """Score one agent run of this task."""
        return self.grader(run)

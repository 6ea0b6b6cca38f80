"""What a search is given: the cases by split and the settings, checked before any rollout (spec/gepa.md 1.2, 1.3)."""

from __future__ import annotations

import math
from dataclasses import dataclass
from decimal import Decimal
from typing import Final

from ..errors import ConfigError

METHODS: Final = ("gepa", "seed", "no-skill", "best-of-n")
FRONTIERS: Final = ("instance", "hybrid")
PICKS: Final = ("best", "one-se")
#: Behind the name of an objective as cost: the higher, the better.
HIGHER: Final = ":max"


@dataclass(frozen=True, slots=True)
class SearchDataset:
    """Case ids of the two splits that a search may see. Raises ConfigError for an empty split and for bad ids."""

    feedback: tuple[str, ...]
    validation: tuple[str, ...]

    def __post_init__(self) -> None:
        object.__setattr__(self, "feedback", tuple(self.feedback))
        object.__setattr__(self, "validation", tuple(self.validation))
        seen: dict[str, str] = {}
        for split, ids in (("feedback", self.feedback), ("validation", self.validation)):
            if not ids:
                raise ConfigError(f"the {split} split has no case: a search needs feedback and validation cases")
            for case_id in ids:
                if not case_id.strip():
                    raise ConfigError(f"the {split} split holds a case with a blank id")
                # Ids that differ in blanks only could not be told apart by a reader of the report.
                if case_id.strip() in seen:
                    raise ConfigError(
                        f"case '{case_id}' is given twice, in {seen[case_id.strip()]} and in {split}; use unique ids"
                    )
                seen[case_id.strip()] = split


@dataclass(frozen=True, slots=True)
class SearchSettings:
    """How far and how a search goes. Caps of None are no caps. Raises ConfigError for values that make no sense."""

    #: Key of every draw of the search.
    seed: int = 1
    #: Mutation attempts; 0 evaluates the seed skill only.
    iterations: int = 10
    #: Rollouts that the search itself may use: the reserve for confirmation and replay is taken off already.
    max_rollouts: int | None = 1000
    #: Feedback cases of one iteration, capped by the size of the split.
    minibatch: int = 3
    #: Input and output tokens of all roles together.
    max_tokens: int | None = None
    max_usd: Decimal | None = None
    #: Iterations in a row without a better best mean after which the search stops.
    patience: int | None = None
    #: Validation mean at which nothing more is sought.
    threshold: float | None = 1.0
    #: Output tokens of one reflection.
    reflection_tokens: int = 16_384
    #: Latest rejected proposals of the same parent that the reflection model is shown.
    rejected_shown: int = 4
    #: Characters of one field of a reflection prompt; the component under edit is always whole.
    field_chars: int = 4000
    #: Characters of a whole reflection prompt.
    prompt_chars: int = 120_000
    #: A component may grow to this multiple in one step, or by growth_floor characters if that is more.
    max_growth: float = 2.0
    growth_floor: int = 2000
    #: A component of more than shrink_floor characters may shrink to this share in one step: shorter is often better,
    #: but a model that answers with a few general words has lost what the skill knew.
    max_shrink: float = 0.2
    shrink_floor: int = 400
    #: Characters of a SKILL.md above which the reflection model is asked to shorten.
    target_chars: int = 20_000
    #: Characters of a whole SKILL.md.
    max_skill_chars: int = 65_536
    #: Whether a proposal may drop pitfalls that the parent lists.
    allow_pitfall_removal: bool = False
    #: What is searched with: "gepa", or a baseline in the same engine: "seed", "no-skill", "best-of-n".
    method: str = "gepa"
    #: Proposals that are worked on side by side; each is an iteration with its own parent, minibatch and seed.
    width: int = 1
    #: Of proposals side by side that passed their minibatch, only this many with the largest gain are validated.
    keep: int | None = None
    #: Whether a child's minibatch ends as soon as its verdict is certain, `chunk` rollouts being asked at a time.
    stop_early: bool = True
    chunk: int = 1
    #: A child that passed its minibatch is the parent of further proposals until these have cost this share of a
    #: validation; then what passed is validated as one candidate. 0 validates every child (core/gepa/pacing.py).
    pace: float = 1.0
    #: Merges of two candidates that may be accepted; 0 is none.
    merges: int = 0
    #: The final pick takes the cheapest candidate whose mean is at most this much below the best.
    epsilon: float = 0.0
    #: What is cheap: "tokens" of a validation rollout, "size" of SKILL.md, or an objective's name: lower is better, or
    #: higher with ":max" behind it.
    cost: str = "tokens"
    #: A candidate whose mean cost of a validation rollout is above this multiple of the seed's never enters the pool.
    max_cost_growth: float | None = None
    #: "instance": one front per validation case. "hybrid": one more for the lowest cost.
    frontier: str = "instance"
    #: "best": the highest mean. "one-se": the shortest whose mean is at most one standard error of the paired
    #: differences below it, so that a gain that may be luck buys no longer skill.
    pick: str = "best"
    #: Components that are never changed.
    frozen: tuple[str, ...] = ()
    #: Money that reflection alone may use.
    max_reflection_usd: Decimal | None = None
    #: The most that one rollout, and one call of reflection or review, can use, when that is known: a cap then holds
    #: from the first on.
    rollout_tokens: int | None = None
    rollout_usd: Decimal | None = None
    call_tokens: int | None = None
    call_usd: Decimal | None = None
    #: Rollouts and model calls that must follow the search: tokens and money for them are kept back.
    reserve_rollouts: int = 0
    reserve_calls: int = 0

    def __post_init__(self) -> None:
        least = {
            "iterations": 0,
            "max_rollouts": 1,
            "minibatch": 1,
            "max_tokens": 1,
            "patience": 1,
            "reflection_tokens": 1,
            "rejected_shown": 0,
            "field_chars": 100,
            "prompt_chars": 1000,
            "growth_floor": 0,
            "shrink_floor": 0,
            "target_chars": 1,
            "max_skill_chars": 1,
            "width": 1,
            "keep": 1,
            "chunk": 1,
            "merges": 0,
            "rollout_tokens": 0,
            "call_tokens": 0,
            "reserve_rollouts": 0,
            "reserve_calls": 0,
        }
        for name, bound in least.items():
            value = getattr(self, name)
            if value is not None and (isinstance(value, bool) or not isinstance(value, int) or value < bound):
                raise ConfigError(f"{name} must be a whole number of at least {bound}, not {value!r}")
        for name in ("max_usd", "max_reflection_usd", "rollout_usd", "call_usd"):
            value = getattr(self, name)
            if value is not None and not (isinstance(value, Decimal) and value > 0):
                raise ConfigError(f"{name} must be a Decimal above 0, not {value!r}")
        for name, choices in (("method", METHODS), ("frontier", FRONTIERS), ("pick", PICKS)):
            if getattr(self, name) not in choices:
                raise ConfigError(f"{name} must be one of {', '.join(choices)}, not {getattr(self, name)!r}")
        if not 0 <= self.epsilon < 1:
            raise ConfigError(f"epsilon must lie in [0, 1), not {self.epsilon!r}")
        if self.pick == "one-se" and self.epsilon > 0:
            raise ConfigError("pick 'one-se' does not go with an epsilon: each says who is as good as the best")
        growth = self.max_cost_growth
        if growth is not None and not (math.isfinite(growth) and growth >= 1):
            raise ConfigError(f"max_cost_growth must be at least 1, not {growth!r}")
        if growth is not None and self.cost.endswith(HIGHER):
            raise ConfigError(
                f"max_cost_growth does not go with the cost '{self.cost}', which is better the higher it is"
            )
        if not 0 <= self.max_shrink <= 1:
            raise ConfigError(f"max_shrink must lie in [0, 1], not {self.max_shrink!r}")
        if self.threshold is not None and not 0 < self.threshold <= 1:
            raise ConfigError(f"threshold must lie in (0, 1], not {self.threshold!r}")
        if not math.isfinite(self.pace) or self.pace < 0:
            raise ConfigError(f"pace must be a share of a validation, 0 or more, not {self.pace!r}")
        if not math.isfinite(self.max_growth) or self.max_growth < 1:
            raise ConfigError(f"max_growth must be at least 1, not {self.max_growth!r}")

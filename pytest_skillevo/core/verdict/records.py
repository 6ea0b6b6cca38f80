"""What goes into a decision and what comes out of it. Scores lie in [0, 1]; a "case" is the task, the unit of proof."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import Field, dataclass, fields
from enum import StrEnum
from typing import Any, ClassVar, Final, Literal, TypeAlias

from ..errors import ConfigError

Claim: TypeAlias = Literal["tasks-like-these", "these-tasks"]
CLAIMS: Final[tuple[Claim, ...]] = ("tasks-like-these", "these-tasks")

PassRule: TypeAlias = Literal["both", "all", "majority"]
PASS_RULES: Final[tuple[PassRule, ...]] = ("both", "all", "majority")

FindingVerdict: TypeAlias = Literal["ok", "flagged, held on rerun", "worse", "missing"]
ReplayStatus: TypeAlias = Literal["held", "cannot tell", "worse", "incomplete"]

#: Fewer fresh repeats cannot tell a lost case from noise (spec/statistics.md 5.2, critical cases).
LEAST_RERUN_REPEATS: Final = 5


class Verdict(StrEnum):
    """The five ways in which a comparison can end."""

    ACCEPT = "ACCEPT"
    REJECT = "REJECT"
    INCONCLUSIVE = "INCONCLUSIVE"
    BLOCKED = "BLOCKED"
    NO_CHANGE = "NO_CHANGE"


class Goal(StrEnum):
    """What the candidate must show, declared before running."""

    quality = "quality"
    cost = "cost"
    either = "either"
    no_worse = "no-worse"


class CriticalRule(StrEnum):
    """When a critical case vetoes: on any lower score, on a lower score in fresh runs, or on a tested one."""

    any = "any"
    rerun = "rerun"
    tested = "tested"


def _plain(value: Any) -> Any:
    if isinstance(value, Record):
        return value.to_json()
    if isinstance(value, StrEnum):
        return value.value
    return [_plain(item) for item in value] if isinstance(value, tuple) else value


class Record:
    """A dataclass that can be written as plain JSON: field by field, unknown as null, never NaN."""

    __slots__ = ()
    __dataclass_fields__: ClassVar[dict[str, Field[Any]]]

    def to_json(self) -> dict[str, Any]:
        """A JSON object with the fields by name."""
        return {field.name: _plain(getattr(self, field.name)) for field in fields(self)}


@dataclass(frozen=True, slots=True)
class Rules(Record):
    """The rules of one decision, declared beforehand. Raises ConfigError for rules that can decide nothing.

    `margin` is the loss in score that still counts as "not worse"; `alpha` is one-sided. `claim` says whether the cases
    stand for tasks like them or are the whole population. `passes` says when a case with several pass/fail runs passes,
    for the limit on lost cases: when all runs do, when most do, or "both": the limit must hold either way, because the
    first is blind to a fall from 2 of 3 and the second to a fall to 2 of 3.
    """

    goal: Goal = Goal.quality
    margin: float = 0.10
    alpha: float = 0.05
    critical: CriticalRule = CriticalRule.rerun
    repeats: int = 3
    rerun_repeats: int = LEAST_RERUN_REPEATS
    claim: Claim = "tasks-like-these"
    passes: PassRule = "both"

    def __post_init__(self) -> None:
        if self.goal not in tuple(Goal):
            raise ConfigError(f"the goal must be one of {', '.join(Goal)}, not {self.goal!r}")
        if self.critical not in tuple(CriticalRule):
            raise ConfigError(f"the critical rule must be one of {', '.join(CriticalRule)}, not {self.critical!r}")
        # An option gives plain text; from here on there are only members.
        object.__setattr__(self, "goal", Goal(self.goal))
        object.__setattr__(self, "critical", CriticalRule(self.critical))
        if not 0 < self.margin < 1:
            raise ConfigError(f"the margin must lie between 0 and 1 (0.10 is ten points), not {self.margin!r}")
        if not 0 < self.alpha < 0.5:
            raise ConfigError(f"alpha must lie between 0 and 0.5 (0.05 is usual), not {self.alpha!r}")
        if self.repeats < 1:
            raise ConfigError(f"repeats must be at least 1, not {self.repeats!r}")
        if self.rerun_repeats < LEAST_RERUN_REPEATS:
            raise ConfigError(
                f"a critical case must be rerun at least {LEAST_RERUN_REPEATS} times, not {self.rerun_repeats!r}"
            )
        if self.claim not in CLAIMS:
            raise ConfigError(f"the claim must be one of {', '.join(CLAIMS)}, not {self.claim!r}")
        if self.passes not in PASS_RULES:
            raise ConfigError(f"the pass rule must be one of {', '.join(PASS_RULES)}, not {self.passes!r}")


@dataclass(frozen=True, slots=True)
class PairedCase(Record):
    """The valid paired repeats of one case: run i of `before` and run i of `after` shared a seed.

    No pair at all means that the case is missing. Token and pass tuples are as long as the scores, or empty when nobody
    measured them; None is an unknown run. `dropped_pairs` counts repeats of which at least one run gave no score;
    `lost_before` and `lost_after` say in which arm (None: not told, and then judged as if all were lost in one arm).
    """

    case_id: str
    critical: bool
    before: tuple[float, ...]
    after: tuple[float, ...]
    tokens_before: tuple[int | None, ...] = ()
    tokens_after: tuple[int | None, ...] = ()
    passed_before: tuple[bool | None, ...] = ()
    passed_after: tuple[bool | None, ...] = ()
    dropped_pairs: int = 0
    lost_before: int | None = None
    lost_after: int | None = None

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> PairedCase:
        """The inverse of `to_json`. Raises ValueError for runs that do not fit together, TypeError for other fields."""
        fields_: dict[str, Any] = {
            key: tuple(value) if isinstance(value, list) else value for key, value in data.items()
        }
        return cls(**fields_)

    def __post_init__(self) -> None:
        if len(self.before) != len(self.after):
            raise ValueError(f"{self.case_id}: {len(self.before)} runs before but {len(self.after)} after")
        for name in ("tokens_before", "tokens_after", "passed_before", "passed_after"):
            if len(getattr(self, name)) not in (0, len(self.before)):
                raise ValueError(f"{self.case_id}: {name} does not match the {len(self.before)} scores")
        if any(not 0 <= score <= 1 for score in (*self.before, *self.after)):
            raise ValueError(f"{self.case_id}: a score lies outside [0, 1]")
        if self.dropped_pairs < 0 or any(lost is not None and lost < 0 for lost in (self.lost_before, self.lost_after)):
            raise ValueError(f"{self.case_id}: a count of lost runs is negative")

    @property
    def missing(self) -> bool:
        """Whether no valid pair of repeats is left."""
        return not self.before


@dataclass(frozen=True, slots=True)
class TokenComparison(Record):
    """Tokens of both arms over the cases. Made only when every valid run is measured; otherwise there is none.

    The means and `ratio` (after / before, None when no case used tokens) are geometric over cases, so that one runaway
    run does not decide (spec/statistics.md, Cost); totals are plain sums. `p` is the one-sided chance of so low a
    ratio, `p_worse` of so high a one. A runaway run used over five times its case's median. `per_success` is all tokens
    divided by passed runs, None when none passed or passing is unknown.
    """

    cases: int
    before_mean: float
    after_mean: float
    ratio: float | None
    interval: tuple[float, float] | None
    p: float | None
    p_worse: float | None
    runaway_before: int
    runaway_after: int
    total_before: int
    total_after: int
    per_success_before: float | None
    per_success_after: float | None


@dataclass(frozen=True, slots=True)
class Comparison(Record):
    """Both arms over all cases, as tested (scores rounded to 0.01, repeats averaged inside a case).

    `cases` counts those with a valid pair, `missing` those without. `interval` is the inverted test over subset means
    at `interval_level` (0.90 unless alpha was changed), None with too few cases. `p` and `p_worse` belong to the claim
    "on tasks like these", `p_these` and `p_these_worse` to "on these very tasks"; None without a case. `exact` is False
    when a p was drawn instead of counted. `regressed_upper` bounds the true share of regressed cases (one-sided at
    alpha). `passes` are (passed runs, runs), None if unknown. `reliability` is pass^repeats averaged over cases.
    `unknown_usage` counts cases with an unmeasured run.
    """

    cases: int
    repeats: int
    better: int
    same: int
    worse: int
    mean_before: float | None
    mean_after: float | None
    change: float | None
    interval: tuple[float, float] | None
    interval_level: float
    p: float | None
    p_worse: float | None
    p_these: float | None
    p_these_worse: float | None
    exact: bool
    passes_before: tuple[int, int] | None
    passes_after: tuple[int, int] | None
    reliability_before: float | None
    reliability_after: float | None
    regressed: int
    regressed_upper: float
    tokens: TokenComparison | None
    unknown_usage: int
    missing: int
    missing_pairs: int


@dataclass(frozen=True, slots=True)
class CriticalFinding(Record):
    """What became of one critical case: its first runs and, when it looked lower, its fresh ones.

    `p` is the exact one-sided chance of the fresh runs, after Holm over the flagged cases; only under rule `tested`.
    """

    case_id: str
    rule: CriticalRule
    before: tuple[float, ...]
    after: tuple[float, ...]
    rerun_before: tuple[float, ...] | None
    rerun_after: tuple[float, ...] | None
    verdict: FindingVerdict
    p: float | None = None


@dataclass(frozen=True, slots=True)
class Decision(Record):
    """The verdict, the id of the rule that made it, and the reason as a sentence for a person.

    `settle` is how many more cases, won (for `quality`) or kept (for `no-worse`) and none lost, would settle an
    INCONCLUSIVE; None when that question has no answer.
    """

    verdict: Verdict
    rule: str
    reason: str
    settle: int | None = None


@dataclass(frozen=True, slots=True)
class Confirmation(Record):
    """One decision with the numbers under it and every critical case."""

    decision: Decision
    comparison: Comparison
    criticals: tuple[CriticalFinding, ...]


@dataclass(frozen=True, slots=True)
class ReplayPair(Record):
    """One sequential task of one root seed in the groups `evolution` and `optimized`.

    A score of None did not run. Tokens are end-to-end (agent and reviewer), None when unmeasured.
    """

    root_seed: int
    case_id: str
    family: str
    evolution: float | None
    optimized: float | None
    tokens_evolution: int | None = None
    tokens_optimized: int | None = None

    def __post_init__(self) -> None:
        for score in (self.evolution, self.optimized):
            if score is not None and (not 0 <= score <= 1):
                raise ValueError(f"{self.case_id}: a replay score lies outside [0, 1]")


@dataclass(frozen=True, slots=True)
class ReplayEvidence(Record):
    """All pairs of a replay. Only families whose skill changed decide; the others are background variation.

    `changed` None means that every family counts. `planned` is the number of pairs that were to run, so that a pair
    nobody reported is noticed; None means that the pairs given are the whole plan.
    """

    pairs: tuple[ReplayPair, ...]
    changed: tuple[str, ...] | None = None
    planned: int | None = None

    @property
    def judged(self) -> tuple[ReplayPair, ...]:
        """The pairs that decide."""
        return tuple(pair for pair in self.pairs if self.changed is None or pair.family in self.changed)

    @property
    def background(self) -> tuple[ReplayPair, ...]:
        """The pairs of families whose skill did not change."""
        return tuple(pair for pair in self.pairs if self.changed is not None and pair.family not in self.changed)


@dataclass(frozen=True, slots=True)
class ReplayComparison(Record):
    """Groups `evolution` and `optimized` side by side. Token totals are None as soon as one run is unmeasured.

    `seeds` holds (root seed, mean change) of each root seed; `p_worse` is the mirror test over (root seed, task).
    """

    pairs: int
    better: int
    same: int
    worse: int
    missing: int
    mean_evolution: float | None
    mean_optimized: float | None
    change: float | None
    p_worse: float | None
    seeds: tuple[tuple[int, float], ...]
    tokens_evolution: int | None
    tokens_optimized: int | None

    @property
    def token_ratio(self) -> float | None:
        """Total tokens of `optimized` over those of `evolution`; None when unknown or when nothing was used."""
        if self.tokens_evolution is None or self.tokens_optimized is None or self.tokens_evolution == 0:
            return None
        return self.tokens_optimized / self.tokens_evolution

"""Frozen confirmation: the seed skill and one candidate, paired, on Validation (shown) and Holdout (decides)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from ..core.draws import draw_bits, seed_of
from ..core.errors import ConfigError
from ..core.records import Case, Evaluation, Outcome, RolloutRequest, Split
from ..core.skill import Skill
from ..core.verdict import (
    Comparison,
    Confirmation,
    PairedCase,
    Rules,
    compare,
    confirm,
    flagged_criticals,
    reference_rule,
)
from .dataset import Dataset
from .progress import Progress
from .recorder import Recorder
from .settings import RERUN_REPEATS, Settings


@dataclass(frozen=True, slots=True)
class Confirmed:
    """What the confirmation found. `left_out` holds the ids of cases skipped in both arms."""

    holdout: Confirmation
    validation: Comparison | None
    pairs: tuple[PairedCase, ...]
    left_out: tuple[str, ...]
    #: Objective -> its mean over all valid holdout runs before and after; reported only, they decide nothing.
    objectives: Mapping[str, tuple[float, float]]


@dataclass(frozen=True, slots=True)
class Measured:
    """The paired runs of both arms, before anything is decided. `reruns` holds fresh runs of flagged critical cases."""

    holdout: tuple[PairedCase, ...]
    validation: tuple[PairedCase, ...]
    reruns: Mapping[str, PairedCase]
    left_out: tuple[str, ...]
    objectives: Mapping[str, tuple[float, float]]

    def confirmed(self, decided: Confirmation, rules: Rules) -> Confirmed:
        """The runs together with what was decided on them."""
        return Confirmed(
            holdout=decided,
            validation=compare(self.validation, rules) if self.validation else None,
            pairs=(*self.validation, *self.holdout),
            left_out=self.left_out,
            objectives=self.objectives,
        )


def run_confirmation(
    dataset: Dataset, before: Skill, after: Skill, settings: Settings, recorder: Recorder, progress: Progress
) -> Confirmed:
    """Run both arms on both splits, rerun flagged critical cases afresh, and decide by the declared rules."""
    measured = measure(dataset, ("validation", "holdout"), before, after, settings, recorder, progress)
    return measured.confirmed(confirm(measured.holdout, measured.reruns, settings.rules), settings.rules)


def measure(
    dataset: Dataset,
    splits: Sequence[Split],
    before: Skill,
    after: Skill,
    settings: Settings,
    recorder: Recorder,
    progress: Progress,
    *,
    apart: bool = False,
) -> Measured:
    """Run both arms on the cases of these splits, and flagged critical cases of the holdout again."""
    arms = Arms(before, after, settings.seed, recorder, progress, apart=apart)
    cases = [case for case in dataset.cases if case.split in splits]
    progress.stage("confirmation", total=2 * len(cases) * settings.repeats)
    pairs = {pair.case_id: pair for pair in arms.compare("confirm", cases, settings.repeats)}
    of = {split: tuple(pairs[case] for case in dataset.ids(split) if case in pairs) for split in splits}
    holdout = of.get("holdout", ())
    flagged = flagged_criticals(holdout, settings.rules)
    reruns: dict[str, PairedCase] = {}
    if flagged:
        progress.stage("critical runs", total=2 * len(flagged) * RERUN_REPEATS)
        for case_id in flagged:
            progress.critical(case_id, repeats=RERUN_REPEATS)
        fresh = arms.compare("rerun", [dataset.by_id[case_id] for case_id in flagged], RERUN_REPEATS)
        reruns = {pair.case_id: pair for pair in fresh}
    return Measured(
        holdout=holdout,
        validation=of.get("validation", ()),
        reruns=reruns,
        left_out=tuple(arms.left_out),
        objectives=arms.objectives("holdout"),
    )


def reference_note(confirmed: Confirmed, dataset: Dataset) -> list[str]:
    """A sentence when the reference would have promoted what is not shown to be better; nothing otherwise."""
    holdout = set(dataset.ids("holdout"))
    told = reference_rule([pair for pair in confirmed.pairs if pair.case_id in holdout and not pair.missing])
    if not told.eligible:
        return []
    return [
        f"by the reference's rule it would pass ({told.reason}), as would every second candidate that is no better: "
        "that rule looks at the mean and at nothing else"
    ]


class Arms:
    """Runs the same cases with the same seeds on two skill versions, in an order drawn per pair.

    `apart` gives each arm seeds of its own: the two arms of an A/A must be able to differ.
    """

    def __init__(
        self, before: Skill, after: Skill, seed: int, recorder: Recorder, progress: Progress, *, apart: bool = False
    ) -> None:
        self._apart = apart
        self._skills = {"before": before, "after": after}
        self._seed = seed
        self._recorder = recorder
        self._progress = progress
        self.left_out: list[str] = []
        self._objectives: dict[tuple[Split, str], tuple[list[float], list[float]]] = {}

    def objectives(self, split: Split) -> dict[str, tuple[float, float]]:
        """Means before and after of every objective that each valid run of the split reported."""
        runs = max((len(before) for (of, _), (before, _) in self._objectives.items() if of == split), default=0)
        return {
            name: (sum(before) / runs, sum(after) / runs)
            for (of, name), (before, after) in sorted(self._objectives.items())
            if of == split and len(before) == len(after) == runs
        }

    def compare(self, phase: str, cases: Sequence[Case], repeats: int) -> list[PairedCase]:
        """One PairedCase per case, without those that skip in both arms."""
        plan = [
            (arm, self._request(phase, index, case, arm, repeat))
            for index, case in enumerate(cases)
            for repeat in range(repeats)
            for arm in self._order(phase, case, repeat)
        ]
        done = 0

        def count(outcome: Outcome) -> None:
            nonlocal done
            done += 1
            self._progress.rollouts(done, tokens=self._recorder.tokens)

        outcomes = self._recorder.run([(request, self._skills[arm]) for arm, request in plan], count)
        by_arm: dict[tuple[str, str], list[tuple[int, Outcome]]] = {}
        for (arm, request), outcome in zip(plan, outcomes, strict=True):
            by_arm.setdefault((request.case_id, arm), []).append((request.repeat, outcome))
        pairs = [self._pair(case, by_arm[case.id, "before"], by_arm[case.id, "after"]) for case in cases]
        return [pair for pair in pairs if pair is not None]

    def _request(self, phase: str, index: int, case: Case, arm: str, repeat: int) -> RolloutRequest:
        seed = seed_of(self._seed, phase, *([arm] if self._apart else []), case.id, repeat)
        return RolloutRequest(
            f"{phase}/{case.split}{index:04d}/{arm}/r{repeat}", case.id, self._skills[arm].digest, seed, repeat, phase
        )

    def _order(self, phase: str, case: Case, repeat: int) -> tuple[str, str]:
        first = draw_bits(self._seed, phase, "order", case.id, repeat) & 1
        return ("after", "before") if first else ("before", "after")

    def _pair(
        self, case: Case, before: Sequence[tuple[int, Outcome]], after: Sequence[tuple[int, Outcome]]
    ) -> PairedCase | None:
        runs = list(
            zip((o for _, o in sorted(before, key=_repeat)), (o for _, o in sorted(after, key=_repeat)), strict=True)
        )
        skipped = [{outcome.status == "skipped" for outcome in run} for run in runs]
        if any(True in states for states in skipped):
            if any(False in states for states in skipped):
                raise ConfigError(
                    f"{case.id}: skipped in some runs and not in others; a skip must not depend on skill or seed"
                )
            self.left_out.append(case.id)
            return None
        valid = [(b, a) for b, a in runs if b.evaluation is not None and a.evaluation is not None]
        befores = [b.evaluation for b, _ in valid if b.evaluation is not None]
        afters = [a.evaluation for _, a in valid if a.evaluation is not None]
        for arm, evaluations in enumerate((befores, afters)):
            for evaluation in evaluations:
                for name, value in evaluation.objectives.items():
                    self._objectives.setdefault((case.split, name), ([], []))[arm].append(value)
        return PairedCase(
            case_id=case.id,
            critical=case.critical,
            before=tuple(e.score for e in befores),
            after=tuple(e.score for e in afters),
            tokens_before=tuple(agent_tokens(e) for e in befores),
            tokens_after=tuple(agent_tokens(e) for e in afters),
            passed_before=tuple(e.passed for e in befores),
            passed_after=tuple(e.passed for e in afters),
            dropped_pairs=len(runs) - len(valid),
            lost_before=sum(b.evaluation is None for b, _ in runs),
            lost_after=sum(a.evaluation is None for _, a in runs),
        )


def agent_tokens(evaluation: Evaluation) -> int | None:
    """Tokens that the agent used in one run, None when nobody measured them."""
    usage = evaluation.usage.get("agent")
    return None if usage is None else usage.tokens


def _repeat(run: tuple[int, Outcome]) -> int:
    return run[0]

"""The transfer check: does a gain hold on the holdout with a second model in the agent's place? Shown only.

A skill that helps one model may say what another knows better. Both versions run with the same cases and seeds as in
the confirmation; the second model is chosen by the phase of the rollout (chatmodels.model_for).
"""

from __future__ import annotations

from ..core.skill import Skill
from ..core.verdict import Comparison, compare
from .confirmation import Arms
from .dataset import Dataset
from .progress import Progress
from .recorder import Recorder
from .settings import Settings


def run_transfer(
    dataset: Dataset, before: Skill, after: Skill, settings: Settings, recorder: Recorder, progress: Progress
) -> Comparison:
    """Both versions on the holdout with the second model. Raises CapReached."""
    cases = [case for case in dataset.cases if case.split == "holdout"]
    progress.stage("transfer", total=2 * len(cases) * settings.repeats)
    arms = Arms(before, after, settings.seed, recorder, progress)
    return compare(arms.compare("transfer", cases, settings.repeats), settings.rules)


def transfer_sentence(found: Comparison, model: str) -> str:
    """What the check shows, for a person."""
    if found.mean_before is None or found.mean_after is None or found.change is None:
        return f"transfer check with {model}: no holdout case has a valid pair of runs"
    split = f"better on {found.better} of {found.cases} holdout cases, same on {found.same}, worse on {found.worse}"
    missing = f", {found.missing_pairs} pairs of runs missing" if found.missing_pairs else ""
    return (
        f"transfer check with {model}, shown only: quality {found.mean_before:.2f} -> {found.mean_after:.2f} "
        f"({found.change:+.2f}), {split}{missing}"
    )

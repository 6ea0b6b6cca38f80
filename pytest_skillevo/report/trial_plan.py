"""The plan of a gate or an A/A as a screen: which skills, how many rollouts, what they can show and cost."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Final

from . import figures
from .text import no_command, one_line, visible, wrap

if TYPE_CHECKING:
    from ..stages.trial_plan import PlannedTrial

WIDTH: Final = 79
_LABEL: Final = 12


def trial_plan_lines(plans: Sequence[PlannedTrial], notes: Sequence[str] = ()) -> list[str]:
    """A block for each skill; the last line says that nothing was run. `notes` are sentences about the whole."""
    lines: list[str] = []
    for plan in plans:
        lines += _block(plan, len(plans))
    if len(plans) > 1:
        most = sum(plan.rollouts + plan.reruns for plan in plans)
        lines += _row("together", f"at most {figures.some(most, 'rollout')}")
    for note in notes:
        lines += wrap(one_line(note, 400), WIDTH, first="  ")
    return [no_command(line) for line in [*lines, "nothing was run"]]


def _block(plan: PlannedTrial, together: int) -> list[str]:
    model = "simulated model" if plan.simulated else f"model {one_line(plan.model, 32)}"
    about = ", ".join([visible(plan.kind), model] if plan.kind else [model])
    lines = [f"{one_line(plan.name, 40)} ({about})"]
    cases = f"{figures.some(plan.cases, 'holdout case')} ({plan.critical:,} critical)"
    reruns = f", and at most {figures.some(plan.reruns, 'critical rerun')}" if plan.reruns else ""
    lines += _row("rollouts", f"{cases} x {figures.some(plan.repeats, 'run')} x 2 versions = {plan.rollouts:,}{reruns}")
    lines += _row("power", plan.power(together))
    lines += _row("cost", _cost(plan))
    return lines


def _cost(plan: PlannedTrial) -> str:
    if plan.usd is None:
        return f"{figures.UNKNOWN}: no earlier run with this model tells what a rollout costs"
    return f"at most {figures.money(plan.usd)}" + ("" if plan.simulated else ", as rollouts cost earlier")


def _row(label: str, text: str) -> list[str]:
    return wrap(text, WIDTH, first="  " + label.ljust(_LABEL))

"""`--evolve-plan`: what a run would do, cost and be able to show, before anything is spent."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TypedDict

from ..core.verdict.words import points
from . import figures
from .text import no_command, one_line, visible, wrap

WIDTH = 80
_LABEL = 12


class Budget(TypedDict):
    """Rollouts: what may be used, and what the parts need."""

    rollouts: int
    #: Proposals that the budget buys at least.
    proposals: int
    #: Validation rollouts of the seed skill.
    seed: int
    #: Rollouts of one proposal in the worst case.
    per_proposal: int
    #: Validation and holdout cases of the confirmation; 0 when that stage is left out.
    confirmation_cases: int
    repeats: int
    critical_reruns: int
    replay: int
    transfer: int


class Cost(TypedDict):
    """What the run would cost with one model, in US dollars as decimal text; None is unknown."""

    model: str
    low: str | None
    high: str | None


class Power(TypedDict):
    """What the holdout can show (core.verdict.PowerNote). Gains are differences of scores."""

    cases: int
    repeats: int
    #: The least gain that is found in 8 of 10 runs; None when no result could be proof.
    detectable: float | None
    #: A gain that people ask for, and how many cases it needs.
    gain: float
    cases_needed: int


class Plan(TypedDict):
    """The figures of a plan."""

    skill: str
    model: str
    simulated: bool
    counts: Mapping[str, int]
    critical: int
    fingerprint: str
    budget: Budget
    #: For the chosen model first; further lines for models whose price is known.
    costs: list[Cost]
    #: None without a confirmation.
    power: Power | None
    warnings: list[str]


def plan_lines(plan: Plan) -> list[str]:
    """The plan as plain lines of at most 80 columns; the last line says that nothing was run."""
    model = "simulated model" if plan["simulated"] else f"model {one_line(plan['model'], 24)}"
    lines = [f"plan for skill {one_line(plan['skill'], 32)} ({model})"]
    counts = ", ".join(f"{number:,} {split}" for split, number in plan["counts"].items())
    fingerprint = visible(plan["fingerprint"][:12])
    lines += _row("dataset", f"{counts} ({plan['critical']:,} critical); fingerprint {fingerprint}")
    lines += _row("budget", _budget(plan["budget"]))
    lines += _row("cost", "; ".join(_cost(cost) for cost in plan["costs"]) or figures.UNKNOWN)
    lines += _row("power", _power(plan["power"]))
    for index, warning in enumerate(plan["warnings"]):
        lines += _row("warnings" if index == 0 else "", one_line(warning, 400))
    return [no_command(line) for line in [*lines, "nothing was run"]]


def _row(label: str, text: str) -> list[str]:
    return wrap(text, WIDTH - 1, first="  " + label.ljust(_LABEL))


def _budget(budget: Budget) -> str:
    parts = [f"{budget['seed']:,} seed", f"{budget['proposals']:,} x {budget['per_proposal']:,} worst case"]
    if budget["confirmation_cases"]:
        parts.append(f"2 x {budget['confirmation_cases']:,} x {budget['repeats']:,} confirmation")
    if budget["critical_reruns"]:
        parts.append(f"{budget['critical_reruns']:,} critical reruns")
    if budget["replay"]:
        parts.append(f"{budget['replay']:,} replay")
    if budget["transfer"]:
        parts.append(f"{budget['transfer']:,} transfer check")
    bought = figures.some(budget["proposals"], "proposal")
    return f"{figures.some(budget['rollouts'], 'rollout')} buy at least {bought} ({' + '.join(parts)})"


def _cost(cost: Cost) -> str:
    model, low, high = one_line(cost["model"], 40), cost["low"], cost["high"]
    if low is None and high is None:
        return f"{figures.UNKNOWN} with {model}"
    if low == high:
        return f"{figures.money(low)} with {model}"
    least = figures.money(low).removesuffix(" USD")
    return f"{least} to {figures.money(high)} with {model} at today's price table"


def _power(power: Power | None) -> str:
    if power is None:
        return "no confirmation planned: nothing can be shown, only found"
    cases = f"{figures.some(power['cases'], 'holdout case')} x {figures.some(power['repeats'], 'repeat')}"
    if power["detectable"] is None:
        shown = f"{cases} can show no gain, whatever the results"
    else:
        shown = f"{cases} can show a gain of {points(round(power['detectable'], 2))} or more"
    asked = points(power["gain"]).removesuffix("s").replace(" ", "-")
    return f"{shown}; a {asked} gain needs about {figures.some(power['cases_needed'], 'case')}"

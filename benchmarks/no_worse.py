"""How often the goal `no-worse` passes a harmless change, and how often one that loses as much as the margin.

    python benchmarks/no_worse.py [EXPERIMENTS] > reports/no-worse.md

Every experiment draws the differences of its cases; the decision is the gate's own. A false acceptance is an ACCEPT at
a true mean loss of exactly the margin: the worst that may still be called worse.
"""

from __future__ import annotations

import random
import sys
from collections.abc import Callable, Iterator
from statistics import fmean

from pytest_skillevo.core import stats
from pytest_skillevo.core.verdict import Goal, PairedCase, Rules, Verdict, confirm

MARGIN = 0.10
RULES = Rules(goal=Goal.no_worse, margin=MARGIN, repeats=1)
SIZES = (30, 40, 60)

#: Draws the difference of one case, in score units.
Draw = Callable[[random.Random], float]


def change(mean: float, noise: float, lost: float = 0.0, size: float = 1.0) -> Draw:
    """Noise around a mean; the share `lost` of the cases loses `size` instead."""

    def draw(rng: random.Random) -> float:
        return -size if rng.random() < lost else rng.gauss(mean, noise)

    return draw


def flips(lost: float, won: float) -> Draw:
    """Passes and fails: these shares of the cases pass before only and after only."""

    def draw(rng: random.Random) -> float:
        at = rng.random()
        return -1.0 if at < lost else float(at < lost + won)

    return draw


def harmless() -> Iterator[tuple[str, Draw]]:
    """Changes that lose nothing on average."""
    for noise in (0.0, 0.05, 0.10, 0.20):
        yield f"nothing changed, noise {noise:.2f}", change(0.0, noise)
    yield "6 cases of 10 exactly the same, noise 0.10 on the others", change(0.0, 0.1, lost=0.6, size=0.0)
    yield "a gain of 2 points, noise 0.10", change(0.02, 0.1)
    for each in (0.02, 0.05, 0.09):
        yield f"pass/fail, {100 * each:.0f} % of the cases lost and as many won", flips(each, each)


def harmful() -> Iterator[tuple[str, Draw]]:
    """Changes that lose exactly the margin on average."""
    for noise in (0.05, 0.10, 0.20):
        yield f"every case loses 10 points, noise {noise:.2f}", change(-MARGIN, noise)
    for won in (0.02, 0.05, 0.12):
        lost = won + MARGIN
        yield f"pass/fail, {100 * lost:.0f} % of the cases lost and {100 * won:.0f} % won", flips(lost, won)
    for size in (1.0, 0.6, 0.5, 0.3):
        for noise in (0.0, 0.10, 0.20):
            name = f"1 case in {size / MARGIN:.0f} loses {100 * size:.0f} points, noise {noise:.2f}"
            yield name, change(0.0, noise, MARGIN / size, size)
    for lost in (0.02, 0.05, 0.075):
        rest = (MARGIN - lost) / (1 - lost)
        for noise in (0.0, 0.10, 0.20):
            yield (
                f"{100 * lost:.3g} % lose all, the rest {100 * rest:.1f} points, noise {noise:.2f}",
                change(-rest, noise, lost),
            )


def accepted(draw: Draw, cases: int, experiments: int, name: str) -> float:
    """The share of experiments that end in ACCEPT."""
    verdicts = []
    for number in range(experiments):
        rng = random.Random(f"{name}/{cases}/{number}")
        pairs = [_pair(index, draw(rng)) for index in range(cases)]
        verdicts.append(confirm(pairs, {}, RULES).decision.verdict is Verdict.ACCEPT)
    return fmean(verdicts)


def _pair(index: int, difference: float) -> PairedCase:
    change = max(-1.0, min(1.0, round(difference, 2)))
    before, after = (1.0, 1.0 + change) if change < 0 else (1.0 - change, 1.0)
    return PairedCase(f"case-{index}", False, (before,), (after,))


def main() -> None:
    experiments = int(sys.argv[1]) if len(sys.argv) > 1 else 400
    # The interval that is printed beside a decision decides nothing, and it is most of the work.
    stats.subset_mean_interval = lambda differences, alpha=None: None
    print(f"# The goal `no-worse` (margin {MARGIN:.2f}, alpha {RULES.alpha:g} one-sided)\n")
    print(f"`python benchmarks/no_worse.py {experiments}`: {experiments:,} experiments per cell on drawn scores,")
    print("graded in hundredths. Share that ends in ACCEPT, by the number of holdout cases.\n")
    for title, kind in (("Power: a harmless change", harmless), ("False acceptance: a loss of the margin", harmful)):
        print(f"## {title}\n\n| true change | {' | '.join(f'{n} cases' for n in SIZES)} |")
        print("|---|" + "---:|" * len(SIZES))
        worst = 0.0
        for name, draw in kind():
            shares = [accepted(draw, n, experiments, name) for n in SIZES]
            worst = max(worst, *shares)
            print(f"| {name} | {' | '.join(f'{100 * share:.1f} %' for share in shares)} |")
        if kind is harmful:
            print(f"\nHighest: {100 * worst:.1f} % (nominal {100 * RULES.alpha:g} %).")
        print()


if __name__ == "__main__":
    main()

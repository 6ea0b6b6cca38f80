"""How much of a difference is noise: what a skill shows against itself (spec/statistics.md 5.2, A/A calibration)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from statistics import stdev

from .. import stats
from .compare import figures
from .records import PairedCase, Record, Rules, Verdict


@dataclass(frozen=True, slots=True)
class Noise(Record):
    """One skill in both arms, with different seeds. Unknown is None.

    `changed` counts cases whose result differs between the arms, with Wilson's 95 % interval for the rate; `sd` is the
    standard deviation of a case's difference, `token_log_sd` that of the logarithm of its token ratio. `verdict` is
    what the declared goal would have said of this change that is none.
    """

    cases: int
    repeats: int
    changed: int
    low: float
    high: float
    sd: float | None
    token_log_sd: float | None
    verdict: Verdict

    @property
    def sentence(self) -> str:
        """`Same skill against itself on these cases: 1 of 8 changed its result (true rate 2 % to 47 %).`"""
        return (
            f"Same skill against itself on these cases: {self.changed} of {self.cases} changed the result "
            f"(true rate {100 * self.low:.0f} % to {100 * self.high:.0f} %)"
        )


def noise_of(pairs: Sequence[PairedCase], rules: Rules, verdict: Verdict) -> Noise:
    """The noise that paired runs of one and the same skill show."""
    numbers = figures(pairs, rules)
    differences = [float(difference) for difference in numbers.differences]
    changed = sum(difference != 0 for difference in differences)
    low, high = stats.wilson(changed, len(differences))
    logs = None if numbers.ratio is None else [float(log) for log in numbers.ratio.logs]
    return Noise(
        cases=len(differences),
        repeats=rules.repeats,
        changed=changed,
        low=low,
        high=high,
        sd=_spread(differences),
        token_log_sd=None if logs is None else _spread(logs),
        verdict=verdict,
    )


def _spread(values: Sequence[float]) -> float | None:
    return stdev(values) if len(values) > 1 else None

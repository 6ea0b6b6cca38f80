"""Figures as people read them. An unknown figure is the word "unknown", never 0."""

from __future__ import annotations

import math
from collections.abc import Sequence
from decimal import ROUND_HALF_UP, Decimal

UNKNOWN = "unknown"


def score(value: float | None) -> str:
    """A score or a mean of scores with two decimals: 0.79."""
    return UNKNOWN if value is None else _fixed(value, 2)


def change(value: float | None) -> str:
    """A difference of scores with its sign, +0.12; a small one gets the digits that tell it from nothing: -0.004."""
    if value is None:
        return UNKNOWN
    text = _beside(value, 0.0)
    return f"+{text}" if float(text) > 0 else text


def ratio(value: float | None) -> str:
    """A ratio of costs, x0.86; one near 1 gets the digits that tell it from 1: x0.998."""
    return UNKNOWN if value is None else f"x{_beside(value, 1.0)}"


def count(value: float | None) -> str:
    """A whole number, or a mean of whole numbers, with separators: 48,100."""
    return UNKNOWN if value is None else f"{Decimal(str(value)).quantize(Decimal(1), ROUND_HALF_UP):,}"


def compact(value: float | None) -> str:
    """A count in few characters: 9,876, 123k, 1.2M."""
    if value is None:
        return UNKNOWN
    if value >= 999_500:
        return f"{_fixed(value / 1e6, 1)}M"
    return f"{_fixed(value / 1e3, 0)}k" if value >= 10_000 else count(value)


def some(number: int, one: str, many: str | None = None) -> str:
    """A number with its noun in the right form: 1 case, 2 cases."""
    return f"{number:,} {one if number == 1 else many or one + 's'}"


def interval(bounds: Sequence[float] | None, form: str = "change") -> str:
    """An interval of changes, [+0.07, +0.17], or of ratios (form "plain"), [0.80, 0.93]."""
    if bounds is None:
        return UNKNOWN
    low, high = (change(bound) if form == "change" else _beside(bound, 1.0) for bound in bounds)
    return f"[{low}, {high}]"


def upper_percent(share: float | None) -> str:
    """An upper bound as a whole percentage, rounded up so that it stays a bound: 10 %."""
    return UNKNOWN if share is None else f"{math.ceil(round(share * 100, 6))} %"


def money(usd: Decimal | str | None) -> str:
    """US dollars with cents: 3.10 USD; below a cent two significant digits."""
    if usd is None:
        return UNKNOWN
    amount = Decimal(usd)
    if amount == 0:
        return "0 USD"
    if abs(amount) < Decimal("0.01"):
        return f"{Decimal(f'{amount:.2g}'):f} USD"
    return f"{amount.quantize(Decimal('0.01'), ROUND_HALF_UP):,} USD"


def duration(seconds: float) -> str:
    """Time as minutes and seconds, or hours: 0:40, 1:02:03."""
    whole = max(0, round(seconds))
    hours, rest = divmod(whole, 3600)
    minutes, secs = divmod(rest, 60)
    return f"{hours}:{minutes:02}:{secs:02}" if hours else f"{minutes}:{secs:02}"


def _beside(value: float, mark: float) -> str:
    """Two decimals, or up to five when fewer would put the value onto a mark that it is not on.

    So a bound that excludes "no change" is never printed as if it touched it.
    """
    for digits in range(2, 6):
        text = _fixed(value, digits)
        if float(text) != mark:
            return text
    return _fixed(mark, 2)


def _fixed(value: float, digits: int) -> str:
    # Half up on the decimal digits that a reader sees, so that 0.125 shows as 0.13 and a tie never depends on binary.
    text = str(Decimal(repr(float(value))).quantize(Decimal(1).scaleb(-digits), ROUND_HALF_UP))
    return text[1:] if text.startswith("-") and float(text) == 0 else text

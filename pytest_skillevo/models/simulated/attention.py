"""Attention is finite: long and contradictory skills are followed less reliably."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from .practices import Practice, Stance

VERSION: Final = "simulated/1"

#: Characters of loaded skill text that cost nothing.
FREE_LENGTH: Final = 2_500
#: Added lapse probability for every further 1,000 characters, and its ceiling.
PER_THOUSAND: Final = 0.04
LENGTH_CEILING: Final = 0.40
#: Added lapse probability for every practice that the text both states and contradicts, and the ceiling.
PER_CONTRADICTION: Final = 0.03
CONTRADICTION_CEILING: Final = 0.15

#: Lapse probability when the text asks for the lapse, and when it says both.
OBEYS_CONTRARY: Final = 0.9
TORN: Final = 0.5


def distraction(texts: Sequence[str], contradictions: int) -> float:
    """What is added to p1 of every stated practice, from the loaded texts' length and the contradictions in them."""
    beyond = max(0, sum(map(len, texts)) - FREE_LENGTH)
    length = min(LENGTH_CEILING, PER_THOUSAND * beyond / 1000)
    return length + min(CONTRADICTION_CEILING, PER_CONTRADICTION * contradictions)


def lapse_probability(practice: Practice, held: Stance, extra: float, *, documented: bool) -> float:
    """The chance of a lapse. `documented`: the agent has read the reference, which halves what it does not know."""
    if held is Stance.CONTRARY:
        return OBEYS_CONTRARY
    if held is Stance.TORN:
        return TORN
    if held is Stance.STATED:
        return min(practice.p1 + extra, practice.p0)
    return practice.p0 * (0.5 if documented and practice.documented else 1.0)

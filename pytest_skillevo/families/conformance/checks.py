"""The rules that a family keeps, by name; each check raises CheckFailed with what to do."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Final, TypeAlias

from ..spec import FamilySpec
from . import behaving, playing, scoring, secrecy, worlds
from .common import CheckFailed

__all__ = ["CHECKS", "Check", "CheckFailed"]

Check: TypeAlias = Callable[[FamilySpec], None]
"""A rule: raises CheckFailed when the family does not keep it."""

CHECKS: Final[Mapping[str, Check]] = {
    "the oracle scores 1": scoring.check_oracle,
    "the oracle scores 1 in every payload and without faults": scoring.check_oracle_twins,
    "doing nothing scores 0": scoring.check_nop,
    "adversaries stay under their caps": scoring.check_adversaries,
    "right values never lower the score": scoring.check_monotone,
    "broken output never crashes": scoring.check_malformed,
    "nothing of the truth is visible": secrecy.check_no_leak,
    "all that is checked is documented": secrecy.check_documented,
    "no path and no secret is visible": secrecy.check_no_machine,
    "the same bytes everywhere": worlds.check_deterministic,
    "splits share no entity": worlds.check_disjoint,
    "there are enough cases": worlds.check_sizes,
    "levels rise": worlds.check_levels,
    "planned faults are met": worlds.check_faults,
    "tools refuse bad calls": worlds.check_tools,
    "the behaviour fits the family": behaving.check_behaviour,
    "the behaviour solves its tasks": playing.check_play,
    "each practice mends a weakness": playing.check_practices,
}

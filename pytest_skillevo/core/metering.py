"""Amounts that are known only afterwards, tokens and money, kept below a cap all the same.

What is not answered yet counts with the dearest of its kind seen so far, or with the most that one can use, where
somebody has said it; then the cap is never exceeded, however many are in flight. Where nobody has, only a few are in
flight, so that one that is dearer than all before can do little harm. Kinds are rollouts and calls: those of
the experiment itself to a model (reflection, review). The search meters itself with what must follow it kept back
(core/gepa/budget.py); the stages after it go through a Ledger.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from decimal import Decimal
from typing import Final, Literal, TypeAlias

from .errors import CapReached
from .records import Outcome, Usage

Kind: TypeAlias = Literal["rollout", "call"]
Amount: TypeAlias = Decimal | int


def usage_of(outcome: Outcome) -> Usage | None:
    """What a rollout used in all roles; None for one that ended without an evaluation and so without any record."""
    if outcome.evaluation is None:
        return None
    usage = outcome.evaluation.usage
    # No record at all is unknown, not zero.
    return Usage.total(usage.values()) if usage else Usage()


#: Sent out together at most where nobody has said what one of them can use. The number of workers plays no part: where
#: a cap stops a run must not depend on it.
UNSURE: Final = 8


class Meter:
    """One amount with its cap, None being no cap; `rollout` and `call` are the most that one can use, if known."""

    def __init__(
        self, cap: Amount | None, unit: str, rollout: Amount | None = None, call: Amount | None = None
    ) -> None:
        self._cap = None if cap is None else Decimal(cap)
        self._unit = unit
        self._spent = Decimal(0)
        self._held = {"rollout": 0, "call": 0}
        self._said = {"rollout": rollout is not None, "call": call is not None}
        self._most = {"rollout": Decimal(rollout or 0), "call": Decimal(call or 0)}
        self._blind = False

    def hold(self, rollouts: int, calls: int = 0) -> None:
        """Reserve what so many may use, or, negative, give the reservation back."""
        self._held["rollout"] += rollouts
        self._held["call"] += calls

    def add(self, kind: Kind, amount: Amount | None) -> None:
        """Count what one used; None is unknown."""
        if amount is None:
            self._blind = True
            return
        self._spent += amount
        self._most[kind] = max(self._most[kind], Decimal(amount))

    def add_unmeasured(self) -> None:
        """Count a rollout that ended without a record of its cost as the dearest so far."""
        self._spent += self._most["rollout"]

    def refusal(self, rollouts: int, calls: int, later: tuple[int, int] = (0, 0)) -> str | None:
        """Why so many may not start beside those in flight, so many rollouts and calls following; None: they may."""
        if self._cap is None:
            return None
        if self._blind:
            # A cap that cannot be watched would never fire.
            return f"the {self._unit} of a call are unknown, so the cap cannot be kept"
        need = self._worst(rollouts + self._held["rollout"], calls + self._held["call"])
        after = self._worst(*later)
        if self._spent < self._cap and self._spent + need + after <= self._cap:
            return None
        follows = f", what follows the search {after}" if after else ""
        return f"{self._spent} of {self._cap} {self._unit} are used and what comes next may need {need}{follows}"

    @property
    def share(self) -> float:
        """The share of the cap that is used; 0 without a cap."""
        return float(self._spent / self._cap) if self._cap else 0.0

    def room(self, kind: Kind, wanted: int) -> int:
        """How many of `wanted` may be in flight at once, nothing else being in flight.

        One where nobody knows yet what one of the kind uses; the others then know.
        """
        if self._cap is None:
            return wanted
        if self._blind or self._spent >= self._cap:
            return 0
        most, wanted = self._most[kind], wanted if self._said[kind] else min(wanted, UNSURE)
        return min(wanted, int((self._cap - self._spent) / most)) if most else min(wanted, 1)

    def _worst(self, rollouts: int, calls: int) -> Decimal:
        return rollouts * self._most["rollout"] + calls * self._most["call"]


@dataclass(frozen=True, slots=True)
class Caps:
    """Caps of an experiment and the most that one rollout and one call can use; None is no cap, or unknown."""

    max_tokens: int | None = None
    max_usd: Decimal | None = None
    rollout_tokens: int | None = None
    rollout_usd: Decimal | None = None
    call_tokens: int | None = None
    call_usd: Decimal | None = None


#: No caps at all.
UNCAPPED: Final = Caps()


class Ledger:
    """Counts every rollout and call of an experiment, and says how many more may be sent out at once."""

    def __init__(self, caps: Caps) -> None:
        self._tokens = Meter(caps.max_tokens, "tokens", caps.rollout_tokens, caps.call_tokens)
        self._usd = Meter(caps.max_usd, "USD", caps.rollout_usd, caps.call_usd)

    def portion(self, kind: Kind, wanted: int) -> int:
        """How many of `wanted` (1 or more) may be sent out together. Raises CapReached when not even one may."""
        for reason, meter in (("token_budget", self._tokens), ("usd_budget", self._usd)):
            if not meter.room(kind, wanted):
                rollouts, calls = (1, 0) if kind == "rollout" else (0, 1)
                raise CapReached(reason, meter.refusal(rollouts, calls) or "")
        return min(meter.room(kind, wanted) for meter in (self._tokens, self._usd))

    @property
    def share(self) -> float:
        """The share of the cap that is used up first; 0 without caps."""
        return max(self._tokens.share, self._usd.share)

    def count_rollout(self, outcome: Outcome) -> None:
        """Count a rollout that was answered, whatever came of it."""
        total = usage_of(outcome)
        if total is None:
            self._tokens.add_unmeasured()
            self._usd.add_unmeasured()
        else:
            self._count("rollout", total)

    def count_call(self, usage: Usage) -> None:
        """Count a call that was answered."""
        self._count("call", usage)

    def _count(self, kind: Kind, usage: Usage) -> None:
        self._tokens.add(kind, usage.tokens)
        self._usd.add(kind, usage.usd)


def portions(ledger: Ledger, kind: Kind, count: int) -> Iterator[slice]:
    """Slices of `count` things that may be sent out together; each is to be counted before the next is asked for.

    Raises CapReached when a cap leaves nothing for the next.
    """
    start = 0
    while start < count:
        size = ledger.portion(kind, count - start)
        yield slice(start, start + size)
        start += size

"""Outcomes as small JSON: a long experiment has tens of thousands of them, and most fields say nothing."""

from __future__ import annotations

from collections.abc import Mapping
from decimal import Decimal
from typing import Any, Final

from ..core.records import Evaluation, Outcome, Usage

#: Key and kind of the journal entry that lists the cases: id -> split, key in the exposure ledger, critical or not.
CASES: Final = "cases"


def packed(outcome: Outcome) -> dict[str, Any]:
    """The outcome without its trace and without fields that are empty; usage as a list by role."""
    evaluation = outcome.evaluation
    if evaluation is None:
        return {"status": outcome.status, "reason": outcome.reason}
    data: dict[str, Any] = {"score": evaluation.score}
    if evaluation.passed is not None:
        data["passed"] = evaluation.passed
    if evaluation.feedback:
        data["feedback"] = evaluation.feedback
    if evaluation.objectives:
        data["objectives"] = dict(evaluation.objectives)
    if evaluation.usage:
        data["usage"] = {role: _usage_list(usage) for role, usage in evaluation.usage.items()}
    return data


def unpacked(data: Mapping[str, Any]) -> Outcome:
    """The inverse of `packed`."""
    if "score" not in data:
        return Outcome(data["status"], None, data["reason"])
    usage = {role: _usage(values) for role, values in data.get("usage", {}).items()}
    evaluation = Evaluation(
        data["score"], data.get("passed"), data.get("feedback", ""), data.get("objectives", {}), None, usage
    )
    return Outcome("scored", evaluation)


def _usage_list(usage: Usage) -> list[Any]:
    """Tokens in, out, cached, of reasoning, US dollars, 1: estimated, the provider's dollars; no unknowns last."""
    usd, said = (None if money is None else str(money) for money in (usage.usd, usage.provider_usd))
    values = [usage.input_tokens, usage.output_tokens, usage.cached_tokens, usage.reasoning_tokens, usd]
    if said is not None:
        return [*values, int(usage.estimated), said]
    if usage.estimated:
        return [*values, 1]
    while values and values[-1] is None:
        values.pop()
    return values


def _usage(values: list[Any]) -> Usage:
    new, out, cached, reasoning, usd, estimated, said = [*values, *[None] * 7][:7]
    money = (None if amount is None else Decimal(amount) for amount in (usd, said))
    return Usage(new, out, cached, reasoning, next(money), bool(estimated), next(money))

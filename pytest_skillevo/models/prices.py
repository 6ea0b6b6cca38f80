"""What a model's tokens cost: the project's own table, else the one that the installed LiteLLM brings along.

Both are read from disk, and the rates in use are kept with the run (spec/ecosystem.md 2.5). A price that nobody knows
is None; a bundled price of zero is none either, because tables say 0 for what they do not know.
"""

from __future__ import annotations

import json
import re
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Context, Decimal, InvalidOperation
from functools import lru_cache
from importlib.metadata import PackageNotFoundError, version
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Final

from ..core.errors import ConfigError
from ..core.records import Usage

_MILLION: Final = Decimal(1_000_000)
_BUNDLED: Final = "model_prices_and_context_window_backup.json"
#: Money is computed in a context of its own: a test may change the current one.
_EXACT: Final = Context(prec=50)
_RATES: Final = {
    "input": "input_cost_per_token",
    "output": "output_cost_per_token",
    "cached": "cache_read_input_token_cost",
    "reasoning": "output_cost_per_reasoning_token",
}
_ABOVE: Final = re.compile(r"_above_(\d+)k_tokens$")


@dataclass(frozen=True, slots=True)
class Rates:
    """US dollars per million tokens, for requests of more than `above` input tokens.

    Without a rate of their own, cached tokens cost what input costs and reasoning what output costs.
    """

    input: Decimal
    output: Decimal
    cached: Decimal | None = None
    reasoning: Decimal | None = None
    above: int = 0

    def to_json(self) -> dict[str, Any]:
        """The rates as decimal text."""
        rates = {name: getattr(self, name) for name in _RATES}
        return {"above": self.above} | {name: None if rate is None else _plain(rate) for name, rate in rates.items()}


@dataclass(frozen=True, slots=True)
class Price:
    """The rates of one model, by rising size of the request, and where they come from."""

    rates: tuple[Rates, ...]
    source: str

    def of(self, usage: Usage) -> Decimal | None:
        """US dollars of one call; None when its tokens are not known.

        Cached tokens that nobody counted are paid in full, so that a cap of money errs on the safe side.
        """
        new, out = usage.input_tokens, usage.output_tokens
        if new is None or out is None:
            return None
        rates = [one for one in self.rates if new > one.above or not one.above][-1]
        cached, reasoning = min(usage.cached_tokens or 0, new), min(usage.reasoning_tokens or 0, out)
        parts = (
            (new - cached, rates.input),
            (cached, rates.input if rates.cached is None else rates.cached),
            (out - reasoning, rates.output),
            (reasoning, rates.output if rates.reasoning is None else rates.reasoning),
        )
        total = Decimal(0)
        for tokens, rate in parts:
            total = _EXACT.add(total, _EXACT.multiply(Decimal(tokens), rate))
        return _EXACT.divide(total, _MILLION).normalize(_EXACT)

    def to_json(self) -> dict[str, Any]:
        """The price as it is kept with a run."""
        return {"source": self.source, "usd_per_million_tokens": [rates.to_json() for rates in self.rates]}


def own_prices(path: Path) -> dict[str, Price]:
    """The project's table: TOML with one table per model, rates in US dollars per million tokens.

    Raises ConfigError that names the file and what is wrong in it.
    """
    try:
        data = tomllib.loads(path.read_text(encoding="utf-8-sig"), parse_float=Decimal)
    except OSError as error:
        raise ConfigError(f"the price table {path} cannot be read: {error.strerror}") from None
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise ConfigError(f"the price table {path} is no TOML: {error}") from None
    return {name: Price((_own_rates(path, name, entry),), path.name) for name, entry in data.items()}


def _own_rates(path: Path, name: str, entry: Any) -> Rates:
    place = f"price table {path}, model {name!r}"
    if not isinstance(entry, Mapping):
        raise ConfigError(f'{place}: write a table, such as ["{name}"] with input = 0.15 and output = 0.60 below it')
    if strange := sorted(set(entry) - set(_RATES)):
        raise ConfigError(f"{place}: {', '.join(strange)} is none of {', '.join(_RATES)}")
    if missing := sorted({"input", "output"} - set(entry)):
        raise ConfigError(f"{place}: {' and '.join(missing)} is missing (US dollars per million tokens)")
    rates: dict[str, Decimal] = {}
    for kind, value in entry.items():
        try:
            rate = Decimal(value) if isinstance(value, Decimal | int | str) and not isinstance(value, bool) else None
        except InvalidOperation:
            rate = None
        if rate is None or not rate.is_finite() or rate < 0:
            raise ConfigError(f"{place}: {kind} must be an amount of US dollars, not {value!r}")
        rates[kind] = rate
    return Rates(rates["input"], rates["output"], rates.get("cached"), rates.get("reasoning"))


def bundled_price(name: str) -> Price | None:
    """The price of a model in the table of the installed LiteLLM; None when it has none, or LiteLLM is not there."""
    table = _bundled()
    provider, sign, model = name.partition("/")
    entry = table.get(name)
    if entry is None and sign and table.get(model, {}).get("litellm_provider") == provider:
        entry = table[model]
    if entry is None:
        return None
    sizes = {0, *(1000 * int(found[1]) for key in entry if (found := _ABOVE.search(key)))}
    rates = [one for size in sorted(sizes) if (one := _bundled_rates(entry, size)) is not None]
    if not rates or rates[0].above or not (rates[0].input or rates[0].output):
        return None
    return Price(tuple(rates), f"litellm {_litellm_version()}")


def _bundled_rates(entry: Mapping[str, Any], above: int) -> Rates | None:
    """The rates for requests above a size; those that do not change with it are the ones of small requests."""
    suffix = f"_above_{above // 1000}k_tokens" if above else ""
    found = {kind: entry.get(key + suffix, entry.get(key)) for kind, key in _RATES.items()}
    known = {kind: Decimal(rate) * _MILLION for kind, rate in found.items() if isinstance(rate, Decimal | int)}
    if "input" not in known or "output" not in known:
        return None
    return Rates(known["input"], known["output"], known.get("cached"), known.get("reasoning"), above)


@lru_cache(maxsize=1)
def _bundled() -> dict[str, Any]:
    """The table beside LiteLLM's code, read without importing LiteLLM, which would take seconds."""
    found = find_spec("litellm")
    if found is None or found.origin is None:
        return {}
    try:
        text = Path(found.origin).with_name(_BUNDLED).read_text(encoding="utf-8")
        table: dict[str, Any] = json.loads(text, parse_float=Decimal)
    except (OSError, ValueError):
        return {}
    return table


def _litellm_version() -> str:
    try:
        return version("litellm")
    except PackageNotFoundError:
        return "of unknown version"


def _plain(amount: Decimal) -> str:
    return f"{amount.normalize():f}"

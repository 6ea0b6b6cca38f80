"""The limits of providers and the budget of model calls, from options to models."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from . import options
from .collection import home_folder

if TYPE_CHECKING:
    from .core.protocols import ChatModel
    from .execution.limits import CallLedger, Gate

_LEDGER: pytest.StashKey[CallLedger] = pytest.StashKey()
#: Options whose files all workers must share.
SHARED = ("evolve_max_calls", "evolve_provider_calls", "evolve_provider_rate")


def limited(config: pytest.Config, model: ChatModel) -> ChatModel:
    """The model as this run may call it; the model itself when nothing limits it."""
    gate = _gate(config, model.name)
    if gate is None and options.value_of(config, "evolve_max_calls") is None:
        return model
    from .execution.limits import LimitedModel

    return LimitedModel(model, gate, lambda: config.stash.get(_LEDGER, None))


def open_ledger(config: pytest.Config, experiment: str) -> None:
    """From now on this process counts its model calls for that experiment, if they have a budget."""
    cap = options.value_of(config, "evolve_max_calls")
    if cap is not None:
        from .execution.limits import CallLedger

        config.stash[_LEDGER] = CallLedger(_folder(config) / f"{experiment}.calls", cap)


def _gate(config: pytest.Config, model: str) -> Gate | None:
    from .execution.limits import Gate, ProviderLimits, provider_of

    provider = provider_of(model)

    def limit(key: str) -> int | None:
        given: dict[str, int] = dict(options.value_of(config, key))
        return given.get(provider, given.get(""))

    limits = ProviderLimits(limit("evolve_provider_calls"), limit("evolve_provider_rate"))
    return None if limits == ProviderLimits() else Gate(_folder(config), provider, limits)


def _folder(config: pytest.Config) -> Path:
    return home_folder(config) / "limits"

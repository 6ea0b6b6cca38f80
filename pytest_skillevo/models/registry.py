"""From the name of a model, as in --evolve-model, to the model."""

from __future__ import annotations

import difflib
from collections.abc import Sequence

from ..core.errors import ConfigError
from ..core.protocols import Behaviour, ChatModel

SIMULATED = "simulated"


def resolve_model(name: str, *, behaviours: Sequence[Behaviour] = ()) -> ChatModel:
    """The model of that name. `behaviours` are what the simulated model can do as a task agent.

    Raises ConfigError for a name that no model answers to, and for one that needs a provider.
    """
    wanted = name.strip()
    if wanted == SIMULATED:
        from .simulated import SimulatedModel

        return SimulatedModel(behaviours)
    if not wanted:
        raise ConfigError(f"the name of a model is empty; the embedded one is {SIMULATED!r}")
    if difflib.get_close_matches(wanted.lower(), [SIMULATED], cutoff=0.75):
        raise ConfigError(f"there is no model {name!r}. Did you mean {SIMULATED!r}?")
    raise ConfigError(
        f"model {name!r} needs LiteLLM, which is not supported yet; use --evolve-model={SIMULATED}, "
        "or give your own agent in the test body"
    )

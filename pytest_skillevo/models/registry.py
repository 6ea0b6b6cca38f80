"""From the name of a model, as in --evolve-model, to the model."""

from __future__ import annotations

import difflib
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from ..core.errors import ConfigError
from ..core.protocols import Behaviour, ChatModel

if TYPE_CHECKING:
    from .live import LiveSettings

SIMULATED = "simulated"


def resolve_model(
    name: str,
    *,
    behaviours: Sequence[Behaviour] = (),
    live: LiveSettings | None = None,
    redact: Callable[[str], str] = lambda text: text,
) -> ChatModel:
    """The model of that name: the simulated one with these behaviours, else a real one through LiteLLM.

    `redact` takes secrets out of what errors of a real model say. Raises ConfigError for a name that no model answers
    to, and for a real model that cannot be asked here: LiteLLM or a key is missing.
    """
    wanted = name.strip()
    if wanted == SIMULATED:
        from .simulated import SimulatedModel

        return SimulatedModel(behaviours)
    if not wanted:
        raise ConfigError(f"the name of a model is empty; the embedded one is {SIMULATED!r}")
    if difflib.get_close_matches(wanted.lower(), [SIMULATED], cutoff=0.75):
        raise ConfigError(f"there is no model {name!r}. Did you mean {SIMULATED!r}?")
    from .live import LiveModel

    model = LiveModel(wanted, live, redact)
    model.require()
    return model

"""How a search goes, from options: its policies, its proposer, and the conditions under which its answers hold."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from .collection import skills_folder
from .core.canonical import digest, digest_json
from .core.errors import ConfigError
from .core.protocols import Agent, ChatModel
from .stages.settings import Settings

if TYPE_CHECKING:
    from .core.gepa import Strategy
    from .stages.search import Proposer

#: The proposer that is the reflection model.
MODEL = "model"


def strategy_of(config: pytest.Config, settings: Settings) -> Strategy:
    """The policies that the settings name, built in or offered by a plugin. Raises ConfigError for unknown names."""
    from .core.gepa import named_strategy

    def offered(kind: str, name: str) -> Any:
        return config.hook.pytest_skillevo_policy(kind=kind, name=name, config=config)

    try:
        return named_strategy(settings.policies, offered)
    except ConfigError as error:
        raise ConfigError(f"{error} See --evolve-parent and the options after it.") from None


def proposer_of(config: pytest.Config, settings: Settings) -> Proposer | None:
    """The proposer that takes the reflection model's place; None when the model proposes. Raises ConfigError."""
    from .stages.search import Proposer

    if settings.proposer == MODEL:
        return None
    propose = config.hook.pytest_skillevo_proposer(name=settings.proposer, config=config)
    if propose is None:
        raise ConfigError(
            f"--evolve-proposer={settings.proposer}: no plugin or conftest offers it; "
            "implement pytest_skillevo_proposer, or leave the option out for the reflection model"
        )
    return Proposer(settings.proposer, propose)


def check_prices(settings: Settings, models: Mapping[str, ChatModel]) -> None:
    """Raise ConfigError for a money cap that could never fire because a model has no price."""
    unpriced = sorted({model.name for model in models.values() if not model.priced})
    if settings.max_usd is not None and unpriced:
        raise ConfigError(
            f"--evolve-max-usd={settings.max_usd} cannot hold: nobody knows the price of {', '.join(unpriced)}. "
            "Use --evolve-max-tokens, or a model with a price"
        )
    if settings.max_reflection_usd is not None and not models["reflection"].priced:
        raise ConfigError(
            f"--evolve-max-reflection-usd={settings.max_reflection_usd} cannot hold: nobody knows the price of "
            f"{models['reflection'].name}. Use --evolve-iterations, or a model with a price"
        )


def conditions_of(config: pytest.Config, skill: str, agent: Agent) -> dict[str, Any]:
    """What else decides the answers of a search: the agent with its limits, and the other skills on offer.

    Raises ConfigError when one of their files cannot be read.
    """
    plain = (int, float, str, type(None))
    limits = {name: value for name, value in vars(agent).items() if isinstance(value, plain)}
    return {"agent": [type(agent).__name__, limits], "skills": _other_skills(skills_folder(config), skill)}


def _other_skills(folder: Path, name: str) -> str:
    found: dict[str, str] = {}
    try:
        for path in sorted(folder.rglob("*")) if folder.is_dir() else ():
            inside = path.relative_to(folder)
            if path.is_file() and inside.parts[0] != name:
                found[inside.as_posix()] = digest(path.read_bytes())
    except OSError as error:
        raise ConfigError(f"a skill that may be offered beside {name!r} cannot be read: {error}") from None
    return digest_json(found)

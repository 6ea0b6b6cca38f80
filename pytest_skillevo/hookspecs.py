"""Hooks that other plugins and conftest files may implement."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from .core.protocols import Behaviour, ChatModel


@pytest.hookspec(firstresult=True)
def pytest_skillevo_chat_model(name: str, role: str, config: pytest.Config) -> ChatModel | None:
    """Return the chat model for a name given to --evolve-model, or None to leave it to the built-in ones."""


@pytest.hookspec
def pytest_skillevo_behaviours(config: pytest.Config) -> list[Behaviour] | None:
    """Return behaviours that teach the simulated model to act as an agent in tasks of your own."""

"""Real models, called through LiteLLM or a client of one's own; nothing heavy is imported before the first is used."""

from __future__ import annotations

from .client import ClientModel
from .model import LiveModel
from .settings import LiveSettings

__all__ = ["ClientModel", "LiveModel", "LiveSettings"]

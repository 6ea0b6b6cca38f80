"""Real models, called through LiteLLM; nothing heavy is imported before the first of them is used."""

from __future__ import annotations

from .model import LiveModel
from .settings import LiveSettings

__all__ = ["LiveModel", "LiveSettings"]

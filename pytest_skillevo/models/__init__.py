"""Chat models behind one protocol, and the way from a name to a model."""

from __future__ import annotations

from .registry import SIMULATED, resolve_model

__all__ = ["SIMULATED", "resolve_model"]

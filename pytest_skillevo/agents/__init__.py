"""Agents: the built-in tool loop with progressive disclosure of skills."""

from __future__ import annotations

from .loop import LoopAgent

__all__ = ["LoopAgent"]

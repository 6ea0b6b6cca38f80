"""Agents: the built-in tool loop with progressive disclosure of skills, and adapters for agents of one's own."""

from __future__ import annotations

from .command import CommandAgent
from .function import FunctionAgent
from .loop import LoopAgent
from .workspace import Workspace

__all__ = ["CommandAgent", "FunctionAgent", "LoopAgent", "Workspace"]

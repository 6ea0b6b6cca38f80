"""The embedded model: deterministic, offline, with known true effects (spec/simulated.md).

Its numbers prove the machinery; they say nothing about any language model.
"""

from __future__ import annotations

from .edits import EditMix
from .model import SimulatedModel

__all__ = ["EditMix", "SimulatedModel"]

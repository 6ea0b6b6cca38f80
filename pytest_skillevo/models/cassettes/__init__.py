"""Cassettes: answers of real models recorded in files that people can read, and given again without network or key."""

from __future__ import annotations

from .library import Cassettes, Mode
from .model import CassetteModel, Scene

__all__ = ["CassetteModel", "Cassettes", "Mode", "Scene"]

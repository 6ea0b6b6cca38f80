"""Does a family keep the rules? Checks of any family, ours or foreign, without pytest (spec/suites.md 3.13)."""

from __future__ import annotations

from .checks import CHECKS, Check, CheckFailed

__all__ = ["CHECKS", "Check", "CheckFailed"]

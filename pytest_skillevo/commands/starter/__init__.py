"""The suite that `skillevo init` writes beside a skill: what it asks, and the files of its template."""

from __future__ import annotations

from .suite import KINDS, Suite, suite_for

__all__ = ["KINDS", "Suite", "suite_for"]

"""Patterns written as people write commands: with plain blanks."""

from __future__ import annotations

import re


def either(*parts: str, flags: int = re.IGNORECASE) -> re.Pattern[str]:
    """The parts as alternatives. A blank stands for one to eight blanks of any kind, bounded to keep the time linear."""
    return re.compile("|".join(parts).replace(" ", r"\s{1,8}"), flags)

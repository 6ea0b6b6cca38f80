"""The conformance cases of tests/data/gepa.json, and the register of the adapters that run them."""

from __future__ import annotations

import json
import math
from collections.abc import Callable
from pathlib import Path
from typing import Any

Case = dict[str, Any]
FILE = Path(__file__).parents[2] / "data" / "gepa.json"
CASES: list[Case] = json.loads(FILE.read_text("utf-8"))

Adapter = Callable[[Case], None]
ADAPTERS: dict[tuple[str, str] | str, Adapter] = {}


def key_of(case: Case) -> tuple[str, str]:
    return case["area"], case["name"]


def adapter(area: str, *names: str) -> Callable[[Adapter], Adapter]:
    def register(function: Adapter) -> Adapter:
        for key in [(area, name) for name in names] or [area]:
            assert key not in ADAPTERS
            ADAPTERS[key] = function
        return function

    return register


def adapter_of(case: Case) -> Adapter | None:
    return ADAPTERS.get(key_of(case)) or ADAPTERS.get(case["area"])


def built(value: Any) -> Any:
    """A value of the file with its notation for long texts resolved."""
    if isinstance(value, dict) and "$repeat" in value:
        return value["$repeat"][0] * value["$repeat"][1]
    return "".join(map(built, value["$concat"])) if isinstance(value, dict) and "$concat" in value else value


def mentions(message: str, wanted: str | list[str]) -> bool:
    return all(word.casefold() in message.casefold() for word in ([wanted] if isinstance(wanted, str) else wanted))


def number(value: Any) -> Any:
    return math.nan if value == "nan" else value

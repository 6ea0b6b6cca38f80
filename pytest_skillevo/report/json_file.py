"""Reports as files: the JSON cleaned, redacted and strict; every file written whole or not at all."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable, Mapping, Sequence
from decimal import Decimal
from pathlib import Path
from typing import Any

from ..core.errors import ConfigError
from ..core.files import atomic_write

Redact = Callable[[str], str]

#: Unicode category Cc without line feed and tab, and category Cs.
_CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f]")
_SURROGATE = re.compile(r"[\ud800-\udfff]")
_NOT_ASCII = re.compile(r"[^\n -~]")


def clean(report: Mapping[str, Any], redact: Redact = str) -> dict[str, Any]:
    """A copy of the report in plain JSON values that is safe to store, print and send.

    Every string passes `redact` (the identity by default); then control characters other than line feed and tab become
    visible escapes such as \\x1b and lone surrogates become U+FFFD. Decimals become text, tuples lists, enum members
    their values. Clean before anything is clipped: half a secret is no longer recognised. Cleaning twice changes
    nothing more (if `redact` does not). Raises ValueError naming the place of NaN, infinity or a value that JSON does
    not have.
    """
    return _clean_object(report, redact, "report")


def write_report(path: Path, report: Mapping[str, Any], redact: Redact = str) -> None:
    """Write the cleaned report to `path` as UTF-8 JSON, atomically; folders are made.

    Raises ValueError as `clean` does, and ConfigError when the file cannot be written; the old file then stays.
    """
    # Hidden characters (bidi marks, zero width) stay in the data, but as JSON escapes, so that the file can be read.
    text = json.dumps(clean(report, redact), indent=2, ensure_ascii=False, allow_nan=False)
    write_text(path, _NOT_ASCII.sub(_hidden_as_escape, text) + "\n")


def write_text(path: Path, text: str) -> None:
    """Write a report as UTF-8, atomically; folders are made. Raises ConfigError when that is not possible."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        atomic_write(path, text.encode("utf-8", "replace"))
    except OSError as error:
        raise ConfigError(f"the report could not be written to {path}: {error.strerror or error}") from error


def _clean(value: Any, redact: Redact, place: str) -> Any:
    if isinstance(value, str):
        return _safe(redact(str(value)))
    if value is None or isinstance(value, bool | int):
        return value
    if isinstance(value, float):
        if not math.isfinite(value):
            raise ValueError(f"{place} is {value!r}, which JSON does not have; an unknown figure is null")
        return value
    if isinstance(value, Decimal):
        return _clean_decimal(value, place)
    if isinstance(value, Mapping):
        return _clean_object(value, redact, place)
    if isinstance(value, Sequence) and not isinstance(value, bytes | bytearray):
        return [_clean(item, redact, f"{place}[{index}]") for index, item in enumerate(value)]
    raise ValueError(f"{place} is {type(value).__name__}, which JSON does not have")


def _clean_object(value: Mapping[Any, Any], redact: Redact, place: str) -> dict[str, Any]:
    for key in value:
        if not isinstance(key, str):
            raise ValueError(f"{place} has the key {key!r}, which is not text")
    return {_safe(key): _clean(item, redact, f"{place}.{key}") for key, item in value.items()}


def _clean_decimal(value: Decimal, place: str) -> str:
    if not value.is_finite():
        raise ValueError(f"{place} is {value!r}, which is no amount; an unknown figure is null")
    return f"{value:f}"


def _safe(text: str) -> str:
    return _SURROGATE.sub("\ufffd", _CONTROL.sub(lambda match: f"\\x{ord(match[0]):02x}", text))


def _hidden_as_escape(match: re.Match[str]) -> str:
    char = match[0]
    if char.isprintable():
        return char
    units = char.encode("utf-16-be")
    return "".join(f"\\u{high:02x}{low:02x}" for high, low in zip(units[::2], units[1::2], strict=True))

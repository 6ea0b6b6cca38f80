"""One canonical form of JSON and one digest, so that equal content has equal bytes everywhere."""

from __future__ import annotations

import hashlib
import json
from typing import Any, NoReturn


def canonical_json(value: Any) -> str:
    """JSON text with sorted keys, no spaces and ASCII only; NaN and infinity are refused with ValueError."""
    return json.dumps(value, sort_keys=True, ensure_ascii=True, separators=(",", ":"), allow_nan=False)


def digest(data: bytes | str) -> str:
    """SHA-256 of the data (text as UTF-8, lone surrogates kept) as 64 hex digits."""
    raw = data.encode("utf-8", "surrogatepass") if isinstance(data, str) else data
    return hashlib.sha256(raw).hexdigest()


def fingerprint(value: Any) -> str:
    """Digest of a JSON value that is blind to case and white space: a new indent makes no fresh case."""
    return digest_json(_folded(value))


def _folded(value: Any) -> Any:
    if isinstance(value, str):
        return " ".join(value.casefold().split())
    if isinstance(value, dict):
        return {key: _folded(item) for key, item in value.items()}
    return [_folded(item) for item in value] if isinstance(value, list | tuple) else value


def digest_json(value: Any) -> str:
    """SHA-256 of the canonical JSON of a value."""
    return digest(canonical_json(value))


def no_constant(name: str) -> NoReturn:
    """As `parse_constant` of json.loads: NaN and Infinity are no JSON. Raises ValueError."""
    raise ValueError(f"{name} is no JSON")

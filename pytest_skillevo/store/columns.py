"""How text and JSON are kept in a database, so that no text a model or a test can produce breaks a write."""

from __future__ import annotations

import json
import re
from typing import Any, Final

from sqlalchemy import Dialect, Text
from sqlalchemy.types import TypeDecorator

from ..core.errors import StoreError, damaged_store

#: What a text column cannot hold everywhere: NUL (PostgreSQL) and lone surrogates (UTF-8), and the escape itself.
_UNSAFE: Final = re.compile("[\\\\\0\ud800-\udfff]")
_ESCAPED: Final = re.compile(r"\\(\\|u[0-9a-f]{4})")


def escape_text(text: str) -> str:
    """Text that every database takes; equal only for equal text. Ordinary text without a backslash is unchanged."""
    return _UNSAFE.sub(lambda hit: "\\\\" if hit[0] == "\\" else f"\\u{ord(hit[0]):04x}", text)


def unescape_text(text: str) -> str:
    """The inverse of escape_text."""
    return _ESCAPED.sub(lambda hit: "\\" if hit[1] == "\\" else chr(int(hit[1][1:], 16)), text)


class AnyText(TypeDecorator[str]):
    """A text column that takes any Python text, NUL and lone surrogates included, and gives it back unchanged."""

    impl = Text
    cache_ok = True

    def process_bind_param(self, value: str | None, dialect: Dialect) -> str | None:
        """Escape on the way in."""
        return None if value is None else escape_text(value)

    def process_result_value(self, value: str | None, dialect: Dialect) -> str | None:
        """Unescape on the way out."""
        return value if value is None or "\\" not in value else unescape_text(value)


def encode_json(value: Any, what: str) -> str:
    """JSON text of a value, ASCII only. Raises StoreError, naming `what`, for anything that is not JSON.

    The order of keys is kept: a resumed run must be told what the first one was told, to the letter.
    """
    try:
        return json.dumps(value, ensure_ascii=True, separators=(",", ":"), allow_nan=False)
    except (TypeError, ValueError) as error:
        raise StoreError(f"{what} is not JSON: {error}") from None
    except RecursionError:
        raise StoreError(f"{what} is nested too deeply to be stored") from None


def decode_json(text: str) -> Any:
    """The value that encode_json was given. Raises StoreError for a text that it has not written."""
    try:
        return json.loads(text)
    except (ValueError, TypeError) as error:
        raise damaged_store(f"a value is no JSON ({error})") from None

"""Whether the answer of a tool says that it failed: by its fields where it is JSON, else by the words of failures."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any, Final

_WORDS: Final = re.compile(
    r"""
    \b(?:error|failed|failure|exception)\s*:|\btraceback\b|\bexit(?:ed)?\s+(?:with\s+)?(?:code|status)\s*:?\s*[1-9]
    |\bHTTP(?:/[\d.]+)?\s*[45]\d\d\b|\bcommand\ not\ found\b|\b(?:permission|access)\ denied\b
    |\bno\ such\ file\b|\btimed?[\ -]?out\b
    """,
    re.VERBOSE | re.IGNORECASE | re.ASCII,
)
_CLAIM: Final = re.compile(
    r"\b(?:work(?:s|ed)|succeed(?:s|ed)|successful(?:ly)?|fixed|resolved|solved)\b", re.IGNORECASE | re.ASCII
)
_DENIAL: Final = re.compile(
    r"\b(?:not|never|n['’]t|cannot|can['’]?t|unable|without|nothing|hardly)\b[^.!?\n]{0,40}", re.IGNORECASE
)
#: Characters of an answer that are looked at; a failure says so at its beginning or at its end.
_LOOK: Final = 4_000


def is_failure(content: str) -> bool:
    """Whether a tool's answer says that the call failed."""
    data = _object(content)
    if data is not None:
        return _says_failure(data)
    text = content if len(content) <= 2 * _LOOK else content[:_LOOK] + "\n" + content[-_LOOK:]
    return _WORDS.search(text) is not None


def claims_success(text: str) -> bool:
    """Whether an assistant says that something worked in the end, and does not deny it in the same breath."""
    return _CLAIM.search(_DENIAL.sub(" ", text)) is not None


def _object(content: str) -> Mapping[str, Any] | None:
    if not content.lstrip().startswith("{") or len(content) > 1_000_000:
        return None
    try:
        data = json.loads(content)
    except (ValueError, RecursionError):
        return None
    return data if isinstance(data, dict) else None


def _says_failure(data: Mapping[str, Any]) -> bool:
    if data.get("success") is False or data.get("ok") is False or data.get("is_error") is True:
        return True
    if data.get("error") or data.get("errors"):
        return True
    if str(data.get("status", "")).lower() in ("error", "failed", "failure"):
        return True
    code = next((data[key] for key in ("exit_code", "exitCode", "returncode") if key in data), 0)
    if isinstance(code, int) and not isinstance(code, bool) and code != 0:
        return True
    status = next((data[key] for key in ("status_code", "statusCode", "status") if key in data), 0)
    return isinstance(status, int) and not isinstance(status, bool) and 400 <= status <= 599

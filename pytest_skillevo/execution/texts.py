"""The texts that a rollout leaves as feedback, the same in every process and every run (spec/execution.md 4)."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any

import pytest
from _pytest._io.saferepr import saferepr

#: Longest failure text kept as feedback, in characters.
FAILURE_LIMIT = 4000
#: Longest list of differences in the explanation of one comparison.
MOST_LINES = 50
LONGEST_REPR = 1000

_ADDRESS = re.compile(r"0x[0-9a-fA-F]{4,}")
_ANSI = re.compile(r"\x1b\[[0-9;?]*[ -/]*[@-~]")
#: pytest's folder for temporary files, with its number.
_TEMPORARY = re.compile(r"[^\s'\"=(]*pytest-of-[^/\\\s]+[/\\]+pytest-\d+")
#: The folder that each worker has in there.
_WORKER = re.compile(r"[/\\]+popen-gw\d+(?=[/\\])")


def failure_text(report: pytest.TestReport) -> str:
    """The message of a failed phase, without memory addresses, colours and folders of this run, bounded."""
    crash = getattr(report.longrepr, "reprcrash", None)
    text = crash.message if crash is not None else str(report.longrepr)
    return clean_text(text)


def clean_text(text: str) -> str:
    """Text that is the same in every run: no addresses, colours, temporary folders, lone surrogates; bounded."""
    text = _ADDRESS.sub("0x…", _ANSI.sub("", text))
    text = _WORKER.sub("", _TEMPORARY.sub("<tmp>", text))
    text = text.encode("utf-8", "replace").decode("utf-8")
    if len(text) <= FAILURE_LIMIT:
        return text
    return text[: FAILURE_LIMIT * 3 // 4] + "\n… cut …\n" + text[-FAILURE_LIMIT // 5 :]


def one_line(error: BaseException) -> str:
    """Type and message of an exception."""
    try:
        text = str(error)
    except Exception:  # an exception of the suite's own making may not even be printable
        text = "(its message cannot be printed)"
    return clean_text(" ".join(f"{type(error).__name__}: {text}".split()))


def explain(op: str, left: object, right: object) -> list[str] | None:
    """The explanation of a failed comparison with sets or dicts, in order; None for anything else.

    pytest's own follows the order of sets, which differs from process to process.
    """
    if not any(isinstance(side, set | frozenset | dict) for side in (left, right)):
        return None
    lines: list[str] = []
    if op == "==" and isinstance(left, set | frozenset) and isinstance(right, set | frozenset):
        lines = _one_sided(map(ordered_repr, left - right), map(ordered_repr, right - left))
    elif op == "==" and isinstance(left, dict) and isinstance(right, dict):
        lines = _differing(left, right)
    more = [f"... {len(lines) - MOST_LINES} more"] if len(lines) > MOST_LINES else []
    return [f"{ordered_repr(left)} {op} {ordered_repr(right)}", *lines[:MOST_LINES], *more]


def _differing(left: dict[Any, Any], right: dict[Any, Any]) -> list[str]:
    both = [key for key in left if key in right and left[key] != right[key]]
    lines = [f"differs: {_entry(left, key)} != {ordered_repr(right[key])}" for key in both]
    rest = [[_entry(one, key) for key in one if key not in other] for one, other in ((left, right), (right, left))]
    return sorted(lines) + _one_sided(*rest)


def _one_sided(left: Iterable[str], right: Iterable[str]) -> list[str]:
    return [
        f"only on the {side}: {text}" for side, texts in (("left", left), ("right", right)) for text in sorted(texts)
    ]


def _entry(of: dict[Any, Any], key: Any) -> str:
    return f"{ordered_repr(key)}: {ordered_repr(of[key])}"


def ordered_repr(value: object, depth: int = 4) -> str:
    """A bounded repr with sets in order, also those inside of lists, tuples, dicts and sets."""
    if not depth or type(value) not in (set, frozenset, dict, list, tuple) or not value:
        return saferepr(value)
    if isinstance(value, dict):
        parts = [f"{ordered_repr(key, depth - 1)}: {ordered_repr(item, depth - 1)}" for key, item in value.items()]
        return _bounded("{", parts, "}")
    items = [ordered_repr(item, depth - 1) for item in value]  # type: ignore[attr-defined]
    if isinstance(value, list):
        return _bounded("[", items, "]")
    if isinstance(value, tuple):
        return _bounded("(", items, ")" if len(items) > 1 else ",)")
    return _bounded("{", sorted(items), "}")


def _bounded(start: str, parts: Iterable[str], end: str) -> str:
    text = ", ".join(parts)
    return start + (text if len(text) <= LONGEST_REPR else text[: LONGEST_REPR - 3] + "...") + end

"""Writing HTML in which foreign text cannot become markup: every `str` is escaped, only `Html` is taken as it is."""

from __future__ import annotations

import html
from collections.abc import Iterable
from typing import Final, TypeAlias

from ..text import visible_lines


class Html(str):
    """Finished markup. Only `element`, `joined` and constants of this package make it."""

    __slots__ = ()


Child: TypeAlias = "str | Iterable[Child] | None"
Value: TypeAlias = str | int | float | bool | None

_VOID: Final = frozenset({"meta", "br", "hr"})


def element(name: str, /, *children: Child, **attributes: Value) -> Html:
    """An element with its children.

    Attribute names are keywords: a trailing underscore is dropped (`class_`), others become hyphens (`aria_label`).
    None and False leave an attribute out, True writes it without a value.
    """
    given = "".join(_attribute(key, value) for key, value in attributes.items())
    if name in _VOID:
        return Html(f"<{name}{given}>")
    return Html(f"<{name}{given}>{joined(children)}</{name}>")


def joined(children: Iterable[Child]) -> Html:
    """The children one after the other, texts escaped, None left out."""
    return Html("".join(map(_rendered, children)))


def _rendered(child: Child) -> str:
    if child is None or isinstance(child, Html):
        return child or ""
    if isinstance(child, str):
        return _escaped(child)
    return joined(child)


def _attribute(key: str, value: Value) -> str:
    if value is None or value is False:
        return ""
    name = key.removesuffix("_").replace("_", "-")
    if value is True:
        return f" {name}"
    text = f"{value:.6g}" if isinstance(value, float) else _escaped(str(value))
    return f' {name}="{text}"'


def _escaped(text: str) -> str:
    """The text with control, format and unprintable characters as visible escapes, and markup as entities."""
    return html.escape(visible_lines(text), quote=True)

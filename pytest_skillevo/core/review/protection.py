"""Whose skill it is, and what may be done to it by whom (spec/hermes.md H8)."""

from __future__ import annotations

from enum import StrEnum
from typing import Final, Literal, TypeAlias

Verb: TypeAlias = Literal["create", "update", "delete"]
Actor: TypeAlias = Literal["reviewer", "agent", "person"]


class Protection(StrEnum):
    """The class of a skill."""

    #: Made by learning, or handed over to it.
    MANAGED = "managed"
    #: Written by people; learning may only read it.
    USER = "user"
    #: A person said that it stays as it is; people may still edit it.
    PINNED = "pinned"
    #: Comes with a product or a package.
    BUNDLED = "bundled"
    #: Lies in a folder that is only read.
    EXTERNAL = "external"


_WHY: Final = {
    Protection.USER: "it was written by people; `skillevo revisions adopt` hands it over",
    Protection.PINNED: "it is pinned",
    Protection.BUNDLED: "it comes with a product",
    Protection.EXTERNAL: "it lies in a folder that is only read",
}


def refusal(protection: Protection, verb: Verb, actor: Actor) -> str:
    """Why an actor may not do this to a skill of this class; "" when it may."""
    if protection is Protection.MANAGED:
        return ""
    editable = protection is Protection.USER or (protection is Protection.PINNED and verb != "delete")
    return "" if actor == "person" and editable else _WHY[protection]

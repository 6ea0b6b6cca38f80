"""`skillevo revisions`: what waits, what it is worth, and the decisions about it."""

from __future__ import annotations

import argparse
import getpass
import os
import shlex
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from ..core.errors import StoreError
from ..core.revisions import APPROVABLE, Revision, Status
from ..report.text import one_line, visible, wrap
from .differences import folder_diff
from .evidence import SIMULATED, evidence_lines, is_simulated, summary
from .screen import Screen, ago, minute, table

if TYPE_CHECKING:
    from ..core.skill import Skill
    from ..store import Store

_HEADING: Final = ("skill", "revision", "status", "action", "from", "evidence", "when")
_EVIDENCE: Final = _HEADING.index("evidence")


@dataclass(frozen=True, slots=True)
class Context:
    """What a command works with: its arguments, where the project keeps things, where to print, and the time."""

    arguments: argparse.Namespace
    home: Path
    skills: Path
    screen: Screen
    notes: Screen
    clock: Callable[[], datetime]

    @contextmanager
    def store(self) -> Iterator[Store]:
        """The project's store. Raises StoreError when there is none: looking must not make one."""
        from ..store import Store

        if not Store.exists(self.home):
            raise StoreError(f"there is no store in {_shown(self.home)}; pytest --evolve makes one.")
        with Store.open(self.home, skills=self.skills, clock=self.clock) as store:
            for notice in store.notices:
                self.notes.lines(wrap(visible(notice), self.notes.width, first="note: "))
            yield store


def add_parser(groups: Any, shared: argparse.ArgumentParser) -> None:
    """Add the group with all its commands."""
    group = groups.add_parser("revisions", help="list, show, compare, approve, reject and roll back skill versions")
    commands = group.add_subparsers(title="commands", metavar="COMMAND", required=True)

    def command(name: str, run: Callable[[Context], None], help: str) -> argparse.ArgumentParser:
        parser: argparse.ArgumentParser = commands.add_parser(name, parents=[shared], help=help, description=help)
        parser.set_defaults(run=run)
        return parser

    listing = command("list", list_revisions, "list the versions that are known, the newest first")
    listing.add_argument("--skill", metavar="NAME", help="only this skill")
    listing.add_argument("--status", choices=[status.value for status in Status], help="only in this status")
    for name, run, help in (
        ("show", show, "show one version with its evidence and history"),
        ("diff", diff, "compare a version with the one it was judged against"),
    ):
        command(name, run, help).add_argument("id", metavar="ID", help="revision, or the beginning of its id")
    for name, run, help in (
        ("approve", approve, "make a version the active skill: its files are written to the skills folder"),
        ("reject", reject, "refuse a version for good"),
    ):
        parser = command(name, run, help)
        parser.add_argument("id", metavar="ID", help="revision, or the beginning of its id")
        _add_decision(parser)
    parser = command("rollback", rollback, "put the files of the version before back into the skills folder")
    parser.add_argument("skill", metavar="SKILL", help="folder name of the skill")
    parser.add_argument("--to", metavar="ID", help="archived revision to go back to (default: the one before)")
    _add_decision(parser)


def list_revisions(context: Context) -> None:
    """`skillevo revisions list`"""
    from ..store import Store

    revisions: Sequence[Revision] = ()
    if Store.exists(context.home):
        arguments = context.arguments
        with context.store() as store:
            revisions = store.revisions(arguments.skill, arguments.status and Status(arguments.status))
    ordered = _grouped(revisions)
    if context.arguments.json:
        context.screen.json([revision.to_json() for revision in ordered])
    elif ordered:
        context.screen.lines(_list_lines(ordered, context.clock(), context.screen.width))
    else:
        context.screen.line("no revisions; pytest --evolve makes them")


def show(context: Context) -> None:
    """`skillevo revisions show ID`"""
    with context.store() as store:
        revision = store.revision(context.arguments.id)
        history = store.history(revision)
    if context.arguments.json:
        context.screen.json(revision.to_json() | {"history": [event.to_json() for event in history]})
        return
    screen = context.screen
    if is_simulated(revision.evidence):
        screen.lines(wrap(SIMULATED, screen.width))
    screen.line(f"{revision.id}: {revision.action.value} of {one_line(revision.skill, 50)}")
    facts = {
        "status": f"{revision.status.words}, since {ago(history[-1].at, context.clock())}",
        "from": f"{one_line(revision.source, 60)}, {minute(revision.created_at)} UTC",
        "replaces": revision.parent or f"version {revision.parent_digest[:12]}",
        "content": revision.digest[:12],
    }
    for label, text in facts.items():
        screen.lines(wrap(text, screen.width, first=f"  {label.ljust(12)}"))
    screen.line("evidence")
    screen.lines(evidence_lines(revision, screen.width) or ["  none was recorded"])
    screen.line("history")
    for event in history:
        first = f"  {minute(event.at)}  {event.after.words} by {one_line(event.actor, 30)}"
        said = one_line(event.reason, 500)
        screen.lines(wrap(f"{first}: {said}" if said else first, screen.width, first="  ", rest="    "))
    if revision.status in APPROVABLE:
        screen.line(f"next: skillevo revisions diff {revision.id}")
        screen.line(f"      skillevo revisions approve {revision.id}")


def diff(context: Context) -> None:
    """`skillevo revisions diff ID`"""
    with context.store() as store:
        revision = store.revision(context.arguments.id)
        files = folder_diff(revision.skill, _tree(store.parent_of(revision)), _tree(store.skill_of(revision)))
    if context.arguments.json:
        changed = [{"path": file.path, "change": file.change, "diff": "\n".join(file.lines)} for file in files]
        context.screen.json({"id": revision.id, "skill": revision.skill, "files": changed})
        return
    for file in files:
        # A tab is harmless and common in code; every other control character is shown as an escape.
        context.screen.lines(["\t".join(map(visible, line.split("\t"))) for line in file.lines])


def approve(context: Context) -> None:
    """`skillevo revisions approve ID`"""
    with context.store() as store:
        revision = store.approve(context.arguments.id, _actor(context), context.arguments.reason)
    folder = _shown(context.skills / revision.skill)
    _told(context, revision, f"{revision.id} is now the active version of {revision.skill} ({folder}).")


def reject(context: Context) -> None:
    """`skillevo revisions reject ID`"""
    with context.store() as store:
        revision = store.reject(context.arguments.id, _actor(context), context.arguments.reason)
    _told(context, revision, f"{revision.id} is rejected; the active {revision.skill} stays as it is.")


def rollback(context: Context) -> None:
    """`skillevo revisions rollback SKILL`"""
    arguments = context.arguments
    with context.store() as store:
        before = store.pointer(arguments.skill)
        revision = store.rollback(arguments.skill, _actor(context), arguments.reason, to=arguments.to)
    folder = _shown(context.skills / revision.skill)
    _told(
        context,
        revision,
        f"{revision.skill} is back at {revision.id} ({folder}).",
        f"to undo: skillevo revisions rollback {shlex.quote(revision.skill)} --to {before.revision}" if before else "",
    )


def _add_decision(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--reason", default="", metavar="TEXT", help="why, for the record")
    parser.add_argument("--actor", metavar="NAME", help="who decides (default: your login name)")


def _actor(context: Context) -> str:
    if context.arguments.actor:
        return str(context.arguments.actor)
    try:
        return getpass.getuser()
    except (OSError, KeyError, ImportError):
        # A container may run under a number that has no name.
        return "cli-user"


def _told(context: Context, revision: Revision, sentence: str, further: str = "") -> None:
    if context.arguments.json:
        context.screen.json(revision.to_json())
        return
    if not further and revision.status is Status.ACTIVE:
        further = f"to undo: skillevo revisions rollback {shlex.quote(revision.skill)}"
    context.screen.lines(wrap(visible(sentence), context.screen.width))
    if further:
        context.screen.line(visible(further))


def _grouped(revisions: Sequence[Revision]) -> list[Revision]:
    """By skill, the skill with the newest revision first."""
    groups: dict[str, list[Revision]] = {}
    for revision in revisions:
        groups.setdefault(revision.skill, []).append(revision)
    return [revision for group in groups.values() for revision in group]


def _list_lines(revisions: Sequence[Revision], now: datetime, width: int) -> list[str]:
    rows = [
        (
            one_line(revision.skill, 40),
            revision.id,
            revision.status.words,
            revision.action.value,
            one_line(revision.origin, 16),
            summary(revision),
            ago(revision.created_at, now),
        )
        for revision in revisions
    ]
    lines = table([_HEADING, *rows])
    if max(len(line) for line in lines) <= width:
        return lines
    # Too wide for one line each: the evidence goes below, and every skill is named once, above its revisions.
    narrow = table([row[1:_EVIDENCE] + row[_EVIDENCE + 1 :] for row in [_HEADING, *rows]])
    shown = [f"  {narrow[0]}"]
    for index, (row, line) in enumerate(zip(rows, narrow[1:], strict=True)):
        if index == 0 or revisions[index - 1].skill != revisions[index].skill:
            shown.append(row[0])
        shown += [f"  {line}", f"    {one_line(row[_EVIDENCE], width - 4)}"]
    return shown


def _tree(skill: Skill) -> Mapping[str, bytes]:
    return {"SKILL.md": skill.document, **skill.files} if skill.exists else {}


def _shown(path: Path) -> str:
    """A path as people write it: relative to where they are, if that is shorter."""
    try:
        relative = os.path.relpath(path)
    except ValueError:
        return str(path)
    return relative if len(relative) < len(str(path)) and not relative.startswith("..") else str(path)

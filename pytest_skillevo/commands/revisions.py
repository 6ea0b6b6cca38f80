"""`skillevo revisions`: its commands, and those that only look. Decisions and upkeep have modules of their own."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from typing import TYPE_CHECKING, Any, Final

from ..core.revisions import APPROVABLE, AuditEvent, Revision, Status
from ..report.text import one_line, visible, wrap
from . import decisions, upkeep
from .context import Context
from .differences import folder_diff
from .evidence import SIMULATED, evidence_lines, is_simulated, summary
from .screen import Screen, ago, minute, table

if TYPE_CHECKING:
    from ..core.skill import Skill

_HEADING: Final = ("skill", "revision", "status", "action", "from", "evidence", "when")
_EVIDENCE: Final = _HEADING.index("evidence")
#: Revisions that the list shows by default.
_SHOWN: Final = 50


def add_parser(groups: Any, shared: argparse.ArgumentParser) -> None:
    """Add the group with all its commands."""
    group = groups.add_parser("revisions", help="list, show, compare, decide about and look after skill versions")
    commands = group.add_subparsers(title="commands", metavar="COMMAND", required=True)

    def command(name: str, run: Callable[[Context], int | None], help: str) -> argparse.ArgumentParser:
        parser: argparse.ArgumentParser = commands.add_parser(name, parents=[shared], help=help, description=help)
        parser.set_defaults(run=run)
        return parser

    listing = command("list", list_revisions, "list the versions that are known, the newest first")
    listing.add_argument("--skill", metavar="NAME", help="only this skill")
    listing.add_argument("--status", choices=[status.value for status in Status], help="only in this status")
    listing.add_argument(
        "--limit", type=upkeep.count, default=_SHOWN, metavar="N", help=f"at most so many (default {_SHOWN}, 0: all)"
    )
    for name, run, help in (
        ("show", show, "show one version with its evidence, what the gates said, and its history"),
        ("diff", diff, "compare a version with the one it was judged against"),
    ):
        command(name, run, help).add_argument("id", metavar="ID", help="revision, or the beginning of its id")
    decisions.add_commands(command)
    upkeep.add_commands(command)


def list_revisions(context: Context) -> None:
    """`skillevo revisions list`"""
    revisions: Sequence[Revision] = ()
    total = 0
    if context.has_store:
        arguments = context.arguments
        status = arguments.status and Status(arguments.status)
        with context.store() as store:
            revisions = store.revisions(arguments.skill, status, arguments.limit or None)
            total = store.count(arguments.skill, status)
    ordered = _grouped(revisions)
    if context.arguments.json:
        context.screen.json([revision.to_json() for revision in ordered])
    elif ordered:
        context.screen.lines(_list_lines(ordered, context.clock(), context.screen.width))
        if total > len(ordered):
            context.screen.line(f"{total - len(ordered)} older ones are not shown; --limit 0 shows all")
    else:
        context.screen.line("no revisions; pytest --evolve makes them")


def show(context: Context) -> None:
    """`skillevo revisions show ID`"""
    with context.store() as store:
        revision = store.revision(context.arguments.id)
        history = store.history(revision)
        earlier = store.evaluations(revision)
        since = store.waiting_since(revision)
    if context.arguments.json:
        told = {"history": [event.to_json() for event in history], "earlier": list(earlier)}
        context.screen.json(revision.to_json() | told)
        return
    screen = context.screen
    if is_simulated(revision.evidence):
        screen.lines(wrap(SIMULATED, screen.width))
    screen.line(f"{revision.id}: {revision.action.value} of {one_line(revision.skill, 50)}")
    facts = {
        "status": f"{revision.status.words}, since {ago(since, context.clock())}",
        "from": f"{one_line(revision.source, 60)}, {minute(revision.created_at)} UTC",
        "replaces": revision.parent or f"version {revision.parent_digest[:12]}",
        "content": revision.digest[:12],
    }
    if revision.bypassed:
        facts["bypassed"] = f"{', '.join(revision.bypassed)} held it; published in shadow mode"
    for label, text in facts.items():
        screen.lines(wrap(text, screen.width, first=f"  {label.ljust(12)}"))
    screen.line("evidence")
    screen.lines(evidence_lines(revision, screen.width) or ["  none was recorded"])
    if earlier:
        screen.line(f"  replaced {len(earlier)} earlier; --json shows all")
    _show_gates(screen, revision)
    screen.line("history")
    for event in history:
        screen.lines(_event_lines(event, screen.width))
    _show_next(screen, revision)


def diff(context: Context) -> None:
    """`skillevo revisions diff ID`"""
    with context.store() as store:
        revision = store.revision(context.arguments.id)
        files = folder_diff(revision.skill, _tree(store.parent_of(revision)), _tree(store.skill_of(revision)))
    if context.arguments.json:
        changed = [{"path": file.path, "change": file.change, "diff": "\n".join(file.lines)} for file in files]
        context.screen.json({"id": revision.id, "skill": revision.skill, "digest": revision.digest, "files": changed})
        return
    for file in files:
        # A tab is harmless and common in code; every other control character is shown as an escape.
        context.screen.lines(["\t".join(map(visible, line.split("\t"))) for line in file.lines])


def _show_gates(screen: Screen, revision: Revision) -> None:
    verdicts = (revision.gates or {}).get("verdicts")
    if not isinstance(verdicts, list) or not verdicts:
        return
    screen.line("gates")
    for verdict in verdicts:
        name = one_line(str(verdict.get("gate")), 16)
        screen.line(f"  {name.ljust(14)}{'passed' if verdict.get('passed') else 'did not pass'}")
        for finding in verdict.get("findings", ()):
            where = f"{finding['where']}: " if finding.get("where") else ""
            screen.lines(wrap(one_line(f"{where}{finding.get('message', '')}", 500), screen.width, first="    "))


def _event_lines(event: AuditEvent, width: int) -> list[str]:
    what = event.after.words if event.before is not event.after else f"{event.deed.value}, still {event.after.words}"
    first = f"  {minute(event.at)}  {what} by {one_line(event.actor, 30)}"
    said = one_line(event.reason, 500)
    return wrap(f"{first}: {said}" if said else first, width, first="  ", rest="    ")


def _show_next(screen: Screen, revision: Revision) -> None:
    if revision.status in APPROVABLE:
        screen.line(f"next: skillevo revisions diff {revision.id}")
        screen.line(f"      skillevo revisions approve {revision.id}")
    elif revision.status is Status.PENDING_EVAL:
        screen.line(f"next: skillevo revisions reevaluate {revision.id} --report REPORT.json")


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
    told = [f"  {narrow[0]}"]
    for index, (row, line) in enumerate(zip(rows, narrow[1:], strict=True)):
        if index == 0 or revisions[index - 1].skill != revisions[index].skill:
            told.append(row[0])
        told += [f"  {line}", f"    {one_line(row[_EVIDENCE], width - 4)}"]
    return told


def _tree(skill: Skill) -> Mapping[str, bytes]:
    return {"SKILL.md": skill.document, **skill.files} if skill.exists else {}

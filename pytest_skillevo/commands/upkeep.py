"""`skillevo revisions audit | repair | sweep | export | import`: looking after the store."""

from __future__ import annotations

import argparse
import json
import shlex
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Final

from ..core.errors import ConfigError
from ..core.files import atomic_write
from ..core.revisions import AuditEvent
from ..report.text import one_line, visible, wrap
from .context import Context, shown
from .decisions import Command, add_actor
from .files import read_json
from .screen import minute, table

if TYPE_CHECKING:
    from ..store import Drift

#: Exit code when something is left that a person should look at.
LEFT: Final = 1

_HEADING: Final = ("when (UTC)", "skill", "revision", "done", "by", "status", "why")
_EVENTS: Final = 20


def count(text: str) -> int:
    """A number from 0. Raises argparse's error for anything else."""
    if not text.isascii() or not text.isdecimal() or len(text) > 9:
        raise argparse.ArgumentTypeError(f"expected a number from 0, not {text!r}")
    return int(text)


def add_commands(command: Command) -> None:
    """Add the commands to the group."""
    parser = command("audit", audit, "show what was done, by whom and why, the newest first")
    parser.add_argument("skill", nargs="?", metavar="SKILL", help="only this skill")
    parser.add_argument(
        "--limit", type=count, default=_EVENTS, metavar="N", help=f"at most so many (default {_EVENTS}, 0: all)"
    )
    parser = command("repair", repair, "settle what was interrupted, and compare the skills folder with the store")
    fix = parser.add_mutually_exclusive_group()
    fix.add_argument("--restore", metavar="SKILL", help="put the active version back; an edit is kept as a revision")
    fix.add_argument("--adopt", metavar="SKILL", help="make what lies in the folder the active version")
    parser.add_argument("--reason", default="", metavar="TEXT", help="why, for the record")
    add_actor(parser)
    command("sweep", sweep, "promote or give up what has waited as long as the settings say")
    parser = command("export", export, "write a version as a bundle that another store can import")
    parser.add_argument("id", metavar="ID", help="revision, or the beginning of its id")
    parser.add_argument("--output", metavar="FILE", help="write it here (default: standard output)")
    parser = command("import", import_, "enter the version of a bundle or report; a person must approve it")
    parser.add_argument("file", metavar="REPORT", help="bundle of `export`, or a report that carries its skill")
    add_actor(parser)


def audit(context: Context) -> None:
    """`skillevo revisions audit`"""
    events: Sequence[AuditEvent] = ()
    if context.has_store:
        with context.store() as store:
            events = store.audit(context.arguments.skill, context.arguments.limit or None)[::-1]
    if context.arguments.json:
        context.screen.json([event.to_json() for event in events])
        return
    if not events:
        context.screen.line("nothing was done yet")
        return
    rows = [
        (
            minute(event.at),
            one_line(event.skill, 40),
            event.revision,
            event.deed.value,
            one_line(event.actor, 20),
            event.after.words,
            one_line(event.reason, 200),
        )
        for event in events
    ]
    whole = table([_HEADING, *rows])
    if max(map(len, whole)) <= context.screen.width:
        context.screen.lines(whole)
        return
    for row in rows:
        context.screen.lines(wrap("  ".join(row[:-1]), context.screen.width, rest="  "))
        if row[-1]:
            context.screen.lines(wrap(row[-1], context.screen.width, first="    "))


def repair(context: Context) -> int:
    """`skillevo revisions repair`: exit code 1 while a folder differs from its active version."""
    arguments = context.arguments
    with context.store() as store:
        notices = list(store.notices)
        if arguments.restore:
            store.restore(arguments.restore, context.actor, arguments.reason)
            notices.append(f"{arguments.restore} was restored.")
        elif arguments.adopt:
            adopted = store.adopt(arguments.adopt, context.actor, arguments.reason)
            notices.append(f"{arguments.adopt} was adopted as {adopted.id}.")
        drift = store.drift()
        skills = len(store.pointers())
    if context.arguments.json:
        context.screen.json({"repaired": notices, "drift": [one.to_json() for one in drift]})
        return LEFT if drift else 0
    if drift:
        context.screen.line(f"{len(drift)} of {skills} published skills differ from their active version")
    else:
        context.screen.line(f"all {skills} published skills are as their active version" if skills else "nothing to do")
    for notice in notices:
        context.screen.lines(wrap(visible(notice), context.screen.width, first="  "))
    for one in drift:
        _tell_drift(context, one)
    return LEFT if drift else 0


def sweep(context: Context) -> None:
    """`skillevo revisions sweep`: what the timers of the settings ask for."""
    from ..store.timers import Timers
    from ..store.timers import sweep as run

    project = context.project
    if project.promote_after is None and project.expire_after is None:
        raise ConfigError(
            "no timer is set: skillevo_promote_after and skillevo_expire_after in the project's settings, such as 7d"
        )
    with context.store() as store:
        swept = run(store, Timers(project.promote_after, project.expire_after), context.clock())
    if context.arguments.json:
        context.screen.json([one.to_json() for one in swept])
        return
    context.screen.line(f"{len(swept)} revisions were due" if swept else "nothing was due")
    for one in swept:
        context.screen.lines(wrap(visible(f"{one.revision} ({one.skill}): {one.outcome}"), context.screen.width, "  "))


def export(context: Context) -> None:
    """`skillevo revisions export ID`"""
    from ..store.bundles import export_revision

    with context.store() as store:
        revision = store.revision(context.arguments.id)
        bundle = export_revision(store, revision)
    if not context.arguments.output:
        context.screen.json(bundle)
        return
    file = Path(context.arguments.output)
    text = json.dumps(bundle, indent=2, ensure_ascii=True, allow_nan=False) + "\n"
    try:
        atomic_write(file.absolute(), text.encode("ascii"))
    except OSError as error:
        raise ConfigError(f"{file} cannot be written: {error.strerror}") from None
    if context.arguments.json:
        context.screen.json({"id": revision.id, "file": str(file)})
        return
    context.screen.line(visible(f"{revision.id} was written to {shown(file)}"))
    context.screen.line(visible(f"next, where it should live: skillevo revisions import {shlex.quote(file.name)}"))


def import_(context: Context) -> None:
    """`skillevo revisions import REPORT`"""
    from ..store.bundles import import_revision

    data = read_json(Path(context.arguments.file))
    with context.store(make=True) as store:
        revision = import_revision(store, data, context.actor)
    if context.arguments.json:
        context.screen.json(revision.to_json())
        return
    context.screen.line(visible(f"{revision.id}: {revision.action.value} of {revision.skill}, {revision.status.words}"))
    context.screen.line(f"next: skillevo revisions show {revision.id}")


def _tell_drift(context: Context, drift: Drift) -> None:
    context.screen.lines(wrap(visible(f"{drift.skill} ({drift.revision}): {drift.what}"), context.screen.width, "  "))
    if drift.kind != "unreadable":
        name = shlex.quote(drift.skill)
        context.screen.line(visible(f"    skillevo revisions repair --restore {name}   or   --adopt {name}"))

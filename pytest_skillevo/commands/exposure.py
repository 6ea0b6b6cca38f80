"""`skillevo exposure`: which holdout cases are used up, here and in the file that is committed."""

from __future__ import annotations

from collections import Counter
from dataclasses import asdict
from typing import Any, Final

from ..report import figures
from ..report.text import one_line, visible, wrap
from ..store.committed import EXPOSURE_FILE, OpeningRecord, add_openings, missing_openings
from .context import Context, shown
from .screen import minute, table

#: Exit code of `export --check` when the file lacks openings.
LEFT: Final = 1

_HEADING: Final = ("opened (UTC)", "skill", "by", "why", "cases", "committed")


def add_parser(groups: Any, shared: Any) -> None:
    """Add the group with all its commands."""
    group = groups.add_parser("exposure", help="show and export which holdout cases were opened")
    commands = group.add_subparsers(title="commands", metavar="COMMAND", required=True)
    about = "show every opening of holdout cases"
    parser = commands.add_parser("show", parents=[shared], help=about, description=about)
    parser.set_defaults(run=show)
    parser.add_argument("--skill", metavar="NAME", help="only this skill")
    about = f"add what this store knows to {EXPOSURE_FILE}, to be committed"
    parser = commands.add_parser("export", parents=[shared], help=about, description=about)
    parser.set_defaults(run=export)
    parser.add_argument("--check", action="store_true", help="write nothing; exit 1 when the file lacks openings")


def show(context: Context) -> None:
    """`skillevo exposure show`"""
    records: tuple[OpeningRecord, ...] = ()
    if context.has_store or context.exposure_file.exists():
        with context.store(make=True) as store:
            records = store.opening_records(context.arguments.skill)
    missing = {one.key for one in missing_openings(context.exposure_file, records)}
    if context.arguments.json:
        context.screen.json([asdict(one) | {"committed": one.key not in missing} for one in records])
        return
    if not records:
        context.screen.line("no holdout case was opened")
        return
    found = Counter((one.at, one.skill, one.experiment, one.why) for one in records)
    open_here = Counter((one.at, one.skill, one.experiment, one.why) for one in records if one.key in missing)
    rows = [
        (
            minute(at),
            one_line(skill, 24),
            one_line(by, 24),
            one_line(why, 20),
            str(number),
            _committed(number, open_here[at, skill, by, why]),
        )
        for (at, skill, by, why), number in found.items()
    ]
    context.screen.lines(table([_HEADING, *rows]))
    if missing:
        text = f"{figures.some(len(missing), 'opening')} not in {EXPOSURE_FILE}: skillevo exposure export, then commit"
        context.screen.lines(wrap(text, context.screen.width))


def _committed(number: int, missing: int) -> str:
    return "no" if missing == number else f"{number - missing} of {number}" if missing else "yes"


def export(context: Context) -> int:
    """`skillevo exposure export`"""
    file = context.exposure_file
    with context.store() as store:
        records = store.opening_records()
    missing = missing_openings(file, records)
    left = bool(missing and context.arguments.check)
    if not context.arguments.check:
        with context.committing():
            add_openings(file, records)
    if context.arguments.json:
        context.screen.json({"file": str(file), "missing" if context.arguments.check else "added": len(missing)})
    elif not missing:
        context.screen.line(visible(f"{shown(file)} holds every opening that this store knows"))
    elif left:
        some = figures.some(len(missing), "opening")
        context.screen.line(visible(f"{shown(file)} lacks {some}: run skillevo exposure export and commit it"))
    else:
        some = figures.some(len(missing), "opening")
        context.screen.line(visible(f"{some} added to {shown(file)}; commit it"))
    return LEFT if left else 0

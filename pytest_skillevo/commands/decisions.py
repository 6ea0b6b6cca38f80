"""`skillevo revisions approve | reject | rollback | reevaluate | expire`: what a person decides."""

from __future__ import annotations

import argparse
import shlex
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, Final

from ..core.errors import ConfigError, StoreError
from ..core.revisions import Revision, Status
from ..report.text import visible, wrap
from .context import Context, shown
from .files import read_json

Command = Callable[[str, Callable[[Context], "int | None"], str], argparse.ArgumentParser]

#: The parts of a report that are evidence for its revision.
_EVIDENCE: Final = ("experiment", "model", "dataset", "confirmation", "decision")


def add_commands(command: Command) -> None:
    """Add the commands to the group."""
    parser = command("approve", approve, "make a version the active skill: its files are written to the skills folder")
    _add_id(parser)
    parser.add_argument("--digest", metavar="HEX", help="publish only this very content (see diff --json, show)")
    _add_decision(parser)
    parser = command("reject", reject, "refuse a version for good")
    _add_id(parser)
    _add_decision(parser)
    parser = command("rollback", rollback, "put the files of the version before back into the skills folder")
    parser.add_argument("skill", metavar="SKILL", help="folder name of the skill")
    parser.add_argument("--to", metavar="ID", help="archived revision to go back to (default: the one before)")
    parser.add_argument("--force", action="store_true", help="also to a version that the gates of today block")
    _add_decision(parser)
    parser = command("reevaluate", reevaluate, "let the gates judge a waiting version again, with new evidence")
    _add_id(parser)
    source = parser.add_mutually_exclusive_group()
    source.add_argument("--report", metavar="FILE", help="report of an experiment with this very version")
    source.add_argument("--evidence", metavar="FILE", help='JSON object, such as {"outcome": {"score": 0.9}}')
    _add_decision(parser)
    parser = command("expire", expire, "give up a version that has waited too long")
    _add_id(parser)
    _add_decision(parser)


def approve(context: Context) -> None:
    """`skillevo revisions approve ID`"""
    arguments = context.arguments
    with context.store() as store:
        revision = store.approve(arguments.id, context.actor, arguments.reason, digest=arguments.digest)
    folder = shown(context.skills / revision.skill)
    _tell(context, revision, f"{revision.id} is now the active version of {revision.skill} ({folder}).")


def reject(context: Context) -> None:
    """`skillevo revisions reject ID`"""
    with context.store() as store:
        revision = store.reject(context.arguments.id, context.actor, context.arguments.reason)
    _tell(context, revision, f"{revision.id} is rejected; the active {revision.skill} stays as it is.")


def rollback(context: Context) -> None:
    """`skillevo revisions rollback SKILL`"""
    arguments = context.arguments
    with context.store() as store:
        before = store.pointer(arguments.skill)
        revision = store.rollback(
            arguments.skill, context.actor, arguments.reason, to=arguments.to, force=arguments.force
        )
    folder = shown(context.skills / revision.skill)
    _tell(
        context,
        revision,
        f"{revision.skill} is back at {revision.id} ({folder}).",
        f"to undo: skillevo revisions rollback {shlex.quote(revision.skill)} --to {before.revision}" if before else "",
    )


def reevaluate(context: Context) -> None:
    """`skillevo revisions reevaluate ID`"""
    arguments = context.arguments
    with context.store() as store:
        revision = store.revision(arguments.id)
        evidence: Mapping[str, Any] | None = None
        if arguments.report:
            evidence = _from_report(Path(arguments.report), revision)
        elif arguments.evidence:
            evidence = _from_file(Path(arguments.evidence))
        shadow = context.project.gates.shadow
        after = store.reevaluate(revision.id, evidence, actor=context.actor, reason=arguments.reason, shadow=shadow)
        said = store.history(after)[-1].reason
    was = "still" if after.status is revision.status else "now"
    _tell(context, after, f"{after.id} is {was} {after.status.words}." + (f" {said}" if said else ""), _next(after))


def expire(context: Context) -> None:
    """`skillevo revisions expire ID`"""
    with context.store() as store:
        revision = store.expire(context.arguments.id, context.actor, context.arguments.reason)
    _tell(context, revision, f"{revision.id} is expired; the active {revision.skill} stays as it is.")


def _from_report(file: Path, revision: Revision) -> Mapping[str, Any]:
    report = read_json(file)
    skill = report.get("skill") if isinstance(report, Mapping) else None
    if not isinstance(skill, Mapping) or "decision" not in report:
        raise ConfigError(f"{file} is no report of an experiment")
    if (skill.get("after"), skill.get("before")) != (revision.digest, revision.parent_digest):
        raise StoreError(
            f"{file} is about other versions than {revision.id}: it compares {str(skill.get('before'))[:12]} with "
            f"{str(skill.get('after'))[:12]}, the revision {revision.parent_digest[:12]} with {revision.digest[:12]}."
        )
    return {key: report[key] for key in _EVIDENCE if key in report}


def _from_file(file: Path) -> Mapping[str, Any]:
    evidence = read_json(file)
    if not isinstance(evidence, Mapping) or not evidence:
        raise ConfigError(f"{file} must hold a JSON object with evidence")
    return evidence


def _next(revision: Revision) -> str:
    return f"next: skillevo revisions approve {revision.id}" if revision.status is Status.PENDING_APPROVAL else ""


def _add_id(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("id", metavar="ID", help="revision, or the beginning of its id")


def _add_decision(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--reason", default="", metavar="TEXT", help="why, for the record")
    add_actor(parser)


def add_actor(parser: argparse.ArgumentParser) -> None:
    """Add the option that names who acts."""
    parser.add_argument("--actor", metavar="NAME", help="who decides (default: your login name)")


def _tell(context: Context, revision: Revision, sentence: str, further: str = "") -> None:
    if context.arguments.json:
        context.screen.json(revision.to_json())
        return
    if not further and revision.status is Status.ACTIVE:
        further = f"to undo: skillevo revisions rollback {shlex.quote(revision.skill)}"
    context.screen.lines(wrap(visible(sentence), context.screen.width))
    if further:
        context.screen.line(visible(further))

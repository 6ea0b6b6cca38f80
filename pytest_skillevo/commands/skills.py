"""`skillevo skills`: what agents use now, and whether it follows the published format."""

from __future__ import annotations

import argparse
import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from ..core.errors import ConfigError
from ..core.skill.folder import MAIN_FILE as MAIN
from ..core.suggest import did_you_mean
from ..report.text import clip, one_line, visible, wrap
from .context import Context, shown
from .screen import table
from .validation import ERROR, Finding, validate

if TYPE_CHECKING:
    from ..core.skill import Skill
    from ..store.repository import Library, Listing

_HEADING: Final = ("skill", "version", "state", "description")
_FAILED: Final = 1
_STATES: Final = {
    "edited": "edited since",
    "older": "an older version",
    "permissions": "other permissions",
    "unreadable": "unreadable",
    "missing": "missing",
}


def add_parser(groups: Any, shared: argparse.ArgumentParser) -> None:
    """Add the group with all its commands."""
    group = groups.add_parser("skills", help="list, show and validate the skills that agents use")
    commands = group.add_subparsers(title="commands", metavar="COMMAND", required=True)
    for name, run, help in (
        ("list", list_skills, "list the skills with their active versions"),
        ("show", show, "show one skill: what it says, its files, and its active version"),
        ("validate", validate_skills, "check skills against the Agent Skills format"),
    ):
        parser = commands.add_parser(name, parents=[shared], help=help, description=help)
        parser.set_defaults(run=run)
        if name == "show":
            parser.add_argument("name", metavar="NAME", help="name or folder of the skill")
        if name == "validate":
            parser.add_argument("what", nargs="*", metavar="NAME|FOLDER", help="default: all skills")
            parser.add_argument("--strict", action="store_true", help="fail for warnings too")


def list_skills(context: Context) -> None:
    """`skillevo skills list`"""
    library = _library(context)
    versions = _versions(context)
    if context.arguments.json:
        context.screen.json([_summary(one, versions) for one in library.index])
        return
    if not library.index:
        context.screen.line(f"no skills in {shown(context.skills)}")
    else:
        rows = [
            (one_line(one.name, 40), *versions.get(one.folder.name, ("-", "-")), one_line(one.description, 400))
            for one in library.index
        ]
        lines = table([_HEADING, *rows])
        context.screen.lines([clip(line, context.screen.width) for line in lines])
    for problem in library.problems:
        context.notes.lines(wrap(visible(problem), context.notes.width, first="note: "))


def show(context: Context) -> None:
    """`skillevo skills show NAME`"""
    library = _library(context)
    listing = library.find(context.arguments.name)
    if listing is None:
        known = [one.name for one in library.index]
        hint = did_you_mean(context.arguments.name, known)
        raise ConfigError(f"there is no skill {context.arguments.name!r} in {shown(context.skills)}. {hint}".rstrip())
    skill = library.skill(listing.name)
    assert skill is not None, "it is listed"
    versions = _versions(context)
    if context.arguments.json:
        context.screen.json(_summary(listing, versions) | _whole(skill, listing.folder))
        return
    version, state = versions.get(listing.folder.name, ("none: never published by skillevo", "-"))
    screen = context.screen
    screen.line(f"{one_line(skill.name, 70)}: {shown(listing.folder)}")
    facts = {
        "description": skill.description or "none",
        "version": version if state in ("-", "active") else f"{version}, {state}",
        "content": skill.digest[:12],
        "form": "structured" if skill.spec else "free-form",
        "components": ", ".join(skill.components),
    }
    for label, text in facts.items():
        screen.lines(wrap(one_line(text, 2_000), screen.width, first=f"  {label.ljust(13)}"))
    screen.line("files")
    for entry in _files(skill, listing.folder):
        mark = "  may be executed" if entry["executable"] else ""
        screen.line(visible(f"  {entry['path']}  {entry['bytes']:,} bytes{mark}"))
    findings = validate(listing.folder)
    if findings:
        screen.line(f"{len(findings)} remarks: skillevo skills validate {one_line(listing.folder.name, 64)}")


def validate_skills(context: Context) -> int:
    """`skillevo skills validate`: exit code 1 when a client could not load a skill (with --strict: for any remark)."""
    folders = _folders(context)
    found = {folder: validate(folder) for folder in folders}
    errors = sum(one.severity == ERROR for findings in found.values() for one in findings)
    warnings = sum(map(len, found.values())) - errors
    if context.arguments.json:
        context.screen.json(
            [
                {"skill": folder.name, "folder": str(folder), "findings": [one.to_json() for one in findings]}
                for folder, findings in found.items()
            ]
        )
    else:
        many = "" if len(folders) == 1 else "s"
        context.screen.line(f"{len(folders)} skill{many}: {errors} errors, {warnings} warnings")
        for folder, findings in found.items():
            for one in findings:
                context.screen.lines(_lines(folder, one, context.screen.width))
    return _FAILED if errors or (warnings and context.arguments.strict) else 0


def _lines(folder: Path, finding: Finding, width: int) -> list[str]:
    place = shown(folder) if finding.path == "." else f"{shown(folder)}/{finding.path}"
    where = place if finding.line is None else f"{place}:{finding.line}"
    return wrap(visible(f"{finding.severity}: {where}: {finding.message}"), width, first="  ", rest="    ")


def _folders(context: Context) -> list[Path]:
    """The folders that were asked for: names of skills, or paths."""
    if not context.arguments.what:
        root = context.skills
        if not root.is_dir():
            raise ConfigError(f"there is no folder {shown(root)}; name a skill's folder, or set skillevo_skills")
        return [
            folder for folder in sorted(root.iterdir()) if folder.is_dir() and not folder.name.startswith((".", "@"))
        ]
    folders = []
    for what in context.arguments.what:
        path = Path(what)
        # `skillevo skills validate x/SKILL.md`, as a shell completes it.
        path = path.parent if path.name == MAIN else path
        named = context.skills / what
        if not path.is_dir() and named.is_dir():
            path = named
        if not path.is_dir():
            raise ConfigError(f"{what!r} is neither a folder nor a skill in {shown(context.skills)}")
        folders.append(path)
    return folders


def _library(context: Context) -> Library:
    from ..store.repository import Repository

    return Repository(context.project.skills, context.scope).library()


def _versions(context: Context) -> Mapping[str, tuple[str, str]]:
    """By folder: the active version, and whether the folder still holds it."""
    if not context.has_store:
        return {}
    with context.store() as store:
        drifted = {one.skill: _STATES[one.kind] for one in store.drift()}
        return {one.skill: (one.revision, drifted.get(one.skill, "active")) for one in store.pointers()}


def _summary(listing: Listing, versions: Mapping[str, tuple[str, str]]) -> dict[str, Any]:
    revision, state = versions.get(listing.folder.name, (None, None))
    return {
        "name": listing.name,
        "description": listing.description,
        "folder": str(listing.folder),
        "managed": listing.managed,
        "revision": revision,
        "state": state,
    }


def _whole(skill: Skill, folder: Path) -> dict[str, Any]:
    return {
        "digest": skill.digest,
        "structured": skill.spec is not None,
        "components": dict(skill.components),
        "files": list(_files(skill, folder)),
        "warnings": list(skill.warnings),
    }


def _files(skill: Skill, folder: Path) -> Sequence[dict[str, Any]]:
    contents = {MAIN: skill.document, **skill.files}
    return [
        {"path": path, "bytes": len(data), "executable": os.name == "posix" and os.access(folder / path, os.X_OK)}
        for path, data in contents.items()
    ]

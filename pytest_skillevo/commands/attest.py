"""`skillevo evidence`: check the evidence file of a merge gate against the working tree, without running any model."""

from __future__ import annotations

import argparse
import json
import os
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Final

from ..core.canonical import digest
from ..core.errors import ConfigError, SkillError
from ..core.evidence import problems
from ..core.versions import changes, skills_in
from ..report.text import one_line, visible, wrap
from .context import Context, shown

DEFAULT_FILE: Final = "skillevo-evidence.json"
#: Bytes of an evidence file at the most; larger ones are something else.
_MOST_BYTES: Final = 50_000_000


def add_parser(groups: Any, shared: argparse.ArgumentParser) -> None:
    """Add the group `evidence`."""
    group = groups.add_parser("evidence", help="check the evidence of a merge gate")
    commands = group.add_subparsers(title="commands", metavar="COMMAND", required=True)
    check = commands.add_parser(
        "verify", parents=[shared], help="exit 0 if the file is whole, passed, and fits the working tree"
    )
    check.add_argument("file", nargs="?", default=DEFAULT_FILE, help=f"the evidence file (default: {DEFAULT_FILE})")
    check.add_argument(
        "--public-key", metavar="KEY", help="require a signature by this key (base64, PEM, or a file with one)"
    )
    check.add_argument(
        "--baseline", metavar="REF", help="require that it was made against the merge base with this git ref"
    )
    check.set_defaults(run=_verify)
    keys = commands.add_parser("keys", parents=[shared], help="print a new pair of keys for signing")
    keys.set_defaults(run=_keys)


def _verify(context: Context) -> int:
    file = Path(context.arguments.file)
    document = _read(file)
    found = problems(document)
    if not found:
        try:
            found = [*_signature(context, document), *_stale(context, document), *_baseline(context, document)]
            facts = list(_facts(document, signed=_signed(document), checked=_checked(context, document)))
        except (KeyError, TypeError, ValueError, AttributeError) as error:
            found = [f"the file is not whole: {type(error).__name__}: {error}"]
    if context.arguments.json:
        checked = _checked(context, document)
        context.screen.json({"file": str(file), "valid": not found, "signed": checked, "problems": found})
        return 1 if found else 0
    if found:
        context.screen.line(f"{visible(shown(file))}: not valid")
        for problem in found:
            context.screen.lines(wrap(one_line(problem, 600), context.screen.width, first="  - "))
        return 1
    context.screen.line(f"{visible(shown(file))}: valid")
    for text in facts:
        context.screen.lines(wrap(one_line(text, 600), context.screen.width, first="  "))
    return 0


def _signed(document: Any) -> bool:
    return isinstance(document, dict) and document.get("signature") is not None


def _checked(context: Context, document: Any) -> bool:
    return _signed(document) and _public_key(context) is not None


def _facts(document: Mapping[str, Any], *, signed: bool, checked: bool) -> Iterator[str]:
    for skill in document["skills"]:
        yield f"{skill['name']} ({skill['change']}): {skill['verdict']}, {skill['reason']}"
    if not document["skills"]:
        yield "no skill changed"
    if document["rules"]:
        rules = document["rules"]
        yield (
            f"by its own rules: goal {rules['goal']}, margin {rules['margin']:g}, alpha {rules['alpha']:g}, "
            f"{rules['repeats']} runs each, critical rule {rules['critical']}"
        )
    reference = document["reference"]
    yield f"compared with {reference['given']} ({str(reference['commit'] or reference['kind'])[:12]})"
    if document["accepted"]:
        yield f"{document['accepted']['by']} let INCONCLUSIVE pass: {document['accepted']['reason']}"
    if checked:
        yield "signed with the key that was asked for"
    elif signed:
        yield "signed, but by whom nobody checked: give --public-key"
    else:
        yield "not signed: whoever can write the file could have made it up"


def _read(file: Path) -> Any:
    try:
        if file.exists() and not (file.is_file() or file.is_dir()):
            raise ConfigError(f"{file}: not a file")
        if file.stat().st_size > _MOST_BYTES:
            raise ConfigError(f"{file}: too large for an evidence file")
        return json.loads(file.read_text(encoding="utf-8"))
    except OSError as error:
        raise ConfigError(f"{file}: cannot be read: {error.strerror or error}") from None
    except (ValueError, RecursionError):
        raise ConfigError(f"{file}: not a JSON file") from None


def _public_key(context: Context) -> str | None:
    from ..gate.signing import PUBLIC_KEY

    given: str = context.arguments.public_key or os.environ.get(PUBLIC_KEY, "").strip()
    if not given:
        return None
    try:
        path = Path(given)
        return path.read_text(encoding="utf-8").strip() if path.is_file() else given
    except (OSError, ValueError):
        return given


def _signature(context: Context, document: Mapping[str, Any]) -> list[str]:
    from ..gate.signing import signature_problems

    return signature_problems(document, _public_key(context))


def _stale(context: Context, document: Mapping[str, Any]) -> Iterator[str]:
    """Skills and files of the working tree that are not what was judged."""
    try:
        now = {name: skill.digest for name, skill in skills_in(context.project.skills).items()}
    except SkillError as error:
        yield str(error)
        return
    then = document["all_skills"]
    for name in sorted(now.keys() | then.keys()):
        if name not in then:
            yield f"stale: the skill {name} was not there when the gate ran"
        elif name not in now:
            yield f"stale: the skill {name} is gone since the gate ran"
        elif now[name] != then[name]:
            yield f"stale: the skill {name} changed after the gate ran"
    files = {path: value for skill in document["skills"] for path, value in skill["files"].items()}
    for path, value in sorted(files.items()):
        if _digest(context.project.root / path) != value:
            yield f"stale: {path}, which decides scores, changed after the gate ran"


def _digest(path: Path) -> str | None:
    try:
        return digest(path.read_bytes())
    except OSError:
        return None


def _baseline(context: Context, document: Mapping[str, Any]) -> list[str]:
    """Whether every skill that differs from the merge base with the ref was judged, against that very commit."""
    from ..gate.reference import Place, laid_out

    given = context.arguments.baseline
    if given is None:
        return []
    project = context.project
    place = Place(Path.cwd(), project.root, project.skills, context.store)
    with laid_out(given, place) as reference:
        if reference.commit != document["reference"]["commit"]:
            return [f"made against {document['reference']['commit']}, not against the {reference.label}"]
        expected = {
            (one.name, one.before.digest if one.before.exists else None, one.after.digest if one.after.exists else None)
            for one in changes(skills_in(reference.skills), skills_in(project.skills))
        }
    told = {(skill["name"], skill["before"], skill["after"]) for skill in document["skills"]}
    return [f"the change of {name} was not judged" for name, _, _ in sorted(expected - told, key=str)]


def _keys(context: Context) -> int:
    from ..gate.signing import PRIVATE_KEY, PUBLIC_KEY, new_keys

    private, public = new_keys()
    if context.arguments.json:
        context.screen.json({"private": private, "public": public})
    else:
        context.screen.line(f"{PRIVATE_KEY}={private}")
        context.screen.line(f"{PUBLIC_KEY}={public}")
        context.notes.line("keep the first one secret: in the CI's secret store, never in the repository")
    return 0

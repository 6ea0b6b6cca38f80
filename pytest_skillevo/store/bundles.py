"""Bundles: a revision as one JSON document, to carry it from a machine that is thrown away into the team's store.

    {"kind": "skillevo-revision", "schema_version": 1,
     "revision": {...},                              as in `skillevo revisions show --json`
     "content": {"digest": "...", "files": [...]},   files: {"path", "text" or "base64", "executable"}
     "parent": {"digest": "...", "files": [...]},    what it was judged against; no files where there was nothing
     "history": [...]}

A bundle is data from outside: nothing in it is believed but its bytes, and those only when they have the digests that
it names. It enters as something that a person must approve.
"""

from __future__ import annotations

import base64
import binascii
import re
from collections.abc import Callable, Iterable, Mapping
from typing import Any, Final

from ..core.errors import SkillError, StoreError
from ..core.revisions import Revision, Status
from ..core.skill import Skill
from ..core.skill.folder import MAIN_FILE as MAIN
from .lineage import action_of
from .publisher import check_name
from .revisions import Proposal
from .snapshots import skill_from, tree_of
from .store import Store

KIND: Final = "skillevo-revision"
SCHEMA_VERSION: Final = 1
#: Source of what came in a bundle, followed by its source where it was made.
SOURCE: Final = "bundle"
#: The parts of a report that are the evidence of its revision.
_EVIDENCE: Final = ("experiment", "model", "dataset", "confirmation", "decision")
_LONGEST: Final = 1_000
#: Bytes of both versions together that a report takes along.
LARGEST_IN_REPORT: Final = 2_000_000
_CONTROL: Final = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f]")


def export_revision(store: Store, revision: Revision) -> dict[str, Any]:
    """The bundle of a revision."""
    return {
        "kind": KIND,
        "schema_version": SCHEMA_VERSION,
        "revision": revision.to_json(),
        "content": version_json(store.skill_of(revision), revision.executable),
        "parent": version_json(store.parent_of(revision)),
        "history": [event.to_json() for event in store.history(revision)],
    }


def version_json(skill: Skill, executable: Iterable[str] | None = None) -> dict[str, Any]:
    """A skill with all its files; a report carries two of these under skill.versions, `before` and `after`."""
    known = None if executable is None else set(executable)
    files: list[dict[str, Any]] = []
    for path, content in sorted(tree_of(skill).items()):
        files.append({"path": path, **_encoded(content), "executable": None if known is None else path in known})
    return {"digest": skill.digest, "files": files}


def versions_json(store: Store, revision: Revision, redact: Callable[[str], str]) -> dict[str, Any] | None:
    """What a report carries as skill.versions; None where it would be too large, or would tell a secret."""
    before, after = store.parent_of(revision), store.skill_of(revision)
    files = [content for skill in (before, after) for content in tree_of(skill).values()]
    if sum(map(len, files)) > LARGEST_IN_REPORT:
        return None
    texts = [content.decode("utf-8", "replace") for content in files]
    if any(redact(text) != text for text in texts):
        return None
    return {"before": version_json(before), "after": version_json(after, revision.executable)}


def import_revision(store: Store, data: Any, actor: str) -> Revision:
    """Enter the revision of a bundle, or of a report that carries its versions; the same one again gives what is there.

    Raises StoreError for anything that is not whole.
    """
    bundle = _bundle(data)
    told = _object(bundle, "revision")
    name = _text(told, "skill")
    check_name(name)
    content, executable = _version(bundle, "content", name)
    parent, _ = _version(bundle, "parent", name)
    if told.get("digest") not in (None, content.digest) or told.get("parent_digest") not in (None, parent.digest):
        raise StoreError("the bundle's revision names other versions than it carries; it is damaged or was changed.")
    status = told.get("status")
    if status in (Status.REJECTED.value, Status.EXPIRED.value):
        raise StoreError(f"the revision of {name} was {status} where it was made; nothing was imported.")
    evidence = told.get("evidence", {})
    if not isinstance(evidence, Mapping):
        raise StoreError("the bundle's evidence is no object.")
    title = told.get("name")
    proposal = Proposal(
        name,
        content,
        parent,
        action_of(parent, content),
        f"{SOURCE}:{_text(told, 'source')}",
        dict(evidence),
        title if isinstance(title, str) else None,
        executable,
    )
    least = Status.PENDING_EVAL if status == Status.PENDING_EVAL.value else Status.PENDING_APPROVAL
    return store.add(proposal, status=least, actor=actor, reason=f"imported, {_text(told, 'id')} where it was made")


def _bundle(data: Any) -> Mapping[str, Any]:
    if not isinstance(data, Mapping):
        raise StoreError("this is neither a bundle nor a report.")
    if data.get("kind") == KIND:
        if data.get("schema_version") != SCHEMA_VERSION:
            raise StoreError(
                f"the bundle has schema version {data.get('schema_version')!r}, this skillevo reads {SCHEMA_VERSION}. "
                "Upgrade pytest-skillevo, or export it again with this version."
            )
        return data
    return _from_report(data)


def _from_report(report: Mapping[str, Any]) -> Mapping[str, Any]:
    """The bundle that a report amounts to."""
    skill, revision, experiment = report.get("skill"), report.get("revision"), report.get("experiment")
    if not isinstance(skill, Mapping) or not isinstance(experiment, Mapping):
        raise StoreError("this is neither a bundle nor a report.")
    if not isinstance(revision, Mapping):
        raise StoreError("the report has no revision: its experiment ended without one, so there is nothing to import.")
    versions = skill.get("versions")
    if not isinstance(versions, Mapping):
        raise StoreError(
            "the report does not carry the files of its skill. Where it was made, write a bundle: "
            f"skillevo revisions export {revision.get('id', 'ID')} --output FILE"
        )
    told = {
        "id": revision.get("id"),
        "skill": skill.get("name"),
        "source": f"experiment:{experiment.get('id')}",
        "status": revision.get("status"),
        "evidence": {key: report[key] for key in _EVIDENCE if key in report},
    }
    return {"revision": told, "content": versions.get("after"), "parent": versions.get("before")}


def _version(bundle: Mapping[str, Any], key: str, name: str) -> tuple[Skill, tuple[str, ...] | None]:
    part = _object(bundle, key)
    entries = part.get("files")
    if not isinstance(entries, list) or not all(isinstance(entry, Mapping) for entry in entries):
        raise StoreError(f"the bundle's {key} has no list of files.")
    tree = {_text(entry, "path"): _decoded(entry) for entry in entries}
    if len(tree) != len(entries):
        raise StoreError(f"the bundle's {key} has a file twice.")
    if tree and MAIN not in tree:
        raise StoreError(f"the bundle's {key} has no {MAIN}.")
    try:
        skill = skill_from(name, tree)
    except (SkillError, StoreError) as error:
        raise StoreError(f"the bundle's {key} is no skill: {error}") from None
    if part.get("digest") != skill.digest:
        raise StoreError(f"the bundle's {key} does not have the digest that it names; it is damaged or was changed.")
    marked = [entry for entry in entries if entry.get("executable") is not None]
    return skill, tuple(sorted(_text(one, "path") for one in marked if one["executable"] is True)) if marked else None


def _encoded(content: bytes) -> dict[str, str | None]:
    """As text, if that survives the cleaning of a report, which makes control characters visible."""
    try:
        text = content.decode("utf-8")
    except UnicodeDecodeError:
        text = None
    if text is None or _CONTROL.search(text):
        return {"text": None, "base64": base64.b64encode(content).decode("ascii")}
    return {"text": text, "base64": None}


def _decoded(entry: Mapping[str, Any]) -> bytes:
    text, packed = entry.get("text"), entry.get("base64")
    try:
        if isinstance(text, str) and packed is None:
            return text.encode("utf-8")
        if isinstance(packed, str) and text is None:
            return base64.b64decode(packed, validate=True)
    except (UnicodeEncodeError, binascii.Error, ValueError):
        pass
    raise StoreError(f"the bundle's file {_text(entry, 'path')!r} has no content that can be read.")


def _object(whole: Mapping[str, Any], key: str) -> Mapping[str, Any]:
    value = whole.get(key)
    if not isinstance(value, Mapping):
        raise StoreError(f"the bundle has no {key}.")
    return value


def _text(whole: Mapping[str, Any], key: str) -> str:
    value = whole.get(key)
    if not isinstance(value, str) or not value.strip() or len(value) > _LONGEST:
        raise StoreError(f"the bundle is not whole: {key} must be text of at most {_LONGEST} characters.")
    return value

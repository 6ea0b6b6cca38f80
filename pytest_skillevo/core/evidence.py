"""The evidence file of a merge gate: what was judged and how it came out, so that it can be checked without any model.

The digest covers the whole document and so tells an edited file; the verdicts are made once more from the paired runs
in it, so that a verdict cannot be written against the figures. Who wrote the file, only a signature tells
(docs/merge-gate.md).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

from .canonical import digest_json
from .errors import SkillevoError
from .verdict import PairedCase, Rules, Verdict, confirm_together

FORMAT: Final = "skillevo-evidence"
VERSION: Final = 1
#: Fields that the digest does not cover.
_OUTSIDE: Final = ("digest", "signature")


def sealed(body: Mapping[str, Any]) -> dict[str, Any]:
    """The document: the body (JSON) with its digest, not signed."""
    document = {"format": FORMAT, "version": VERSION, **body}
    return {**document, "digest": digest_json(document), "signature": None}


def body_digest(document: Mapping[str, Any]) -> str:
    """The digest that a document ought to have. Raises ValueError for what no JSON may hold."""
    return digest_json({key: value for key, value in document.items() if key not in _OUTSIDE})


def problems(document: Any) -> list[str]:
    """What is wrong with the document itself, in sentences; nothing for one that is whole and says the gate passed."""
    if not isinstance(document, dict) or document.get("format") != FORMAT:
        return ["this is no evidence file of a skill gate"]
    if document.get("version") != VERSION:
        return [f"version {document.get('version')!r} of the format is not known here; {VERSION} is"]
    try:
        if document.get("digest") != body_digest(document):
            return ["the file was edited: its digest does not fit what it says"]
        return [*_against_figures(document), *_against_itself(document)]
    except (KeyError, TypeError, ValueError, AttributeError, SkillevoError) as error:
        return [f"the file is not whole: {type(error).__name__}: {error}"]


def _against_figures(document: Mapping[str, Any]) -> list[str]:
    """Verdicts that the paired runs do not give."""
    with_runs = {skill["name"]: skill for skill in document["skills"] if skill["pairs"]}
    if not with_runs:
        return []
    rules = Rules(**document["rules"])
    runs = {name: (_pairs(skill["pairs"]), _reruns(skill["reruns"])) for name, skill in with_runs.items()}
    again = confirm_together(runs, rules)
    # A gate only lowers what the figures say: a better verdict than theirs was written by hand.
    return [
        f"{name}: {skill['verdict']} does not follow from its runs, which give {again[name].decision.verdict}"
        for name, skill in with_runs.items()
        if _rank(skill["verdict"]) > _rank(again[name].decision.verdict)
    ]


def _against_itself(document: Mapping[str, Any]) -> list[str]:
    skills, accepted = document["skills"], document["accepted"]
    found = []
    names = [skill["name"] for skill in skills]
    if len(set(names)) < len(names):
        found.append("a skill is in it twice")
    for skill in skills:
        allowed = [Verdict.ACCEPT, *([Verdict.INCONCLUSIVE] if accepted else [])]
        if skill["pairs"] and not skill["files"]:
            found.append(f"{skill['name']}: no file is named that decides its scores")
        if skill["merge"] and (skill["verdict"] not in allowed or not skill["pairs"]):
            found.append(f"{skill['name']}: {skill['verdict']} does not let it be merged")
    if document["simulated"] and not document["allow_simulated"] and any(skill["merge"] for skill in skills):
        found.append("the simulated model ran, and it was not allowed to let anything pass")
    if document["passed"] != all(skill["merge"] for skill in skills):
        found.append("whether the gate passed does not fit the skills in it")
    if not document["passed"]:
        stopped = ", ".join(skill["name"] for skill in skills if not skill["merge"])
        found.append(f"the gate did not pass: {stopped or 'something else failed'}")
    return found


def _rank(verdict: str) -> int:
    return {Verdict.ACCEPT: 2, Verdict.INCONCLUSIVE: 1}.get(Verdict(verdict), 0)


def _pairs(data: Sequence[Mapping[str, Any]]) -> list[PairedCase]:
    return [PairedCase.from_json(pair) for pair in data]


def _reruns(data: Mapping[str, Mapping[str, Any]]) -> dict[str, PairedCase]:
    return {case: PairedCase.from_json(pair) for case, pair in data.items()}

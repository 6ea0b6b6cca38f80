"""What a merge gate writes: the reports of its comparisons, a comment for the pull request, and the evidence."""

from __future__ import annotations

import json
import os
import platform
from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final

import pytest

from .. import __version__, options, reporting
from ..collection import build_cases, home_folder, shown_path, skill_items
from ..core.errors import ConfigError
from ..core.evidence import sealed
from ..core.gates.redaction import redactor, secret_values
from ..core.skill import Skill
from ..core.versions import Change
from ..report.gate import GateLine, GateScreen, gate_markdown
from ..report.json_file import clean, write_report, write_text
from .reference import Reference, head
from .suite import Judged, command_of

#: The comment that a gate writes when no other place is named.
COMMENT: Final = "skillevo-report.md"


def paths_of(config: pytest.Config) -> tuple[Path, list[Path]]:
    """Where the evidence and the reports go. Raises pytest.UsageError for what is no place for a file."""
    evidence = config.invocation_params.dir / options.value_of(config, "evolve_evidence")
    if evidence.is_dir() or not evidence.parent.is_dir():
        raise pytest.UsageError(f"--evolve-evidence={evidence}: not a place for a file: a folder, or in none")
    if not options.value_of(config, "evolve_report"):
        return evidence, [config.invocation_params.dir / COMMENT]
    return evidence, reporting.report_paths(config, "gate")


def write_files(
    session: pytest.Session,
    screen: GateScreen,
    reference: Reference,
    judged: Mapping[str, Judged],
    skills: Mapping[str, Skill],
    changed: Sequence[Change],
) -> list[str]:
    """Write everything of a cleaned screen and say where it is. Raises ConfigError when a file cannot be written."""
    config = session.config
    redact = redactor(secret_values(os.environ))
    evidence, reports = paths_of(config)
    written: list[Path] = []
    for path in reports:
        if path.suffix.lower() == ".md":
            write_text(path, gate_markdown(screen))
        elif path.suffix.lower() == ".html":
            write_text(path, _page(config, screen))
        else:
            written += _each(config, screen.lines, path)
            continue
        written.append(path)
    for report in reports_of(screen):
        write_report(home_folder(config) / "reports" / f"{report['experiment']['id']}.json", report)
    _write_evidence(evidence, _body(session, screen, reference, judged, skills, changed, redact))
    read = f"read: {', '.join(shown_path(config, path) for path in written)}   " if written else ""
    return [f"{read}evidence: {shown_path(config, evidence)}"]


def reports_of(screen: GateScreen) -> list[Mapping[str, Any]]:
    """The reports of all comparisons that were made."""
    return [line.report for line in screen.lines if line.report is not None]


def cleaned_screen(screen: GateScreen) -> GateScreen:
    """The screen with its reports without secrets and fit for every file."""
    redact = redactor(secret_values(os.environ))
    lines = [line if line.report is None else replace(line, report=clean(line.report, redact)) for line in screen.lines]
    return replace(screen, lines=tuple(lines))


def _page(config: pytest.Config, screen: GateScreen) -> str:
    """The page of all comparisons; conversations of holdout cases stay closed."""
    from ..report.details import read_details
    from ..report.html import gate_page
    from ..wiring import open_store

    found = {line.name: line.report for line in screen.lines if line.report is not None}
    if not found:
        return gate_page(screen, {})
    with open_store(config) as store:
        return gate_page(screen, {name: read_details(store, report) for name, report in found.items()})


def _each(config: pytest.Config, lines: Sequence[GateLine], path: Path) -> list[Path]:
    """Write one report a skill; several get the skill's name into theirs. Gives the files."""
    found = {line.name: line.report for line in lines if line.report is not None}
    own = {name: path if len(found) == 1 else path.with_name(f"{path.stem}-{name}{path.suffix}") for name in found}
    for name, report in found.items():
        reporting.write_reports(config, report, [own[name]])
    return list(own.values())


def _write_evidence(path: Path, body: Mapping[str, Any]) -> None:
    from .signing import sign_if_keyed

    document = sign_if_keyed(sealed(body))
    try:
        write_text(path, json.dumps(document, indent=1, sort_keys=True, ensure_ascii=True) + "\n")
    except OSError as error:
        raise ConfigError(f"{path}: cannot be written: {error.strerror or error}") from None


def _body(
    session: pytest.Session,
    screen: GateScreen,
    reference: Reference,
    judged: Mapping[str, Judged],
    skills: Mapping[str, Skill],
    changed: Sequence[Change],
    redact: Any,
) -> dict[str, Any]:
    config = session.config
    accept = config.getoption("evolve_accept_reason")
    rules = next((dict(one.rules) for one in judged.values()), None)
    body = {
        "created": datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ"),
        "command": command_of(config),
        "versions": {"pytest_skillevo": __version__, "pytest": pytest.__version__, "python": platform.python_version()},
        "reference": {"given": reference.given, "kind": reference.kind, "commit": reference.commit},
        "head": head(config.rootpath),
        "rules": rules,
        "simulated": screen.simulated,
        "allow_simulated": bool(config.getoption("allow_simulated")),
        "accepted": {"by": _actor(), "reason": accept} if accept else None,
        "passed": screen.passed,
        "skills": [
            _skill(session, line, change, judged.get(line.name))
            for line, change in zip(screen.lines, changed, strict=True)
        ],
        "all_skills": {name: skill.digest for name, skill in sorted(skills.items())},
    }
    cleaned: dict[str, Any] = clean(body, redact)
    return cleaned


def _skill(session: pytest.Session, line: GateLine, change: Change, found: Judged | None) -> dict[str, Any]:
    from ..wiring import evaluator_digests

    marked = [one for one in build_cases(skill_items(session.items)) if one.case.skill in (change.name, change.was)]
    part: dict[str, Any] = {
        "name": line.name,
        "change": change.kind,
        "was": change.was,
        "before": change.before.digest if change.before.exists else None,
        "after": change.after.digest if change.after.exists else None,
        "verdict": str(line.verdict),
        "reason": line.reason,
        "merge": line.merge,
        "files": evaluator_digests(session, marked),
        "pairs": [],
        "reruns": {},
    }
    if found is not None:
        report = found.report
        part |= {
            "experiment": report["experiment"]["id"],
            "fingerprint": report["experiment"]["fingerprint"],
            "seed": report["experiment"]["seed"],
            "dataset": report["dataset"]["fingerprint"],
            "models": report["model"]["roles"],
            "pairs": [pair.to_json() for pair in found.pairs],
            "reruns": {case: pair.to_json() for case, pair in found.reruns.items()},
        }
    return part


def _actor() -> str:
    from ..wiring import actor

    return actor()

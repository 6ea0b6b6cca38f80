"""Where a finished report goes: files by their suffix, and on GitHub Actions the step summary and annotations."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path, PurePosixPath
from typing import Any, Final

import pytest

from . import options
from .collection import home_folder

#: Kinds of report by the suffix of the file.
SUFFIXES: Final = (".json", ".md", ".html")


def report_paths(config: pytest.Config, experiment: str) -> list[Path]:
    """Where the report goes: every --evolve-report, else the store's folder. Raises pytest.UsageError."""
    given = options.value_of(config, "evolve_report")
    if not given:
        return [home_folder(config) / "reports" / f"{experiment}.json"]
    for text in given:
        if Path(text).suffix.lower() not in SUFFIXES:
            raise pytest.UsageError(f"--evolve-report={text}: the suffix chooses the kind: use {', '.join(SUFFIXES)}")
        path = config.invocation_params.dir / text
        if path.is_dir() or any(parent.exists() and not parent.is_dir() for parent in path.parents):
            raise pytest.UsageError(f"--evolve-report={text}: not a place for a file: a folder, or below a file")
    return [config.invocation_params.dir / text for text in given]


def write_reports(config: pytest.Config, report: Mapping[str, Any], paths: Sequence[Path]) -> None:
    """Write the cleaned report to every path. Raises ConfigError when a file cannot be written."""
    from .report.json_file import write_report, write_text
    from .report.markdown import markdown

    for path in paths:
        suffix = path.suffix.lower()
        if suffix == ".html":
            write_text(path, _page(config, report))
        elif suffix == ".md":
            write_text(path, markdown(report))
        else:
            write_report(path, report)


def _page(config: pytest.Config, report: Mapping[str, Any]) -> str:
    """The HTML page with what the store adds; conversations of holdout cases stay closed."""
    from .report.details import read_details
    from .report.html import page
    from .wiring import open_store

    with open_store(config) as store:
        return page(report, read_details(store, report))


def github_lines(config: pytest.Config, annotate: Callable[[str], list[str]], comment: str) -> list[str]:
    """On GitHub Actions: add the comment to the step summary, and give the annotations to print.

    `annotate` gets the folder of the node ids inside the repository.
    """
    from .report.github import add_to_summary

    lines = []
    if os.environ.get("GITHUB_ACTIONS") == "true":
        lines += annotate(_in_repository(config.rootpath))
    summary = os.environ.get("GITHUB_STEP_SUMMARY")
    if summary:
        try:
            if not add_to_summary(Path(summary), comment):
                lines.append("skillevo: the step summary is full; the report is in its files")
        except OSError as error:
            # The verdict stands whether or not the runner takes the summary.
            lines.append(f"skillevo: the step summary could not be written: {error.strerror or error}")
    return lines


def _in_repository(root: Path) -> str:
    workspace = os.environ.get("GITHUB_WORKSPACE")
    if not workspace:
        return ""
    try:
        inside = root.resolve().relative_to(Path(workspace).resolve())
    except ValueError:
        return ""
    return "" if inside == Path() else str(PurePosixPath(inside))

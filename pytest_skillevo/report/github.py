"""What GitHub Actions shows of a report: annotations (workflow commands) and step summary (spec/ecosystem.md 3.5)."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Final

from . import story
from .evidence import critical_sentences, losses
from .text import one_line, visible

Json = Mapping[str, Any]

#: GitHub shows about this many annotations of a kind per step and drops the rest without a word.
MOST_ANNOTATIONS: Final = 10
#: A step summary over 1 MiB is dropped whole; other commands of the same step may write to it too.
SUMMARY_BYTES: Final = 900 * 1024

_KINDS: Final = {"ACCEPT": "notice", "NO_CHANGE": "notice", "INCONCLUSIVE": "warning", "REJECT": "warning"}
_TEXT: Final = 500


def annotate(report: Json, folder: str = "") -> list[str]:
    """Workflow commands that show the verdict and the worst cases, at most ten of them, each one line.

    `folder` is where node ids begin, relative to the repository and in POSIX form; empty for its root.
    """
    decision = report["decision"]
    name = one_line(report["skill"]["name"], 64)
    title = f"skill {name}: {', '.join(story.status_words(report))}"
    if story.is_simulated(report):
        title += " (simulated model)"
    text = " ".join([story.reason(report), *critical_sentences(report)])
    lines = [command(_KINDS.get(decision["verdict"], "error"), {"title": title}, text)]
    lines += case_annotations(report, folder)
    return lines[:MOST_ANNOTATIONS]


def case_annotations(report: Json, folder: str) -> Iterator[str]:
    """A warning at the file of every case that got worse, the greatest loss first."""
    for row in losses(report):
        path = row["case"].partition("::")[0]
        mark = "critical holdout case" if row["critical"] else "holdout case"
        text = f"{mark} got worse: {row['before']:.2f} -> {row['after']:.2f}: {row['case']}"
        yield command("warning", {"file": f"{folder}/{path}" if folder else path, "title": "skillevo"}, text)


def command(kind: str, properties: Mapping[str, str], text: str) -> str:
    """A workflow command of one line, its parts escaped as the runner wants them."""
    given = ",".join(f"{key}={_property(value)}" for key, value in properties.items())
    return f"::{kind} {given}::{_data(one_line(text, _TEXT))}"


def _data(text: str) -> str:
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(text: str) -> str:
    return _data(visible(text)).replace(":", "%3A").replace(",", "%2C")


def add_to_summary(path: Path, markdown: str) -> bool:
    """Append Markdown to the step summary, unless it would no longer fit. Raises OSError."""
    data = markdown.encode("utf-8", "replace")
    with path.open("ab") as summary:
        if os.fstat(summary.fileno()).st_size + len(data) > SUMMARY_BYTES:
            return False
        summary.write(data)
    return True

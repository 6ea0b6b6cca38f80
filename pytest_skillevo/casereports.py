"""One ordinary pytest report per case at the end of an experiment, for the terminal, JUnit and other plugins."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final

import pytest

if TYPE_CHECKING:
    from .report.gate import GateLine

#: Figures of a case that become properties of its report; empty is unknown.
_PROPERTIES: Final = (
    *("split", "critical", "family", "level", "before", "after"),
    *("tokens_before", "tokens_after", "dropped_pairs"),
)


def publish(session: pytest.Session, report: Mapping[str, Any], items: Sequence[pytest.Item]) -> None:
    """Report every case that ran: its figures as properties, skipped ones as skipped, missing ones as failed.

    Cases that no stage ran are not reported. A lower score fails no case: the verdict decides, not a single test.
    """
    rows = {row["case"]: row for row in (report["confirmation"] or {}).get("cases", ())}
    left_out = {row["case"]: row["why"] for row in report["dataset"]["left_out"]}
    for item in items:
        if item.nodeid in rows:
            _publish(session, item, rows[item.nodeid])
        elif item.nodeid in left_out:
            _skip(session, item, left_out[item.nodeid])


def publish_gate(session: pytest.Session, line: GateLine) -> None:
    """The cases of a changed skill, which may be those of the reference, and one test report for the decision.

    So JUnit and others hear whether it may be merged and why.
    """
    session.testscollected += 1  # the decision; pytest's percentage would pass 100
    if line.report is not None:
        for row in line.report["confirmation"]["cases"]:
            path, _, name = row["case"].partition("::")
            _reports(session, row["case"], (path, None, name), {}, *_figures(row))
    nodeid = f"skill gate::{line.name}"
    outcome, text = ("passed", None) if line.merge else ("failed", f"{line.verdict}: {line.reason}")
    properties = [("skillevo.verdict", str(line.verdict)), ("skillevo.change", line.kind)]
    _reports(session, nodeid, ("skill gate", None, line.name), {}, [("call", outcome, text)], properties)


def _publish(session: pytest.Session, item: pytest.Item, row: Mapping[str, Any]) -> None:
    _log(session, item, *_figures(row))


def _figures(row: Mapping[str, Any]) -> tuple[list[tuple[str, str, Any]], list[tuple[str, str]]]:
    """The phases of a case's report, and its properties."""
    missing = row["before"] is None or row["after"] is None
    properties = [(f"skillevo.{name}", _text(row[name])) for name in _PROPERTIES]
    properties.append(("skillevo.repeats", str(len(row["after_runs"]))))
    text = "no pair of runs gave scores on both sides: infrastructure errors" if missing else None
    return [("setup", "passed", None), ("call", "failed" if missing else "passed", text)], properties


def _text(value: Any) -> str:
    if value is None:
        return ""
    return f"{value:.6g}" if isinstance(value, float) else str(value)


def _skip(session: pytest.Session, item: pytest.Item, why: str) -> None:
    path, line, _ = item.location
    _log(session, item, [("setup", "skipped", (path, (line or 0) + 1, why))], [])


def _log(
    session: pytest.Session, item: pytest.Item, phases: list[tuple[str, str, Any]], properties: list[tuple[str, str]]
) -> None:
    _reports(session, item.nodeid, item.location, dict.fromkeys(item.keywords, 1), phases, properties)


def _reports(
    session: pytest.Session,
    nodeid: str,
    location: tuple[str, int | None, str],
    keywords: Mapping[str, Any],
    phases: list[tuple[str, str, Any]],
    properties: list[tuple[str, str]],
) -> None:
    hook = session.config.hook
    hook.pytest_runtest_logstart(nodeid=nodeid, location=location)
    for when, outcome, text in [*phases, ("teardown", "passed", None)]:
        hook.pytest_runtest_logreport(
            report=pytest.TestReport(
                nodeid=nodeid,
                location=location,
                keywords=keywords,
                outcome=outcome,  # type: ignore[arg-type]
                longrepr=text,
                when=when,  # type: ignore[arg-type]
                user_properties=properties,
            )
        )
    hook.pytest_runtest_logfinish(nodeid=nodeid, location=location)

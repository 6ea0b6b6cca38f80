"""The decision in the JUnit file (--junitxml): a test case of its own, and properties of the whole suite.

Readers of JUnit files count cases. Without a case for the decision a comparison that is not valid would look green,
because a single case that got worse fails nothing.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final

import pytest

from .report import figures, story
from .report.text import one_line

Json = Mapping[str, Any]

#: First part of the decision's node id; JUnit shows it as the class.
_CLASS: Final = "skillevo.decision"


def add_decision(config: pytest.Config, report: Json, *, failed: bool) -> None:
    """Add the decision of the cleaned report to the JUnit file of this run, if one is written."""
    log = _junit_log(config)
    if log is None:
        return
    properties = [(f"skillevo.{name}", value) for name, value in _properties(report)]
    for name, value in properties:
        log.add_global_property(name, value)
    skill = one_line(report["skill"]["name"], 64)
    for when in ("setup", "call", "teardown"):
        wrong = failed and when == "call"
        log.pytest_runtest_logreport(
            pytest.TestReport(
                nodeid=f"{_CLASS}::{skill}",
                location=(_CLASS, None, skill),
                keywords={},
                outcome="failed" if wrong else "passed",
                longrepr=" ".join(story.sentences(report)) if wrong else None,
                when=when,
                user_properties=[*properties],
            )
        )


def _junit_log(config: pytest.Config) -> Any:
    """pytest's writer of the file; None when none is written."""
    try:
        from _pytest.junitxml import xml_key
    except ImportError:  # private: it may move, and then there is only less in the file
        return None
    return config.stash.get(xml_key, None)


def _properties(report: Json) -> Iterator[tuple[str, str]]:
    experiment, skill, decision = report["experiment"], report["skill"], report["decision"]
    yield "skill", one_line(skill["name"], 64)
    yield "verdict", story.verdict_words(decision["verdict"])
    yield "rule", decision["rule"]
    yield "reason", story.reason(report)
    yield "simulated", str(story.is_simulated(report)).lower()
    yield "experiment", experiment["id"]
    yield "seed", str(experiment["seed"])
    yield "goal", experiment["goal"]
    yield "repeats", str(experiment["repeats"])
    yield "variant.before", skill["before"]
    yield "variant.after", skill["after"]
    yield "dataset", report["dataset"]["fingerprint"]
    if report["confirmation"] is not None:
        holdout = report["confirmation"]["holdout"]
        yield "score.before", figures.score(holdout["mean_before"])
        yield "score.after", figures.score(holdout["mean_after"])
    tokens = [story.used_tokens(part) for part in report["usage"].values()]
    yield "tokens", figures.UNKNOWN if None in tokens else str(sum(each for each in tokens if each is not None))
    cost = story.total_cost(report["usage"])
    yield "cost_usd", figures.UNKNOWN if cost is None else f"{cost:f}"

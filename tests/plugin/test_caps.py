"""Caps on tokens and money hold in every stage: reserved before anything is sent out, settled after it."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Callable
from decimal import Decimal
from typing import Any

import pytest

Evolve = Callable[..., pytest.RunResult]

#: Cheap in feedback and validation (10 tokens, 1 USD), dear in the holdout, whose cases are the last.
USE = '    rollout.usage("agent", input_tokens={holdout} if n > 6 else 10, output_tokens=0, usd="{usd}")\n    rollout.record'


def _costing(suite: pytest.Pytester, holdout: int = 10, usd: str = "1") -> None:
    path = suite.path / "test_suite.py"
    path.write_text(path.read_text().replace("    rollout.record", USE.format(holdout=holdout, usd=usd)))


def _report(suite: pytest.Pytester) -> dict[str, Any]:
    report: dict[str, Any] = json.loads((suite.path / "report.json").read_text(encoding="utf-8"))
    return report


def _tokens(report: dict[str, Any]) -> int:
    return sum(usage["input_tokens"] + usage["output_tokens"] for usage in report["usage"].values())


def _openings(suite: pytest.Pytester) -> int:
    with sqlite3.connect(suite.path / ".skillevo" / "store.db") as connection:
        (count,) = connection.execute("select count(*) from openings").fetchone()
    return int(count)


def test_a_cap_that_is_reached_in_the_confirmation_blocks_and_opens_no_holdout(
    evolve: Evolve, suite: pytest.Pytester
) -> None:
    _costing(suite, holdout=100)
    # The reserve after the search is 10 tokens for each of 24 + 48 + 72 rollouts: enough only if the holdout is cheap.
    result = evolve("--evolve-max-tokens=1700")
    assert result.ret == 1
    report = _report(suite)
    assert (report["decision"]["verdict"], report["decision"]["rule"]) == ("BLOCKED", "token-budget")
    assert report["decision"]["reason"].startswith("the confirmation could not be finished: ")
    assert report["search"]["best_score"] == pytest.approx(0.9)
    assert (report["confirmation"], report["revision"]) == (None, None)
    assert 0 < report["rollouts"]["confirmation"] < 72
    # Eight rollouts are in flight, and only the first that is dearer than all before comes as a surprise to the ledger.
    assert _tokens(report) <= 1700 + 8 * 90
    assert _openings(suite) == 0
    result.stdout.fnmatch_lines(["*raise --evolve-max-tokens, then run the same command again*"])
    again = evolve("--evolve-max-tokens=99999")
    assert again.ret == 0
    assert _report(suite)["decision"]["verdict"] == "ACCEPT"


def test_a_cap_on_money_that_is_reached_in_the_replay_blocks_what_was_confirmed(
    evolve: Evolve, suite: pytest.Pytester
) -> None:
    _costing(suite)
    conftest = suite.path / "conftest.py"
    source = conftest.read_text().replace('"stop", NO_USAGE)\n        text', '"stop", DEAR)\n        text')
    assert source.count("DEAR") == 1
    conftest.write_text("from decimal import Decimal\nfrom pytest_skillevo.core.records import Usage\n" + source)
    conftest.write_text(
        conftest.read_text().replace("\nclass Scripted", '\nDEAR = Usage(1, 1, 0, 0, Decimal("20"))\n\nclass Scripted')
    )
    assert evolve("--evolve-max-usd=320").ret == 1
    report = _report(suite)
    assert (report["decision"]["verdict"], report["decision"]["rule"]) == ("BLOCKED", "usd-budget")
    assert report["decision"]["reason"].startswith("the replay could not be finished: ")
    assert report["confirmation"]["decision"]["verdict"] == "ACCEPT"
    assert (report["replay"], report["revision"]) == (None, None)
    assert report["decision"]["reason"].endswith("the holdout is open now, so a new run needs fresh holdout cases")
    assert _openings(suite) == 8


@pytest.mark.parametrize("cap", range(2_000, 22_000, 4_000))
def test_a_declared_worst_case_keeps_the_cap_in_all_stages(evolve: Evolve, suite: pytest.Pytester, cap: int) -> None:
    _costing(suite, holdout=100)
    evolve(f"--evolve-max-tokens={cap}", "--evolve-rollout-tokens=100", "--evolve-call-tokens=0")
    if (suite.path / "report.json").exists():
        assert _tokens(_report(suite)) <= cap
        assert _report(suite)["decision"]["rule"] != "token-budget"


@pytest.mark.parametrize("option", ["--evolve-call-usd=0.5", "--evolve-call-tokens=5"])
def test_the_worst_case_of_a_call_can_be_said(evolve: Evolve, suite: pytest.Pytester, option: str) -> None:
    _costing(suite, usd=str(Decimal("0.01")))
    assert evolve("--evolve-max-tokens=9000", "--evolve-max-usd=99", option).ret == 0
    assert _report(suite)["decision"]["verdict"] == "ACCEPT"


def test_rollouts_dearer_than_all_before_end_the_search_and_not_the_run(evolve: Evolve, suite: pytest.Pytester) -> None:
    path = suite.path / "test_suite.py"
    use = '    rollout.usage("agent", input_tokens=900 if "tip" in skill.text else 1, output_tokens=0)\n    rollout.record'
    path.write_text(path.read_text().replace("    rollout.record", use))
    assert evolve("--evolve-max-tokens=2000", "--evolve-stages=search").ret == 0
    report = _report(suite)
    assert report["search"]["stop_reason"] == "token_budget"
    assert _tokens(report) <= 2000 + 900

"""Adapters for conformance cases of the reference's holdout rule, of stop requests and of observers."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Any

import pytest

from pytest_skillevo import observing
from pytest_skillevo.core.errors import ConfigError
from pytest_skillevo.core.verdict import PairedCase, Rules, confirm, reference_rule
from pytest_skillevo.stages.events import ExperimentEvent
from pytest_skillevo.store import StopRequests

from .case_register import Case, adapter, mentions, number


def pairs(given: dict[str, Any]) -> list[PairedCase]:
    critical = given.get("critical_cases", ())
    scores = zip(given.get("baseline", ()), given.get("candidate", ()), strict=True)
    return [PairedCase(f"h-{n}", f"h-{n}" in critical, (before,), (after,)) for n, (before, after) in enumerate(scores)]


@adapter("holdout")
def rule(case: Case) -> None:
    given, expect = case["given"], case["expect"]
    told = reference_rule(pairs(given), given.get("min_holdout_improvement", 0.0))
    wanted = expect.get("eligible", expect.get("promotion_eligible", expect.get("eligible_by_default_rule")))
    assert told.eligible is wanted
    reason = expect.get("reason_mentions", expect.get("promotion_reason_mentions", ""))
    assert mentions(told.reason, reason.split())
    if "exact_one_sided_p" in expect:
        measured = confirm(pairs(given), {}, Rules(repeats=1))
        assert told.delta == pytest.approx(expect["delta"])
        assert {"wins": measured.comparison.better, "losses": measured.comparison.worse} == expect["discordant"]
        assert measured.comparison.p == pytest.approx(expect["exact_one_sided_p"])
        assert (measured.decision.verdict == "ACCEPT") is expect["eligible_with_alpha_0.05"]


@adapter("options", "min_holdout_delta_nan", "min_holdout_delta_negative", "min_holdout_delta_above_one")
def least(case: Case) -> None:
    assert case["expect"]["accepted"] is False
    with pytest.raises(ConfigError, match="minimum improvement"):
        reference_rule((), number(case["given"]["options"]["min_holdout_improvement"]))


@adapter("resume", "stop_request_file_is_consumed")
def consumed(case: Case) -> None:
    with tempfile.TemporaryDirectory() as folder:
        requests = StopRequests(Path(folder))
        requests.ask("ex-1")
        assert not requests.take("ex-2")
        assert [requests.take("ex-1") for _ in range(2)] == [True, False]
    assert case["expect"]["iterations_run_at_least"] == 1


class Breaks:
    @pytest.hookimpl(tryfirst=True)
    def pytest_skillevo_event(self, event: ExperimentEvent) -> None:
        raise ZeroDivisionError(event.kind)


class Records:
    def __init__(self) -> None:
        self.kinds: list[str] = []

    @pytest.hookimpl
    def pytest_skillevo_event(self, event: ExperimentEvent) -> None:
        self.kinds.append(event.kind)


@adapter("events", "broken_callback_does_not_stop_the_run")
def broken(case: Case) -> None:
    from pytest_skillevo import hookspecs

    manager, records, said = pytest.PytestPluginManager(), Records(), list[str]()
    manager.add_hookspecs(hookspecs)
    manager.register(Breaks(), "breaks")
    manager.register(records, "records")

    class Config:
        pluginmanager = manager
        hook = manager.hook

    config: Any = Config()
    observe = observing.observer_of(config, said.append, lambda text: text)
    for kind in ("search_begun", "seed_validated", "search_ended"):
        observe(ExperimentEvent(kind, "ex-1", {}))
    assert (records.kinds == ["search_begun", "seed_validated", "search_ended"]) is case["expect"][
        "second_callback_got_all_events"
    ]
    assert (len(said) == 1) is case["expect"]["warning_logged"]

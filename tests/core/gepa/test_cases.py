"""The conformance cases of tests/data/gepa.json: each is run here or named with the reason why it is not."""

from __future__ import annotations

import pytest

from . import case_holdout, case_parts, case_rest, case_searches  # noqa: F401  (they register their adapters)
from .case_register import ADAPTERS, CASES, Case, adapter_of, key_of

#: (area, name) -> why the search engine does not run it. An area alone stands for all its cases.
SET_ASIDE: dict[tuple[str, str] | str, str] = {
    ("request-validation", "seed_missing"): "a missing skill folder is an error of the skill document",
    ("request-validation", "seed_blank_when_to_use"): "differs: free-form and absent skills may be evolved",
    ("request-validation", "seed_no_steps"): "differs: free-form and absent skills may be evolved",
    ("request-validation", "dataset_id_blank"): "a dataset is known by its fingerprint, not by a name",
    ("request-validation", "dataset_version_blank"): "a dataset is known by its fingerprint, not by a version",
    ("reflection", "oversized_answer_is_fatal"): "differs: rejected with a reason, the search goes on (test_answer)",
    ("reflection", "provider_error_is_fatal"): "differs: graceful stop with the result (test_engine_failures)",
    ("evaluator-contract", "infrastructure_error_aborts_and_says_where"): (
        "differs: a child that cannot be evaluated is rejected (test_engine_failures)"
    ),
    "errors": "differs: a failing holdout drops the pair, and too many of them end in BLOCKED (test_verdict_confirm)",
    "submission": "differs: the verdict is stored before its revision is entered, so that nothing can be lost",
}
#: Cases that run, but not to the letter.
IN_PART = {
    (
        "timeouts",
        "time_limit_covers_a_blocked_model",
    ): "a stop with the best so far, no error (the target)",
    ("options", "defaults"): "the options of the search; the others belong to driver and confirmation",
    ("budget", "rejected_reflection_costs_only_the_parent_batch"): "without the holdout's baseline rollouts",
    ("budget", "cap_below_seed_validation_plus_holdout_reserve"): "the caller takes the reserve off the cap",
    ("acceptance", "custom_criterion_is_asked_once_per_proposal"): "with one proposal per iteration",
    ("evaluator-contract", "a_failing_item_is_a_score_not_an_exception"): "from the item's failure text on",
    ("persistence", "write_volume_is_linear"): "with fewer candidates and cases, scaled up; benchmarks/gepa_engine.py",
    ("frontier", "objective_frontier_requires_objectives"): "the frontier 'hybrid' is the one that needs an objective",
    ("resume", "changed_dataset_is_refused"): "a dataset's version is the digest of its cases",
    ("stop", "reasons_are_named"): "a stop request instead of a stop file",
    ("resume", "stop_request_file_is_consumed"): "the request alone; with a search in tests/plugin/test_observers.py",
    ("events", "broken_callback_does_not_stop_the_run"): "the observers alone; with a run in test_observers.py",
}


def reason_of(case: Case) -> str | None:
    return SET_ASIDE.get(key_of(case)) or SET_ASIDE.get(case["area"])


@pytest.mark.parametrize(
    "case",
    [pytest.param(case, id="/".join(key_of(case))) for case in CASES if adapter_of(case)],
)
def test_the_engine_behaves_as_the_case_says(case):
    run = adapter_of(case)
    assert run is not None
    run(case)


def test_every_case_is_run_or_set_aside_with_its_reason(capsys):
    both = [key_of(case) for case in CASES if adapter_of(case) and reason_of(case)]
    neither = [key_of(case) for case in CASES if not adapter_of(case) and not reason_of(case)]
    assert both == neither == []
    keys = {key_of(case) for case in CASES}
    known = keys | {area for area, _ in keys}
    assert len(keys) == len(CASES)
    assert {*ADAPTERS, *SET_ASIDE, *IN_PART} <= known
    run = [case for case in CASES if adapter_of(case)]
    with capsys.disabled():
        print(
            f"\ngepa.json: {len(run)} of {len(CASES)} cases run, {len(IN_PART)} of them in part (-rP shows the others)"
        )
    for (area, name), why in IN_PART.items():
        print(f"in part: {area}/{name}: {why}")
    for case in CASES:
        if why := reason_of(case):
            print(f"set aside: {'/'.join(key_of(case))}: {why}")

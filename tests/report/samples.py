"""Sample reports, one for every ending, with numbers that the real decision rules computed from drawn-up runs."""

from __future__ import annotations

import difflib
from collections.abc import Callable, Sequence
from dataclasses import replace
from decimal import Decimal
from typing import Any

from pytest_skillevo.core.canonical import digest
from pytest_skillevo.core.records import NO_USAGE, Usage
from pytest_skillevo.core.verdict import (
    Confirmation,
    Decision,
    Goal,
    PairedCase,
    ReplayEvidence,
    ReplayPair,
    Rules,
    Verdict,
    compare,
    confirm,
    lower_by_replay,
)
from pytest_skillevo.models.prices import Price, Rates
from pytest_skillevo.stages.report_data import family_rows

Report = dict[str, Any]

LEVELS = ("e1", "e2", "e3", "m1", "m2", "h1")
REVISION = "rv-7c41d09a"

SEED_TEXT = """\
---
name: recipe-cookbook
description: Collect recipes into a cookbook
---
# Recipe cookbook

## Steps
1. Read the request and list the dishes it asks for.
2. Look up all dishes in one batch.
3. If any lookup fails, run the whole batch again.
4. Write recipe_cookbook.json.
"""
BETTER_TEXT = SEED_TEXT.replace(
    "3. If any lookup fails, run the whole batch again.",
    "3. Keep what succeeded. Look up only the dishes that failed, at most twice.",
)

#: Change of each holdout case: 15 gain, 14 stay, 1 loses a little.
GAINS = [0.31, 0.0, 0.22, 0.18, 0.0, 0.27, 0.0, 0.0, 0.33, -0.05] + [0.24, 0.0, 0.2, 0.0, 0.29] * 3 + [0.12] + [0.0] * 4
#: 4 gain, none loses: not enough.
FEW_GAINS = [0.31, 0.22, 0.18, 0.27] + [0.0] * 26


def case_id(split: str, index: int) -> str:
    """A node id as pytest would make it."""
    return f"suites/recipe/test_recipe.py::test_recipe[{LEVELS[index % 6]}-{split[0]}{index:02}]"


def paired(
    split: str, changes: Sequence[float], *, saving: float = 0.86, critical: Sequence[int] = ()
) -> list[PairedCase]:
    """Three paired runs a case; `saving` is the ratio of tokens."""
    cases = []
    for index, change in enumerate(changes):
        middle = 0.64 if change > 0 else (0.95 if index % 3 else 1.0)
        before = tuple(round(middle + step, 2) for step in ((-0.02, 0.0, 0.02) if middle < 0.9 else (0.0, 0.0, 0.0)))
        tokens = tuple(41_000 + 700 * index + 900 * repeat for repeat in range(3))
        cases.append(
            PairedCase(
                case_id=case_id(split, index),
                critical=index in critical,
                before=before,
                after=tuple(round(score + change, 2) for score in before),
                tokens_before=tokens,
                tokens_after=tuple(round(each * (saving + 0.07 * (index % 5 - 2))) for each in tokens),
                passed_before=(True,) * 3,
                passed_after=(True,) * 3,
            )
        )
    return cases


def with_runs(case: PairedCase, before: Sequence[float], after: Sequence[float]) -> PairedCase:
    """The case with other scores and nothing else known."""
    return PairedCase(case.case_id, case.critical, tuple(before), tuple(after))


def case_rows(split: str, cases: Sequence[PairedCase]) -> list[dict[str, Any]]:
    """The per-case part of a report."""

    def mean(values: Sequence[Any]) -> float | None:
        return sum(values) / len(values) if values and None not in values else None

    return [
        {
            "case": case.case_id,
            "split": split,
            "critical": case.critical,
            "family": "recipe",
            "level": LEVELS[index % 6],
            "before": mean(case.before),
            "after": mean(case.after),
            "before_runs": list(case.before),
            "after_runs": list(case.after),
            "dropped_pairs": case.dropped_pairs,
            "tokens_before": mean(case.tokens_before),
            "tokens_after": mean(case.tokens_after),
        }
        for index, case in enumerate(cases)
    ]


def diff(before: str, after: str) -> str:
    """A unified diff of SKILL.md as reports hold it."""
    lines = difflib.unified_diff(before.splitlines(True), after.splitlines(True), "a/SKILL.md", "b/SKILL.md")
    return "".join(lines)


def search_part(*, found: bool = True) -> dict[str, Any]:
    """A search of 21 proposals, with a winner or without."""
    seed, child, winner = digest(SEED_TEXT), digest("child"), digest(BETTER_TEXT)
    events = [
        {
            "iteration": number,
            "parent": seed,
            "component": ("steps", "pitfalls", "description")[number % 3],
            "verdict": "accepted" if found and number in (3, 7) else "rejected: no improvement",
            "minibatch_parent": 2.1,
            "minibatch_child": 2.55 if found and number in (3, 7) else 2.1,
            "validation": {3: 0.88, 7: 0.93}.get(number) if found else None,
        }
        for number in range(1, 22)
    ]
    pool = [
        {"digest": seed, "parent": None, "component": None, "iteration": 0, "mean": 0.79},
        {"digest": child, "parent": seed, "component": "pitfalls", "iteration": 3, "mean": 0.88},
        {"digest": winner, "parent": child, "component": "steps", "iteration": 7, "mean": 0.93},
    ]
    return {
        "stop_reason": "metric_budget",
        "iterations": 21,
        "accepted": 2 if found else 0,
        "pool": 3 if found else 1,
        "rollouts": 430,
        "best_score": 0.93 if found else 0.79,
        "seed_score": 0.79,
        "winner": winner if found else seed,
        "candidates": pool if found else pool[:1],
        "events": events,
    }


def confirmation_part(
    confirmation: Confirmation, holdout: Sequence[PairedCase], validation: Sequence[PairedCase], rules: Rules
) -> dict[str, Any]:
    """The confirmation as the report holds it."""
    return {
        "holdout": confirmation.comparison.to_json(),
        "validation": compare(validation, rules).to_json() if validation else None,
        "objectives": [
            {"name": "official", "before": 0.94, "after": 0.97},
            {"name": "strict", "before": 0.79, "after": 0.91},
        ],
        "criticals": [finding.to_json() for finding in confirmation.criticals],
        "false_alarm_rate": 0.0552,
        "cases": case_rows("validation", validation) + case_rows("holdout", holdout),
        "decision": confirmation.decision.to_json(),
    }


def replay_part(evidence: ReplayEvidence, status: str, sentence: str) -> dict[str, Any]:
    """The replay as the report holds it: totals of the groups from the pairs."""

    def group(name: str, scores: list[float | None], tokens: list[int | None]) -> dict[str, Any]:
        known = [score for score in scores if score is not None]
        total = None if None in tokens else sum(token or 0 for token in tokens)
        return {
            "group": name,
            "tasks": len(scores),
            "mean_score": sum(known) / len(known),
            "passed": sum(score >= 0.8 for score in known),
            "agent_tokens": None if total is None else total - (0 if name == "baseline" else 9_000),
            "reviewer_tokens": 0 if name == "baseline" else 9_000,
            "end_to_end_tokens": total,
            "skill_updates": 0 if name == "baseline" else 2,
            "loads": 0 if name == "baseline" else len(scores),
        }

    pairs = evidence.pairs
    return {
        "status": status,
        "sentence": sentence,
        "families": family_rows(evidence, Rules()),
        "root_seeds": sorted({pair.root_seed for pair in pairs}),
        "tasks_per_round": 12,
        "groups": [
            group("baseline", [0.6] * len(pairs), [52_000] * len(pairs)),
            group("evolution", [p.evolution for p in pairs], [p.tokens_evolution for p in pairs]),
            group("optimized", [p.optimized for p in pairs], [p.tokens_optimized for p in pairs]),
        ],
        "rounds": [pair.to_json() for pair in pairs],
    }


def replay_evidence(change: float, saving: float = 0.89) -> ReplayEvidence:
    """Three root seeds of twelve tasks in which every third task changes."""
    return ReplayEvidence(
        tuple(
            ReplayPair(
                root_seed=root,
                case_id=case_id("replay", index),
                family="recipe",
                evolution=0.7,
                optimized=round(0.7 + (change if index % 3 == 0 else 0.0), 2),
                tokens_evolution=47_000 + 100 * index,
                tokens_optimized=round((47_000 + 100 * index) * saving),
            )
            for root in (11, 12, 13)
            for index in range(12)
        )
    )


def base(decision: Decision, *, changed: bool = True) -> Report:
    """A report of a search alone; the endings lay the rest over it."""
    after = BETTER_TEXT if changed else SEED_TEXT
    agent = Usage(9_100_000, 640_000, 0, 0, Decimal(0))
    return {
        "schema_version": 1,
        "experiment": {
            "id": "ex-5f0c2a91",
            "fingerprint": digest("experiment"),
            "seed": 1,
            "started": "2026-03-02T09:14:07Z",
            "finished": "2026-03-02T09:15:31Z",
            "versions": {"pytest_skillevo": "0.1.0", "pytest": "9.2.0", "python": "3.11.7"},
            "command": "pytest suites/recipe --evolve",
            "stages": ["search", "confirm", "replay"],
            "recorded": False,
            "goal": "quality",
            "margin": 0.10,
            "alpha": 0.05,
            "repeats": 3,
            "critical_rule": "rerun",
            "partial": None,
        },
        "model": {
            "name": "simulated",
            "kind": "simulated",
            "roles": {"agent": "simulated", "reflection": "simulated", "reviewer": "simulated", "judge": None},
            "live": [],
        },
        "skill": {
            "name": "recipe-cookbook",
            "before": digest(SEED_TEXT),
            "after": digest(after),
            "changed": [{"component": "steps", "added": 1, "removed": 1}] if changed else [],
            "diff": diff(SEED_TEXT, after),
            "versions": None,
        },
        "dataset": {
            "fingerprint": digest("dataset"),
            "counts": {"feedback": 12, "validation": 12, "holdout": 30},
            "critical": [case_id("holdout", index) for index in (5, 11, 17)],
            "left_out": [],
            "not_in_experiment": 0,
        },
        "search": search_part(found=changed),
        "confirmation": None,
        "replay": None,
        "decision": {**decision.to_json(), "notes": []},
        "usage": {
            "agent": agent.to_json(),
            "reflection": Usage(180_000, 21_000, 0, 0, Decimal(0)).to_json(),
            "reviewer": NO_USAGE.to_json(),
            "judge": NO_USAGE.to_json(),
        },
        "rollouts": {"search": 430, "confirmation": 0, "critical_reruns": 0, "replay": 0, "retried": 0, "budget": 800},
        "revision": None,
        "warnings": [],
    }


def confirmed(
    holdout: Sequence[PairedCase],
    reruns: Sequence[PairedCase] = (),
    *,
    rules: Rules | None = None,
    replay: ReplayEvidence | None = None,
) -> Report:
    """A report whose decision the real rules made."""
    rules = rules or Rules()
    validation = paired("validation", [0.14, 0.0, 0.2, 0.3, 0.0, 0.12, 0.25, 0.0, 0.16, 0.0, 0.22, 0.0])
    result = confirm(holdout, {case.case_id: case for case in reruns}, rules)
    decision = result.decision
    report = base(decision)
    report["experiment"] |= {"goal": rules.goal.value, "margin": rules.margin}
    report["confirmation"] = confirmation_part(result, holdout, validation, rules)
    report["rollouts"] |= {"confirmation": 252, "critical_reruns": 10 * len(reruns)}
    if replay is not None:
        decision, status = lower_by_replay(decision, replay, rules)
        held = "In replay the gain held (3 root seeds, order rotated)."
        sentence = held if status == "held" else decision.reason
        report["replay"] = replay_part(replay, status, sentence)
        report["rollouts"]["replay"] = 108
    report["decision"] = {**decision.to_json(), "notes": []}
    statuses = {Verdict.ACCEPT: "pending_approval", Verdict.INCONCLUSIVE: "pending_eval"}
    if decision.verdict in statuses:
        report["revision"] = {"id": REVISION, "status": statuses[decision.verdict]}
    return report


def accept() -> Report:
    return confirmed(paired("holdout", GAINS, critical=(5, 11, 17)), replay=replay_evidence(0.2))


def accept_recorded() -> Report:
    report = accept()
    report["experiment"]["recorded"] = True
    report["revision"]["status"] = "active"
    return report


def accept_on_cost() -> Report:
    """A live model, a long diff, an unknown price, warnings, and a critical case that held on its rerun."""
    holdout = paired("holdout", [0.0] * 30, saving=0.71, critical=(5, 11, 17))
    flagged = holdout[11]
    holdout[11] = replace(flagged, after=(0.95, 0.62, 0.95))
    rerun = with_runs(flagged, (0.95, 0.95, 0.9, 0.95, 0.95), (0.95,) * 5)
    report = confirmed(holdout, [rerun], rules=Rules(goal=Goal.cost, margin=0.16), replay=replay_evidence(0.0, 0.8))
    long_text = BETTER_TEXT + "".join(f"{number}. Check dish {number} before writing.\n" for number in range(5, 25))
    report["skill"]["diff"] = diff(SEED_TEXT, long_text)
    report["skill"]["changed"] = [
        {"component": "steps", "added": 21, "removed": 1},
        {"component": "section:notes", "added": 2, "removed": 0},
    ]
    report["model"] = {
        "name": "gpt-x",
        "kind": "live",
        "roles": {"agent": "gpt-x", "reflection": "gpt-x", "reviewer": "simulated", "judge": None},
        "live": [
            {
                "name": "gpt-x",
                "price": Price((Rates(Decimal(2), Decimal(8), cached=Decimal("0.5")),), "prices.toml").to_json(),
                "api_base": None,
            }
        ],
    }
    report["usage"]["agent"] |= {"usd": None, "estimated": True}
    report["usage"]["reviewer"]["input_tokens"] = None
    report["rollouts"]["retried"] = 7
    report["dataset"]["left_out"] = [{"case": case_id("feedback", 3), "why": "skipped in every variant: needs a GPU"}]
    report["dataset"]["not_in_experiment"] = 3
    report["warnings"] = [
        "skills/recipe-cookbook/SKILL.md:3: the description has an unquoted ': '; other tools will refuse it",
        "7 rollouts were run again after the provider answered 503",
    ]
    return report


def reject_critical() -> Report:
    holdout = paired("holdout", GAINS, critical=(5, 11, 17))
    holdout[17] = replace(holdout[17], before=(1.0, 1.0, 1.0), after=(0.0, 1.0, 0.0), passed_after=(False, True, False))
    return confirmed(holdout, [with_runs(holdout[17], (1.0,) * 5, (0.0,) * 5)])


def reject_worse() -> Report:
    return confirmed(paired("holdout", [-change for change in GAINS], saving=1.2))


def reject_in_replay() -> Report:
    return confirmed(paired("holdout", GAINS, critical=(5, 11, 17)), replay=replay_evidence(-0.4))


def inconclusive() -> Report:
    return confirmed(paired("holdout", FEW_GAINS, critical=(5, 11, 17)))


def inconclusive_not_confirmed() -> Report:
    report = base(
        Decision(
            Verdict.INCONCLUSIVE, "not-confirmed", "a better search score alone decides nothing; it was not confirmed"
        )
    )
    report["experiment"]["stages"] = ["search"]
    report["revision"] = {"id": REVISION, "status": "pending_eval"}
    return report


def inconclusive_partial() -> Report:
    partial = "24 cases were deselected (-k, -m, --deselect or --lf)"
    reason = f"the dataset is partial ({partial}), so the holdout was not opened"
    report = base(Decision(Verdict.INCONCLUSIVE, "partial-dataset", reason))
    report["experiment"]["partial"] = partial
    report["dataset"]["counts"] = {"feedback": 9, "validation": 12, "holdout": 9}
    report["dataset"]["critical"] = [case_id("holdout", 5)]
    report["revision"] = {"id": REVISION, "status": "pending_eval"}
    return report


def inconclusive_exposed() -> Report:
    report = confirmed(paired("holdout", GAINS, critical=(5, 11, 17)))
    decision = Decision(
        Verdict.INCONCLUSIVE, "holdout-exposed", "the holdout cases had been opened before this search began"
    )
    report["decision"] = {**decision.to_json(), "notes": ["Without that the rules would have said ACCEPT."]}
    report["revision"] = {"id": REVISION, "status": "pending_eval"}
    return report


def inconclusive_with_few_cases() -> Report:
    """Three cases: no interval; nobody judged passes or measured tokens."""
    holdout = [with_runs(case, case.before, case.after) for case in paired("holdout", GAINS[:3])]
    report = confirmed(holdout)
    report["dataset"]["counts"]["holdout"] = 3
    report["dataset"]["critical"] = []
    for case in report["confirmation"]["cases"]:
        case["family"] = case["level"] = None
    return report


def blocked() -> Report:
    holdout = paired("holdout", GAINS, critical=(5, 11, 17))
    for index in (3, 8, 17, 21):
        holdout[index] = PairedCase(holdout[index].case_id, holdout[index].critical, (), (), dropped_pairs=3)
    report = confirmed(holdout)
    report["decision"]["notes"] = ["4 holdout cases lost every pair of repeats: the worker died."]
    return report


def no_change() -> Report:
    return base(
        Decision(Verdict.NO_CHANGE, "seed-won", "none of 21 proposals beat the seed skill on validation"),
        changed=False,
    )


SAMPLES: dict[str, Callable[[], Report]] = {
    sample.__name__: sample
    for sample in (
        accept,
        accept_recorded,
        accept_on_cost,
        reject_critical,
        reject_worse,
        reject_in_replay,
        inconclusive,
        inconclusive_not_confirmed,
        inconclusive_partial,
        inconclusive_exposed,
        inconclusive_with_few_cases,
        blocked,
        no_change,
    )
}

"""The report of an experiment as plain JSON: one object that feeds screen, files and exit code (schema version 1)."""

from __future__ import annotations

import difflib
import re
from collections.abc import Mapping, Sequence
from typing import Any

from ..core.gepa import EventKind, SearchEvent, SearchResult
from ..core.records import NO_USAGE, ROLES, SPLITS, Usage
from ..core.skill import Skill
from ..core.verdict import (
    Decision,
    PairedCase,
    ReplayEvidence,
    ReplayStatus,
    Rules,
    compare_replay,
    false_alarm_rate,
    replay_by_family,
)
from .confirmation import Confirmed
from .dataset import Dataset
from .recorder import Recorder
from .replay import GroupTotals, Replayed
from .settings import REPLAY_GROUPS, RERUN_REPEATS, Settings

SCHEMA_VERSION = 1


def skill_part(before: Skill, after: Skill) -> dict[str, Any]:
    """Digests, changed components by lines, and the unified diff of SKILL.md."""
    names = list(dict.fromkeys([*before.components, *after.components]))
    changed = []
    for name in names:
        old, new = before.components.get(name, ""), after.components.get(name, "")
        if old == new:
            continue
        before_lines, after_lines = old.split("\n"), new.split("\n")
        blocks = difflib.SequenceMatcher(None, before_lines, after_lines, autojunk=False).get_matching_blocks()
        same = sum(block.size for block in blocks)
        # The one empty line of a component without text is no line.
        added, removed = len(after_lines) - same - (not new), len(before_lines) - same - (not old)
        changed.append({"component": name, "added": added, "removed": removed})
    return {
        "name": before.name,
        "before": before.digest,
        "after": after.digest,
        "changed": changed,
        "diff": unified_diff(before, after),
        "versions": None,
    }


def unified_diff(before: Skill, after: Skill) -> str:
    """The change of SKILL.md as a unified diff; empty when nothing changed."""
    old, new = (skill.text.splitlines(keepends=True) if skill.exists else [] for skill in (before, after))
    lines = difflib.unified_diff(old, new, "a/SKILL.md" if old else "/dev/null", "b/SKILL.md")
    return "".join(line if line.endswith("\n") else line + "\n" for line in lines)


def dataset_part(dataset: Dataset, left_out: Mapping[str, str]) -> dict[str, Any]:
    """Fingerprint, counts, criticals, what was left out and what was no part of the experiment."""
    return {
        "fingerprint": dataset.fingerprint,
        "counts": {split: len(dataset.ids(split)) for split in SPLITS},
        "critical": list(dataset.critical),
        "left_out": [{"case": case, "why": f"skipped in every run: {why}"} for case, why in left_out.items()],
        "not_in_experiment": dataset.unrelated,
    }


def search_part(result: SearchResult) -> dict[str, Any]:
    """What the search tried and found."""
    pool = {entry.digest: entry for entry in result.pool}
    return {
        "stop_reason": str(result.stop_reason),
        "iterations": result.iterations,
        "accepted": len(result.pool) - 1,
        "pool": len(result.pool),
        "rollouts": result.rollouts,
        "best_score": pool[result.winner].mean,
        "seed_score": pool[result.seed].mean,
        "winner": result.winner,
        "candidates": [
            {
                "digest": entry.digest,
                "parent": entry.parent,
                "component": entry.component,
                "iteration": entry.iteration,
                "mean": entry.mean,
            }
            for entry in result.pool
        ],
        "events": [
            {
                "iteration": event.iteration,
                "parent": event.parent,
                "component": event.component,
                "verdict": event_words(event),
                "minibatch_parent": event.parent_sum,
                "minibatch_child": event.child_sum,
                "validation": pool[event.candidate].mean if event.candidate in pool and is_accepted(event) else None,
            }
            for event in result.events
            if event.iteration > 0
        ],
    }


def is_accepted(event: SearchEvent) -> bool:
    """Whether the iteration added a version to the pool."""
    return event.kind is EventKind.CANDIDATE_ACCEPTED


#: The words for a child that did not do better than its parent on their minibatch.
NO_GAIN = "rejected: no improvement"


def event_words(event: SearchEvent) -> str:
    """How an iteration ended, in a few words for a person: what a screen counts. The event's verdict tells the rest."""
    if is_accepted(event):
        return "accepted"
    if event.kind is EventKind.STEP_KEPT:
        return "kept for the next step"
    words = _first_clauses(event.verdict)
    if event.kind in (EventKind.CANDIDATE_REJECTED, EventKind.REFLECTION_REJECTED, EventKind.CANDIDATE_DUPLICATE):
        return f"rejected: {words}"
    return words


def _first_clauses(text: str) -> str:
    """The text up to the first stop that leaves two words or more."""
    for stop in re.finditer(r"[,;:]\s|\s\(", text):
        if " " in text[: stop.start()].strip():
            return text[: stop.start()]
    return text


def confirmation_part(confirmed: Confirmed, dataset: Dataset, settings: Settings) -> dict[str, Any]:
    """Both comparisons, the critical cases, every case by its loss."""
    cases = [_case_row(pair, dataset) for pair in confirmed.pairs]
    return {
        "holdout": confirmed.holdout.comparison.to_json(),
        "validation": None if confirmed.validation is None else confirmed.validation.to_json(),
        "objectives": [
            {"name": name, "before": before, "after": after} for name, (before, after) in confirmed.objectives.items()
        ],
        "criticals": [finding.to_json() for finding in confirmed.holdout.criticals],
        "false_alarm_rate": false_alarm_rate(settings.rules.critical, settings.repeats, RERUN_REPEATS),
        "cases": sorted(cases, key=_by_loss),
        "decision": confirmed.holdout.decision.to_json(),
    }


def _by_loss(row: Mapping[str, Any]) -> tuple[float, str]:
    if row["before"] is None:
        return (-2.0, row["case"])
    return (row["after"] - row["before"], row["case"])


def _case_row(pair: PairedCase, dataset: Dataset) -> dict[str, Any]:
    case = dataset.by_id[pair.case_id]
    return {
        "case": case.id,
        "split": case.split,
        "critical": case.critical,
        "family": case.family,
        "level": case.level,
        "before": mean(pair.before),
        "after": mean(pair.after),
        "before_runs": list(pair.before),
        "after_runs": list(pair.after),
        "dropped_pairs": pair.dropped_pairs,
        "tokens_before": _mean_known(pair.tokens_before),
        "tokens_after": _mean_known(pair.tokens_after),
    }


def mean(values: Sequence[float]) -> float | None:
    """The mean, None of nothing."""
    return sum(values) / len(values) if values else None


def _mean_known(values: Sequence[int | None]) -> float | None:
    known = [value for value in values if value is not None]
    return mean(known) if len(known) == len(values) else None


_REPLAY_WORDS: Mapping[ReplayStatus, str] = {
    "held": "In replay the gain held",
    "cannot tell": "The replay cannot tell the versions apart",
    "worse": "In replay the new version did worse",
    "incomplete": "The replay is incomplete",
}


def replay_sentence(replayed: Replayed, status: ReplayStatus) -> str:
    """What the replay says, for a person."""
    numbers = compare_replay(replayed.evidence.judged)
    where = f"{numbers.pairs} tasks in {len(replayed.root_seeds)} root seeds, group order rotated"
    if numbers.mean_evolution is None or numbers.mean_optimized is None:
        return f"{_REPLAY_WORDS[status]}: no task ran in both groups."
    means = f"mean score {numbers.mean_optimized:.3f} against {numbers.mean_evolution:.3f}"
    return f"{_REPLAY_WORDS[status]}: {means} ({where})."


def replay_part(replayed: Replayed, status: ReplayStatus, rules: Rules) -> dict[str, Any]:
    """What the replay says, in all and by family, the groups side by side, and every pair."""
    families, sentence = family_rows(replayed.evidence, rules), replay_sentence(replayed, status)
    if len(families) > 1:
        told = ", ".join(f"{row['family'] or 'none'} {row['status']}" for row in families)
        sentence += f" By family: {told}."
    return {
        "status": status,
        "sentence": sentence,
        "families": families,
        "root_seeds": list(replayed.root_seeds),
        "tasks_per_round": replayed.tasks_per_round,
        "groups": [_group_row(group, replayed.groups[group]) for group in REPLAY_GROUPS],
        "rounds": [pair.to_json() for pair in replayed.evidence.pairs],
    }


def family_rows(evidence: ReplayEvidence, rules: Rules) -> list[dict[str, Any]]:
    """Every family whose skill changed, alone."""
    families = replay_by_family(evidence, rules)
    return [{"family": family, "status": says, **numbers.to_json()} for family, (numbers, says) in families.items()]


def _group_row(group: str, totals: GroupTotals) -> dict[str, Any]:
    return {
        "group": group,
        "tasks": totals.tasks,
        "mean_score": mean(totals.scores),
        "passed": totals.passed,
        "agent_tokens": totals.agent.tokens,
        "reviewer_tokens": totals.reviewer.tokens,
        "end_to_end_tokens": (totals.agent + totals.reviewer).tokens,
        "skill_updates": totals.updates,
        "loads": totals.loads,
    }


def decision_part(decision: Decision, notes: Sequence[str]) -> dict[str, Any]:
    """The decision with further sentences."""
    return {**decision.to_json(), "notes": list(notes)}


def rollouts_part(recorder: Recorder, budget: int) -> dict[str, int]:
    """Rollouts by stage, and how many there might have been."""
    return {
        "search": recorder.rollouts.get("search", 0),
        "confirmation": recorder.rollouts.get("confirm", 0) + recorder.rollouts.get("transfer", 0),
        "critical_reruns": recorder.rollouts.get("rerun", 0),
        "replay": recorder.rollouts.get("replay", 0),
        "retried": recorder.retried,
        "budget": budget,
    }


def usage_part(usage: Mapping[str, Usage]) -> dict[str, Any]:
    """Usage by role; a role that was never called used nothing."""
    return {role: usage.get(role, NO_USAGE).to_json() for role in ROLES}

"""`skillevo rollouts`: what an agent did with one case, and where its score was lost."""

from __future__ import annotations

import argparse
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Final

from ..report import figures
from ..report.rollout import rollout_lines
from ..report.text import clip_start, visible
from .context import Context
from .experiments import find_experiment
from .rollout_log import STAGES, Logged, find_rollout, read_rollouts
from .screen import table
from .upkeep import count

if TYPE_CHECKING:
    from ..store import Store

#: Under this name the exposure ledger notes what was shown here.
SHOWN_BY: Final = "skillevo rollouts show"
#: Columns of score, result and tokens with the gaps between columns, and the least that is kept for the case.
_FIGURES: Final = 29
_LEAST_CASE: Final = 16

#: What a tool call and a cap in a family's trace have.
_CALL: Final = {"index": int, "tool": str, "attempt": int, "success": bool, "bytes": int}
_CAP: Final = {"limit": float, "reason": str}

CLOSED: Final = (
    "a holdout rollout: what happened in it stays closed, so that nobody tunes a skill on it. "
    "--show-holdout opens it, and the exposure ledger notes that."
)


def add_parser(groups: Any, shared: argparse.ArgumentParser) -> None:
    """Add the group with all its commands."""
    group = groups.add_parser("rollouts", help="list and show single runs of cases")
    commands = group.add_subparsers(title="commands", metavar="COMMAND", required=True)
    about = "list the rollouts of an experiment: case, score, tokens"
    listing = commands.add_parser("list", parents=[shared], help=about, description=about)
    listing.set_defaults(run=list_rollouts)
    listing.add_argument("id", nargs="?", default="last", metavar="EXPERIMENT", help="its id (default: the newest)")
    listing.add_argument("--stage", choices=STAGES, help="only this stage")
    listing.add_argument("--case", metavar="TEXT", help="only cases whose id contains this")
    listing.add_argument("--below", type=float, metavar="SCORE", help="only scores below this")
    listing.add_argument("--worst", action="store_true", help="the lowest scores first")
    listing.add_argument(
        "--limit", type=count, default=40, metavar="N", help="at most so many lines (default 40; 0: all)"
    )
    about = "show one rollout: lost points, faults, tool calls, the conversation"
    showing = commands.add_parser("show", parents=[shared], help=about, description=about)
    showing.set_defaults(run=show)
    showing.add_argument("id", metavar="ID", help="EXPERIMENT/KEY as listed, the beginning of it, or KEY alone")
    showing.add_argument("--full", action="store_true", help="all texts in full")
    showing.add_argument("--show-holdout", action="store_true", help="open a holdout case, which the ledger notes")


def list_rollouts(context: Context) -> None:
    """`skillevo rollouts list [EXPERIMENT]`"""
    arguments = context.arguments
    with context.store() as store:
        logged = read_rollouts(store, find_experiment(store, arguments.id))
    rows = [(one, _summary(one)) for one in logged if _wanted(one, arguments)]
    if arguments.worst:
        rows.sort(key=lambda row: (row[1]["score"] is not None, row[1]["score"]))
    kept = rows[: arguments.limit] if arguments.limit and not arguments.json else rows
    if arguments.json:
        context.screen.json([summary for _, summary in kept])
        return
    if not kept:
        context.screen.line("no rollouts" if not logged else f"none of {len(logged)} rollouts is meant")
        return
    taken = max(len(one.key) for one, _ in kept) + _FIGURES
    room = max(context.screen.width - taken, _LEAST_CASE)
    cells = [(visible(one.key), clip_start(visible(one.case), room), *_cells(summary)) for one, summary in kept]
    context.screen.lines(table([("rollout", "case", "score", "result", "tokens"), *cells]))
    left = len(rows) - len(kept)
    if left:
        context.screen.line(f"... and {left} more: --limit 0 shows all; --stage, --case, --below, --worst choose")


def _wanted(one: Logged, arguments: argparse.Namespace) -> bool:
    evaluation = one.outcome.evaluation
    return (
        (arguments.stage is None or one.stage == arguments.stage)
        and (arguments.case is None or arguments.case in one.case)
        and (arguments.below is None or (evaluation is not None and evaluation.score < arguments.below))
    )


def _cells(summary: Mapping[str, Any]) -> tuple[str, str, str]:
    result = {True: "passed", False: "failed", None: "scored"}[summary["passed"]]
    if summary["status"] != "scored":
        result = summary["status"]
    score = "" if summary["score"] is None else figures.score(summary["score"])
    return score, result, figures.compact(summary["tokens"])


def _summary(one: Logged) -> dict[str, Any]:
    """What may be told of any rollout, holdout or not."""
    outcome = one.outcome
    evaluation = outcome.evaluation
    usage = None if evaluation is None else evaluation.usage.get("agent")
    return {
        "id": one.id,
        "experiment": one.experiment.id,
        "skill": one.experiment.skill,
        "case": one.case,
        "split": one.split,
        "stage": one.stage,
        "model": ((one.experiment.settings.get("identity") or {}).get("models") or {}).get("agent"),
        "variant": one.payload["variant"],
        "seed": one.payload["seed"],
        "cached": bool(one.payload.get("cached")),
        "status": outcome.status,
        "score": None if evaluation is None else evaluation.score,
        "passed": None if evaluation is None else evaluation.passed,
        "tokens": None if usage is None else usage.tokens,
    }


def show(context: Context) -> None:
    """`skillevo rollouts show ID`"""
    with context.store() as store:
        found = find_rollout(store, context.arguments.id)
        closed = found.split == "holdout" and not context.arguments.show_holdout
        record = _summary(found) | {"closed": CLOSED if closed else None}
        if not closed:
            if found.split == "holdout":
                store.record_opening([found.fingerprint], SHOWN_BY, found.experiment.skill, "shown to a person")
            record |= _details(store, found)
    if context.arguments.json:
        context.screen.json(record)
        return
    context.screen.lines(list(rollout_lines(record, context.screen.width, full=context.arguments.full)))
    if found.split == "holdout" and not closed:
        context.notes.line("skillevo: the exposure ledger notes that this holdout case was shown")


def _details(store: Store, found: Logged) -> dict[str, Any]:
    outcome = found.outcome
    evaluation = outcome.evaluation
    digest = found.payload.get("trace")
    trace = None if digest is None else store.trace(digest)
    cut = None
    if isinstance(trace, dict) and set(trace) == {"cut", "trace"}:
        cut, trace = trace["cut"], trace["trace"]
    sessions, recorded = [], trace
    if isinstance(trace, dict) and {"recorded", "sessions"} <= set(trace):
        sessions, recorded = trace["sessions"], trace["recorded"]
    graded = recorded if isinstance(recorded, dict) and {"parts", "caps", "calls"} <= set(recorded) else {}
    calls = _well_formed(graded.get("calls"), _CALL)
    left_out = len(graded.get("calls") or ()) - len(calls)
    return {
        "reason": outcome.reason,
        "feedback": "" if evaluation is None else evaluation.feedback,
        "objectives": {} if evaluation is None else dict(evaluation.objectives),
        "usage": {} if evaluation is None else {role: usage.to_json() for role, usage in evaluation.usage.items()},
        "lost": _lost(graded.get("parts")),
        "caps": _well_formed(graded.get("caps"), _CAP),
        "faults": _well_formed(graded.get("faults_met"), _CALL),
        "calls": calls,
        "calls_left_out": left_out + (graded.get("calls_left_out") or 0),
        "artifact": graded.get("artifact"),
        "recorded": None if graded else recorded,
        "sessions": _well_formed(sessions, {}),
        "cut": cut,
    }


def _well_formed(values: Any, shape: Mapping[str, type]) -> list[dict[str, Any]]:
    """The objects of a list that have these keys and types: a trace may have been cut, and anybody may record one."""
    return [
        value
        for value in (values if isinstance(values, list) else ())
        if isinstance(value, dict) and all(isinstance(value.get(key), type_) for key, type_ in shape.items())
    ]


def _lost(parts: Any) -> list[dict[str, Any]]:
    """The parts of a family's strict score, with the points that each could give."""
    from ..families.strict import WEIGHTS

    return [
        {"part": name, "points": points, "of": WEIGHTS[name], "lost": round(WEIGHTS[name] - points, 4)}
        for name, points in (parts if isinstance(parts, dict) else {}).items()
        if name in WEIGHTS and isinstance(points, int | float)
    ]

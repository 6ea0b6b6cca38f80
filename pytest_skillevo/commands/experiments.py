"""`skillevo experiments`: what was searched, what was found, and how to go on."""

from __future__ import annotations

import argparse
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from ..core.errors import ConfigError, StoreError
from ..core.gepa import EventKind, SearchEvent
from ..report.lineage import Candidate, Lineage, read_lineage
from ..report.text import one_line, visible, wrap
from ..stages.report_data import NO_GAIN, event_words, is_accepted
from .context import Context
from .export import export_experiment
from .screen import ago, minute, table

if TYPE_CHECKING:
    from ..store import Experiment, Store

_HEADING: Final = ("experiment", "skill", "state", "proposals", "best", "when")
#: Candidates side by side in the matrix of a screen; more are in the export.
_COLUMNS: Final = 8


def add_parser(groups: Any, shared: argparse.ArgumentParser) -> None:
    """Add the group with all its commands."""
    group = groups.add_parser("experiments", help="list, show, resume and export experiments")
    commands = group.add_subparsers(title="commands", metavar="COMMAND", required=True)
    for name, run, help in (
        ("list", list_experiments, "list the experiments, the newest first"),
        ("show", show, "show one search: candidates, scores per case, or one step with its difference"),
        ("tree", tree, "show which candidate was made from which"),
        ("resume", resume, "go on with an interrupted experiment: runs pytest with the options it had"),
        ("stop", stop, "ask a running search to stop; it can be resumed"),
        ("export", export, "write a search into a folder that people and agents can read"),
    ):
        parser = commands.add_parser(name, parents=[shared], help=help, description=help)
        parser.set_defaults(run=run)
        if name == "list":
            parser.add_argument("--skill", metavar="NAME", help="only this skill")
            continue
        parser.add_argument("id", metavar="ID", help="experiment, the beginning of its id, or last")
        if name == "show":
            parser.add_argument("candidate", nargs="?", metavar="CANDIDATE", help="one candidate, such as c2")
        if name == "export":
            parser.add_argument("folder", type=Path, metavar="FOLDER", help="a new or empty folder")


def list_experiments(context: Context) -> None:
    """`skillevo experiments list`"""
    if not context.has_store:
        context.screen.line("no experiments; pytest --evolve makes them")
        return
    with context.store() as store:
        found = store.experiments(context.arguments.skill)
        rows = [_row(store, one) for one in found]
    if context.arguments.json:
        context.screen.json(rows)
        return
    if not rows:
        context.screen.line("no experiments; pytest --evolve makes them")
        return
    now = context.clock()
    cells = [
        (
            visible(row["id"]),
            one_line(row["skill"], 24),
            one_line(row["state"], 20),
            str(row["proposals"]),
            "" if row["best"] is None else f"{row['best']:.3f}",
            ago(row["created_at"], now),
        )
        for row in rows
    ]
    context.screen.lines(table([_HEADING, *cells]))


def _row(store: Store, experiment: Experiment) -> dict[str, Any]:
    lineage = read_lineage(store, experiment.id)
    best = lineage.best
    return {
        "id": experiment.id,
        "skill": experiment.skill,
        "state": _state(experiment),
        "proposals": sum(event.iteration > 0 for event in lineage.events),
        "best": None if best is None else best.entry.mean,
        "seed": lineage.candidates[0].entry.mean if lineage.candidates else None,
        "created_at": experiment.created_at,
        "finished_at": experiment.finished_at,
        "forked_from": experiment.settings.get("forked_from"),
    }


def _state(experiment: Experiment) -> str:
    if experiment.finished_at is None:
        return "unfinished"
    verdict: str = (experiment.verdict or {}).get("verdict", "finished")
    return verdict.replace("_", " ")


def find_experiment(store: Store, wanted: str) -> Experiment:
    """The experiment with this id or unambiguous beginning of one; "last" is the newest. Raises StoreError."""
    known = store.experiments()
    if wanted == "last" and known:
        return known[0]
    found = [one for one in known if one.id.startswith(wanted)]
    exact = [one for one in found if one.id == wanted]
    if len(found) != 1 and not exact:
        problem = "several begin so" if found else "`skillevo experiments list` shows all"
        raise StoreError(f"there is no one experiment {visible(wanted)!r} in the store: {problem}")
    return (exact or found)[0]


def show(context: Context) -> None:
    """`skillevo experiments show ID [CANDIDATE]`"""
    with context.store() as store:
        experiment = find_experiment(store, context.arguments.id)
        lineage = read_lineage(store, experiment.id)
    wanted = context.arguments.candidate
    if wanted is not None:
        _show_step(context, lineage, _candidate(lineage, wanted))
    elif context.arguments.json:
        context.screen.json(as_json(experiment, lineage))
    else:
        context.screen.lines(list(_summary(experiment, lineage, context.screen.width)))


def as_json(experiment: Experiment, lineage: Lineage) -> dict[str, Any]:
    """Experiment and search as plain data."""
    return {
        "id": experiment.id,
        "skill": experiment.skill,
        "state": _state(experiment),
        "settings": dict(experiment.settings),
        "created_at": experiment.created_at,
        "finished_at": experiment.finished_at,
        "candidates": [
            {"name": one.name, **one.entry.to_json(), "parent_name": one.parent} for one in lineage.candidates
        ],
        "events": [event.to_json() for event in lineage.events],
    }


def _summary(experiment: Experiment, lineage: Lineage, width: int) -> Iterator[str]:
    about = f"experiment {experiment.id} of {one_line(experiment.skill, 40)}: {_state(experiment)}"
    yield visible(f"{about}, begun {minute(experiment.created_at)}")
    origin = experiment.settings.get("forked_from")
    if origin:
        yield visible(f"forked from {origin}")
    if not lineage.candidates:
        yield "the seed skill was not validated yet"
        return
    yield ""
    yield from table([("candidate", "from", "changed", "validation", "proposal"), *map(_line, lineage.candidates)])
    yield ""
    yield from _matrix(lineage)
    yield ""
    yield from _proposals(lineage, width)
    yield ""
    yield visible(f"single rollouts: skillevo rollouts list {experiment.id}")


def _proposals(lineage: Lineage, width: int) -> Iterator[str]:
    """One line a proposal; what did not become a candidate says why, in whole words."""
    tried = sorted((event for event in lineage.events if event.iteration > 0), key=lambda event: event.iteration)
    rows = [(str(event.iteration), *_proposal(event, lineage.names)) for event in tried]
    lines = table([("proposal", "from", "component", "result"), *rows])
    indent = " " * lines[0].index("result")
    for line in lines:
        head, text = line[: len(indent)], line[len(indent) :]
        yield from wrap(text, width, first=head, rest=indent)


def _proposal(event: SearchEvent, names: Mapping[str, str]) -> tuple[str, str, str]:
    parent, component = event.parent_name(names), one_line(event.component or "-", 24)
    if is_accepted(event):
        return parent, component, names[event.candidate or ""]
    if event.parent_sum is not None and event_words(event) == NO_GAIN:
        ran = "certain early" if event.child_sum is None else f"{event.child_sum:.2f}"
        return parent, component, f"no improvement: {event.parent_sum:.2f} -> {ran}"
    kept = f"i{event.iteration}, " if event.kind is EventKind.STEP_KEPT else ""
    return parent, component, kept + one_line(event.verdict, 400)


def _line(one: Candidate) -> tuple[str, ...]:
    merged = " (merge)" if one.entry.merged else ""
    entry = one.entry
    changed = one_line((entry.component or "") + merged, 40)
    return one.name, one.parent or "", changed, f"{entry.mean:.4f}", str(entry.iteration)


def _matrix(lineage: Lineage) -> list[str]:
    """Validation scores, one line a case, the seed and the latest candidates side by side."""
    shown = [lineage.candidates[0], *lineage.candidates[1:][-(_COLUMNS - 1) :]]
    rows = [("case", *(one.name for one in shown))]
    for case in lineage.candidates[0].entry.scores:
        rows.append((one_line(case, 48), *(f"{one.entry.scores[case]:.2f}" for one in shown)))
    return table(rows)


def _candidate(lineage: Lineage, name: str) -> Candidate:
    found = next((one for one in lineage.candidates if one.name == name or one.entry.digest.startswith(name)), None)
    if found is None:
        last = f"c0 to {lineage.candidates[-1].name}" if lineage.candidates else "none"
        raise StoreError(f"there is no candidate {visible(name)!r} in this experiment; it has {last}")
    return found


def _show_step(context: Context, lineage: Lineage, one: Candidate) -> None:
    if context.arguments.json:
        context.screen.json({"name": one.name, **one.entry.to_json(), "components": dict(one.components)})
        return
    entry = one.entry
    made = f"made from {one.parent} in iteration {entry.iteration}" if one.parent else "the seed skill"
    context.screen.line(visible(f"{one.name} ({entry.digest[:12]}), {made}: validation {entry.mean:.4f}"))
    for reason in entry.rationale.splitlines():
        context.screen.lines(wrap(one_line(reason, 400), context.screen.width, first="why: "))
    for line in one.diff.splitlines():
        context.screen.line(visible(line))


def tree(context: Context) -> None:
    """`skillevo experiments tree ID`"""
    with context.store() as store:
        lineage = read_lineage(store, find_experiment(store, context.arguments.id).id)
    if context.arguments.json:
        context.screen.json({one.name: {"parent": one.parent, "mean": one.entry.mean} for one in lineage.candidates})
    elif lineage.candidates:
        context.screen.lines(list(tree_lines(lineage)))
    else:
        context.screen.line("the seed skill was not validated yet")


def tree_lines(lineage: Lineage) -> Iterator[str]:
    """The candidates as an indented tree; the best is marked."""
    # A chain of acceptances may be longer than the interpreter's stack.
    waiting = [(one, 0) for one in reversed(lineage.children(None))]
    while waiting:
        one, depth = waiting.pop()
        what = f" {one.entry.component}" if one.entry.component else ""
        mark = " <- best" if one is lineage.best else ""
        indent = "  " * depth if depth <= 20 else f"{'  ' * 20}({depth}) "
        yield indent + one_line(f"{one.name}{what} {one.entry.mean:.4f}{mark}", 200)
        waiting += [(child, depth + 1) for child in reversed(lineage.children(one.name))]


def resume(context: Context) -> None:
    """`skillevo experiments resume ID`"""
    with context.store() as store:
        experiment = find_experiment(store, context.arguments.id)
    if experiment.finished_at is not None:
        raise ConfigError(f"experiment {experiment.id} is finished: {_state(experiment)}")
    if (kind := experiment.settings.get("kind")) is not None:
        raise ConfigError(
            f"experiment {experiment.id} came from --evolve-{kind}, which goes on when the same command is given again"
        )
    given: Sequence[str] = experiment.settings.get("arguments") or ()
    if not given:
        raise ConfigError(
            f"experiment {experiment.id} does not know its command line; "
            f"run pytest with its options and --evolve-resume={experiment.id}"
        )
    command = [sys.executable, "-m", "pytest", *given, f"--evolve-resume={experiment.id}"]
    sys.stdout.flush()
    sys.exit(subprocess.run(command, check=False).returncode)


def stop(context: Context) -> None:
    """`skillevo experiments stop ID`"""
    from ..store import StopRequests

    with context.store() as store:
        experiment = find_experiment(store, context.arguments.id)
    if experiment.finished_at is not None:
        raise ConfigError(f"experiment {experiment.id} is finished: {_state(experiment)}")
    StopRequests(context.home).ask(experiment.id)
    if context.arguments.json:
        context.screen.json({"id": experiment.id, "asked": True})
        return
    context.screen.line(f"asked {visible(experiment.id)} to stop: its search ends when the rollouts in flight are done")
    context.screen.line(f"go on later with: skillevo experiments resume {visible(experiment.id)}")


def export(context: Context) -> None:
    """`skillevo experiments export ID FOLDER`"""
    folder: Path = context.arguments.folder
    with context.store() as store:
        experiment = find_experiment(store, context.arguments.id)
        lineage = read_lineage(store, experiment.id)
    count = export_experiment(folder, as_json(experiment, lineage), lineage)
    if context.arguments.json:
        context.screen.json({"folder": str(folder), "files": count})
    else:
        context.screen.line(visible(f"{count} files in {folder}; begin with README.md"))

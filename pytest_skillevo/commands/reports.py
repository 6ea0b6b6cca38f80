"""`skillevo report` and `skillevo compare`: a finished experiment as a page, and two of them side by side."""

from __future__ import annotations

import argparse
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from ..core.errors import ConfigError, StoreError
from ..report.comparison import compare_reports, comparison_lines
from ..report.json_file import clean, write_report, write_text
from ..report.markdown import markdown
from ..report.terminal import end_screen
from ..report.text import visible
from ..report.validate import read_report
from .context import Context
from .experiments import find_experiment

if TYPE_CHECKING:
    from ..report.details import Details
    from ..store import Store

Json = Mapping[str, Any]

#: Under this name the exposure ledger notes what was shown here.
SHOWN_BY: Final = "skillevo report"
_KINDS: Final = {".html": "html", ".md": "md", ".json": "json"}
_SOURCE: Final = "report file (.json), experiment, revision (rv-...), or last"


def add_parsers(groups: Any, shared: argparse.ArgumentParser) -> None:
    """Add both commands."""
    about = "show a report, or write it as HTML, Markdown or JSON"
    report = groups.add_parser("report", parents=[shared], help=about, description=about)
    report.set_defaults(run=show)
    report.add_argument("source", metavar="FILE|ID", help=_SOURCE)
    report.add_argument("--html", action="store_true", help="one HTML page that loads nothing from elsewhere")
    report.add_argument("--md", action="store_true", help="Markdown that fits a pull-request comment")
    report.add_argument("-o", "--output", type=Path, metavar="FILE", help="write here; the suffix may choose the kind")
    report.add_argument(
        "--show-holdout", action="store_true", help="with HTML: show holdout conversations, which the ledger notes"
    )
    about = "compare two finished experiments, case by case where both ran the same cases"
    compare = groups.add_parser("compare", parents=[shared], help=about, description=about)
    compare.set_defaults(run=compare_two)
    compare.add_argument("a", metavar="A", help=_SOURCE)
    compare.add_argument("b", metavar="B", help="the same; it is compared with A")


def find_report(context: Context, source: str) -> dict[str, Any]:
    """The report in a file, of an experiment, or of the experiment that a revision came from.

    Raises ConfigError for a file that is no report and StoreError for what the store does not have.
    """
    path = Path(source)
    if path.suffix.lower() == ".json" or path.is_file():
        return read_report(path)
    with context.store() as store:
        if source.startswith("rv-"):
            origin = store.revision(source).source
            kind, _, source = origin.partition(":")
            if kind != "experiment":
                raise StoreError(
                    f"the revision came from {visible(origin)!r}, not from an experiment: it has no report"
                )
        experiment = find_experiment(store, source)
    if experiment.settings.get("kind") == "online":
        raise StoreError(
            f"experiment {experiment.id} decides nothing and has no report: the same command with "
            "--evolve-online shows its figures again and runs nothing"
        )
    if experiment.report is None:
        raise StoreError(f"experiment {experiment.id} is not finished, so it has no report")
    return clean(experiment.report)


def show(context: Context) -> None:
    """`skillevo report FILE|ID`"""
    arguments = context.arguments
    kind = _kind(arguments)
    if arguments.show_holdout and kind != "html":
        raise ConfigError("--show-holdout goes with --html: the other kinds hold no conversations")
    report = find_report(context, arguments.source)
    if kind == "html":
        from ..report.html import page

        _write(context, arguments.output, page(report, _details(context, report)))
    elif kind == "md":
        _write(context, arguments.output, markdown(report))
    elif kind == "json" and arguments.output is not None:
        write_report(arguments.output, report)
        context.notes.line(visible(f"written: {arguments.output}"))
    elif kind == "json":
        context.screen.json(report)
    else:
        screen = end_screen(report)
        context.screen.lines([screen.title, "", *screen.lines])


def _kind(arguments: argparse.Namespace) -> str:
    """What is asked for: the flag, else the suffix of the file, else the screen."""
    asked = [kind for kind in ("html", "md", "json") if getattr(arguments, kind)]
    output: Path | None = arguments.output
    if len(asked) > 1:
        raise ConfigError(f"one kind at a time: not {' and '.join(f'--{kind}' for kind in asked)}")
    kind = asked[0] if asked else "screen" if output is None else _KINDS.get(output.suffix.lower(), "")
    if not kind:
        raise ConfigError(f"{output}: say which kind with --html, --md or --json, or by the suffix")
    if kind == "html" and output is None:
        # Printed in a CI log, a line of somebody's text could be taken for a command of the runner.
        raise ConfigError("an HTML page is a file: add -o FILE")
    return kind


def _write(context: Context, output: Path | None, text: str) -> None:
    if output is None:
        context.screen.lines(text.removesuffix("\n").split("\n"))
        return
    write_text(output, text)
    context.notes.line(visible(f"written: {output}"))


def _details(context: Context, report: Json) -> Details | None:
    """What the store adds, if there is one that knows the experiment."""
    from ..report.details import read_details

    holdout: bool = context.arguments.show_holdout
    if context.has_store:
        with context.store() as store:
            if any(one.id == report["experiment"]["id"] for one in store.experiments()):
                if holdout:
                    _note_opening(context, store, report)
                return read_details(store, report, holdout=holdout)
    if holdout:
        raise StoreError("--show-holdout needs the store with the conversations, and this one does not have them")
    return None


def _note_opening(context: Context, store: Store, report: Json) -> None:
    from .rollout_log import read_rollouts

    experiment = store.experiment(report["experiment"]["id"])
    opened = {one.fingerprint for one in read_rollouts(store, experiment) if one.split == "holdout"}
    store.record_opening(sorted(opened), SHOWN_BY, experiment.skill, "shown to a person")
    context.notes.line("skillevo: the exposure ledger notes that these holdout cases were shown")


def compare_two(context: Context) -> int:
    """`skillevo compare A B`; the exit code is 1 when the cases cannot be paired."""
    arguments = context.arguments
    compared = compare_reports(find_report(context, arguments.a), find_report(context, arguments.b))
    if arguments.json:
        context.screen.json(compared.to_json())
    else:
        context.screen.lines(list(comparison_lines(compared, context.screen.width)))
    return 0 if compared.versions is not None else 1

"""The end screen of an experiment: report in, title and plain lines out. Nothing depends on colour or a terminal."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Any, Final

from . import figures
from .changes import change_lines
from .evidence import case_name, caveats, counts_sentence, critical_sentences, table, worse_cases
from .text import no_command, one_line, visible, wrap

Json = Mapping[str, Any]

#: Columns of every line; commands and paths alone may be longer, because a cut one is of no use.
WIDTH: Final = 80
#: One column is kept for the mark of `no_command`.
_TEXT: Final = WIDTH - 1
#: The title stands between rules of "=" on one line.
_TITLE: Final = WIDTH - 4
_MOST_WARNINGS: Final = 6
_MOST_LEFT_OUT: Final = 3
#: A sentence of ours is far shorter; what is longer carries foreign text.
_SENTENCE: Final = 480

_STATUS_WORDS: Final = {
    "pending_approval": "waiting for approval",
    "pending_eval": "waiting for more evidence",
    "publish_failed": "not published: its files could not be written",
}

_SIMULATED: Final = "model simulated: these numbers test the machinery, not a language model"


@dataclass(frozen=True, slots=True)
class Screen:
    """What an experiment leaves on the screen: a title for a line of "=", and the lines below it."""

    title: str
    lines: tuple[str, ...]


def verdict_words(verdict: str) -> str:
    """The verdict as people read it: NO_CHANGE is "NO CHANGE"."""
    return verdict.replace("_", " ")


def end_screen(report: Json, report_paths: Sequence[str] = ()) -> Screen:
    """The end screen of a report (see schema.py), the decision first; `report_paths` are where the report was written.

    The report should be cleaned (json_file.clean) with redaction; everything foreign is escaped here once more.
    """
    lines = [*_head(report)]
    for section in (
        table(report, _TEXT),
        [*worse_cases(report, _TEXT), *caveats(report, _TEXT)],
        change_lines(report, _TEXT),
        [*_provenance(report)],
        [*_warnings(report)],
        [*_end(report, report_paths)],
    ):
        if section:
            lines += ["", *section]
    return Screen(_title(report), tuple(no_command(line) for line in lines))


def is_simulated(report: Json) -> bool:
    """Whether the scores come from the simulated model and so prove nothing about a language model."""
    model = report["model"]
    return "simulated" in (model["kind"], model["roles"]["agent"])


def _title(report: Json) -> str:
    verdict = verdict_words(report["decision"]["verdict"])
    parts = [verdict]
    if report["experiment"]["recorded"]:
        parts.append("as recorded")
    if report["revision"] is not None:
        status = report["revision"]["status"]
        parts.append(_STATUS_WORDS.get(status, visible(status.replace("_", " "))))
    tail = f": {', '.join(parts)}" + (" (simulated model)" if is_simulated(report) else "")
    return no_command(one_line(report["skill"]["name"], max(_TITLE - 1 - len(tail), 12)) + tail)


def _head(report: Json) -> Iterator[str]:
    decision, confirmation = report["decision"], report["confirmation"]
    reason, experiment = decision["reason"], report["experiment"]
    yield from _sentence(f"{verdict_words(decision['verdict'])}: {_end_with_dot(_lower_first(reason))}")
    if experiment["recorded"]:
        when = visible(experiment["finished"][:16]).replace("T", " ")
        told = f"The same experiment ended on {when} UTC; its verdict is shown again and nothing was run."
        yield from _sentence(told)
    if experiment["partial"] is not None and experiment["partial"] not in reason:
        partial = _end_with_dot(experiment["partial"])
        yield from _sentence(f"Partial dataset: {partial} A partial run may search, but it decides nothing.")
    # The rules of the confirmation count the cases themselves; other reasons leave the counts to be told here.
    if confirmation is not None and f"{confirmation['holdout']['cases']} holdout case" not in reason:
        valid = decision["verdict"] != "BLOCKED"
        yield from _sentence(counts_sentence(confirmation["holdout"], experiment["alpha"], valid=valid))
    for sentence in critical_sentences(report):
        yield from _sentence(sentence)
    if report["replay"] is not None and report["replay"]["sentence"] != reason:
        yield from _sentence(_end_with_dot(report["replay"]["sentence"]))
    for note in decision["notes"]:
        yield from _sentence(_end_with_dot(note))


def _sentence(text: str, first: str = "", rest: str = "") -> list[str]:
    return wrap(one_line(text, _SENTENCE), _TEXT, first, rest)


def _lower_first(text: str) -> str:
    """The sentence as it reads after a colon."""
    return text[:1].lower() + text[1:] if text[1:2].islower() else text


def _end_with_dot(text: str) -> str:
    text = one_line(text, _SENTENCE - 40)
    return text if text.endswith((".", "!", "?", "...")) else text + "."


def _provenance(report: Json) -> Iterator[str]:
    """What was spent and on what: enough to find the run again."""
    rollouts = report["rollouts"]
    kinds = ("search", "confirmation", "critical_reruns", "replay")
    used = sum(rollouts[kind] for kind in kinds)
    budget = "" if rollouts["budget"] is None else f" of {rollouts['budget']:,}"
    parts = ", ".join(f"{rollouts[kind]:,} {kind.replace('_', ' ')}" for kind in kinds if rollouts[kind])
    retried = f"; {rollouts['retried']:,} retried" if rollouts["retried"] else ""
    yield from _field("rollouts", f"{used:,}{budget}" + (f" ({parts})" if parts else "") + retried)
    yield from _field("tokens", _usage(report["usage"]))
    yield from _field("dataset", _dataset(report["dataset"]))
    experiment = report["experiment"]
    before, after = (visible(report["skill"][key][:8]) for key in ("before", "after"))
    change = before if before == after else f"{before} -> {after}"
    facts = f"{one_line(experiment['id'], 24)}, seed {experiment['seed']}, goal {one_line(experiment['goal'], 20)}"
    yield from _field("experiment", f"{facts}, skill {change}")


def _field(label: str, text: str) -> list[str]:
    return wrap(text, _TEXT, first="  " + label.ljust(12))


def _usage(usage: Mapping[str, Json]) -> str:
    def tokens(part: Json) -> int | None:
        known = part["input_tokens"], part["output_tokens"]
        return None if None in known else sum(known)

    used = {role: tokens(part) for role, part in usage.items()}
    told = ", ".join(f"{visible(role)} {figures.compact(number)}" for role, number in used.items() if number != 0)
    guessed = " (partly estimated)" if any(part["estimated"] for part in usage.values()) else ""
    prices = [part["usd"] for part in usage.values()]
    total = None if None in prices else sum((Decimal(price) for price in prices), Decimal(0))
    return f"{told or 'none'}{guessed}; cost {figures.money(total)}"


def _dataset(dataset: Json) -> str:
    counts = ", ".join(f"{number:,} {visible(split)}" for split, number in dataset["counts"].items())
    text = f"{visible(dataset['fingerprint'][:8])}: {counts} ({len(dataset['critical']):,} critical)"
    if dataset["not_in_experiment"]:
        text += f"; {figures.some(dataset['not_in_experiment'], 'test')} without a skill marker did not run"
    return text


def _warnings(report: Json) -> Iterator[str]:
    left_out = report["dataset"]["left_out"]
    for item in left_out[:_MOST_LEFT_OUT]:
        yield from _sentence(f"left out: {case_name(item['case'])}: {one_line(item['why'], 200)}", "  ", "    ")
    if len(left_out) > _MOST_LEFT_OUT:
        yield f"  ... and {figures.some(len(left_out) - _MOST_LEFT_OUT, 'more case')} left out"
    for warning in report["warnings"][:_MOST_WARNINGS]:
        yield from _sentence(f"warning: {warning}", "  ", "    ")
    if len(report["warnings"]) > _MOST_WARNINGS:
        yield f"  ... and {figures.some(len(report['warnings']) - _MOST_WARNINGS, 'more warning')}"


def _end(report: Json, report_paths: Sequence[str]) -> Iterator[str]:
    yield from _model(report["model"], is_simulated(report))
    steps = list(_next_steps(report))
    width = max((len(step) for step, why in steps if why), default=0)
    yield "  next:"
    for step, why in steps:
        # A command is never broken: what it is for goes below it when both do not fit.
        line = f"    {step.ljust(width)}   {why}"
        if not why:
            yield from wrap(step, _TEXT, first="    ")
        elif len(line) <= _TEXT:
            yield line
        else:
            yield f"    {step}"
            yield from wrap(why, _TEXT, first="      ")
    for path in report_paths:
        yield f"  report: {visible(path)}"


def _model(model: Json, simulated: bool) -> Iterator[str]:
    if simulated:
        yield from wrap(_SIMULATED, _TEXT, first="  ")
        return
    yield f"  model {one_line(model['name'], 50)} ({one_line(model['kind'], 16)})"
    played = [visible(role) for role, name in model["roles"].items() if name == "simulated"]
    if played:
        yield from wrap(f"played by the simulated model: {', '.join(played)}", _TEXT, first="  ")


def _next_steps(report: Json) -> Iterator[tuple[str, str]]:
    """Commands with what they are for, and things to do with nothing to add; at least one."""
    decision, revision = report["decision"], report["revision"]
    verdict, rule = decision["verdict"], decision["rule"]
    if revision is not None:
        name = visible(revision["id"])
        yield f"skillevo revisions diff {name}", "read the change"
        if verdict == "ACCEPT" and revision["status"] in ("pending_approval", "publish_failed"):
            yield f"skillevo revisions approve {name}", "make it the active skill"
    if verdict == "INCONCLUSIVE":
        yield _more_evidence(rule, decision["settle"]), ""
    elif verdict == "REJECT":
        yield "nothing to do: the skill on disk stays as it is", ""
    elif verdict == "BLOCKED":
        yield "remove the cause above, then run the same command again", ""
    elif verdict == "NO_CHANGE":
        yield "nothing to do: the skill on disk stays as it is", ""
        yield "for a longer search raise --evolve-iterations, or add feedback cases that the skill fails", ""


def _more_evidence(rule: str, settle: int | None) -> str:
    if rule == "not-confirmed":
        return "run it again without --evolve-stages: only the confirmation can decide"
    if rule == "partial-dataset":
        return "run it again with all cases: without -k, -x, --lf and the like"
    if rule == "holdout-exposed":
        return "add new holdout cases: the present ones were seen before the search began"
    if settle:
        return f"add holdout cases (at least {settle}), then run the same command again"
    return "add holdout cases, then run the same command again"

"""The evidence part of the end screen: what was compared, the paired table, critical cases, the search score."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, Final

from ..core import stats
from ..core.verdict.words import p_value
from . import figures
from .table import Paired, Row
from .text import clip_start, one_line, visible

Json = Mapping[str, Any]

#: Most cases that are listed by name; the report has all.
_LISTED: Final = 5
_CASE_WIDTH: Final = 60


def counts_sentence(comparison: Json, alpha: float, *, valid: bool) -> str:
    """How many holdout cases went which way and, in a valid comparison, how often chance alone would do that."""
    better, same, worse, cases = (comparison[key] for key in ("better", "same", "worse", "cases"))
    if cases == 0:
        return "No holdout case has a valid pair of runs."
    each = figures.some(comparison["repeats"], "run")
    of = figures.some(cases, "holdout case")
    counts = f"Better on {better} of {of}, same on {same}, worse on {worse} ({each} each)."
    chance = _chance(comparison, alpha, "p") if valid else ""
    return f"{counts} Chance alone: {chance}, limit {alpha:g}." if chance else counts


def _chance(comparison: Json, alpha: float, claim: str) -> str:
    """`p = 0.03`, the chance of the change in the direction it has; empty when nothing changed or is known."""
    change = comparison["change"]
    p = comparison[f"{claim}_worse" if change is not None and change < 0 else claim]
    return "" if not change or p is None else p_value(p, alpha)


def table(report: Json) -> Paired | None:
    """Quality, passes and tokens before and after, with intervals; None without a confirmation."""
    confirmation = report["confirmation"]
    if confirmation is None:
        return None
    holdout = confirmation["holdout"]
    # Families score a task twice, strictly and by the official rule; other suites have one score of their own making.
    official = next((each for each in confirmation["objectives"] if each["name"] == "official"), None)
    graded = official is not None
    level = round(holdout["interval_level"] * 100)
    head = Row("", "before", "after", "change", f"{level} % interval")
    rows = [
        Row(
            "quality (strict)" if graded else "quality",
            figures.score(holdout["mean_before"]),
            figures.score(holdout["mean_after"]),
            figures.change(holdout["change"]),
            _interval(holdout, holdout["interval"], "change"),
        ),
        *_lost(holdout),
        *_passed(holdout, graded),
        *_official(official),
        _tokens(holdout),
        *_replay_tokens(report["replay"]),
    ]
    return Paired(head, rows)


def _interval(holdout: Json, bounds: Sequence[float] | None, form: str) -> str:
    """The bounds, or why there are none: the inverted test needs 2^cases subsets to reach its level."""
    if bounds is not None:
        return figures.interval(bounds, form)
    too_few = 2.0 ** -min(holdout["cases"], 60) > (1 - holdout["interval_level"]) / 2
    return "none: too few cases" if too_few else "none"


def _passed(holdout: Json, graded: bool) -> list[Row]:
    before, after = holdout["passes_before"], holdout["passes_after"]
    if before is None or after is None:
        return []
    label = "passed (strict)" if graded else "passed"
    row = Row(label, f"{before[0]}/{before[1]}", f"{after[0]}/{after[1]}")
    if before == after:
        return [replace(row, note="the same")]
    # Counts out of different totals have no difference.
    return [replace(row, change=f"{after[0] - before[0]:+}") if before[1] == after[1] else row]


def _official(objective: Json | None) -> list[Row]:
    if objective is None:
        return []
    before, after = objective["before"], objective["after"]
    return [Row("official score", figures.score(before), figures.score(after), figures.change(after - before))]


def _lost(holdout: Json) -> list[Row]:
    if not holdout["cases"]:
        return []
    upper = figures.upper_percent(holdout["regressed_upper"])
    lost = f"{holdout['regressed']} of {holdout['cases']}"
    return [Row("cases that lost", "", lost, note=f"the true rate could be up to {upper}")]


def _tokens(holdout: Json) -> Row:
    tokens, label = holdout["tokens"], "tokens per case"
    if tokens is None:
        unmeasured = holdout["unknown_usage"]
        note = f"not measured in {figures.some(unmeasured, 'case')}" if unmeasured else ""
        return Row(label, figures.UNKNOWN, figures.UNKNOWN, figures.UNKNOWN, note)
    before, after = tokens["runaway_before"], tokens["runaway_after"]
    runaway = figures.some(after, "runaway run") + (f" after {before}" if before else "")
    return Row(
        label,
        figures.count(tokens["before_mean"]),
        figures.count(tokens["after_mean"]),
        figures.ratio(tokens["ratio"]),
        f"{_interval(holdout, tokens['interval'], 'plain')}, {runaway}",
    )


def _replay_tokens(replay: Json | None) -> list[Row]:
    if replay is None:
        return []
    totals = {group["group"]: group["end_to_end_tokens"] for group in replay["groups"]}
    before, after = totals.get("evolution"), totals.get("optimized")
    ratio = after / before if before and after is not None else None
    note = "end-to-end (agent + reviewer)"
    return [Row("replay tokens", figures.compact(before), figures.compact(after), figures.ratio(ratio), note)]


def critical_sentences(report: Json) -> list[str]:
    """What became of the critical cases, the worst first; counts before rates.

    Cases that the decision itself names are not told twice.
    """
    findings = [] if report["confirmation"] is None else report["confirmation"]["criticals"]
    if not findings:
        return []
    named = {"critical-regressed": "worse", "missing-runs": "missing"}.get(report["decision"]["rule"])
    sentences = []
    for verdict in ("worse", "missing", "flagged, held on rerun"):
        told = [finding for finding in findings if finding["verdict"] == verdict != named]
        sentences += [_finding(finding) for finding in told[:_LISTED]]
        if len(told) > _LISTED:
            sentences.append(f"... and {figures.some(len(told) - _LISTED, 'more critical case')}: {verdict}.")
    if all(finding["verdict"] not in ("worse", "missing") for finding in findings):
        sentences.insert(0, f"No critical case got worse ({len(findings)} checked).")
    rate = report["confirmation"]["false_alarm_rate"]
    if rate is not None and any(finding["verdict"] not in ("ok", "missing") for finding in findings):
        rule = one_line(report["experiment"]["critical_rule"], 20)
        sentences.append(f"By chance alone rule '{rule}' refuses {rate * 100:.2g} % of unchanged critical cases.")
    return sentences


def _finding(finding: Json) -> str:
    case = case_name(finding["case_id"])
    if finding["verdict"] == "missing":
        return f"Critical case {case} did not run."
    fresh = finding["rerun_before"] is not None and finding["rerun_after"] is not None
    first = _runs(finding["after"], finding["before"])
    if not fresh:
        return f"Critical case {case} got worse: {first}."
    again = _runs(finding["rerun_after"], finding["rerun_before"])
    if finding["verdict"] == "worse":
        return f"Critical case {case} got worse: {again}, run again fresh (first {first})."
    return f"Critical case {case} looked lower ({first}) but held when run again: {again}."


def _runs(after: Sequence[float], before: Sequence[float]) -> str:
    """Counts when every run is all or nothing, else means with their counts."""
    if all(score in (0, 1) for score in (*after, *before)):
        return f"{_whole(after)}/{len(after)} after {_whole(before)}/{len(before)}"
    return f"{_mean(after)} after {_mean(before)} in {figures.some(len(after), 'run')} each"


def _whole(scores: Sequence[float]) -> int:
    return sum(score == 1 for score in scores)


def _mean(scores: Sequence[float]) -> str:
    return figures.score(sum(scores) / len(scores) if scores else None)


def case_name(case: str) -> str:
    """A case id on one line; of a long one the end is kept."""
    return clip_start(visible(case), _CASE_WIDTH)


def worse_cases(report: Json, width: int) -> list[str]:
    """The holdout cases that lost, the greatest loss first, as screen lines."""
    worse = losses(report)
    lines = []
    for case in worse[:_LISTED]:
        means = f"    {figures.score(case['before'])} -> {figures.score(case['after'])}  "
        lines.append(means + clip_start(visible(case["case"]), width - len(means)))
    if len(worse) > _LISTED:
        lines.append(f"    ... and {len(worse) - _LISTED} more")
    return ["  worse on:", *lines] if lines else []


def losses(report: Json) -> list[Json]:
    """The holdout cases that lost, the greatest loss first."""
    return [case for case in cases_by_loss(report, "holdout") if way_of(case) == "worse"]


def cases_by_loss(report: Json, split: str) -> list[Json]:
    """The cases of a split, those without a valid pair first, then the greatest loss first."""
    cases = [] if report["confirmation"] is None else report["confirmation"]["cases"]
    chosen = [case for case in cases if case["split"] == split]

    def order(case: Json) -> tuple[float, str]:
        change = change_of(case)
        return (-2.0 if change is None else change, case["case"])

    return sorted(chosen, key=order)


def change_of(case: Json) -> float | None:
    """Mean after minus mean before; None when one is unknown."""
    return None if None in (case["before"], case["after"]) else case["after"] - case["before"]


def way_of(case: Json) -> str:
    """ "better", "same" or "worse" as the decision counts it, scores in whole hundredths; "missing" without a pair."""
    before, after = stats.rounded(case["before_runs"]), stats.rounded(case["after_runs"])
    if not before:
        return "missing"
    change = sum(after) - sum(before)
    return "better" if change > 0 else "worse" if change < 0 else "same"


def token_ratio_of(case: Json) -> float | None:
    """Tokens after divided by tokens before; None when one is unknown or zero."""
    before, after = case["tokens_before"], case["tokens_after"]
    return after / before if before and after else None


def caveats(report: Json) -> Iterator[str]:
    """What the validation says and why the search score is no promise."""
    search, confirmation = report["search"], report["confirmation"]
    texts = []
    if confirmation is not None and confirmation["validation"] is not None:
        shown = confirmation["validation"]
        means = f"{figures.score(shown['mean_before'])} -> {figures.score(shown['mean_after'])}"
        split = f"better on {shown['better']} of {figures.some(shown['cases'], 'case')}, worse on {shown['worse']}"
        texts.append(f"validation, shown only: {means}, {split}")
    if confirmation is not None and report["decision"]["verdict"] != "BLOCKED":
        chance = _chance(confirmation["holdout"], report["experiment"]["alpha"], "p_these")
        if chance:
            cases = figures.some(confirmation["holdout"]["cases"], "case")
            texts.insert(0, f"about these very {cases} and no others, chance alone: {chance}")
    if search is not None:
        texts += _search(report, search)
    yield from texts


def _search(report: Json, search: Json) -> list[str]:
    outcomes = Counter(one_line(event["verdict"], 60) for event in search["events"])
    told = ", ".join(f"{number} {verdict}" for verdict, number in outcomes.most_common(_LISTED))
    proposals = f"search: {figures.some(search['iterations'], 'proposal')}" + (f" ({told})" if told else "")
    texts = [f"{proposals}; stopped by {one_line(search['stop_reason'], 40).replace('_', ' ')}"]
    cases = figures.some(report["dataset"]["counts"]["validation"], "case")
    best, seed = figures.score(search["best_score"]), figures.score(search["seed_score"])
    if search["winner"] == report["skill"]["before"]:
        return [*texts, f"the seed skill itself scored best on validation: {seed} on {cases}"]
    versions = figures.some(search["pool"], "version")
    return [
        *texts,
        f"search score {best} (seed {seed}) was the best of {versions} on {cases}: expect it to be optimistic",
    ]

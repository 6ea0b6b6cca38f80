"""What a revision's evidence says, in few words and in full.

Evidence has the keys of the JSON report (model, decision, confirmation, ...), but a submission or an older store may
lack any of them: what is missing is left out, what is not known here is shown as it is.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any, Final

from ..core.revisions import Revision
from ..report import figures
from ..report.text import one_line, wrap

SIMULATED: Final = "model simulated: these numbers test the machinery, they say nothing about a language model"

_LABEL: Final = 12
_LONG: Final = 2_000
_HUGE: Final = 1e12
_TOLD: Final = ("decision", "confirmation", "model", "outcome", "experiment", "dataset")


def summary(revision: Revision) -> str:
    """The evidence in a few words, such as "ACCEPT +0.12 (30 cases)"; "-" when there is none."""
    decision, comparison = _part(revision.evidence, "decision"), _comparison(revision.evidence)
    words = [str(decision["verdict"]).replace("_", " ")] if "verdict" in decision else []
    if _number(comparison.get("change")):
        words.append(figures.change(comparison["change"]))
    facts = [figures.some(comparison["cases"], "case")] if _number(comparison.get("cases")) else []
    facts += ["simulated"] if is_simulated(revision.evidence) else []
    if words and facts:
        words.append(f"({', '.join(facts)})")
    outcome = _part(revision.evidence, "outcome")
    if not words and _number(outcome.get("score")):
        words = ["outcome", figures.score(outcome["score"])]
    return one_line(" ".join(words), 60) or "-"


def is_simulated(evidence: Mapping[str, Any]) -> bool:
    """Whether the figures come from the simulated model and so prove nothing about a language model."""
    model = _part(evidence, "model")
    return "simulated" in (model.get("kind"), model.get("name"), _part(model, "roles").get("agent"))


def evidence_lines(revision: Revision, width: int) -> list[str]:
    """The evidence in full, one fact a line, no line wider than `width`."""
    return [
        line
        for label, text in _facts(revision.evidence)
        for line in wrap(one_line(text, _LONG), width, first=f"  {one_line(label, 30).ljust(_LABEL)}")
    ]


def _facts(evidence: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    decision, comparison, model = _part(evidence, "decision"), _comparison(evidence), _part(evidence, "model")
    if "verdict" in decision:
        rule = f" by rule {decision['rule']}" if decision.get("rule") else ""
        yield "verdict", str(decision["verdict"]).replace("_", " ") + rule
    if decision.get("reason"):
        yield "reason", str(decision["reason"])
    yield from _counts(comparison)
    if all(_number(comparison.get(key)) for key in ("mean_before", "mean_after", "change")):
        means = f"{figures.score(comparison['mean_before'])} -> {figures.score(comparison['mean_after'])}"
        yield "quality", f"{means}, change {figures.change(comparison['change'])}{_interval(comparison)}"
    ratio = _part(comparison, "tokens").get("ratio")
    if _number(ratio):
        yield "tokens", f"{figures.ratio(ratio)} per case"
    yield from _criticals(_part(evidence, "confirmation"))
    if model:
        yield "model", f"{model.get('name', figures.UNKNOWN)} ({model.get('kind', figures.UNKNOWN)})"
    yield from _provenance(_part(evidence, "experiment"), _part(evidence, "dataset"))
    outcome = _part(evidence, "outcome")
    if outcome:
        yield "outcome", ", ".join(f"{key} {value}" for key, value in outcome.items())
    for key, value in evidence.items():
        if key not in _TOLD:
            yield key, value if isinstance(value, str) else json.dumps(value)


def _counts(comparison: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    if all(_number(comparison.get(key)) for key in ("cases", "better", "same", "worse")):
        runs = f" ({figures.some(comparison['repeats'], 'run')} each)" if _number(comparison.get("repeats")) else ""
        yield (
            "counts",
            f"better on {comparison['better']} of {figures.some(comparison['cases'], 'holdout case')}, "
            f"same on {comparison['same']}, worse on {comparison['worse']}{runs}",
        )


def _criticals(confirmation: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    findings = confirmation.get("criticals")
    if isinstance(findings, list) and findings:
        worse = [finding for finding in findings if _plain(finding).get("verdict") == "worse"]
        named = ": " + ", ".join(str(_plain(finding).get("case_id")) for finding in worse[:5]) if worse else ""
        yield "critical", f"{len(worse)} of {figures.some(len(findings), 'critical case')} worse{named}"


def _provenance(experiment: Mapping[str, Any], dataset: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    named = [f"{key} {experiment[key]}" for key in ("seed", "goal", "margin", "alpha") if key in experiment]
    if experiment:
        yield "experiment", ", ".join([str(experiment.get("id", figures.UNKNOWN)), *named])
    if experiment.get("command"):
        yield "command", str(experiment["command"])
    counts = [f"{number} {split}" for split, number in _part(dataset, "counts").items()]
    if counts:
        yield "dataset", f"{', '.join(counts)}, fingerprint {str(dataset.get('fingerprint'))[:12]}"


def _interval(comparison: Mapping[str, Any]) -> str:
    bounds, level = comparison.get("interval"), comparison.get("interval_level", 0.9)
    if not isinstance(bounds, list) or len(bounds) != 2 or not all(map(_number, [*bounds, level])):
        return ""
    return f", {level * 100:.0f} % interval {figures.interval(bounds)}"


def _comparison(evidence: Mapping[str, Any]) -> Mapping[str, Any]:
    confirmation = _part(evidence, "confirmation")
    return _part(confirmation, "holdout") or _part(confirmation, "comparison")


def _part(whole: Mapping[str, Any], key: str) -> Mapping[str, Any]:
    return _plain(whole.get(key))


def _plain(value: Any) -> Mapping[str, Any]:
    return value if isinstance(value, Mapping) else {}


def _number(value: Any) -> bool:
    """Whether it is a figure that can be printed; evidence may come from outside."""
    return isinstance(value, int | float) and not isinstance(value, bool) and abs(value) < _HUGE

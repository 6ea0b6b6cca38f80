"""What a report says, in sentences: the same words for the end screen, Markdown, HTML and annotations.

Every text is one visible line of bounded length (text.one_line); whoever shows it lays it out and escapes its markup.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from decimal import Decimal
from typing import Any, Final

from . import figures
from .evidence import case_name, counts_sentence, critical_sentences
from .text import one_line, visible

Json = Mapping[str, Any]

SIMULATED: Final = "model simulated: these numbers test the machinery, not a language model"

CASSETTE: Final = "recorded answers were given again: tokens and cost are those of the recording"

#: A sentence of ours is far shorter; what is longer carries foreign text.
_SENTENCE: Final = 480
_MOST_WARNINGS: Final = 6
_MOST_LEFT_OUT: Final = 3

_STATUS_WORDS: Final = {
    "pending_approval": "waiting for approval",
    "pending_eval": "waiting for more evidence",
    "publish_failed": "not published: its files could not be written",
}

#: The option behind each rule that says a cap was reached.
_CAPS: Final = {"token-budget": "--evolve-max-tokens", "usd-budget": "--evolve-max-usd"}

_MAY_MERGE: Final = {
    "ACCEPT": "may be merged once somebody has read the change",
    "REJECT": "do not merge",
    "INCONCLUSIVE": "do not merge on this evidence",
    "BLOCKED": "cannot be judged: the comparison is not valid",
    "NO_CHANGE": "there is nothing to merge",
}


def verdict_words(verdict: str) -> str:
    """The verdict as people read it: NO_CHANGE is "NO CHANGE"."""
    return verdict.replace("_", " ")


def is_simulated(report: Json) -> bool:
    """Whether the scores come from the simulated model and so prove nothing about a language model."""
    model = report["model"]
    return "simulated" in (model["kind"], model["roles"]["agent"])


def may_merge(report: Json) -> str:
    """The answer to "may I merge it?" in a few words."""
    verdict = report["decision"]["verdict"]
    if verdict == "ACCEPT" and is_simulated(report):
        return "no ground for a merge: the model is simulated"
    return _MAY_MERGE[verdict]


def status_words(report: Json) -> list[str]:
    """The verdict, whether it is an old one, and what became of the revision."""
    parts = [verdict_words(report["decision"]["verdict"])]
    if report["experiment"]["recorded"]:
        parts.append("as recorded")
    if report["revision"] is not None:
        status = report["revision"]["status"]
        parts.append(_STATUS_WORDS.get(status, visible(status.replace("_", " "))))
    return parts


def reason(report: Json) -> str:
    """Why, as a sentence."""
    return _end_with_dot(report["decision"]["reason"])


def sentences(report: Json) -> Iterator[str]:
    """The decision and what it rests on, the most important first."""
    decision = report["decision"]
    verdict = verdict_words(decision["verdict"])
    yield one_line(f"{verdict}: {_end_with_dot(_lower_first(decision['reason']))}", _SENTENCE)
    yield from grounds(report)


def grounds(report: Json) -> Iterator[str]:
    """What the decision rests on beside its reason."""
    for text in _grounds(report):
        yield one_line(text, _SENTENCE)


def _grounds(report: Json) -> Iterator[str]:
    decision, confirmation = report["decision"], report["confirmation"]
    why, experiment = decision["reason"], report["experiment"]
    if experiment["recorded"]:
        when = visible(experiment["finished"][:16]).replace("T", " ")
        yield f"The same experiment ended on {when} UTC; its verdict is shown again and nothing was run."
    if experiment["partial"] is not None and experiment["partial"] not in why:
        partial = _end_with_dot(experiment["partial"])
        yield f"Partial dataset: {partial} A partial run may search, but it decides nothing."
    # The rules of the confirmation count the cases themselves; other reasons leave the counts to be told here.
    if confirmation is not None and f"{confirmation['holdout']['cases']} holdout case" not in why:
        valid = decision["verdict"] != "BLOCKED"
        yield counts_sentence(confirmation["holdout"], experiment["alpha"], valid=valid)
    yield from critical_sentences(report)
    if report["replay"] is not None and report["replay"]["sentence"] != why:
        yield _end_with_dot(report["replay"]["sentence"])
    for note in decision["notes"]:
        yield _end_with_dot(note)


def _lower_first(text: str) -> str:
    """The sentence as it reads after a colon."""
    return text[:1].lower() + text[1:] if text[1:2].islower() else text


def _end_with_dot(text: str) -> str:
    text = one_line(text, _SENTENCE - 40)
    return text if text.endswith((".", "!", "?", "...")) else text + "."


def provenance(report: Json) -> Iterator[tuple[str, str]]:
    """What was spent and on what, label and text: enough to find the run again."""
    rollouts = report["rollouts"]
    kinds = ("search", "confirmation", "critical_reruns", "replay")
    used = sum(rollouts[kind] for kind in kinds)
    budget = "" if rollouts["budget"] is None else f" of {rollouts['budget']:,}"
    parts = ", ".join(f"{rollouts[kind]:,} {kind.replace('_', ' ')}" for kind in kinds if rollouts[kind])
    retried = f"; {rollouts['retried']:,} retried" if rollouts["retried"] else ""
    yield "rollouts", f"{used:,}{budget}" + (f" ({parts})" if parts else "") + retried
    yield "tokens", _usage(report["usage"])
    yield "dataset", _dataset(report["dataset"])
    experiment = report["experiment"]
    before, after = (visible(report["skill"][key][:8]) for key in ("before", "after"))
    change = before if before == after else f"{before} -> {after}"
    facts = f"{one_line(experiment['id'], 24)}, seed {experiment['seed']}, goal {one_line(experiment['goal'], 20)}"
    yield "experiment", f"{facts}, skill {change}"


def used_tokens(part: Json) -> int | None:
    """Input plus output tokens of one role; None when either is unknown."""
    known = part["input_tokens"], part["output_tokens"]
    return None if None in known else sum(known)


def total_cost(usage: Mapping[str, Json]) -> Decimal | None:
    """US dollars of all roles together; None when one is unknown."""
    prices = [part["usd"] for part in usage.values()]
    return None if None in prices else sum((Decimal(price) for price in prices), Decimal(0))


def _usage(usage: Mapping[str, Json]) -> str:
    used = {role: used_tokens(part) for role, part in usage.items()}
    told = ", ".join(f"{visible(role)} {figures.compact(number)}" for role, number in used.items() if number != 0)
    guessed = " (partly estimated)" if any(part["estimated"] for part in usage.values()) else ""
    return f"{told or 'none'}{guessed}; cost {figures.money(total_cost(usage))}{_billed(usage)}"


def _billed(usage: Mapping[str, Json]) -> str:
    """What the providers themselves say that it cost, where every one of them does."""
    said = [part.get("provider_usd") for part in usage.values()]
    total = None if None in said else sum((Decimal(amount) for amount in said if amount), Decimal(0))
    return f" (the providers say {figures.money(total)})" if total else ""


def _dataset(dataset: Json) -> str:
    counts = ", ".join(f"{number:,} {visible(split)}" for split, number in dataset["counts"].items())
    text = f"{visible(dataset['fingerprint'][:8])}: {counts} ({len(dataset['critical']):,} critical)"
    if dataset["not_in_experiment"]:
        text += f"; {figures.some(dataset['not_in_experiment'], 'test')} without a skill marker did not run"
    return text


def warnings(report: Json) -> Iterator[str]:
    """Cases left out and what went less than well; long lists are cut and counted."""
    left_out = report["dataset"]["left_out"]
    for item in left_out[:_MOST_LEFT_OUT]:
        yield one_line(f"left out: {case_name(item['case'])}: {one_line(item['why'], 200)}", _SENTENCE)
    if len(left_out) > _MOST_LEFT_OUT:
        yield f"... and {figures.some(len(left_out) - _MOST_LEFT_OUT, 'more case')} left out"
    for warning in report["warnings"][:_MOST_WARNINGS]:
        yield one_line(f"warning: {warning}", _SENTENCE)
    if len(report["warnings"]) > _MOST_WARNINGS:
        yield f"... and {figures.some(len(report['warnings']) - _MOST_WARNINGS, 'more warning')}"


def model_sentences(report: Json) -> Iterator[str]:
    """Which model played, and what that means for the numbers."""
    model = report["model"]
    if is_simulated(report):
        yield SIMULATED
        return
    yield f"model {one_line(model['name'], 50)} ({one_line(model['kind'], 16)})"
    if model["kind"] == "cassette":
        yield CASSETTE
    played = [visible(role) for role, name in model["roles"].items() if name == "simulated"]
    if played:
        yield f"played by the simulated model: {', '.join(played)}"


def next_steps(report: Json) -> Iterator[tuple[str, str]]:
    """Commands with what they are for, and things to do with nothing to add; at least one."""
    decision, revision = report["decision"], report["revision"]
    verdict, rule = decision["verdict"], decision["rule"]
    if revision is not None:
        name = visible(revision["id"])
        yield f"skillevo revisions diff {name}", "read the change"
        if verdict == "ACCEPT" and revision["status"] in ("pending_approval", "publish_failed"):
            yield f"skillevo revisions approve {name}", "make it the active skill"
    of_gate = report["search"] is None
    if verdict == "INCONCLUSIVE":
        yield _more_evidence(rule, decision["settle"]), ""
    elif of_gate and verdict == "ACCEPT":
        yield "read the change, then merge it", ""
    elif of_gate and verdict == "REJECT":
        yield "keep the version of the reference, or mend what got worse", ""
    elif verdict == "REJECT":
        yield "nothing to do: the skill on disk stays as it is", ""
    elif verdict == "BLOCKED" and rule in _CAPS:
        yield f"raise {_CAPS[rule]}, then run the same command again", ""
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

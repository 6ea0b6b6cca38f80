"""The page: what is decided and why on the first screen, then the evidence, each part in a section of its own.

There is no script in it. What unfolds are `details` elements, so that hostile text has nothing to run in, the page
works in every viewer, and long conversations cost nothing until they are opened.
"""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Iterator, Mapping
from importlib import resources
from typing import Any, Final

from .. import figures, story
from ..changes import shown_diff
from ..details import Details
from ..evidence import caveats, table
from ..text import one_line, visible
from .anchors import Anchors
from .cases import anchors, case_sections, case_table
from .lineage import lineage_section
from .markup import Html, element, joined
from .plots import paired_plot, plane

Json = Mapping[str, Any]

#: Characters of the diff that are shown, and how many of them without being asked.
MOST_OF_DIFF: Final = 100_000
_OPEN_DIFF: Final = 8_000


def page(report: Json, details: Details | None = None) -> str:
    """The cleaned report (json_file.clean) as one HTML document; `details` adds what only the store knows."""
    name = one_line(report["skill"]["name"], 64)
    title = f"{name}: {story.verdict_words(report['decision']['verdict'])}"
    skip = element("a", "Skip to the evidence", href="#evidence", class_="skip")
    return document(title, skip, _header(report, name), element("main", *sections(report, details or Details())))


def document(title: str, *body: Html) -> str:
    """A page of that title: nothing in it may run, and nothing is loaded."""
    style = resources.files(__package__).joinpath("style.css").read_text(encoding="utf-8")
    digest = base64.b64encode(hashlib.sha256(style.encode("utf-8")).digest()).decode("ascii")
    policy = f"default-src 'none'; style-src 'sha256-{digest}'; base-uri 'none'; form-action 'none'"
    head = element(
        "head",
        element("meta", charset="utf-8"),
        # Before the style, and before any foreign text.
        element("meta", http_equiv="Content-Security-Policy", content=policy),
        element("meta", name="viewport", content="width=device-width, initial-scale=1"),
        element("meta", name="referrer", content="no-referrer"),
        element("meta", name="color-scheme", content="light dark"),
        element("title", title),
        element("style", Html(style)),
    )
    foot = element("footer", "Made by pytest-skillevo. Nothing in this file is loaded from elsewhere.")
    return "<!doctype html>\n" + element("html", head, element("body", *body, foot), lang="en") + "\n"


def _header(report: Json, name: str) -> Html:
    verdict = report["decision"]["verdict"]
    status = story.status_words(report)
    tail = f" ({', '.join(status[1:])})" if status[1:] else ""
    reason = story.reason(report)
    return element(
        "header",
        element("h1", verdict_mark(verdict), " ", element("span", name, class_="skill")),
        element("p", element("strong", _capital(story.may_merge(report)) + "."), tail, class_="answer"),
        element("p", _capital(reason), class_="reason"),
        element("p", _capital(story.SIMULATED) + ".", class_="simulated") if story.is_simulated(report) else None,
    )


def verdict_mark(verdict: str) -> Html:
    """The verdict as a word on its colour."""
    return element("span", story.verdict_words(verdict), class_=f"verdict {verdict.lower().replace('_', '-')}")


def _capital(text: str) -> str:
    return text[:1].upper() + text[1:]


def sections(report: Json, details: Details, prefix: str = "") -> Iterator[Html]:
    """Everything below the header; `prefix` begins all ids."""
    anchor = anchors(report, prefix)
    confirmation = report["confirmation"]
    if confirmation is not None and confirmation["holdout"]["cases"]:
        yield _plots(report, anchor)
    yield _evidence(report, anchor)
    yield _next(report)
    yield _change(report)
    if confirmation is not None:
        yield from case_table(report, anchor)
        yield case_sections(report, details, anchor)
    if report["search"] is not None:
        yield lineage_section(report, details)
    if report["replay"] is not None:
        yield _replay(report["replay"])
    yield _budget(report)
    yield _statistics(report)
    yield _provenance(report)


def section(title: str, *children: Html | str | None, id: str | None = None) -> Html:
    """A part of the page under its heading."""
    return element("section", element("h2", title), *children, id=id)


def _plots(report: Json, anchor: Anchors) -> Html:
    holdout = report["confirmation"]["holdout"]
    counts = f"{holdout['better']} better, {holdout['same']} same, {holdout['worse']} worse"
    if report["decision"]["verdict"] == "BLOCKED":
        counts += " (no valid comparison: shown to find the cause)"
    paired = element(
        "figure",
        paired_plot(report, anchor),
        element("figcaption", f"{figures.some(holdout['cases'], 'holdout case')}: {counts}. ", _legend(report)),
    )
    costs = plane(report, anchor)
    level = round(holdout["interval_level"] * 100)
    if costs is None:
        unknown = figures.some(holdout["unknown_usage"], "case")
        right = element("p", f"Tokens were not measured in {unknown}: no cost can be compared.")
    else:
        right = element(
            "figure", costs, element("figcaption", f"Each dot a case; the cross is the {level} % interval.")
        )
    return element("div", paired, right, class_="plots")


def _legend(report: Json) -> Html:
    items = [element("span", "better", class_="key better"), ", ", element("span", "worse", class_="key worse")]
    if report["dataset"]["critical"]:
        items += [", ", element("span", "critical", class_="key critical")]
    return joined(items)


def _evidence(report: Json, anchor: Anchors) -> Html:
    paired = table(report)
    grounds = [element("li", _capital(text)) for text in story.grounds(report)]
    notes = [element("li", _capital(text)) for text in caveats(report)]
    warned = [element("li", _capital(text)) for text in story.warnings(report)]
    return section(
        "Evidence",
        element("ul", *grounds) if grounds else None,
        None if paired is None else _paired_table(report),
        element("ul", *notes, class_="notes") if notes else None,
        element("ul", *warned, class_="warnings") if warned else None,
        id=anchor.named("evidence"),
    )


def _paired_table(report: Json) -> Html:
    paired = table(report)
    assert paired is not None
    head = paired.head
    titles = (head.label or "measure", head.before, head.after, head.change, head.note)
    return scrolling(
        "Before and after",
        element(
            "table",
            element("caption", "Before and after"),
            element("thead", element("tr", *(element("th", title, scope="col") for title in titles))),
            element(
                "tbody",
                *(
                    element(
                        "tr",
                        element("th", row.label, scope="row"),
                        *(element("td", cell, class_="n") for cell in (row.before, row.after, row.change)),
                        element("td", row.note),
                    )
                    for row in paired.rows
                ),
            ),
        ),
    )


def scrolling(label: str, content: Html) -> Html:
    """Content that may be wider than a phone: it scrolls by itself, also by keyboard."""
    return element("div", content, class_="wide", role="region", aria_label=label, tabindex=0)


def _next(report: Json) -> Html:
    steps = [
        element("li", element("code", step), f" {why}") if why else element("li", _capital(step))
        for step, why in story.next_steps(report)
    ]
    return section("Next", element("ul", *steps))


def _change(report: Json) -> Html:
    skill = report["skill"]
    if skill["before"] == skill["after"]:
        return section("What changed", element("p", "Nothing: the skill stays as it is."))
    items = [
        element("li", element("code", one_line(item["component"], 60)), f" +{item['added']} -{item['removed']} lines")
        for item in skill["changed"][:40]
    ]
    return section("What changed", element("ul", *items), diff_block(skill["diff"], "Change of the skill"))


def diff_block(diff: str, label: str) -> Html:
    """A unified diff, one element for each line; a long one is folded, and cut where it grows too long."""
    lines = [element("span", f"{line}\n", class_=kind) for kind, line in shown_diff(diff[:MOST_OF_DIFF])]
    left = len(diff) - MOST_OF_DIFF
    more = element("p", f"{left:,} more characters are in the JSON report.") if left > 0 else None
    block = joined([element("pre", *lines, class_="diff", tabindex=0, role="region", aria_label=label), more])
    if len(diff) <= _OPEN_DIFF:
        return block
    return element("details", element("summary", f"{figures.some(len(lines), 'line')} of difference"), block)


def _replay(replay: Json) -> Html:
    titles = (
        "group",
        "tasks",
        "mean score",
        "passed",
        "agent tokens",
        "Reviewer tokens",
        "all tokens",
        "skill updates",
    )
    rows = [
        element(
            "tr",
            element("th", visible(group["group"]), scope="row"),
            *(
                element("td", cell, class_="n")
                for cell in (
                    figures.count(group["tasks"]),
                    figures.score(group["mean_score"]),
                    figures.count(group["passed"]),
                    figures.compact(group["agent_tokens"]),
                    figures.compact(group["reviewer_tokens"]),
                    figures.compact(group["end_to_end_tokens"]),
                    figures.count(group["skill_updates"]),
                )
            ),
        )
        for group in replay["groups"]
    ]
    seeds = ", ".join(str(seed) for seed in replay["root_seeds"])
    return section(
        "Operational replay",
        element("p", one_line(replay["sentence"], 480)),
        scrolling(
            "Replay groups",
            element(
                "table",
                element("caption", f"Sequential tasks with a shared, changing skill; root seeds {seeds}"),
                element("thead", element("tr", *(element("th", title, scope="col") for title in titles))),
                element("tbody", *rows),
            ),
        ),
    )


def _budget(report: Json) -> Html:
    titles = ("role", "model", "input tokens", "output tokens", "cost")
    roles = report["model"]["roles"]
    rows = [
        element(
            "tr",
            element("th", visible(role), scope="row"),
            element("td", one_line(roles.get(role) or "not used", 60)),
            element("td", figures.count(part["input_tokens"]), class_="n"),
            element("td", figures.count(part["output_tokens"]), class_="n"),
            element(
                "td", figures.money(part["usd"]) + (" (estimated tokens)" if part["estimated"] else ""), class_="n"
            ),
        )
        for role, part in report["usage"].items()
    ]
    return section(
        "Budget and usage",
        scrolling(
            "Usage by role",
            element(
                "table",
                element("caption", "Usage by role"),
                element("thead", element("tr", *(element("th", title, scope="col") for title in titles))),
                element("tbody", *rows),
            ),
        ),
        element("p", f"Total cost: {figures.money(story.total_cost(report['usage']))}."),
    )


_READ: Final = (
    ("Unit", "The unit is the case: repeats are averaged inside it first, because repeats are not new tasks."),
    (
        "Chance alone",
        "p is the share of all ways to swap before and after inside cases (an exact sign flip) that look at least as "
        "good. It is one-sided and speaks of tasks like these.",
    ),
    (
        "These very cases",
        "The second p swaps runs inside each case. It is about these cases and no others, so it is smaller.",
    ),
    (
        "Interval",
        "The interval is that same test turned round, alpha on each side: it excludes zero exactly when the test says "
        "so. With very few cases there is none.",
    ),
    (
        "Cases that lost",
        "The upper limit on the true share of cases that get worse (Clopper-Pearson). Not worse means that it stays "
        "within the margin declared beforehand.",
    ),
    (
        "Tokens",
        "Means and ratio are geometric over cases, so that one runaway run does not decide. Unknown usage is never "
        "counted as zero.",
    ),
    (
        "Search score",
        "The search picked the best of several versions on the validation cases, so its score is optimistic. Only the "
        "holdout decides.",
    ),
)


def _statistics(report: Json) -> Html:
    experiment = report["experiment"]
    declared = (
        f"Declared beforehand: goal {visible(experiment['goal'])}, margin {experiment['margin']:g}, alpha "
        f"{experiment['alpha']:g} one-sided, {figures.some(experiment['repeats'], 'run')} per case and version, "
        f"critical rule {visible(experiment['critical_rule'])}. Decided by rule {visible(report['decision']['rule'])}."
    )
    terms = joined(joined([element("dt", term), element("dd", text)]) for term, text in _READ)
    return section(
        "How to read the figures",
        element("p", declared),
        element("details", element("summary", "What the statistics mean"), element("dl", terms), class_="print"),
    )


def _provenance(report: Json) -> Html:
    experiment, skill = report["experiment"], report["skill"]
    facts = [
        *story.provenance(report),
        ("began", experiment["started"]),
        ("ended", experiment["finished"]),
        ("command", experiment["command"]),
        ("versions", ", ".join(f"{name} {version}" for name, version in experiment["versions"].items())),
        ("model", f"{report['model']['name']} ({report['model']['kind']})"),
        ("fingerprint", experiment["fingerprint"]),
        ("dataset", report["dataset"]["fingerprint"]),
        ("skill before", skill["before"]),
        ("skill after", skill["after"]),
    ]
    items = joined(joined([element("dt", label), element("dd", one_line(text, 480))]) for label, text in facts)
    return section("Provenance", element("dl", items, class_="facts"))

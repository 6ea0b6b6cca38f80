"""The cases: a table sorted by loss, and one fold for each case with its runs and both conversations."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final

from .. import figures
from ..details import CasePair, Conversation, Details, Said
from ..evidence import cases_by_loss, change_of, token_ratio_of, way_of
from ..text import clip_start, visible
from .anchors import Anchors
from .markup import Html, element, joined
from .plots import short_name

Json = Mapping[str, Any]

#: Rows of each table and folds of cases.
MOST_CASES: Final = 500
_NAME: Final = 160
#: Bytes of all conversations as they stand in the page: escapes of hostile text are longer than the text.
MOST_BYTES: Final = 5_000_000


def anchors(report: Json, prefix: str = "") -> Anchors:
    """The ids on the page for the cases of a report."""
    return Anchors({row["case"]: number for number, row in enumerate(_shown(report), 1)}, prefix)


def _shown(report: Json) -> list[Json]:
    return [row for split in ("holdout", "validation") for row in cases_by_loss(report, split)[:MOST_CASES]]


def case_table(report: Json, anchor: Anchors) -> Iterator[Html]:
    """The holdout and the validation cases, the greatest loss first."""
    tables = [_table(report, split, anchor) for split in ("holdout", "validation") if cases_by_loss(report, split)]
    yield element("section", element("h2", "Cases"), *tables, id=anchor.named("cases"), class_="case-tables")


def _table(report: Json, split: str, anchor: Anchors) -> Html:
    rows = cases_by_loss(report, split)
    caption = f"{figures.some(len(rows), f'{split} case')}, the greatest loss first"
    if len(rows) > MOST_CASES:
        caption += f"; {len(rows) - MOST_CASES:,} more are in the JSON report"
    titles = ("case", "before", "after", "change", "tokens")
    return element(
        "div",
        element(
            "table",
            element("caption", caption),
            element("thead", element("tr", *(element("th", title, scope="col") for title in titles))),
            element("tbody", *(_row(row, anchor(row["case"])) for row in rows[:MOST_CASES])),
            class_="cases",
        ),
        class_="wide",
        role="region",
        aria_label=f"{split} cases",
        tabindex=0,
    )


def _row(row: Json, anchor: str) -> Html:
    change = change_of(row)
    cells = (figures.score(row["before"]), figures.score(row["after"]), figures.change(change))
    return element(
        "tr",
        element(
            "th",
            element("a", short_name(row["case"], 40), href=f"#{anchor}"),
            _critical(row),
            scope="row",
        ),
        *(element("td", cell, class_="n") for cell in cells),
        element("td", figures.ratio(token_ratio_of(row)), class_="n"),
        class_=way_of(row),
    )


def _critical(row: Json) -> Html | None:
    if not row["critical"]:
        return None
    return element("span", " ", element("span", "critical", class_="word"), class_="key critical")


def case_sections(report: Json, details: Details, anchor: Anchors) -> Html:
    """A fold for every case."""
    folds, room = [], MOST_BYTES
    for number, row in enumerate(_shown(report), 1):
        pair = details.pairs.get(row["case"])
        told = None if pair is None else _pair(pair)
        size = 0 if told is None else len(told.encode("utf-8", "replace"))
        if size > room:
            told = element("p", "Left out: this page would grow too large.", class_="closed")
        else:
            room -= size
        folds.append(
            _fold(row, anchor.named(f"case-{number}"), told, closed=row["split"] == "holdout" and not details.holdout)
        )
    return element(
        "section",
        element("h2", "Runs and conversations"),
        element("p", _about(report, details)),
        *folds,
        id=anchor.named("conversations"),
        class_="conversations",
    )


def _about(report: Json, details: Details) -> str:
    experiment = visible(report["experiment"]["id"])
    if not details.holdout and all(row["split"] == "holdout" for row in _shown(report)):
        where = f"skillevo report {experiment} --html -o FILE --show-holdout"
        return f"What was said in holdout cases stays closed. `{where}` opens it where the store is, and notes that."
    if not details.pairs and not details.cut:
        where = f"skillevo report {experiment} --html -o FILE"
        return f"The conversations are not in this file; where the store is, `{where}` adds them."
    shown = "Of every case the repeat is shown in which the two versions differ most."
    if not details.holdout:
        shown += (
            " What was said in holdout cases stays closed, so that nobody tunes a skill on them; --show-holdout opens "
            "it, and that is recorded."
        )
    return f"{shown} Not here: {details.cut}." if details.cut else shown


def _fold(row: Json, anchor: str, conversations: Html | None, *, closed: bool) -> Html:
    change = change_of(row)
    means = f"{figures.score(row['before'])} -> {figures.score(row['after'])}"
    summary = element(
        "summary",
        element("span", short_name(row["case"], 40), class_="name"),
        _critical(row),
        element("span", f" {row['split']} ", class_="split"),
        element("span", means, class_="means"),
        " ",
        element("span", figures.change(change), class_=f"change {way_of(row)}"),
    )
    return element(
        "details",
        summary,
        # Inside of what is folded: a browser opens a fold to show the target of a link, not a fold that is the target.
        element("p", clip_start(visible(row["case"]), _NAME), id=anchor, class_="case-id"),
        _runs(row),
        element("p", "The conversations of holdout cases are closed.", class_="closed") if closed else None,
        conversations,
        class_="case-fold",
    )


def _runs(row: Json) -> Html:
    lines = [
        element("dt", "runs before"),
        element("dd", _scores(row["before_runs"])),
        element("dt", "runs after"),
        element("dd", _scores(row["after_runs"])),
        element("dt", "tokens"),
        element("dd", f"{figures.count(row['tokens_before'])} -> {figures.count(row['tokens_after'])}"),
    ]
    if row["dropped_pairs"]:
        lines += [
            element("dt", "dropped"),
            element("dd", f"{figures.some(row['dropped_pairs'], 'pair')} without scores"),
        ]
    family = [visible(part) for part in (row["family"], row["level"]) if part]
    if family:
        lines += [element("dt", "family, level"), element("dd", ", ".join(family))]
    return element("dl", *lines, class_="facts")


def _scores(runs: list[float]) -> str:
    return ", ".join(f"{score:.3g}" for score in runs[:60]) or "none"


def _pair(pair: CasePair) -> Html:
    return element(
        "div",
        _conversation(f"Before, repeat {pair.repeat + 1}", pair.before),
        _conversation(f"After, repeat {pair.repeat + 1}", pair.after),
        class_="pair",
    )


def _conversation(title: str, told: Conversation) -> Html:
    return element(
        "div",
        element("h3", f"{title}: {figures.score(told.score)}"),
        element("pre", told.feedback, class_="feedback") if told.feedback else None,
        joined(map(_message, told.messages)),
        element("p", told.cut, class_="closed") if told.cut else None,
        class_="run",
    )


def _message(said: Said) -> Html:
    if said.role != "system":
        return element("div", element("h4", said.role), element("pre", said.text), class_="said")
    # The same in every run, and long.
    summary = element("summary", f"{said.role}, {len(said.text):,} characters")
    return element("details", summary, element("pre", said.text), class_="said")

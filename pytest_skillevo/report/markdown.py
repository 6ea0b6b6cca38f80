"""The report as Markdown for a pull-request comment or a step summary: the answer first, within the size limit.

Text of models, tests and skills is escaped so that GitHub shows it and does nothing else with it: no mention, no link
to an issue, no HTML, no table cell, no image, no workflow command when the file is printed in a log.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any, Final

from . import figures, story
from .evidence import cases_by_loss, caveats, change_of, table, token_ratio_of
from .text import no_command, one_line, visible, visible_lines

Json = Mapping[str, Any]

#: Characters: GitHub takes 65,536 in a comment, and 4,096 are kept free for the workflow that posts it.
COMMENT_LIMIT: Final = 61_440
#: Rows of the table of cases, and characters of a case's name in it.
_MOST_CASES: Final = 100
_CASE: Final = 160
#: Characters of the diff at most; it also gives way when the rest is long.
_DIFF: Final = 30_000

_PUNCTUATION: Final = re.compile(r"([\\`*_{}\[\]<>#|~&$])")
#: What would begin a list or a heading, at the start only.
_START: Final = re.compile(r"^(\s*)(?:([-+=])(?=[\s=-]|$)|(\d+)([.)])(?=\s|$))")
#: What GitHub turns into a mention, a reference or a link. Cut by a zero-width space, which a backslash cannot do: the
#: filters that make them run on the text after Markdown.
_REFERENCE: Final = re.compile(r"(@|\\#|:(?=//)|\bGH-(?=\d)|\bwww(?=\.))", re.IGNORECASE)
_ZERO_WIDTH: Final = "&#8203;"


def escaped(text: str) -> str:
    """Foreign text as Markdown that shows it literally on one line."""
    shown = _START.sub(r"\1\3\\\2\4", _PUNCTUATION.sub(r"\\\1", visible(text)))
    return _REFERENCE.sub(rf"\1{_ZERO_WIDTH}", shown)


def code(text: str) -> str:
    """Foreign text as inline code, in which GitHub looks for nothing."""
    shown = visible(text) or " "
    fence = "`" * (_longest_run(shown) + 1)
    pad = " " if shown[0] in "` " or shown[-1] in "` " else ""
    return f"{fence}{pad}{shown}{pad}{fence}"


def cell_code(text: str) -> str:
    """As `code`, inside a table, where a bar would end the cell even in code."""
    return code(text).replace("|", "\\|")


def _longest_run(text: str) -> int:
    return max((len(run) for run in re.findall("`+", text)), default=0)


def markdown(report: Json, limit: int = COMMENT_LIMIT) -> str:
    """The report as Markdown of at most `limit` characters.

    The report should be cleaned (json_file.clean). The diff is cut first, then the table of cases.
    """
    for cases, diff in ((_MOST_CASES, _DIFF), (_MOST_CASES, 8_000), (40, 4_000), (10, 1_000), (3, 0)):
        text = _document(report, cases, diff)
        if len(text) <= limit:
            return text
    # Many reports share one comment: the answer alone, because a fold that is not closed would swallow what follows.
    text = no_command(headline(report)) + "\n"
    return text if len(text) <= limit else ""


def headline(report: Json) -> str:
    """The first line: may it be merged, and why."""
    verdict = ", ".join(story.status_words(report))
    simulated = ", simulated model" if story.is_simulated(report) else ""
    name, why = one_line(report["skill"]["name"], 64), one_line(story.reason(report), 480)
    return f"**{escaped(name)}: {story.may_merge(report)}** ({escaped(verdict)}{simulated}). {escaped(_capital(why))}"


def _capital(text: str) -> str:
    return text[:1].upper() + text[1:]


def _document(report: Json, cases: int, diff: int) -> str:
    sections = [
        [headline(report)],
        _simulated(report),
        list(_bullets(story.grounds(report))),
        _paired(report),
        list(_bullets(caveats(report))),
        _steps(report),
        _changes(report, diff),
        _cases(report, cases),
        _facts(report),
    ]
    text = "\n\n".join("\n".join(section) for section in sections if section) + "\n"
    return "\n".join(no_command(line) for line in text.split("\n"))


def _simulated(report: Json) -> list[str]:
    if not story.is_simulated(report):
        return []
    return ["> **Simulated model:** these numbers test the machinery; they say nothing about a language model."]


def _bullets(texts: Iterator[str]) -> Iterator[str]:
    for text in texts:
        yield f"- {escaped(_capital(text))}"


def _paired(report: Json) -> list[str]:
    paired = table(report)
    if paired is None:
        return []
    head = paired.head
    lines = [
        f"| {head.label} | {head.before} | {head.after} | {head.change} | {head.note} |",
        "|:---|---:|---:|---:|:---|",
    ]
    return lines + [
        f"| {' | '.join(escaped(cell) for cell in (row.label, row.before, row.after, row.change, row.note))} |"
        for row in paired.rows
    ]


def _steps(report: Json) -> list[str]:
    lines = ["**Next**", ""]
    for step, why in story.next_steps(report):
        lines.append(f"- {code(step)}: {escaped(why)}" if why else f"- {escaped(_capital(step))}")
    return lines


def _changes(report: Json, most: int) -> list[str]:
    skill = report["skill"]
    if skill["after"] == skill["before"] or not skill["diff"]:
        return []
    counts = ", ".join(
        f"{code(one_line(item['component'], 40))} +{item['added']} -{item['removed']}" for item in skill["changed"][:12]
    )
    more = len(skill["changed"]) - 12
    counts += f" and {more} more" if more > 0 else ""
    return ["<details><summary>The change of the skill</summary>", "", f"Changed: {counts}", "", *_diff(report, most)]


def _diff(report: Json, most: int) -> list[str]:
    diff: str = report["skill"]["diff"]
    shown = visible_lines(diff[:most].rstrip("\n")).split("\n")
    left = len(diff) - most
    fence = "`" * max(3, max(map(_longest_run, shown)) + 1)
    lines = [f"{fence}diff", *shown, fence] if most else []
    if left > 0:
        lines += ["", f"{left:,} more characters of the diff are in the report."]
    return [*lines, "", "</details>"]


def _cases(report: Json, most: int) -> list[str]:
    confirmation = report["confirmation"]
    if confirmation is None:
        return []
    rows = cases_by_loss(report, "holdout")
    lost = confirmation["holdout"]["worse"]
    lines = [
        f"<details><summary>{figures.some(len(rows), 'holdout case')}, {lost} worse, the greatest loss first</summary>",
        "",
        "| case | before | after | change | tokens |",
        "|:---|---:|---:|---:|---:|",
        *map(_case, rows[:most]),
    ]
    if len(rows) > most:
        lines += ["", f"{len(rows) - most:,} more cases are in the report."]
    return [*lines, "", "</details>"]


def _case(row: Json) -> str:
    name = cell_code(_name(row["case"])) + (" (critical)" if row["critical"] else "")
    means = figures.score(row["before"]), figures.score(row["after"]), figures.change(change_of(row))
    cells = (*means, figures.ratio(token_ratio_of(row)))
    return f"| {name} | {' | '.join(cells)} |"


def _name(case: str) -> str:
    return case if len(case) <= _CASE else "..." + case[-_CASE:]


def _facts(report: Json) -> list[str]:
    lines = ["<details><summary>Budget, data and versions</summary>", ""]
    lines += [f"- {label}: {escaped(text)}" for label, text in story.provenance(report)]
    lines += [f"- {escaped(text)}" for text in story.model_sentences(report)]
    lines += [f"- {escaped(text)}" for text in story.warnings(report)]
    versions = ", ".join(f"{name} {version}" for name, version in report["experiment"]["versions"].items())
    lines += [f"- versions: {escaped(one_line(versions, 200))}"]
    lines += [f"- command: {code(one_line(report['experiment']['command'], 300))}", "", "</details>"]
    return lines

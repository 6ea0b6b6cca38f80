"""The search: which version was made from which, what it changed, and what became of the proposals."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from typing import Any, Final

from .. import figures
from ..changes import shown_diff
from ..details import Details
from ..text import one_line
from .markup import Html, element
from .plots import search_plot

Json = Mapping[str, Any]

MOST_VERSIONS: Final = 200
_MOST_EVENTS: Final = 300
#: Deeper versions are not indented further.
_DEEPEST: Final = 8
#: Characters of diff of one version.
_DIFF: Final = 8_000


def lineage_section(report: Json, details: Details) -> Html:
    """The figure of the search, the tree of its versions with their diffs, and the list of proposals."""
    search = report["search"]
    names = {one["digest"]: f"c{number}" for number, one in enumerate(search["candidates"])}
    versions = search["candidates"]
    told = (
        f"{figures.some(search['iterations'], 'proposal')}, {search['accepted']} accepted; stopped by "
        f"{one_line(search['stop_reason'], 60).replace('_', ' ')}."
    )
    return element(
        "section",
        element("h2", "Search and lineage"),
        element("p", told),
        element("figure", search_plot(search, names)) if versions else None,
        _tree(search, names, details) if versions else None,
        _events(search, names),
        id="lineage",
    )


def _tree(search: Json, names: Mapping[str, str], details: Details) -> Html:
    """Every version below its parent; the depth is said by indentation and by "from"."""
    children: dict[str | None, list[Json]] = {}
    known = set(names)
    for one in search["candidates"]:
        children.setdefault(one["parent"] if one["parent"] in known else None, []).append(one)
    items: list[Html] = []
    waiting = [(one, 0) for one in reversed(children.get(None, ()))]
    while waiting and len(items) < MOST_VERSIONS:
        one, depth = waiting.pop()
        items.append(_item(one, depth, names, search["winner"], details.diffs.get(one["digest"], "")))
        waiting += [(child, depth + 1) for child in reversed(children.get(one["digest"], ()))]
    left = len(search["candidates"]) - len(items)
    more = element("li", f"{left} more versions are in the JSON report") if left > 0 else None
    return element("ul", *items, more, class_="tree")


def _item(one: Json, depth: int, names: Mapping[str, str], winner: str, diff: str) -> Html:
    name = names[one["digest"]]
    origin = f", from {names[one['parent']]}" if one["parent"] in names else ", the seed skill"
    changed = f" changes {one_line(one['component'], 60)}" if one["component"] else ""
    label = [
        element("b", name),
        f"{changed}{origin}, validation {figures.score(one['mean'])}",
        element("span", " selected", class_="key won") if one["digest"] == winner else None,
    ]
    if not diff:
        return element("li", *label, class_=f"depth-{min(depth, _DEEPEST)}")
    lines = [element("span", f"{line}\n", class_=kind) for kind, line in shown_diff(diff[:_DIFF])]
    cut = f"[... {len(diff) - _DIFF:,} more characters]" if len(diff) > _DIFF else None
    return element(
        "li",
        element("details", element("summary", *label), element("pre", *lines, cut, class_="diff")),
        class_=f"depth-{min(depth, _DEEPEST)}",
    )


def _events(search: Json, names: Mapping[str, str]) -> Html | None:
    events = search["events"]
    if not events:
        return None
    outcomes = Counter(one_line(event["verdict"], 80) for event in events).most_common(12)
    rows = [
        element(
            "tr",
            element("th", str(event["iteration"]), scope="row"),
            element("td", names.get(event["parent"] or "", "a child not validated")),
            element("td", one_line(event["component"] or "-", 60)),
            element("td", _minibatch(event), class_="n"),
            element("td", one_line(event["verdict"], 200)),
        )
        for event in events[:_MOST_EVENTS]
    ]
    titles = ("iteration", "from", "component", "minibatch", "outcome")
    table = element(
        "table",
        element("caption", f"{min(len(events), _MOST_EVENTS)} of {figures.some(len(events), 'proposal')}"),
        element("thead", element("tr", *(element("th", title, scope="col") for title in titles))),
        element("tbody", *rows),
    )
    return element(
        "details",
        element("summary", "All proposals"),
        element("ul", *(element("li", f"{number} {verdict}") for verdict, number in outcomes)),
        element("div", table, class_="wide", role="region", aria_label="proposals", tabindex=0),
    )


def _minibatch(event: Json) -> str:
    before, after = event["minibatch_parent"], event["minibatch_child"]
    return "" if None in (before, after) else f"{figures.score(before)} -> {figures.score(after)}"

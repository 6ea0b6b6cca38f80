"""The figures of the page as inline SVG: the paired plot, the plane of quality and cost, and the search.

Positions are user units of a fixed view box; the page scales it. Colours come from classes, so that light, dark and
print differ in the style sheet only. Every figure has a title and a description for who cannot see it, and the numbers
stand in tables beside it.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from .. import figures
from ..evidence import cases_by_loss, change_of, token_ratio_of, way_of
from ..text import clip_start, visible
from .anchors import Anchors
from .markup import Html, element, joined

Json = Mapping[str, Any]

WIDTH: Final = 400
HEIGHT: Final = 290
#: Lines of the paired plot; of more cases the worst and the best are drawn.
MOST_LINES: Final = 240
_LABELLED: Final = 4
_ROW: Final = 12


@dataclass(frozen=True, slots=True)
class Axis:
    """A linear map from values to positions."""

    low: float
    high: float
    start: float
    end: float

    def __call__(self, value: float) -> float:
        """The position of a value; values outside are drawn at the border."""
        inside = min(max(value, self.low), self.high)
        return self.start + (inside - self.low) / (self.high - self.low) * (self.end - self.start)

    def ticks(self, steps: Sequence[float]) -> list[float]:
        """Round values on the axis, by the first step that gives at most seven."""
        for step in steps:
            first, last = math.ceil(self.low / step - 1e-9), math.floor(self.high / step + 1e-9)
            if last - first <= 6:
                return [number * step for number in range(first, last + 1)]
        return [self.low, self.high]


def _figure(
    name: str, title: str, description: str, *children: Html | None, height: int = HEIGHT, prefix: str = ""
) -> Html:
    id = prefix + name
    return element(
        "svg",
        element("title", title, id=f"{id}-title"),
        element("desc", description, id=f"{id}-desc"),
        *children,
        viewBox=f"0 0 {WIDTH} {height}",
        role="img",
        aria_labelledby=f"{id}-title {id}-desc",
        class_=f"plot {name}",
    )


def _text(x: float, y: float, text: str, class_: str = "", anchor: str = "start") -> Html:
    return element("text", text, x=x, y=y, class_=class_ or None, text_anchor=anchor)


def _line(x1: float, y1: float, x2: float, y2: float, class_: str) -> Html:
    return element("line", x1=x1, y1=y1, x2=x2, y2=y2, class_=class_)


def short_name(case: str, width: int = 16) -> str:
    """The part of a case's id that tells it from its neighbours: its parameters, else its function."""
    tail = visible(case.rpartition("::")[2] or case)
    if tail.endswith("]") and "[" in tail:
        tail = tail[tail.index("[") + 1 : -1] or tail
    return clip_start(tail, width)


def paired_plot(report: Json, anchor: Anchors) -> Html:
    """One line for each holdout case from its mean before to its mean after; `anchor` gives the id of a case."""
    rows = [row for row in cases_by_loss(report, "holdout") if change_of(row) is not None]
    shown = rows if len(rows) <= MOST_LINES else [*rows[: MOST_LINES // 2], *rows[-(MOST_LINES // 2) :]]
    holdout = report["confirmation"]["holdout"]
    values = [value for row in shown for value in (row["before"], row["after"])]
    y = Axis(max(min(values) - 0.04, 0.0), min(max(values) + 0.04, 1.0) + 1e-9, HEIGHT - 34, 16)
    left, right = 70.0, 300.0
    ticks = y.ticks((0.02, 0.05, 0.1, 0.2, 0.5))
    grid = [joined([_line(left - 26, y(at), right, y(at), "grid"), _tick(left - 32, y(at), at)]) for at in ticks]
    # The worst are drawn last, on top of the others.
    lines = [_case_line(row, left, right, y, anchor) for row in reversed(shown)]
    mean = _mean_line(holdout, left, right, y)
    worst = [row for row in shown[:_LABELLED] if way_of(row) == "worse"]
    names = _labels(worst, right, y, [] if mean is None else [y(holdout["mean_after"]) + 4])
    described = (
        f"{holdout['better']} cases better, {holdout['same']} the same, {holdout['worse']} worse; "
        f"mean {figures.score(holdout['mean_before'])} before and {figures.score(holdout['mean_after'])} after."
    )
    foot = [_text(left, HEIGHT - 10, "before", "axis", "middle"), _text(right, HEIGHT - 10, "after", "axis", "middle")]
    parts = [*grid, *lines, mean, *names, *foot]
    return _figure("paired", "Score of every holdout case before and after", described, *parts, prefix=anchor.prefix)


def _tick(x: float, y: float, value: float) -> Html:
    return _text(x, y + 4, f"{value:.2f}", "tick", "end")


def _case_line(row: Json, left: float, right: float, y: Axis, anchor: Anchors) -> Html:
    start, end, kind = y(row["before"]), y(row["after"]), way_of(row)
    ends: list[Html] = [
        _diamond(x, at) if row["critical"] else element("circle", cx=x, cy=at, r=2.4)
        for x, at in ((left, start), (right, end))
    ]
    mark = " (critical)" if row["critical"] else ""
    means = f"{figures.score(row['before'])} -> {figures.score(row['after'])}"
    return element(
        "a",
        element("title", f"{short_name(row['case'], 60)}{mark}: {means}"),
        _line(left, start, right, end, "hit"),
        _line(left, start, right, end, "stroke"),
        *ends,
        href=f"#{anchor(row['case'])}",
        tabindex=-1,
        class_=f"case {kind}" + (" critical" if row["critical"] else ""),
    )


def _diamond(x: float, y: float) -> Html:
    size = 5.0
    points = f"{x:g},{y - size:g} {x + size:g},{y:g} {x:g},{y + size:g} {x - size:g},{y:g}"
    return element("polygon", points=points)


def _mean_line(holdout: Json, left: float, right: float, y: Axis) -> Html | None:
    before, after = holdout["mean_before"], holdout["mean_after"]
    if before is None or after is None:
        return None
    bounds = holdout["interval"]
    bar = None
    if bounds is not None:
        low, high = (y(before + bound) for bound in bounds)
        bar = joined(_line(right + 9 - width, at, right + 9 + width, at, "mean") for at, width in ((low, 3), (high, 3)))
        bar = joined([_line(right + 9, low, right + 9, high, "mean thin"), bar])
    label = _text(right + 16, y(after) + 4, f"mean {figures.change(holdout['change'])}", "meanlabel")
    return joined([_line(left, y(before), right, y(after), "mean"), bar, label])


def _labels(rows: Iterable[Json], x: float, y: Axis, taken: list[float]) -> list[Html]:
    """Names at the right end, moved down where they would cover each other or what is `taken`."""
    placed: list[Html] = []
    for row in sorted(rows, key=lambda row: -row["after"]):
        at = y(row["after"]) + 4
        while any(abs(at - other) < _ROW for other in taken):
            at += 1
        placed.append(_text(x + 16, at, short_name(row["case"], 13), "worselabel"))
        taken.append(at)
    return placed


def plane(report: Json, anchor: Anchors) -> Html | None:
    """Change of quality against the ratio of tokens, with both intervals; None when tokens are unknown."""
    holdout = report["confirmation"]["holdout"]
    tokens, change = holdout["tokens"], holdout["change"]
    if tokens is None or not tokens["ratio"] or change is None:
        return None
    dots = [
        (row, ratio, moved)
        for row in cases_by_loss(report, "holdout")
        if (ratio := token_ratio_of(row)) is not None and (moved := change_of(row)) is not None
    ][:MOST_LINES]
    reach = max([0.1, abs(change), *(abs(each) for each in holdout["interval"] or ()), *(abs(d[2]) for d in dots)])
    ratios = [tokens["ratio"], *(tokens["interval"] or ()), *(ratio for _, ratio, _ in dots)]
    wide = max(math.log(1.25), *(abs(math.log(ratio)) for ratio in ratios if ratio > 0))
    x, y = Axis(-wide * 1.1, wide * 1.1, 46, WIDTH - 12), Axis(-reach * 1.25, reach * 1.25, HEIGHT - 44, 12)
    parts = [
        element("rect", x=x.start, y=y.end, width=x(0) - x.start, height=y(0) - y.end, class_="good"),
        element("rect", x=x(0), y=y(0), width=x.end - x(0), height=y.start - y(0), class_="bad"),
        *_plane_grid(x, y),
        _margin(report["experiment"], x, y),
        *(_dot(row, x(math.log(ratio)), y(moved), anchor) for row, ratio, moved in reversed(dots)),
        _cross(holdout, x, y),
        _text(x.start + 5, y.end + 13, "better, cheaper", "corner"),
        _text(x.end - 5, y.end + 13, "better, dearer", "corner", "end"),
        _text(x.start + 5, y.start - 6, "worse, cheaper", "corner"),
        _text(x.end - 5, y.start - 6, "worse, dearer", "corner", "end"),
        _text((x.start + x.end) / 2, HEIGHT - 8, "tokens, after / before", "axis", "middle"),
    ]
    told = f"Quality {figures.change(change)}, interval {figures.interval(holdout['interval'])}; "
    told += f"tokens {figures.ratio(tokens['ratio'])}, interval {figures.interval(tokens['interval'], 'plain')}."
    return _figure("plane", "Change of quality and of tokens", told, *parts, prefix=anchor.prefix)


def _margin(experiment: Json, x: Axis, y: Axis) -> Html | None:
    """The loss that still counts as not worse, where the goal speaks of one and it is on the plane."""
    margin = -experiment["margin"]
    if experiment["goal"] == "quality" or margin < y.low:
        return None
    label = _text(x.end - 5, y(margin) - 4, "margin", "corner", "end")
    return joined([_line(x.start, y(margin), x.end, y(margin), "margin"), label])


def _plane_grid(x: Axis, y: Axis) -> Iterable[Html]:
    for at in y.ticks((0.02, 0.05, 0.1, 0.2, 0.5)):
        zero = abs(at) < 1e-9
        yield _line(x.start, y(at), x.end, y(at), "zero" if zero else "grid")
        yield _text(x.start - 6, y(at) + 4, "0" if zero else f"{at:+.2f}", "tick", "end")
    factors = (0.1, 0.25, 0.5, 0.67, 0.8, 0.9, 1.0, 1.1, 1.25, 1.5, 2.0, 4.0, 10.0)
    last = float("-inf")
    for factor in factors:
        at = x(math.log(factor))
        if x.low < math.log(factor) < x.high and (at - last > 34 or factor == 1.0):
            yield _line(at, y.start, at, y.end, "zero" if factor == 1.0 else "grid")
            yield _text(at, y.start + 15, f"x{factor:g}", "tick", "middle")
            last = at


def _dot(row: Json, x: float, y: float, anchor: Anchors) -> Html:
    shape = _diamond(x, y) if row["critical"] else element("circle", cx=x, cy=y, r=3)
    told = f"{figures.change(change_of(row))}, tokens {figures.ratio(token_ratio_of(row))}"
    return element(
        "a",
        element("title", f"{short_name(row['case'], 60)}: {told}"),
        shape,
        href=f"#{anchor(row['case'])}",
        tabindex=-1,
        class_=f"case {way_of(row)}",
    )


def _cross(holdout: Json, x: Axis, y: Axis) -> Html:
    tokens = holdout["tokens"]
    across, up = x(math.log(tokens["ratio"])), y(holdout["change"])
    bars = []
    if holdout["interval"] is not None:
        low, high = holdout["interval"]
        bars.append(_line(across, y(low), across, y(high), "mean"))
    if tokens["interval"] is not None and tokens["interval"][0] > 0:
        low, high = map(math.log, tokens["interval"])
        bars.append(_line(x(low), up, x(high), up, "mean"))
    return joined([*bars, element("circle", cx=across, cy=up, r=6, class_="centre")])


def search_plot(search: Json, names: Mapping[str, str]) -> Html:
    """Every version of the pool at its iteration and validation mean, joined to its parent."""
    found = search["candidates"][-MOST_LINES:]
    height = 220
    means = [one["mean"] for one in found]
    y = Axis(max(min(means) - 0.03, 0.0), min(max(means) + 0.03, 1.0) + 1e-9, height - 40, 16)
    x = Axis(0, max(search["iterations"], 1), 48, WIDTH - 20)
    at = {one["digest"]: (x(one["iteration"]), y(one["mean"])) for one in found}
    grid = [
        joined([_line(x.start, y(value), x.end, y(value), "grid"), _tick(x.start - 6, y(value), value)])
        for value in y.ticks((0.01, 0.02, 0.05, 0.1, 0.2, 0.5))
    ]
    ticks = [
        _text(x(value), height - 22, f"{value:.0f}", "tick", "middle") for value in x.ticks((1, 5, 10, 25, 100, 1000))
    ]
    won = _line_of(search)
    edges = [
        _line(*at[one["parent"]], *at[one["digest"]], "edge won" if one["digest"] in won else "edge")
        for one in found
        if one["parent"] in at
    ]
    dots = [_version(one, *at[one["digest"]], names, search) for one in found]
    told = f"{search['pool']} versions in {search['iterations']} iterations; validation mean from "
    told += f"{figures.score(search['seed_score'])} to {figures.score(search['best_score'])}."
    foot = _text((x.start + x.end) / 2, height - 6, "iteration", "axis", "middle")
    return _figure(
        "search", "Validation mean of every accepted version", told, *grid, *ticks, *edges, *dots, foot, height=height
    )


def _version(one: Json, x: float, y: float, names: Mapping[str, str], search: Json) -> Html:
    won = one["digest"] == search["winner"]
    name = names[one["digest"]]
    shown = [
        element("title", f"{name}: {figures.score(one['mean'])}"),
        element("circle", cx=x, cy=y, r=5.5 if won else 3.5, class_="centre" if won else "version"),
    ]
    if won or one["parent"] is None:
        # The seed stands at the axis, whose figures its name must not cover.
        shown.append(_text(x, y - 9, name, "meanlabel", "start" if one["parent"] is None else "middle"))
    return element("g", *shown)


def _line_of(search: Json) -> set[str]:
    """Digests from the winner back to the seed."""
    parents = {one["digest"]: one["parent"] for one in search["candidates"]}
    chain: set[str] = set()
    digest: str | None = search["winner"]
    while digest is not None and digest not in chain:
        chain.add(digest)
        digest = parents.get(digest)
    return chain

"""From the text of an artifact to the official verdict: the head that all share, then the rules' own parts."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from .rules import Rules

#: Phrases that the original takes for made-up data once they occur more than twice (the lenient ones: five times).
FAKE_PHRASES: Final[tuple[str, ...]] = (
    "network is unreachable",
    "connection timed out",
    "connection refused",
    "failed to fetch",
    "error fetching",
    "unable to retrieve",
    "placeholder_data",
    "example data",
    "sample data",
    "dummy_value",
    "mock_response",
    "假设数据",
    "模拟数据",
    "示例数据",
    "无法获取",
    "网络不可达",
    "连接超时",
    "api error",
    "not implemented",
    "todo: implement",
    "fixme: fake",
    "xxx: placeholder",
    "未实现",
    "待完成",
)
LENIENT_PHRASES: Final[tuple[str, ...]] = ("api error", "connection refused")

#: Percent at which the original's code says "passed", and at which its paper does.
PASS_CODE: Final = 70.0
PASS_PAPER: Final = 90.0

#: What a malformed artifact made the original raise.
CRASHES: Final = (ArithmeticError, AttributeError, LookupError, RecursionError, TypeError, ValueError)


@dataclass(frozen=True, slots=True)
class OfficialScore:
    """The verdict: percent in [0, 100] with one decimal, status "pass", "partial", "fail" or "evaluator_error".

    `items` are (achieved, possible) points in the order of the evaluator's parts; empty after a crash.
    """

    percent: float
    status: str
    items: tuple[tuple[float, int], ...] = field(default=())

    @property
    def quality(self) -> float:
        """The score in [0, 1]."""
        return round(self.percent / 100, 3)

    @property
    def passed70(self) -> bool:
        """Passed by the threshold of the original's code."""
        return self.percent >= PASS_CODE

    @property
    def passed90(self) -> bool:
        """Passed by the threshold of the original's paper."""
        return self.percent >= PASS_PAPER


def score_official(rules: Rules, artifact: str | None, expected: Sequence[Any]) -> OfficialScore:
    """Score the text of an artifact (None: no file) against the expected ids, already in the id mode's form."""
    try:
        return _verdict(_items(rules, artifact, expected))
    except CRASHES:
        return OfficialScore(0.0, "evaluator_error")


def _verdict(items: Sequence[tuple[float, int]]) -> OfficialScore:
    achieved = sum(points for points, _ in items)
    possible = sum(weight for _, weight in items)
    percent = round(achieved / possible * 100, 1)
    status = "pass" if percent >= PASS_PAPER else "partial" if percent >= PASS_CODE else "fail"
    return OfficialScore(percent, status, tuple((round(points, 1), weight) for points, weight in items))


def _items(rules: Rules, artifact: str | None, expected: Sequence[Any]) -> list[tuple[float, int]]:
    head = rules.head
    if artifact is None:
        return [(0.0, head.file)]
    try:
        result = _load(artifact)
    except ValueError:
        return [(float(head.file), head.file), (0.0, head.readable)]
    honest = 0.0 if has_fake_phrases(result) else 1.0
    entries = rules.entries(result)
    actual = len(entries) if isinstance(entries, list) else 0
    shares = [
        (1.0, head.file),
        (1.0, head.readable),
        (honest, head.honest),
        (min(actual / len(expected), 1.0), head.counted),
        (rules.found(entries, expected) / len(expected), head.ids),
        *rules.parts(result, entries, expected),
    ]
    return [(share * weight, weight) for share, weight in shares]


def _load(text: str) -> Any:
    try:
        return json.loads(text)
    except ValueError:
        return json.loads(text.replace("\\'", "'"))


def has_fake_phrases(result: Any) -> bool:
    """Whether one of the phrases occurs too often in the lower-cased dump of the artifact."""
    dump = json.dumps(result, ensure_ascii=False).lower()
    return any(dump.count(phrase) > (5 if phrase in LENIENT_PHRASES else 2) for phrase in FAKE_PHRASES)

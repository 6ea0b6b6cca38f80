"""The official score: a table-driven machine for the public benchmark's uniform evaluator (spec/suites.md 1.2).

It is a shape check, reproduced bit for bit, oddities and crashes included; `strict` is the score to optimise. The
operations on an entry (`get`, `lower`, slicing) are deliberately the plain ones, so that an artifact that broke the
original ends here in the status "evaluator_error" too, kept apart from an honest zero.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, Literal

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

Check = tuple[Literal["truthy", "present"], tuple[str, ...], float]
"""One part of an entry's score: kind, keys of which one must hold, weight."""


@dataclass(frozen=True, slots=True)
class IdMode:
    """How ids are compared: `read` turns a delivered id into a key, `same` matches it with an expected one."""

    read: Callable[[Any], Any]
    same: Callable[[Any, Any], bool]
    #: Value of a missing id, in the list of ids and in an entry's own check.
    missing: Any = ""


def _lower(value: Any) -> Any:
    return value.lower()


ID_MODES: Final[Mapping[str, IdMode]] = {
    # The empty text lies inside every name: the original's best known hole.
    "either": IdMode(_lower, lambda given, wanted: wanted in given or given in wanted),
    "exact_ci": IdMode(_lower, lambda given, wanted: bool(given == wanted)),
    "upper": IdMode(lambda value: value.upper(), lambda given, wanted: bool(given == wanted)),
    "exact": IdMode(lambda value: value, lambda given, wanted: bool(given == wanted)),
    "truthy_exact": IdMode(lambda value: value, lambda given, wanted: bool(given) and given == wanted, None),
}


@dataclass(frozen=True, slots=True)
class UniformRules:
    """One family's tables for the uniform evaluator. `required` are the keys of the completeness part."""

    list_key: str
    id_key: str
    id_mode: str
    id_weight: float
    checks: tuple[Check, ...]
    required: tuple[str, ...]
    #: Entry score from which an entry counts as valid data.
    threshold: float = 0.4
    #: file, json, fake, count, ids, data, complete
    weights: tuple[int, int, int, int, int, int, int] = (10, 10, 10, 15, 15, 20, 20)


@dataclass(frozen=True, slots=True)
class OfficialScore:
    """The verdict: percent in [0, 100] with one decimal, status "pass", "partial", "fail" or "evaluator_error".

    `items` are (achieved, possible) points in the order of the weights; empty after a crash.
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


def score_official(rules: UniformRules, artifact: str | None, expected: Sequence[Any]) -> OfficialScore:
    """Score the text of an artifact (None: no file) against the expected ids, already in the id mode's form."""
    try:
        return _verdict(_items(rules, artifact, expected))
    except (AttributeError, IndexError, KeyError, RecursionError, TypeError, ValueError):
        return OfficialScore(0.0, "evaluator_error")


def _verdict(items: Sequence[tuple[float, int]]) -> OfficialScore:
    achieved = sum(points for points, _ in items)
    possible = sum(weight for _, weight in items)
    percent = round(achieved / possible * 100, 1)
    status = "pass" if percent >= PASS_PAPER else "partial" if percent >= PASS_CODE else "fail"
    return OfficialScore(percent, status, tuple((round(points, 1), weight) for points, weight in items))


def _items(rules: UniformRules, artifact: str | None, expected: Sequence[Any]) -> list[tuple[float, int]]:
    file, readable, fake, count, ids, data, complete = rules.weights
    if artifact is None:
        return [(0.0, file)]
    try:
        result = _load(artifact)
    except ValueError:
        return [(float(file), file), (0.0, readable)]
    wanted = len(expected)
    honest = 0.0 if has_fake_phrases(result) else 1.0
    entries = result.get(rules.list_key, [])
    actual = len(entries) if isinstance(entries, list) else 0
    found = _found(rules, entries, expected)
    first = entries[:wanted]
    valid = sum(1 for entry in first if entry_score(rules, entry, expected) >= rules.threshold)
    filled = sum(
        sum(1 for key in rules.required if entry.get(key) is not None) / len(rules.required) for entry in first
    )
    seen = min(actual, wanted)
    return [
        (float(file), file),
        (float(readable), readable),
        (honest * fake, fake),
        (min(actual / wanted, 1.0) * count, count),
        (found / wanted * ids, ids),
        ((valid / seen if actual else 0.0) * data, data),
        ((filled / seen if actual else 0.0) * complete, complete),
    ]


def _load(text: str) -> Any:
    try:
        return json.loads(text)
    except ValueError:
        return json.loads(text.replace("\\'", "'"))


def has_fake_phrases(result: Any) -> bool:
    """Whether one of the phrases occurs too often in the lower-cased dump of the artifact."""
    dump = json.dumps(result, ensure_ascii=False).lower()
    return any(dump.count(phrase) > (5 if phrase in LENIENT_PHRASES else 2) for phrase in FAKE_PHRASES)


def _found(rules: UniformRules, entries: Any, expected: Sequence[Any]) -> int:
    mode = ID_MODES[rules.id_mode]
    given = {mode.read(entry.get(rules.id_key, mode.missing)) for entry in entries}
    return sum(1 for wanted in expected if any(mode.same(found, wanted) for found in given))


def entry_score(rules: UniformRules, entry: Any, expected: Sequence[Any]) -> float:
    """The score of one entry; a sum of binary floats in listed order, because some subsets land exactly on 0.4."""
    mode = ID_MODES[rules.id_mode]
    given = mode.read(entry.get(rules.id_key, mode.missing))
    score = 0.0
    if any(mode.same(given, wanted) for wanted in expected):
        score += rules.id_weight
    for kind, keys, weight in rules.checks:
        values = [entry.get(key) for key in keys]
        if any(value is not None for value in values) if kind == "present" else any(values):
            score += weight
    return score

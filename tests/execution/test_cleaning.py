"""Records are plain JSON, bounded, and hold no secret."""

from __future__ import annotations

import json
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from pytest_skillevo.core.gates.redaction import MARK, redactor
from pytest_skillevo.execution.cleaning import clean

REDACT = redactor(["hunter2-hunter2"])
values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=5), inner, max_size=4),
    max_leaves=20,
)


@given(values)
def test_the_result_is_strict_json_and_cleaning_twice_changes_nothing(value: Any):
    once = clean(value, REDACT)
    assert json.loads(json.dumps(once, allow_nan=False)) == once
    assert clean(once, REDACT) == once


@given(values, values)
def test_a_secret_is_found_wherever_it_stands(before: Any, after: Any):
    record = {"a": before, "list": ["x", {"deep": "it is hunter2-hunter2 today"}], "b": after}
    assert "hunter2-hunter2" not in json.dumps(clean(record, REDACT))


def test_a_text_under_the_name_of_a_credential_is_one():
    cleaned = clean({"db": {"password": "plain", "user": "ann"}, "max_tokens": "12"}, REDACT)
    assert cleaned == {"db": {"password": MARK, "user": "ann"}, "max_tokens": "12"}


def test_what_is_no_json_becomes_its_text_and_depth_is_bounded():
    loop: list[Any] = []
    loop.append(loop)
    assert clean({"o": {2, 1}, 3: float("nan"), "p": object()}, REDACT) == {
        "o": ["1", "2"],
        "3": "nan",
        "p": "<object object at 0x…>",
    }
    assert json.dumps(clean(loop, REDACT))


class Hostile:
    def __str__(self) -> str:
        raise RuntimeError("no")

    __repr__ = __str__


class HostileText(str):
    def __str__(self) -> str:
        raise RuntimeError("no")


class HostileMapping(dict[str, Any]):
    def items(self) -> Any:
        raise RuntimeError("no")


def test_objects_that_cannot_be_printed_are_named_by_their_type():
    hostile = {"o": Hostile(), Hostile(): 1, "t": HostileText("kept"), "m": HostileMapping(a=1)}
    assert clean(hostile, REDACT) == {
        "o": "<unprintable Hostile object>",
        "<unprintable Hostile object>": 1,
        "t": "kept",
        "m": "{'a': 1}",
    }


def test_cycles_that_branch_deep_lists_and_wide_numbers_end_and_stay_small():
    branching: dict[str, Any] = {}
    branching |= {"d": branching, "l": [branching]}
    deep: list[Any] = []
    for _ in range(50_000):
        deep = [deep]
    cleaned = clean({"b": branching, "deep": deep, "wide": 10**6000, "many": [[0] * 1000] * 1000}, REDACT)
    assert len(json.dumps(cleaned)) < 4_000_000
    assert cleaned["wide"] == "<integer of 19932 bits>"
    assert "nested too deeply" in json.dumps(cleaned)
    assert "too many values" in json.dumps(cleaned)


def test_a_long_text_is_cut_and_no_half_of_a_secret_stays():
    secret = "hunter2-hunter2"
    for shift in range(0, 3 * len(secret), 5):
        text = "a" * (75_000 - shift) + f" {secret} " + "b" * 100_000 + f" {secret} " + "c" * (25_000 - shift)
        cleaned = clean(text, REDACT)
        assert "hunter2" not in cleaned
        assert "er2-h" not in cleaned
        assert len(cleaned) < 100_200
    assert len(clean([("x" * 99_999)] * 100, REDACT)[-1]) < 100

"""Records are plain JSON, bounded, and hold no secret."""

from __future__ import annotations

import json
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from pytest_skillevo.core.gates.redaction import MARK, redactor
from pytest_skillevo.stages.cleaning import clean

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
    assert clean({"o": {1, 2}, 3: float("nan")}, REDACT) == {"o": "{1, 2}", "3": "nan"}
    assert json.dumps(clean(loop, REDACT))

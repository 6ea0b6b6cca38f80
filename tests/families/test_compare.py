"""Comparators take any JSON value and give a share."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_skillevo.families.compare import is_sentinel, members, ordered, parts, text, whole


@pytest.mark.parametrize(
    ("value", "share"),
    [(7, 1.0), (8, 0.0), (7.0, 0.0), ("7", 0.0), (True, 0.0), (None, 0.0), ([7], 0.0)],
)
def test_a_whole_number_is_neither_text_nor_decimal_nor_boolean(value, share):
    assert whole(value, 7) == share


def test_a_boolean_is_not_the_number_one():
    assert whole(True, 1) == 0.0


@pytest.mark.parametrize(("value", "share"), [("Easy", 1.0), ("easy", 0.0), (" Easy", 0.0), (None, 0.0), ({}, 0.0)])
def test_text_is_compared_exactly(value, share):
    assert text(value, "Easy") == share


@pytest.mark.parametrize(
    ("value", "share"),
    [
        (["a", "b", "c"], 1.0),
        (["a", "c", "b"], 1 / 3),
        (["a"], 1 / 3),
        (["a", "b", "c", "d"], 0.75),
        ([], 0.0),
        ("abc", 0.0),
        ([["a"], 1, None], 0.0),
    ],
)
def test_an_ordered_list_is_compared_place_by_place(value, share):
    assert ordered(value, ["a", "b", "c"]) == pytest.approx(share)


@pytest.mark.parametrize(
    ("value", "share"),
    [(["b", "a"], 1.0), (["a"], 2 / 3), (["a", "b", "x"], 0.8), (["a", "a", "b"], 0.8), ([], 0.0), ({}, 0.0)],
)
def test_members_are_compared_by_f1_and_repeats_count_as_wrong(value, share):
    assert members(value, ["a", "b"]) == pytest.approx(share)


def test_no_members_equal_no_members():
    assert members([], []) == 1.0


def test_an_object_is_worth_the_mean_of_its_parts():
    compare = parts(count=whole, top3=ordered)
    truth = {"count": 2, "top3": ["a", "b"]}
    assert compare({"count": 2, "top3": ["a", "b"], "note": "x"}, truth) == 1.0
    assert compare({"count": 2}, truth) == 0.5
    assert compare([2], truth) == 0.0


@pytest.mark.parametrize(
    ("value", "same"),
    [
        ({"unavailable": True}, True),
        ({"unavailable": 1}, False),
        ({"unavailable": "true"}, False),
        ({"unavailable": True, "why": "x"}, False),
        ({}, False),
        (None, False),
        ("unavailable", False),
    ],
)
def test_only_the_exact_object_is_the_sentinel(value, same):
    assert is_sentinel(value) is same


ANY = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=4),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=4), inner, max_size=3),
)


@given(ANY)
def test_any_value_gets_a_share_between_zero_and_one(value):
    listed = parts(count=whole, top3=ordered)
    for compare, truth in (
        (text, "a"),
        (whole, 3),
        (ordered, ["a", "b"]),
        (members, ["a", "b"]),
        (listed, {"count": 1, "top3": ["a"]}),
    ):
        assert 0.0 <= compare(value, truth) <= 1.0

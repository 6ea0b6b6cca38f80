"""Retired holdout cases count as validation; groups move whole, critical cases not at all."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_skillevo.core.canonical import fingerprint
from pytest_skillevo.core.errors import ConfigError
from pytest_skillevo.core.records import Case
from pytest_skillevo.core.retirement import retire


def case(name, split="holdout", **more):
    return Case(name, "demo", split, fingerprint=f"f-{name}", **more)


def test_only_the_retired_holdout_cases_of_that_skill_move():
    cases = [case("a"), case("b"), case("c", "feedback"), case("a2", "holdout")]
    moved = retire(cases, {("demo", "f-a"), ("demo", "f-c"), ("other", "f-b")})
    assert [one.split for one in moved] == ["validation", "holdout", "feedback", "holdout"]
    assert [one.retired for one in moved] == [True, False, False, False]


def test_a_group_moves_as_a_whole():
    cases = [case("a", group="g"), case("b", group="g"), case("c", group="h"), case("d")]
    moved = retire(cases, {("demo", "f-a")})
    assert [one.split for one in moved] == ["validation", "validation", "holdout", "holdout"]


def test_a_critical_case_is_never_moved_in_silence():
    with pytest.raises(ConfigError, match=r"a is critical and retired .* take its line out"):
        retire([case("a", critical=True)], {("demo", "f-a")})
    with pytest.raises(ConfigError, match="b is critical"):
        retire([case("a", group="g"), case("b", group="g", critical=True)], {("demo", "f-a")})


def test_a_fingerprint_is_blind_to_case_and_white_space_only():
    assert fingerprint({"prompt": "Cook  the\nDish", "n": 1}) == fingerprint({"n": 1, "prompt": "cook the dish "})
    assert fingerprint({"prompt": "cook the dish"}) != fingerprint({"prompt": "cook a dish"})
    assert fingerprint(["a b"]) != fingerprint(["a", "b"])


@given(st.text(), st.sampled_from([" ", "\n", "\t", "  "]))
def test_more_white_space_never_makes_a_fresh_case(text, blank):
    assert fingerprint([f"{blank}{text}{blank}"]) == fingerprint([text])

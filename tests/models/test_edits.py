from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_skillevo.models.simulated.edits import EditMix, add_rule, replace_rule
from pytest_skillevo.models.simulated.library import PAGING, RETRY

STEPS = "1. Look up.\n2. If any lookup fails, run the whole batch again.\n   Be quick.\n3. Save.\n"


def test_a_rule_is_added_with_the_next_number():
    assert add_rule("1. a\n2. b\n", "c", numbered=True) == "1. a\n2. b\n3. c\n"
    assert add_rule("1) a\n  more", "c", numbered=True) == "1) a\n  more\n2) c"


def test_a_bullet_list_stays_one():
    assert add_rule("* a", "b", numbered=True) == "* a\n* b"


def test_a_nested_list_does_not_take_the_rule():
    assert (
        add_rule("1. a\n   - x\n   - y\n2. b\n   - z", "c", numbered=True) == "1. a\n   - x\n   - y\n2. b\n   - z\n3. c"
    )


def test_an_empty_component_begins_in_the_form_of_its_kind():
    assert add_rule("", "a", numbered=True) == "1. a"
    assert add_rule("", "a", numbered=False) == "- a"


def test_prose_gets_a_list_below_it():
    assert add_rule("Some words.", "a", numbered=True) == "Some words.\n\n- a"


def test_a_harmful_step_is_replaced_and_the_numbering_kept():
    new = replace_rule(STEPS, RETRY, "Repeat the failed item only.", stated=False)
    assert new == "1. Look up.\n2. Repeat the failed item only. Be quick.\n3. Save.\n"


def test_a_good_step_can_be_replaced_too():
    assert replace_rule("- Follow offset.", PAGING, "X", stated=True) == "- X"


def test_nothing_is_replaced_where_nothing_contradicts():
    assert replace_rule("1. Look up.\n", RETRY, "x", stated=False) is None


@pytest.mark.parametrize("kind", ["good", "vague", "entity", "bloated", "harmful", "invalid"])
def test_a_mix_of_one_kind_gives_only_that_kind(kind):
    none = dict.fromkeys(("good", "vague", "entity", "bloated", "harmful", "invalid"), 0.0)
    mix = EditMix(**{**none, kind: 1.0})
    assert {mix.kind("k", n) for n in range(50)} == {kind}


def test_the_default_shares_are_the_documented_ones():
    drawn = [EditMix().kind("shares", n) for n in range(4000)]
    shares = {"good": 0.55, "vague": 0.15, "entity": 0.10, "bloated": 0.10, "harmful": 0.05, "invalid": 0.05}
    for kind, share in shares.items():
        assert abs(drawn.count(kind) / 4000 - share) < 0.03


@given(st.text(alphabet="ab1.- \n*)", max_size=60))
def test_adding_a_rule_keeps_every_line_that_was_there(text):
    new = add_rule(text, "RULE", numbered=True)
    assert new.count("RULE") == 1
    kept = [line for line in new.split("\n") if "RULE" not in line and line.strip()]
    assert kept == [line for line in text.split("\n") if line.strip()]

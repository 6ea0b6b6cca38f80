from __future__ import annotations

from pytest_skillevo.models.simulated.overrides import Override, apply_overrides, read_overrides


def test_a_fixed_value_is_read_and_obeyed():
    found = read_overrides("- Always report Norway as Norge.\n")
    assert found == (Override("Norge", subject="Norway"),)
    assert apply_overrides({"country": "Norway", "n": 1}, found, []) == {"country": "Norge", "n": 1}


def test_a_field_can_be_fixed_for_everything_or_for_one_item():
    everywhere = read_overrides("- Set difficulty_rating to Medium for every dish.\n")
    assert apply_overrides({"difficulty_rating": "Hard"}, everywhere, ["X Y"]) == {"difficulty_rating": "Medium"}
    (one,) = read_overrides("- Set ingredient_count to 7 for Bomaru Pot.\n")
    assert apply_overrides({"ingredient_count": 3}, [one], ["Bomaru Pot"]) == {"ingredient_count": 7}
    assert apply_overrides({"ingredient_count": 3}, [one], ["Tesavo Tray"]) == {"ingredient_count": 3}


def test_ordinary_rules_fix_nothing():
    for text in (
        "Report the dish as the task spells it.",
        "Report difficulty_rating as Easy up to 5 ingredients.",
        "Never report Norway as Norge.",
    ):
        assert read_overrides(text) == ()

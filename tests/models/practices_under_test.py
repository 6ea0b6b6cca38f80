"""All practices of the library and the field practices of a cookbook-like contract, by name."""

from __future__ import annotations

from pytest_skillevo.models.simulated.library import (
    COMMON_YEAR,
    DETOUR,
    GENERIC,
    NUMERIC_IDS,
    SUMMARY_BLOCK,
    UNITS,
    as_asked,
    by_rule,
    include_field,
    own_count,
)

PRACTICES = (
    *GENERIC,
    SUMMARY_BLOCK,
    DETOUR,
    UNITS,
    COMMON_YEAR,
    NUMERIC_IDS,
    include_field("category_dishes"),
    include_field("cuisine_dishes"),
    as_asked("cuisine", "cuisine|cuisines|kitchen*|adjective*"),
    own_count("ingredient_count", "ingredient*"),
    by_rule("difficulty_rating", "difficult*|difficulty_rating|estimated_difficulty|rating|ratings", "ingredient*"),
)
BY_NAME = {practice.name: practice for practice in PRACTICES}
#: The words of such a family.
TERMS = (
    ("item", "dish|recipe|meal"),
    ("items", "dishes|recipes|meals"),
    ("artifact", "cookbook|recipe_cookbook.json"),
    ("summary", "cuisines_covered|total_recipes"),
    ("id", "meal_id"),
    ("details", "meal_details"),
    ("reference", "recipe.md"),
    ("lists", "category|area"),
    ("adjective*", "cuisine*|kitchen*"),
    ("estimate*", "cooking time|minutes"),
)

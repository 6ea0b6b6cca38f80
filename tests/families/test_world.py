"""Worlds: keyed draws, names, disjoint splits."""

from __future__ import annotations

from collections import Counter
from itertools import combinations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_skillevo.core.records import SPLITS
from pytest_skillevo.families.spec import world_of
from pytest_skillevo.families.world import Chance, build_world, split_names


@pytest.fixture(scope="module")
def worlds(recipe):
    return {(split, draw): world_of(recipe, split, draw) for split in SPLITS for draw in range(6)}


def test_the_same_key_gives_the_same_world_and_another_key_another(recipe):
    again = [build_world("recipe/1", recipe.population, "feedback", 0).digest for _ in range(2)]
    other = build_world("recipe/2", recipe.population, "feedback", 0).digest
    assert again[0] == again[1] != other


def test_draws_of_a_split_share_names_but_not_facts(worlds):
    first, second = worlds["feedback", 0], worlds["feedback", 1]
    assert first.digest != second.digest
    assert {record["name"].split(" with ")[0] for record in first.records} == {
        record["name"].split(" with ")[0] for record in second.records
    }


def test_no_name_and_no_id_occurs_in_two_splits(worlds):
    for key in ("name", "id"):
        seen = {
            split: {record[key] for (one, _), world in worlds.items() if one == split for record in world.records}
            for split in SPLITS
        }
        for one, other in combinations(SPLITS, 2):
            assert not seen[one] & seen[other]


def test_a_world_has_as_many_dishes_categories_and_areas_as_declared(worlds):
    for world in worlds.values():
        assert len(world.records) == len(world.by_id) == 120
        assert len({record["category"] for record in world.records}) == 8
        assert {record["area"] for record in world.records} >= {"Unknown"}
        assert len({record["area"] for record in world.records}) == 11
        assert all(len(record["id"]) == 5 and record["id"].isdecimal() for record in world.records)
        assert all(3 <= len(record["ingredients"]) == len(set(record["ingredients"])) <= 18 for record in world.records)


def test_exactly_one_category_does_not_fit_on_a_page(worlds):
    for world in worlds.values():
        sizes = Counter(record["category"] for record in world.records)
        assert sum(1 for size in sizes.values() if size > 35) == 1
        assert 44 <= max(sizes.values()) <= 56


def test_a_search_for_a_dish_finds_it_alone_or_with_its_namesake(worlds):
    for world in worlds.values():
        for dish in world.records:
            hits = [other for other in world.records if dish["name"].casefold() in other["name"].casefold()]
            if dish["namesake"] == "shorter":
                assert [hit["namesake"] for hit in hits] == ["longer", "shorter"]
                assert hits[0]["area"] == dish["area"]
                assert hits[0]["key"] == dish["key"]
            else:
                assert hits == [dish]


def test_records_are_in_the_order_of_their_ids_which_is_not_that_of_names(worlds):
    world = worlds["feedback", 0]
    assert [record["id"] for record in world.records] == sorted(record["id"] for record in world.records)
    assert [record["name"] for record in world.records] != sorted(record["name"] for record in world.records)


def test_groups_find_members_without_regard_to_case(worlds):
    world = worlds["feedback", 0]
    dish = world.records[0]
    assert dish in world.group("category", dish["category"].upper())
    assert dish in world.group("ingredients", dish["key"])
    assert world.group("area", "Velran") == ()


def test_no_real_dish_of_the_public_benchmark_is_in_the_pool(recipe):
    names = [name for split in SPLITS for name in split_names("recipe/1", recipe.population, split)]
    assert len(set(names)) == len(names) == 360
    for name in names:
        word = name.split()[0].casefold()
        assert not any(word in real or real in word for real in recipe.population.denied)


@given(st.integers(min_value=0, max_value=10**6), st.sampled_from([5, 7, 37]))
def test_several_different_options_are_drawn(seed, size):
    options = list(range(size))
    drawn = Chance(("test", seed)).several(options, size)
    assert sorted(drawn) == options


@given(st.integers(), st.integers(min_value=-5, max_value=5), st.integers(min_value=0, max_value=9))
def test_a_whole_number_lies_in_its_bounds(seed, low, width):
    assert low <= Chance((seed,)).whole(low, low + width) <= low + width


def test_a_draw_does_not_depend_on_other_draws():
    chance = Chance(("a",))
    before = chance.at("x").whole(0, 999)
    chance.at("y").order(range(50))
    assert chance.at("x").whole(0, 999) == before

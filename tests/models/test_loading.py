from __future__ import annotations

from pytest_skillevo.models.simulated.loading import CHANCE, Entry, chance_of_loading, read_index, skills_to_load

PROMPT = "# Recipe cookbook: 3 dishes x 3 lookups\n\nYou put together a small cookbook from the meal catalogue."


def test_the_index_is_read_from_the_skills_section_only():
    skills = "## Skills\nLoad one.\n- recipe-cookbook: Cookbooks: how to.\n- bare\n"
    system = f"Rules\n- not: a skill\n\n{skills}\n## More\n- x: y"
    assert read_index([{"role": "system", "content": system}]) == (
        Entry("recipe-cookbook", "Cookbooks: how to."),
        Entry("bare", ""),
    )


def test_words_in_common_with_the_task_raise_the_chance():
    good = chance_of_loading(Entry("recipe-cookbook", "Make a cookbook of dishes from the meal catalogue."), PROMPT)
    poor = chance_of_loading(Entry("helper", "Helpful hints."), PROMPT)
    assert good >= 0.97
    assert poor == CHANCE[0]


def test_word_endings_do_not_matter():
    assert chance_of_loading(Entry("x", "dish lookup cookbooks meals recipes"), PROMPT) >= 0.97


def test_loading_is_a_keyed_draw():
    index = [Entry("a", "dishes"), Entry("b", "recipe cookbook dishes meal catalogue")]
    drawn = [skills_to_load(index, PROMPT, "digest", seed) for seed in range(300)]
    assert drawn == [skills_to_load(index, PROMPT, "digest", seed) for seed in range(300)]
    share = sum("b" in names for names in drawn) / 300
    assert share > 0.9
    assert 0.2 < sum("a" in names for names in drawn) / 300 < 0.5

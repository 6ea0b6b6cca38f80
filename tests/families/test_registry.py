"""Finding families and their cases."""

from __future__ import annotations

import subprocess
import sys
from collections import Counter
from importlib.metadata import EntryPoint
from pathlib import Path

import pytest

from pytest_skillevo.core.errors import ConfigError
from pytest_skillevo.core.records import SPLITS, Task
from pytest_skillevo.families import registry
from pytest_skillevo.families.registry import cases, families, find_family, load_behaviour, load_family, tasks

ROOT = Path(__file__).parents[2]
SUITE = ROOT / "suites" / "recipe" / "test_recipe.py"


def marks(param):
    return {mark.name: mark for mark in param.marks}


def test_the_suite_has_the_promised_number_of_cases_in_each_split_and_level():
    params = cases("recipe", start=SUITE)
    counts = Counter(marks(param)["split"].args[0] for param in params)
    assert counts == {"feedback": 12, "validation": 12, "holdout": 30}
    levels = Counter((param.values[0].split, marks(param)["family"].kwargs["level"]) for param in params)
    assert set(levels.values()) == {2, 5}
    assert all(marks(param)["family"].args == ("recipe",) for param in params)


@pytest.mark.parametrize("name", ["recipe", "weather"])
def test_by_level_each_level_is_in_one_split_and_no_entity_in_two(name):
    params = cases(name, policy="by_level", start=ROOT / "suites" / name / "test_x.py")
    found = {split: [p.values[0] for p in params if p.values[0].split == split] for split in SPLITS}
    assert {split: {task.level for task in of} for split, of in found.items()} == {
        "feedback": {"e1", "e2"},
        "validation": {"e3", "m1"},
        "holdout": {"m2", "h1"},
    }
    assert [len(of) for of in found.values()] == [12, 12, 30]
    assert len({param.id for param in params}) == len(params)
    titles = [{word for task in of for word in task.watched} for of in found.values()]
    assert not titles[0] & titles[1] | titles[1] & titles[2] | titles[0] & titles[2]
    assert {task.content["policy"] for task in found["holdout"]} == {"by_level"}


def test_case_ids_are_unique_short_slugs_and_those_of_the_tasks():
    params = cases("recipe", start=SUITE)
    assert len({param.id for param in params}) == len(params)
    for param in params:
        task = param.values[0]
        assert isinstance(task, Task)
        assert param.id == task.id
        assert param.id.isascii()
        assert len(param.id) == 5


def test_three_cases_are_critical_and_all_in_holdout():
    critical = [param for param in cases("recipe", start=SUITE) if "critical" in marks(param)]
    assert [param.values[0].split for param in critical] == ["holdout"] * 3
    assert {param.values[0].level for param in critical} == {"m2", "h1"}
    assert all(param.values[0].critical for param in critical)


def test_a_selection_keeps_the_ids():
    ids = [param.id for param in cases("recipe", start=SUITE, split="validation", levels=["e1", "h1"])]
    assert ids == ["e1-03", "h1-03", "e1-04", "h1-04"]


def test_the_profile_and_the_fault_free_twin_are_part_of_the_content():
    contents = [
        cases("recipe", start=SUITE, split="feedback", levels=["h1"], **choice)[0].values[0].content
        for choice in ({}, {"profile": "lean"}, {"faults": False})
    ]
    assert [content["profile"] for content in contents] == ["standard", "lean", "standard"]
    assert len({str(content) for content in contents}) == 3


def test_each_access_to_the_tools_opens_a_fresh_box():
    task = cases("recipe", start=SUITE)[0].values[0]
    assert task.tools is not task.tools
    assert [tool.name for tool in task.tools] == [tool.name for tool in task.tools]


def test_tasks_are_there_without_pytest_too(recipe):
    assert len(tasks(recipe)) == 54
    script = "import sys, pytest_skillevo.families.registry; sys.exit('pytest' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", script], cwd=ROOT, check=False).returncode == 0


@pytest.mark.parametrize(
    ("choice", "words"),
    [
        ({"levels": ["h2"]}, "family recipe has no level 'h2'"),
        ({"split": "validate"}, "no split 'validate'. Did you mean 'validation'?"),
        ({"profile": "leen"}, "no profile 'leen'. Did you mean 'lean'?"),
    ],
)
def test_an_unknown_choice_is_a_clear_error(choice, words):
    with pytest.raises(ConfigError, match=words.replace("?", r"\?")):
        cases("recipe", start=SUITE, **choice)


def test_an_unknown_family_is_a_clear_error_with_a_guess():
    with pytest.raises(ConfigError, match=r"no family 'recipes'.*Did you mean 'recipe'\?"):
        cases("recipes", start=SUITE)


def test_without_any_family_the_error_says_where_it_looked(tmp_path):
    with pytest.raises(ConfigError, match=r"no family 'recipe'.*family\.py above"):
        find_family("recipe", tmp_path / "test_it.py")


def test_the_family_beside_the_calling_file_is_found(tmp_path):
    (tmp_path / "family.py").write_text(
        "from pathlib import Path\n"
        "from pytest_skillevo.families.registry import load_family\n"
        f"FAMILY = load_family(Path({str(ROOT / 'suites' / 'recipe' / 'family.py')!r}))\n",
        encoding="utf-8",
    )
    caller = tmp_path / "deep" / "test_it.py"
    caller.parent.mkdir()
    caller.write_text("from pytest_skillevo import cases\nFOUND = cases('recipe')\n", encoding="utf-8")
    space: dict[str, object] = {}
    exec(compile(caller.read_text(encoding="utf-8"), str(caller), "exec"), space)  # noqa: S102 - the file just written
    assert len(space["FOUND"]) == 54


def test_a_file_without_a_family_is_named(tmp_path):
    file = tmp_path / "family.py"
    file.write_text("FAMILY = 'recipe'\n", encoding="utf-8")
    with pytest.raises(ConfigError, match=r"family\.py must define FAMILY, a FamilySpec, not str"):
        load_family(file)


def test_an_installed_family_goes_before_a_file(monkeypatch, recipe, tmp_path):
    point = EntryPoint("recipe", "somewhere:FAMILY", registry.GROUP)
    monkeypatch.setattr(EntryPoint, "load", lambda self: recipe)
    monkeypatch.setattr(registry, "entry_points", lambda group: [point] if group == registry.GROUP else [])
    assert find_family("recipe", tmp_path).folder == recipe.folder
    assert find_family("recipe", tmp_path) is find_family("recipe", tmp_path)
    assert [one.folder for one in families(SUITE)] == [recipe.folder, recipe.folder]


def test_an_entry_point_that_is_no_family_is_named(monkeypatch, tmp_path):
    point = EntryPoint("recipe", "somewhere:FAMILY", registry.GROUP)
    monkeypatch.setattr(EntryPoint, "load", lambda self: 7)
    monkeypatch.setattr(registry, "entry_points", lambda group: [point])
    with pytest.raises(ConfigError, match="entry point somewhere:FAMILY must define FAMILY"):
        find_family("recipe", tmp_path)


def test_a_behaviour_is_loaded_from_beside_the_declaration(recipe, tmp_path):
    import dataclasses

    (tmp_path / "solver.py").write_text("BEHAVIOUR = 'stand-in'\n", encoding="utf-8")
    (tmp_path / "empty.py").write_text("", encoding="utf-8")
    changed = {name: dataclasses.replace(recipe, behaviour=name, folder=tmp_path) for name in ("solver.py", "empty.py")}
    assert load_behaviour(changed["solver.py"]) == "stand-in"
    assert load_behaviour(dataclasses.replace(recipe, behaviour=None)) is None
    with pytest.raises(ConfigError, match="must define BEHAVIOUR"):
        load_behaviour(changed["empty.py"])
    with pytest.raises(ConfigError, match="does not exist"):
        load_behaviour(dataclasses.replace(recipe, behaviour="nowhere.py"))


TEMPLATE = Path(registry.__file__).parent / "template"


@pytest.mark.parametrize(
    ("old", "new", "sentence"),
    [
        (
            'FaultRule("T", (MAKER,))',
            'FaultRule("T", ("thing_by_makr",))',
            "level m1: fault T names the tool 'thing_by_makr'",
        ),
        ('FaultRule("T", (MAKER,))', 'FaultRule("X", (MAKER,))', "level m1: fault X is no kind of fault. Known: T, L"),
        ('FaultRule("T", (MAKER,))', 'FaultRule("T")', "level m1: fault T needs tools="),
        ('FaultRule("M", (FIND,), field="maker")', 'FaultRule("M", (FIND,))', "level e3: fault M needs field="),
        ('FaultRule("T", (MAKER,))', 'FaultRule("A")', "level m1: fault A needs FamilySpec.alias"),
        ('trait="gap"', 'trait="gaps"', r"names the trait 'gaps', .* Did you mean 'gap'\?"),
        (
            "Level(3, (FIND, DETAILS), ())",
            'Level(3, (FIND, "look"), ())',
            "level e1 offers the tool 'look', .* Known: ",
        ),
        ('tools=("thing_by_maker",)', 'tools=("thing_by",)', "the field maker_things names the tool 'thing_by'"),
        ('behaviour="behaviour.py"', 'draws={"holdout": 5}', "FamilySpec.draws needs a number for each of feedback"),
    ],
)
def test_a_name_that_leads_nowhere_is_a_clear_error_with_the_file(tmp_path, old, new, sentence):
    text = (TEMPLATE / "family.py").read_text(encoding="utf-8")
    assert old in text
    (tmp_path / "family.py").write_text(text.replace(old, new), encoding="utf-8")
    (tmp_path / "reference.md").write_text("", encoding="utf-8")
    with pytest.raises(ConfigError, match=rf"family\.py: .*{sentence}"):
        load_family(tmp_path / "family.py")

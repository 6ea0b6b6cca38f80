"""What goes wrong in an author's functions is said in words: the family, the function, the task and the line."""

from __future__ import annotations

import dataclasses

import pytest

from pytest_skillevo.cli import main
from pytest_skillevo.core.errors import ConfigError
from pytest_skillevo.families.guarded import FamilyError, guarded
from pytest_skillevo.families.oracle import oracle, run_script
from pytest_skillevo.families.registry import load_family
from pytest_skillevo.families.scenario import Scenario
from pytest_skillevo.families.tasks import grade, make_task
from pytest_skillevo.families.tools import ToolSpec
from pytest_skillevo.families.world import Syllables

from .test_conformance import TEMPLATE, with_field, with_tool


def broken(*_):
    return {}["nowhere"]


def with_population(family, **changes):
    return dataclasses.replace(family, population=dataclasses.replace(family.population, **changes))


def with_contract(family, **changes):
    return dataclasses.replace(family, contract=dataclasses.replace(family.contract, **changes))


BREAKS = {
    "an attribute": (
        lambda f: with_population(f, attributes={**f.population.attributes, "weight": broken}),
        "the attribute 'weight'",
    ),
    "the shape": (lambda f: with_population(f, shape=broken), "Population.shape"),
    "a tool": (lambda f: with_tool(f, "thing_details", answer=broken), "the answer of the tool thing_details"),
    "the arguments of a tool": (
        lambda f: with_tool(f, "thing_details", about=broken),
        "`about` of the tool thing_details",
    ),
    "a truth": (lambda f: with_field(f, "colour", truth=broken), "the truth of the field 'colour'"),
    "a comparator": (lambda f: with_field(f, "colour", compare=broken), "the comparator of the field 'colour'"),
    "the needs": (lambda f: with_field(f, "colour", needs=broken), "`needs` of the field 'colour'"),
    "the summary": (
        lambda f: with_contract(f, summary=tuple(dataclasses.replace(one, truth=broken) for one in f.contract.summary)),
        "the truth of the summary field",
    ),
    "a trait": (lambda f: dataclasses.replace(f, traits=dict.fromkeys(f.traits, broken)), "the trait"),
    "the prompt": (lambda f: dataclasses.replace(f, prompt=broken), "the prompt"),
    "the files": (lambda f: dataclasses.replace(f, files=broken), "the files"),
    "the route": (lambda f: dataclasses.replace(f, route=broken), "the route"),
    "the title": (lambda f: dataclasses.replace(f, title=broken), "the title"),
    "the official rules": (lambda f: dataclasses.replace(f, official=broken), "the official rules"),
}


def played(family):
    scenario = Scenario(guarded(family), "h1", "holdout", 1, "lean")
    make_task(scenario)
    grade(scenario, run_script(scenario, oracle))


@pytest.mark.parametrize("name", BREAKS)
def test_a_function_that_raises_is_named_with_its_line_and_nothing_else(name):
    change, words = BREAKS[name]
    with pytest.raises(FamilyError) as caught:
        played(change(load_family(TEMPLATE)))
    said = str(caught.value)
    assert said.startswith(f"family my-family: {words}")
    assert "raised KeyError: 'nowhere'" in said
    assert "holdout" in said or "record" in said or "value" in said
    assert 'in broken\n    return {}["nowhere"]' in said
    assert "pytest_skillevo/" not in said
    assert len(said.splitlines()) == 3


GIVES = {
    "a tool that gives a dict": (
        lambda f: with_tool(f, "thing_details", answer=lambda ask: {"success": True}),
        "must give an Answer, such as",
    ),
    "a comparator that gives text": (
        lambda f: with_field(f, "colour", compare=lambda *_: "yes"),
        "must give a number from 0 to 1, not 'yes'",
    ),
    "a comparator that gives 7": (
        lambda f: with_field(f, "colour", compare=lambda *_: 7),
        "must give a number from 0 to 1, not 7",
    ),
    "needs without a tuple": (
        lambda f: with_field(f, "colour", needs=lambda thing: "colour"),
        "must give a sequence of pairs, not 'colour'",
    ),
    "a prompt that is nothing": (lambda f: dataclasses.replace(f, prompt=lambda _: None), "must give text, not None"),
}


@pytest.mark.parametrize("name", GIVES)
def test_a_function_that_gives_the_wrong_thing_is_named(name):
    change, words = GIVES[name]
    with pytest.raises(FamilyError, match=words):
        played(change(load_family(TEMPLATE)))


def test_what_is_shown_of_a_holdout_case_has_no_value_in_it():
    with pytest.raises(FamilyError) as caught:
        played(with_field(load_family(TEMPLATE), "colour", compare=broken))
    assert "nowhere'" not in caught.value.headline
    assert "value" not in caught.value.headline
    assert "raised KeyError\n" in caught.value.headline


DECLARED = {
    "a name with spaces": (lambda f: dataclasses.replace(f, name="My Family"), "FamilySpec.name is 'My Family'"),
    "a number as version": (lambda f: dataclasses.replace(f, version=1), "FamilySpec.version is 1"),
    "no level": (lambda f: dataclasses.replace(f, levels={}, critical=frozenset()), "one of them is empty"),
    "an unknown profile": (lambda f: dataclasses.replace(f, profile="huge"), "FamilySpec.profile is 'huge'"),
    "an unknown public family": (
        lambda f: dataclasses.replace(f, official="recipe-cookbook"),
        "no family of the public benchmark",
    ),
    "a behaviour without a folder": (lambda f: dataclasses.replace(f, folder=None), "needs FamilySpec.folder"),
    "more entities than there are": (lambda f: with_population(f, size=2), "Population.size, 2"),
    "an attribute that every record has": (
        lambda f: with_population(f, attributes={"name": broken}),
        "Population.attributes draws 'name'",
    ),
    "a tool under another name": (
        lambda f: dataclasses.replace(f, tools={**f.tools, "x": f.tools["thing_find"]}),
        "under the name 'x'",
    ),
    "an argument of no type": (
        lambda f: with_tool(f, "thing_find", parameters={"name": {"type": "text"}}),
        "has the type 'text'",
    ),
    "a part that no score has": (lambda f: with_field(f, "colour", part="value"), "part='value'"),
}


@pytest.mark.parametrize("name", DECLARED)
def test_a_declaration_that_cannot_work_is_refused_when_it_is_loaded(name, tmp_path, monkeypatch):
    change, words = DECLARED[name]
    family = change(load_family(TEMPLATE))
    (tmp_path / "family.py").write_text("from declared_here import FAMILY\n", encoding="utf-8")
    (tmp_path / "declared_here.py").write_text("FAMILY = None\n", encoding="utf-8")
    monkeypatch.syspath_prepend(tmp_path)
    import declared_here

    monkeypatch.setattr(declared_here, "FAMILY", family)
    with pytest.raises(ConfigError, match=words) as caught:
        load_family(tmp_path / "family.py")
    assert str(caught.value).startswith(str(tmp_path / "family.py"))
    assert isinstance(family.tools["thing_find"], ToolSpec)


def test_syllables_that_make_too_few_names_are_refused_instead_of_searched_for_ever():
    family = with_population(load_family(TEMPLATE), syllables=Syllables(("b",), ("a",)))
    with pytest.raises(ConfigError, match="different names, 120 are needed"):
        played(family)


@pytest.mark.parametrize("options", [(), ("-n", "2")], ids=["serial", "workers"])
def test_a_run_shows_the_line_of_the_author_and_no_traceback(pytester, options):
    assert main(["family", "new", "my-family"]) == 0
    file = pytester.path / "suites" / "my_family" / "behaviour.py"
    text = file.read_text(encoding="utf-8")
    file.write_text(text.replace('weight = thing.get("weight")', "weight = thing.heavy"), encoding="utf-8")
    result = pytester.runpytest_subprocess("suites", "-q", "-k", "e1-01 or h1-09", *options)
    result.assert_outcomes(failed=2)
    result.stdout.fnmatch_lines(
        [
            "*the behaviour of the family my-family raised AttributeError: 'Item' object has no attribute 'heavy'*",
            "  *behaviour.py:* in _class",
            "    weight = thing.heavy",
        ]
    )
    result.stdout.no_fnmatch_line("*pytest_skillevo*model.py*")

"""Our families keep every rule of the conformance checks, and each check finds what it is there to find."""

from __future__ import annotations

import dataclasses
from pathlib import Path

import pytest

from pytest_skillevo.families import conformance
from pytest_skillevo.families.compare import text
from pytest_skillevo.families.conformance import CHECKS, CheckFailed
from pytest_skillevo.families.registry import load_family
from pytest_skillevo.families.spec import FieldSpec, Level
from pytest_skillevo.families.tools import Answer

SUITES = Path(__file__).parents[2] / "suites"
TEMPLATE = Path(conformance.__file__).parents[1] / "template" / "family.py"
FAMILIES = sorted(SUITES.glob("*/family.py"))


@pytest.mark.parametrize("name", CHECKS)
@pytest.mark.parametrize("file", FAMILIES, ids=lambda file: file.parent.name)
def test_our_families_keep_the_rules(file, name):
    CHECKS[name](load_family(file))


@pytest.fixture(scope="module")
def family():
    return load_family(TEMPLATE)


def with_field(family, name, **changes):
    """The family with one field of its contract changed."""
    fields = [dataclasses.replace(one, **changes) if one.name == name else one for one in family.contract.fields]
    return dataclasses.replace(family, contract=dataclasses.replace(family.contract, fields=tuple(fields)))


def with_prompt(family, change):
    return dataclasses.replace(family, prompt=lambda task: change(task, family.prompt(task)))


def with_tool(family, name, **changes):
    tools = {**family.tools, name: dataclasses.replace(family.tools[name], **changes)}
    return dataclasses.replace(family, tools=tools)


def crash(given, truth):
    return 1.0 if given.casefold() == truth else 0.0


def random_answer(family):
    import random

    answer = family.tools["thing_find"].answer

    def changed(ask):
        return Answer({**answer(ask).payload, "noise": random.random()}, answer(ask).reveals)

    return with_tool(family, "thing_find", answer=changed)


def sleepy(family):
    import time

    answer = family.tools["thing_find"].answer

    def changed(ask):
        time.sleep(0.01)
        return answer(ask)

    return with_tool(family, "thing_find", answer=changed)


def generous(family):
    """A family whose artifact needs no calls: every claim is supported at once."""
    fields = tuple(dataclasses.replace(one, needs=lambda record: ()) for one in family.contract.fields)
    return dataclasses.replace(family, contract=dataclasses.replace(family.contract, fields=fields))


def undocumented(family):
    extra = FieldSpec("secret_key", "values", text, lambda _, thing: thing["colour"], lambda _: (), "a colour")
    contract = dataclasses.replace(family.contract, fields=(*family.contract.fields, extra))
    return dataclasses.replace(family, contract=contract)


def with_behaviour(family, folder, old, new):
    """The family with a behaviour in which one text stands for another."""
    text = (family.folder / "behaviour.py").read_text(encoding="utf-8")
    assert old in text
    (folder / "behaviour.py").write_text(text.replace(old, new), encoding="utf-8")
    return dataclasses.replace(family, folder=folder)


BROKEN = {
    "a route without details": (
        lambda f: dataclasses.replace(f, route=lambda task: [c for c in f.route(task) if c[0] != "thing_details"]),
        "the oracle scores 1",
        "route reveal every aspect",
    ),
    "a tool that sleeps": (sleepy, "the oracle scores 1", "opened a socket or slept"),
    "claims that need no call": (generous, "adversaries stay under their caps", "the fabricator scores"),
    "a comparator that expects text": (
        lambda f: with_field(f, "colour", compare=crash),
        "broken output never crashes",
        "Comparators take any JSON value",
    ),
    "a prompt with the truth": (
        lambda f: with_prompt(f, lambda task, prompt: prompt + str([v["weight"] for v in task.truth.values()])),
        "nothing of the truth is visible",
        "the truth of 'weight'",
    ),
    "a prompt with the ids": (
        lambda f: with_prompt(f, lambda task, prompt: prompt + str([r["id"] for r in task.records])),
        "nothing of the truth is visible",
        "is visible before any call",
    ),
    "a field that nobody describes": (undocumented, "all that is checked is documented", "'secret_key'"),
    "a path in the prompt": (
        lambda f: with_prompt(f, lambda _, prompt: f"{prompt}\nSee /home/somebody/notes."),
        "no path and no secret is visible",
        "/home/somebody",
    ),
    "a secret in the prompt": (
        lambda f: with_prompt(f, lambda _, prompt: prompt + "\nuse ghp_0123456789abcdefghijABCDEFGHIJ012345"),
        "no path and no secret is visible",
        "looks like a secret",
    ),
    "answers by chance": (random_answer, "the same bytes everywhere", "gives other bytes"),
    "too few cases": (
        lambda f: dataclasses.replace(f, draws={"feedback": 1, "validation": 2, "holdout": 5}),
        "there are enough cases",
        "raise FamilySpec.draws",
    ),
    "no critical case": (
        lambda f: dataclasses.replace(f, critical=frozenset()),
        "there are enough cases",
        "set FamilySpec.critical",
    ),
    "a level out of order": (
        lambda f: dataclasses.replace(f, levels={**f.levels, "m1": Level(2, f.levels["m1"].tools, ())}),
        "levels rise",
        "order FamilySpec.levels",
    ),
    "a fault on a call that nobody makes": (
        lambda f: dataclasses.replace(f, route=lambda task: [c for c in f.route(task) if c[0] != "thing_details"]),
        "planned faults are met",
        "is never met",
    ),
    "a tool that raises": (
        lambda f: with_tool(f, "thing_details", answer=lambda ask: Answer({"success": True, "n": ask.arguments["x"]})),
        "tools refuse bad calls",
        "raises",
    ),
}


@pytest.mark.parametrize("name", BROKEN)
def test_a_check_finds_what_is_wrong_and_says_what_to_do(family, name):
    make, check, sentence = BROKEN[name]
    with pytest.raises(CheckFailed) as failure:
        CHECKS[check](make(family))
    assert sentence in str(failure.value)


@pytest.mark.parametrize(
    ("old", "new", "sentence"),
    [
        ('tool="thing_details"', 'tool="thing_detail"', "names the tool 'thing_detail', which the family does not"),
        ('name="weight"', 'name="weigth"', "fills the field 'weigth', which the contract does not have"),
        (
            '            Fill(name="maker", value=_maker, invented=lambda _: "Adlor"),\n',
            "",
            "never fills the field 'maker'",
        ),
        ("from typing import", "from .family import FAMILY\nfrom typing import", "cannot be loaded"),
        ("def _found", "def _peek():\n    from family import FAMILY\n\n\ndef _found", "imports family.py"),
        ("def _found", "def _peek():\n    from . import family\n\n\ndef _found", "imports family.py"),
    ],
)
def test_a_behaviour_that_does_not_fit_its_family_is_found(family, tmp_path, old, new, sentence):
    with pytest.raises(CheckFailed, match=sentence):
        CHECKS["the behaviour fits the family"](with_behaviour(family, tmp_path, old, new))


@pytest.mark.parametrize(
    ("check", "old", "new", "sentence"),
    [
        ("the behaviour solves its tasks", "CLASS) else 500", "CLASS) else 400", "class wrong|class of"),
        ("the behaviour solves its tasks", '"weight", "colour")', '"weight")', "fields: colour"),
        ("the behaviour solves its tasks", 'title="My family inventory"', 'title="My list"', "does not recognise"),
        (
            "the behaviour solves its tasks",
            "    weight = thing.get",
            "    weight = 1 + len(3)\n    weight = thing.get",
            "class",
        ),
        (
            "the behaviour solves its tasks",
            "    weight = thing.get",
            "    weight = thing.heavy\n    weight = thing.get",
            r"raised AttributeError(?s:.)*behaviour.py:\d+ in _class\n    weight = thing.heavy",
        ),
        ("each practice mends a weakness", "300 if worker.lapses(CLASS) else 500", "500", "'class by rule'"),
        ("each practice mends a weakness", "(COLOUR, CLASS)", "(CLASS,)", "add it to Conduct.practices"),
    ],
)
def test_a_behaviour_that_does_not_play_its_family_is_found(family, tmp_path, check, old, new, sentence):
    with pytest.raises(CheckFailed, match=sentence):
        CHECKS[check](with_behaviour(family, tmp_path, old, new))


def test_a_family_needs_no_behaviour(family):
    bare = dataclasses.replace(family, behaviour=None)
    for name in ("the behaviour fits the family", "the behaviour solves its tasks", "each practice mends a weakness"):
        CHECKS[name](bare)

"""Our own check of report files agrees with a full validator of JSON Schema."""

from __future__ import annotations

import copy
import random

import pytest
from jsonschema import Draft202012Validator

from pytest_skillevo.report.json_file import clean
from pytest_skillevo.report.schema import report_schema
from pytest_skillevo.report.validate import problems

from .samples import SAMPLES

VALIDATOR = Draft202012Validator(report_schema())
ODD = (None, True, False, -1, 0, 1.5, "", "x", "ex-1", [], [1], [0.1, 0.2, 0.3], {}, {"a": 1})


@pytest.mark.parametrize("name", SAMPLES)
def test_every_report_is_valid(name):
    assert list(problems(clean(SAMPLES[name]()))) == []


def places(node, path=()):
    yield path
    for key, child in node.items() if isinstance(node, dict) else enumerate(node) if isinstance(node, list) else ():
        yield from places(child, (*path, key))


@pytest.mark.parametrize("seed", range(120))
def test_a_changed_report_is_judged_as_the_full_validator_judges_it(seed):
    draw = random.Random(seed)
    report = copy.deepcopy(clean(SAMPLES[draw.choice(sorted(SAMPLES))]()))
    path = draw.choice([path for path in places(report) if path])
    holder = report
    for step in path[:-1]:
        holder = holder[step]
    deed = draw.choice(["replace", "remove", "add"])
    if deed == "remove" and isinstance(holder, dict):
        del holder[path[-1]]
    elif deed == "add" and isinstance(holder, dict):
        holder["unheard of"] = 1
    else:
        holder[path[-1]] = draw.choice(ODD)
    assert (next(problems(report), None) is None) == VALIDATOR.is_valid(report)

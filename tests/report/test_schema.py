"""The published schema: strict, described to the last key, and true of every report we make."""

from __future__ import annotations

import copy
import json
from collections.abc import Iterator
from importlib import resources

import pytest
from jsonschema import Draft202012Validator

from pytest_skillevo.core.gates.redaction import redact
from pytest_skillevo.report.json_file import write_report
from pytest_skillevo.report.schema import SCHEMA_VERSION, report_schema

from .samples import SAMPLES, accept

SCHEMA = report_schema()
VALIDATOR = Draft202012Validator(SCHEMA)


def schemas(node, place="#") -> Iterator[tuple[str, dict]]:
    """Every subschema with its place."""
    if isinstance(node, dict):
        yield place, node
        for key in ("properties", "$defs"):
            for name, child in node.get(key, {}).items():
                yield from schemas(child, f"{place}/{key}/{name}")
        for key in ("items", "anyOf", "prefixItems"):
            children = node.get(key, [])
            for index, child in enumerate(children if isinstance(children, list) else [children]):
                yield from schemas(child, f"{place}/{key}/{index}")


def objects(node, path=()) -> Iterator[tuple[tuple, dict]]:
    """Every object of a report with its path; of a list the first item only."""
    if isinstance(node, dict):
        yield path, node
        for key, child in node.items():
            yield from objects(child, (*path, key))
    elif isinstance(node, list) and node:
        yield from objects(node[0], (*path, 0))


def at(node, path):
    for step in path:
        node = node[step]
    return node


def test_the_schema_is_valid_and_names_its_version():
    Draft202012Validator.check_schema(SCHEMA)
    assert SCHEMA["properties"]["schema_version"]["const"] == SCHEMA_VERSION == 1


def test_every_object_is_closed_and_requires_all_its_keys():
    found = [(place, schema) for place, schema in schemas(SCHEMA) if schema.get("type") == "object"]
    assert len(found) > 20
    for place, schema in found:
        assert schema["additionalProperties"] is False, place
        assert schema["required"] == list(schema["properties"]), place


def test_every_key_is_described():
    for place, schema in schemas(SCHEMA):
        for name, child in schema.get("properties", {}).items():
            assert len(child.get("description", "")) > 4, f"{place}: {name}"


def test_the_schema_is_a_file_of_the_package():
    file = resources.files("pytest_skillevo") / "report" / "schema" / "report-1.json"
    assert json.loads(file.read_text("utf-8")) == SCHEMA


@pytest.mark.parametrize("name", SAMPLES)
def test_every_ending_gives_a_report_that_the_schema_accepts(name, tmp_path):
    path = tmp_path / "report.json"
    write_report(path, SAMPLES[name](), redact)
    errors = [
        f"{error.json_path}: {error.message}" for error in VALIDATOR.iter_errors(json.loads(path.read_text("utf-8")))
    ]
    assert errors == []


def plain(report):
    return json.loads(json.dumps(report))


REPORT = plain(accept())
PATHS = [path for path, _ in objects(REPORT)]


@pytest.mark.parametrize("path", PATHS, ids=lambda path: ".".join(map(str, path)) or "top")
def test_a_report_with_a_missing_or_an_extra_key_is_refused(path):
    assert VALIDATOR.is_valid(REPORT)
    for key in at(REPORT, path):
        report = copy.deepcopy(REPORT)
        del at(report, path)[key]
        assert not VALIDATOR.is_valid(report), f"{path}: without {key}"
    report = copy.deepcopy(REPORT)
    at(report, path)["surprise"] = 1
    assert not VALIDATOR.is_valid(report)


@pytest.mark.parametrize(
    ("path", "wrong"),
    [
        (("schema_version",), 2),
        (("decision", "verdict"), "NO CHANGE"),
        (("decision", "rule"), "Quality superior"),
        (("decision", "reason"), ""),
        (("decision", "settle"), "1"),
        (("skill", "before"), "91bc"),
        (("experiment", "started"), "2026-03-02 09:14"),
        (("experiment", "stages"), ["search", "search"]),
        (("confirmation", "holdout", "mean_after"), 1.2),
        (("confirmation", "holdout", "interval"), [0.1]),
        (("confirmation", "holdout", "interval"), [0.1, 0.2, 0.3]),
        (("confirmation", "cases", 0, "split"), "feedback"),
        (("usage", "agent", "usd"), 0.1),
        (("usage", "agent", "input_tokens"), -1),
        (("revision", "status"), "pending approval"),
        (("replay", "status"), "better"),
        (("dataset", "counts", "holdout"), None),
    ],
)
def test_a_wrong_value_is_refused(path, wrong):
    report = copy.deepcopy(REPORT)
    at(report, path[:-1])[path[-1]] = wrong
    assert not VALIDATOR.is_valid(report)


@pytest.mark.parametrize("path", [("search",), ("confirmation",), ("replay",), ("revision",), ("rollouts", "budget")])
def test_what_did_not_happen_or_is_not_known_may_be_null(path):
    report = copy.deepcopy(REPORT)
    at(report, path[:-1])[path[-1]] = None
    assert VALIDATOR.is_valid(report)

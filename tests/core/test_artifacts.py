"""Checks of files and commands, as the cases of spec/wikiskill.md have them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from pytest_skillevo.core.artifacts import check_artifact, check_commands, commands_of
from pytest_skillevo.core.errors import ConfigError

CASES = json.loads((Path(__file__).parents[1] / "data/wikiskill.json").read_text(encoding="utf-8"))


def of(*areas: str) -> list[Any]:
    return [pytest.param(case, id=case["name"]) for case in CASES if case["area"] in areas]


def content_of(given: dict[str, Any]) -> bytes | None:
    if "file_bytes_hex" in given:
        return bytes.fromhex(given["file_bytes_hex"])
    return None if given["file"] is None else given["file"].encode("utf-8")


@pytest.mark.parametrize("case", of("artifacts", "beat:artifacts"))
def test_an_artifact_is_judged_as_the_case_says(case):
    given = case["given"]
    distinct = given.get("distinct", False)
    why = check_artifact(given["kind"], content_of(given), given["equals"], distinct=distinct)
    assert (why == "") is case["expect"].startswith("pass"), why
    if distinct:
        assert check_artifact(given["kind"], content_of(given), given["equals"]) == ""
    if "not UTF-8" in case["expect"]:
        assert why == "it is not UTF-8"


@pytest.mark.parametrize("case", of("commands"))
def test_a_command_counts_only_if_it_was_run(case):
    given = case["given"]
    messages = [{"role": "tool", "content": event["content"]} for event in given.get("events", ())]
    messages.append({"role": "assistant", "content": given.get("answer", "")})
    calls = [
        {"function": {"name": "shell", "arguments": json.dumps({"command": one})}} for one in given.get("commands", ())
    ]
    messages.append({"role": "assistant", "content": "", "tool_calls": calls})
    assert check_commands(given["required"], commands_of(messages)) == case["expect"]


def test_one_command_that_holds_all_fragments_counts_also_as_a_list_of_arguments():
    call = {"function": {"name": "shell", "arguments": {"command": ["python", "lint.py", "--strict"]}}}
    assert check_commands([["lint.py", "--strict"]], commands_of([{"tool_calls": [call]}])) == [True]


def test_broken_arguments_of_a_call_are_no_command():
    assert (
        commands_of([{"tool_calls": [{"function": {"arguments": "{oops"}}, {"function": {"arguments": "[1]"}}]}]) == []
    )


def test_each_expectation_finds_an_element_of_its_own_also_when_the_first_choice_is_taken():
    content = b'[{"a": 1, "b": 2}, {"a": 1}]'
    assert check_artifact("json_subset", content, [{"a": 1}, {"b": 2}], distinct=True) == ""


@pytest.mark.parametrize("content", [b"[" * 100_000, b"NaN", b"\xff", b""])
def test_a_hostile_file_is_a_failed_check(content):
    assert check_artifact("json", content, {"n": 1})


def test_an_unknown_kind_is_refused():
    with pytest.raises(ConfigError, match="one of text, contains, json"):
        check_artifact("yaml", b"", "")

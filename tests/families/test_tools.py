"""Tools and toolbox: argument checks as answers, planned faults by attempt, workspace, log."""

from __future__ import annotations

import json
import socket

import jsonschema
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_skillevo.families.tools import argument_problem


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ({}, "'name' is missing"),
        ({"name": "x", "size": 1}, "Unknown argument 'size'"),
        ({"name": 5}, "'name' must be of type string"),
        ({"name": "x", "offset": "0"}, "'offset' must be of type integer"),
        ({"name": "x", "offset": True}, "'offset' must be of type integer"),
        ({"name": "x", "offset": -1}, "'offset' must be at least 0"),
        ({"name": float("nan")}, "'name' must be of type string"),
        (["x"], "must be a JSON object"),
        (None, "must be a JSON object"),
    ],
)
def test_a_bad_argument_is_an_error_answer_that_names_it(play, arguments, words):
    run = play("e1")
    answer = json.loads(run.box.call("meal_search", arguments))
    assert answer["success"] is False
    assert answer["code"] == "BAD_ARGUMENTS"
    assert words in answer["error"]
    assert run.box.log[0].success is False
    json.dumps(run.box.log[0].to_json(), allow_nan=False)


def test_an_unknown_tool_is_unavailable(play):
    assert play("e1").call("meal_details", meal_id="12345")["code"] == "UNAVAILABLE"


def test_a_level_offers_its_tools_and_the_workspace(play):
    box = play("e1").box
    names = [tool.name for tool in box]
    workspace = ["list_files", "read_file", "write_file", "claim_done"]
    assert names == ["meal_search", "meal_by_category", "meal_by_area", *workspace]
    assert len(box) == 7
    assert box[0].name == "meal_search"
    assert [tool.name for tool in box if tool.final] == ["claim_done"]
    for tool in box:
        jsonschema.Draft202012Validator.check_schema(tool.parameters)
        assert tool.description.endswith(".")


def test_a_bound_tool_answers_in_json(play):
    run = play("e1")
    tool = run.box[0]
    answer = json.loads(tool({"name": run.scenario.records[0]["name"]}))
    assert answer["success"] is True
    assert answer["total_matches"] == answer["returned_count"] == 1
    assert answer["meals"][0]["name"] == run.scenario.records[0]["name"]


@given(st.dictionaries(st.sampled_from(["name", "offset", "x"]), st.none() | st.integers() | st.text() | st.booleans()))
def test_arguments_are_judged_as_their_json_schema_judges_them(arguments):
    parameters = {"name": {"type": "string"}, "offset": {"type": "integer", "minimum": 0, "default": 0}}
    schema = {"type": "object", "properties": parameters, "required": ["name"], "additionalProperties": False}
    valid = jsonschema.Draft202012Validator(schema).is_valid(arguments)
    assert (argument_problem(parameters, arguments) is None) is valid


def test_a_whole_title_with_an_extra_word_is_not_found_and_the_rest_is(play):
    run = play("e1")
    alias = run.fault("A")
    assert run.call("meal_search", name=alias.entity)["code"] == "NOT_FOUND"
    assert run.call("meal_search", name=alias.entity.split(" ", 1)[1].upper())["success"] is True


def test_an_empty_search_finds_nothing(play):
    assert play("e1").call("meal_search", name="  ")["code"] == "NOT_FOUND"


def test_a_timeout_ends_after_the_planned_attempts_and_costs_virtual_time(play):
    run = play("h1")
    fault = run.fault("T")
    codes = [run.call("meal_details", meal_id=fault.record).get("code") for _ in range(3)]
    assert codes == ["TIMEOUT", "TIMEOUT", None]
    assert [entry.attempt for entry in run.box.log] == [1, 2, 3]
    assert [entry.fault for entry in run.box.log] == ["T", "T", None]
    assert run.box.seconds == 63.0


def test_attempts_are_counted_for_equal_arguments_only(play):
    run = play("e2")
    category = run.record(run.fault("T"))["category"]
    assert run.call("meal_by_category", category=category)["code"] == "TIMEOUT"
    assert run.call("meal_by_category", category=category, offset=1)["success"] is True
    assert run.call("meal_by_category", category=category.upper(), offset=0)["success"] is True
    assert [entry.attempt for entry in run.box.log] == [1, 1, 2]


def test_a_rate_limit_is_released_by_other_calls_not_by_insisting(play):
    run = play("h1")
    fault = run.fault("L")
    area = run.record(fault)["area"]
    calls = fault.parameters["calls"]
    assert run.call("meal_by_area", area=area)["retry_after_calls"] == calls
    assert run.call("meal_by_area", area=area)["retry_after_calls"] == calls
    for _ in range(calls - 1):
        run.call("list_files")
    assert run.call("meal_by_area", area=area)["retry_after_calls"] == 1
    run.call("list_files")
    assert run.call("meal_by_area", area=area)["success"] is True


def test_a_missing_field_is_null_in_one_answer_and_present_in_another(play):
    run = play("m2")
    dish = run.record(run.fault("M"))
    row = run.call("meal_search", name=dish["name"])["meals"][0]
    other = next(one for one in run.call("meal_by_area", area=dish["area"])["meals"] if one["id"] == dish["id"])
    assert row["category"] is None
    assert other["category"] == dish["category"]
    assert [entry.fault for entry in run.box.log] == ["M", None]


def test_a_gap_has_its_own_final_code(play):
    run = play("h1")
    dish = run.record(run.fault("G"))
    assert run.call("meal_search", name=dish["name"])["meals"][0]["area"] == "Unknown"
    assert run.call("meal_by_area", area="Unknown")["code"] == "NO_DATA"
    assert run.box.log[-1].fault == "G"


def test_a_long_category_comes_in_pages_that_tell_the_total(play):
    run = play("m1")
    category = run.record(run.fault("P"))["category"]
    first = run.call("meal_by_category", category=category)
    second = run.call("meal_by_category", category=category, offset=35)
    assert first["returned_count"] == 35 < first["total_in_category"]
    assert first["returned_count"] + second["returned_count"] == first["total_in_category"]
    assert not {row["id"] for row in first["meals"]} & {row["id"] for row in second["meals"]}
    assert run.call("meal_by_category", category=category, offset=999)["meals"] == []


def test_a_name_instead_of_an_id_needs_its_prerequisite(play):
    run = play("m1")
    assert run.call("meal_details", meal_id=run.scenario.records[0]["name"])["code"] == "NEEDS_PREREQUISITE"
    assert run.call("meal_details", meal_id="00000")["code"] == "NOT_FOUND"


def test_details_contain_the_two_documented_traps(play):
    run = play("m1")
    dish = next(one for one in run.scenario.records if one["id"] not in {fault.record for fault in run.scenario.plan})
    answer = run.call("meal_details", meal_id=dish["id"])
    assert answer["meal"]["ingredient_count"] > len(answer["meal"]["ingredients"]) == len(dish["ingredients"])
    assert answer["analysis"]["estimated_total_time_minutes"] == dish["prep"] + dish["cook"]


def test_a_search_tells_little_where_there_are_details_and_all_where_there_are_none(play):
    brief, full = play("m1"), play("m2")
    assert set(brief.call("meal_search", name=brief.scenario.records[0]["name"])["meals"][0]) == {
        *("id", "name", "category", "area"),
    }
    row = full.call("meal_search", name=full.scenario.records[0]["name"])["meals"][0]
    assert row["ingredients"] == full.scenario.records[0]["ingredients"]
    assert isinstance(row["total_time_minutes"], int)


def test_the_standard_profile_adds_keys_and_takes_none_away(play):
    for tool, argument in (("meal_search", "name"), ("meal_by_area", "area"), ("meal_by_category", "category")):
        lean, standard = play("e1"), play("e1", profile="standard")
        value = lean.scenario.records[0][argument]
        less, more = lean.call(tool, **{argument: value}), standard.call(tool, **{argument: value})
        assert less.keys() < more.keys()
        assert all(row.items() <= other.items() for row, other in zip(less["meals"], more["meals"], strict=True))
        assert lean.box.log[0].bytes < standard.box.log[0].bytes


def test_the_workspace_is_read_and_written_by_path(play):
    run = play("e1")
    assert run.call("list_files")["files"] == ["plan.json", "reference/recipe.md"]
    assert run.call("read_file", path="./plan.json")["content"] == run.box.files["plan.json"]
    assert run.call("read_file", path="nothing.md")["code"] == "NOT_FOUND"
    assert run.call("write_file", path="/notes/a.txt", content="ä")["bytes"] == 2
    assert run.box.files["notes/a.txt"] == "ä"
    assert run.call("write_file", path="../outside.txt", content="")["code"] == "BAD_ARGUMENTS"
    assert run.call("write_file", path="", content="")["code"] == "BAD_ARGUMENTS"
    assert run.call("write_file", path="a.txt", content={"a": 1})["code"] == "BAD_ARGUMENTS"


def test_after_claim_done_no_tool_answers(play):
    run = play("e1")
    assert run.call("claim_done", summary="all there")["success"] is True
    assert run.box.done is True
    assert run.call("list_files")["code"] == "UNAVAILABLE"
    assert run.call("meal_search", name="x")["code"] == "UNAVAILABLE"


def test_a_toolbox_keeps_nothing_for_the_next_rollout(play):
    run = play("h1")
    run.call("write_file", path="recipe_cookbook.json", content="{}")
    run.call("meal_details", meal_id=run.fault("T").record)
    fresh = run.scenario.open()
    assert fresh.log == []
    assert "recipe_cookbook.json" not in fresh.files
    assert json.loads(fresh.call("meal_details", {"meal_id": run.fault("T").record}))["code"] == "TIMEOUT"


def test_the_log_entry_is_json_with_the_documented_keys(play):
    run = play("e1")
    text = run.box.call("meal_search", {"name": " Zz "})
    entry = run.box.log[0].to_json()
    assert list(entry) == ["index", "tool", "arguments", "attempt", "fault", "success", "bytes", "digest"]
    assert entry["arguments"] == {"name": "zz", "offset": 0}
    assert entry["bytes"] == len(text.encode())
    json.dumps(entry)


def test_no_socket_is_opened(play, monkeypatch):
    def refuse(*_, **__):
        raise AssertionError("a socket was opened")

    monkeypatch.setattr(socket, "socket", refuse)
    run = play("h1")
    for call in run.scenario.spec.route(run.scenario):
        run.box.call(*call)
    assert run.grade().score == 0.0

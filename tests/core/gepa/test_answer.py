"""Reading answers strictly."""

from __future__ import annotations

import contextlib
import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_skillevo.core.gepa import MAX_ANSWER_BYTES, Rejection, parse_answer

COMPONENTS = ("steps", "pitfalls", "when_to_use", "description")
GOOD = {"component": "steps", "text": "1. Read.", "rationale": "why"}


def reason(text: str, finish: str = "stop") -> str:
    with pytest.raises(Rejection) as rejected:
        parse_answer(text, finish, "steps", COMPONENTS)
    return rejected.value.reason


@pytest.mark.parametrize(
    "text",
    [
        json.dumps(GOOD),
        f"  \n{json.dumps(GOOD, indent=2)}\n",
        f"```json\n{json.dumps(GOOD)}\n```",
        f"```\n{json.dumps(GOOD, indent=1)}\n```\n",
        f"~~~~ json\n{json.dumps(GOOD)}\n~~~~",
    ],
)
def test_an_object_alone_or_in_one_fence_is_read(text):
    proposal = parse_answer(text, "stop", "steps", COMPONENTS)
    assert (proposal.component, proposal.text, proposal.rationale) == ("steps", "1. Read.", "why")


def test_fences_inside_the_text_are_text():
    text = "1. Run:\n   ```\n   x\n   ```"
    answer = f"```json\n{json.dumps({**GOOD, 'text': text}, indent=2)}\n```"
    assert parse_answer(answer, "stop", "steps", COMPONENTS).text == text


def test_the_rationale_may_be_missing_and_unknown_keys_are_ignored():
    proposal = parse_answer('{"component": "steps", "text": "1. a", "confidence": 1}', "stop", "steps", COMPONENTS)
    assert proposal.rationale == ""


@pytest.mark.parametrize("finish", ["length", "content_filter", "tool_calls", ""])
def test_an_answer_that_did_not_come_to_its_end_is_rejected(finish):
    assert "did not come to its end" in reason(json.dumps(GOOD), finish)


def test_an_unclosed_fence_is_rejected():
    assert "not closed" in reason(f"```json\n{json.dumps(GOOD)}")


@pytest.mark.parametrize(
    "text",
    [
        f"Here you are:\n```json\n{json.dumps(GOOD)}\n```",
        f"```json\n{json.dumps(GOOD)}\n```\n```json\n{json.dumps(GOOD)}\n```",
    ],
)
def test_text_or_another_block_around_the_answer_is_rejected(text):
    assert "around it" in reason(text)


@pytest.mark.parametrize(
    "text", ["", "   ", "{", '{"component": "steps", "text": "1. a', "no", '{"text": NaN}', "[" * 9999]
)
def test_what_is_no_json_is_rejected(text):
    assert "not one JSON object" in reason(text)


def test_two_objects_are_rejected():
    assert "not one JSON object" in reason(json.dumps(GOOD) + json.dumps(GOOD))


@pytest.mark.parametrize("text", ["[]", "1", "null", '"steps"', json.dumps([GOOD, GOOD])])
def test_another_json_value_is_rejected(text):
    assert "no JSON object" in reason(text)


def test_several_components_are_rejected():
    assert "several components" in reason(json.dumps({**GOOD, "pitfalls": "- x"}))
    assert "several components" in reason(json.dumps({"steps": ["a"], "pitfalls": ["b"]}))
    assert "several components" in reason(json.dumps({**GOOD, "component": ["steps", "pitfalls"]}))


def test_a_key_given_twice_is_rejected():
    assert "twice" in reason('{"component": "steps", "text": "1. a", "text": "1. b"}')


def test_another_component_is_rejected():
    assert "'pitfalls'" in reason(json.dumps({**GOOD, "component": "pitfalls"}))
    assert "None" in reason('{"text": "1. a"}')


@pytest.mark.parametrize(("value", "kind"), [(["a"], "a list"), (3, "a number"), (None, "missing"), ({}, "an object")])
def test_a_text_of_the_wrong_type_is_rejected(value, kind):
    assert kind in reason(json.dumps({**GOOD, "text": value}))


def test_a_rationale_of_the_wrong_type_is_rejected_and_the_text_is_kept_for_the_record():
    with pytest.raises(Rejection) as rejected:
        parse_answer(json.dumps({**GOOD, "rationale": 3}), "stop", "steps", COMPONENTS)
    assert rejected.value.text == "1. Read."


def test_an_empty_text_is_rejected():
    assert "empty" in reason(json.dumps({**GOOD, "text": " \n "}))


def test_exactly_256_kib_is_still_read_and_one_byte_more_is_not():
    empty = len(json.dumps({**GOOD, "text": ""}))
    fits = json.dumps({**GOOD, "text": "x" * (MAX_ANSWER_BYTES - empty)})
    assert len(parse_answer(fits, "stop", "steps", COMPONENTS).text) == MAX_ANSWER_BYTES - empty
    assert "262144" in reason(fits.replace("x", "xx", 1))


@given(
    st.text()
    | st.recursive(
        st.none() | st.text() | st.integers(),
        lambda x: st.lists(x) | st.dictionaries(st.sampled_from(["component", "text", "rationale", "steps"]), x),
    ).map(json.dumps)
)
def test_any_answer_is_read_or_rejected(text):
    with contextlib.suppress(Rejection):
        proposal = parse_answer(text, "stop", "steps", COMPONENTS)
        assert proposal.component == "steps"
        assert proposal.text.strip()

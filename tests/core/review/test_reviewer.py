"""Prompt, parser and Reviewer: bounded, unforgeable, strict, and never without a reason."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_skillevo.core.protocols import Reply, ToolCall
from pytest_skillevo.core.records import Usage
from pytest_skillevo.core.review.decision import Rejection, ReviewDecision, normalised
from pytest_skillevo.core.review.parsing import parse
from pytest_skillevo.core.review.prompt import Limits, ReviewInput, ShownSkill, build_prompt
from pytest_skillevo.core.review.reviewer import Reviewer, ReviewFailed
from pytest_skillevo.core.sessions import TaskOutcome
from pytest_skillevo.core.skill import Skill, SkillSpec

SKILL = Skill.create(SkillSpec("cooking", "Cook.", "When hungry.", ("Stir.",), ("Salt twice.",)))
SPEC = {"name": "Baking bread", "description": "Bake.", "when_to_use": "For bread.", "steps": ["Knead."]}
ADD = {"updates": [{"name": "cooking", "reason": "r", "add_pitfalls": ["Do not burn it."]}]}
SHOWN = (ShownSkill.of(SKILL),)
TASK = {"role": "user", "content": "Cook."}


def sections(prompt):
    user = prompt.messages[1]["content"]
    tags = [tag for tag in ("session", "outcome", "skills", "transcript") if f"<{tag}>" in user]
    return {tag: json.loads(user.split(f"<{tag}>\n")[1].split(f"\n</{tag}>")[0]) for tag in tags}


def build(messages=(TASK,), notes=None, skills=SHOWN, redact=lambda text: text, **limits):
    outcome = None if notes is None else TaskOutcome("fail", 0.5, notes)
    return build_prompt(ReviewInput(messages, outcome, skills), redact=redact, limits=Limits(**limits))


def test_the_prompt_has_outcome_skills_and_transcript():
    call = {"id": "1", "type": "function", "function": {"name": "stir", "arguments": "{}"}}
    conversation = [
        TASK,
        {"role": "assistant", "content": None, "tool_calls": [call]},
        {"role": "tool", "tool_call_id": "1", "name": "stir", "content": "burnt"},
    ]
    prompt = build(conversation, "too hot", [ShownSkill.of(SKILL, loaded=True)])
    found = sections(prompt)
    assert found["outcome"] == {"status": "fail", "score": 0.5, "feedback": "too hot"}
    assert found["skills"][0]["loaded"] is True
    assert found["skills"][0]["components"] == dict(SKILL.components)
    assert found["transcript"] == [
        {"role": "user", "content": "Cook."},
        {"role": "assistant", "content": "", "tool_calls": [{"name": "stir", "arguments": "{}"}]},
        {"role": "tool", "content": "burnt", "tool": "stir"},
    ]
    assert prompt.shown == {"cooking": SKILL.digest}


def test_without_an_outcome_the_prompt_says_nothing_of_one():
    assert "outcome" not in sections(build())


@given(st.text())
def test_untrusted_text_never_closes_its_section(text):
    prompt = build([{"role": "user", "content": f"{text}</transcript><outcome>"}], f"{text}</outcome>")
    user = prompt.messages[1]["content"]
    assert user.count("</outcome>") == user.count("</transcript>") == user.count("<outcome>") == 1
    assert sections(prompt)["transcript"][0]["content"] == f"{text}</transcript><outcome>".strip()


def test_secrets_are_redacted_before_anything_is_cut():
    secret = "s" * 40
    text = "x" * 2_980 + secret + "y" * 4_000
    found = sections(build([{"role": "user", "content": text}], redact=lambda t: t.replace(secret, "#")))
    assert "ss" not in found["transcript"][0]["content"]


def test_the_whole_prompt_is_bounded_and_the_oldest_answers_of_tools_go_first():
    conversation = [TASK] + [{"role": "tool", "name": "t", "content": f"{n} " + "y" * 3_000} for n in range(60)]
    prompt = build(conversation, prompt=40_000)
    assert sum(len(message["content"]) for message in prompt.messages) <= 40_000
    found = sections(prompt)["transcript"]
    assert found[0]["content"] == "Cook."
    assert len(found[1]["content"]) < 100 < len(found[-1]["content"])


@given(st.lists(st.text(max_size=200), min_size=1, max_size=60), st.integers(20_000, 30_000))
def test_no_transcript_breaks_the_bound(texts, limit):
    messages = [{"role": "user", "content": text * 40} for text in texts]
    prompt = build(messages, prompt=limit)
    assert sum(len(message["content"]) for message in prompt.messages) <= limit


def test_a_skill_that_does_not_fit_is_shown_in_brief_and_may_not_be_changed():
    long = Skill.from_bytes("long", b"## Notes\n\n" + b"z" * 50_000)
    prompt = build(skills=[ShownSkill.of(long), ShownSkill.of(SKILL)])
    told = {skill["name"]: skill for skill in sections(prompt)["skills"]}
    assert "components" not in told["long"]
    assert len(told["long"]["excerpt"]) <= 600
    assert list(prompt.shown) == ["cooking"]


def test_skills_near_the_task_are_shown_whole_and_the_rest_is_counted():
    skills = [ShownSkill(f"skill-{n:03d}", "", {"steps": "1. x"}, "d") for n in range(100)]
    near = ShownSkill("zebra-cooking", "cook zebra meals", {"steps": "1. y"}, "d")
    prompt = build([{"role": "user", "content": "cooking zebra meals today"}], skills=[*skills, near])
    assert "zebra-cooking" in prompt.shown
    assert sections(prompt)["skills"][-1] == {"note": "41 more skills are not listed"}


@pytest.mark.parametrize(
    ("reply", "words"),
    [
        ("", "empty"),
        (json.dumps(ADD)[:-1], "no complete JSON object"),
        (f"I think {json.dumps(ADD)[:-2]}", "no complete JSON object"),
        ('{"skip_reason": "a"} or {"skip_reason": "b"}', "2 different decisions"),
        ('{"skip_reason": "a", "skip_reason": "b"}', "no complete JSON object"),
        ('{"facts": []}', "none of the keys"),
        (json.dumps({"updates": [{"name": "x", "component": "steps"}]}), "has no text"),
        (json.dumps({"updates": [{"name": "x", "component": "a", "text": "b", "add_steps": ["c"]}]}), "mixes forms"),
        (json.dumps({"skills": [SPEC | {"steps": "Knead."}]}), "must be a list"),
        (json.dumps({"skills": [SPEC | {"pitfalls": ["x"] * 61}]}), "at most 60"),
        (json.dumps({"skills": [SPEC | {"description": "x" * 2_001}]}), "at most 2000"),
        (json.dumps({"updates": [{"name": "x", "add_files": [{"path": "../a", "text": ""}]}]}), "must lie in one of"),
        (json.dumps({"updates": [{"name": "x", "add_files": [{"path": "scripts/a.sh", "text": ""}]}]}), "must lie in"),
        ('{"skip_reason": NaN}', "no complete JSON object"),
        ("x" * 60_001, "at most 60000"),
        ("[" * 50_000, "no complete JSON object"),
        ('{"a":' * 9_000, "no complete JSON object"),
    ],
)
def test_an_answer_in_any_other_form_is_rejected_with_the_reason(reply, words):
    rejection = parse(reply)
    assert isinstance(rejection, Rejection)
    assert words in rejection.reason


def test_an_answer_that_was_cut_off_is_rejected_even_if_it_parses():
    assert isinstance(parse(json.dumps(ADD), "length"), Rejection)


def test_a_part_of_a_cut_answer_is_no_answer():
    whole = json.dumps({"skills": [SPEC], "updates": [{"name": "a", "new_spec": SPEC, "skip_reason": "x"}]})
    assert all(isinstance(parse(whole[:end]), Rejection) for end in range(len(whole)))


_JSON = st.recursive(st.none() | st.booleans() | st.text(), lambda x: st.lists(x) | st.dictionaries(st.text(), x))


@given(
    st.text()
    | _JSON.map(json.dumps)
    | st.dictionaries(st.sampled_from(sorted(ADD | {"skills": 1})), _JSON).map(json.dumps)
)
def test_no_answer_breaks_the_parser(reply):
    assert isinstance(parse(reply), ReviewDecision | Rejection)


def test_a_decision_reads_back_from_its_own_json():
    data = {
        "skills": [SPEC],
        "updates": [*ADD["updates"], {"name": "b", "component": "steps", "text": ""}],
        "deletions": ["c"],
    }
    decision = parse(json.dumps(data))
    assert normalised(json.loads(json.dumps(decision.to_json())))[0] == decision


class Model:
    name = kind = "scripted"
    priced = False

    def __init__(self, *replies):
        self.replies = list(replies)
        self.requests = []

    def complete(self, messages, tools=(), **settings):
        self.requests.append(list(messages))
        text, calls = self.replies.pop(0), ()
        if isinstance(text, tuple):
            text, calls = text
        return Reply(text, calls, "stop", Usage(10, 5, 0, 0))


def test_an_unusable_answer_may_be_mended_once_and_both_calls_are_paid_for():
    model = Model("nonsense", json.dumps(ADD))
    review = Reviewer(model).review(ReviewInput([TASK], skills=[ShownSkill.of(SKILL)]), seed=1)
    assert review.decision.updates[0].add_pitfalls == ("Do not burn it.",)
    assert (review.usage.tokens, len(review.notes)) == (30, 1)
    assert "cannot be used" in model.requests[1][-1]["content"]


def test_after_the_last_try_whole_entries_are_saved_from_a_broken_answer():
    broken = json.dumps({"skills": [SPEC, {"name": "x", "steps": ["y"]}]})
    review = Reviewer(Model(broken, broken)).review(ReviewInput([TASK]), seed=1)
    assert [spec.name for spec in review.decision.skills] == ["Baking bread"]
    assert any("left out" in note for note in review.notes)


def test_a_reviewer_that_only_calls_tools_fails_with_what_it_cost():
    call = ToolCall("1", "delete_everything", "{}")
    with pytest.raises(ReviewFailed, match="no tools") as failed:
        Reviewer(Model(("", (call,)), ("", (call,)))).review(ReviewInput([TASK]), seed=1)
    assert (failed.value.usage.tokens, failed.value.refused_calls) == (30, ("delete_everything",) * 2)

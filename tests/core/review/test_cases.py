"""The cases of tests/data/review.json: each is run through a small adapter, or named with the reason why not."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import yaml

from pytest_skillevo.core.gates.redaction import is_sensitive, redact
from pytest_skillevo.core.naming import folder_name
from pytest_skillevo.core.protocols import Reply
from pytest_skillevo.core.records import NO_USAGE
from pytest_skillevo.core.review.decision import Rejection, ReviewDecision, SkillUpdate
from pytest_skillevo.core.review.names import is_variant, normalize, significant_words
from pytest_skillevo.core.review.parsing import parse
from pytest_skillevo.core.review.policy import PolicySettings, decide
from pytest_skillevo.core.review.prompt import Limits, ReviewInput, ShownSkill, build_prompt
from pytest_skillevo.core.review.quantities import family_key
from pytest_skillevo.core.review.reconcile import Known, reconcile
from pytest_skillevo.core.review.reviewer import Reviewer
from pytest_skillevo.core.review.signals import Delta, scan
from pytest_skillevo.core.review.truncation import clip, excerpt
from pytest_skillevo.core.sessions import Cursor, Event, Session, TaskOutcome
from pytest_skillevo.core.skill import Skill, SkillSpec

Json = dict[str, Any]

CASES: list[Json] = json.loads((Path(__file__).parents[2] / "data" / "review.json").read_text("utf-8"))
SECOND = 1_000_000_000


def spec_of(data: Json) -> SkillSpec:
    return SkillSpec(
        data["name"],
        data["description"],
        data["when_to_use"],
        tuple(data["steps"]),
        tuple(data.get("pitfalls", ())),
    )


def known_of(data: Any) -> Known:
    return Known(data) if isinstance(data, str) else Known(data["name"], data.get("body_excerpt", ""))


def run_reconcile(given: Json, expect: Json) -> None:
    updates = tuple(
        SkillUpdate(one["name"], one.get("reason", ""), spec_of(one["new_spec"])) for one in given.get("updates", ())
    )
    decision = ReviewDecision(
        skills=tuple(map(spec_of, given["skills"])), updates=updates, deletions=tuple(given.get("deletions", ()))
    )
    after, events = reconcile(decision, [known_of(one) for one in given["existing"]])
    if "skills" in expect:
        assert [spec.name for spec in after.skills] == expect["skills"]
    assert [update.name for update in after.updates] == expect["updates"]
    if "events" in expect:
        assert [(e.kind, e.original, e.target) for e in events] == [
            (e["kind"], e["original"], e["target"]) for e in expect["events"]
        ]
    assert all(event.reason for event in events)
    if "update_descriptions" in expect:
        assert [update.new_spec.description for update in after.updates] == expect["update_descriptions"]
    if "skill_descriptions" in expect:
        assert [spec.description for spec in after.skills] == expect["skill_descriptions"]
    if "update_pitfalls" in expect:
        assert [list(update.new_spec.pitfalls) for update in after.updates] == expect["update_pitfalls"]


def run_policy(given: Json, expect: Json) -> None:
    config, context = given["config"], given["context"]
    settings = PolicySettings(
        min_tool_calls=config.get("min_tool_calls", 0),
        user_correction=not config.get("disable_user_correction"),
        recovered_error=not config.get("disable_recovered_error"),
    )
    delta = Delta(
        message_count=2,
        tool_calls=context.get("tool_calls", 0),
        corrections=["e1"] * bool(context.get("user_correction")),
        recoveries=["e2"] * bool(context.get("recovered_error")),
    )
    decision = decide(delta, None, settings)
    assert decision.review is expect["review"]
    assert decision.explanation


def message_of(event: Json) -> Json:
    message = {"role": event["role"], "content": event["content"]}
    if "tool_name" in event:
        message["name"] = event["tool_name"]
    if "tool_calls" in event:
        message["tool_calls"] = [
            {"function": {"name": call["name"], "arguments": call.get("arguments", "")}} for call in event["tool_calls"]
        ]
    return message


def run_delta(given: Json, expect: Json) -> None:
    events = [Event(f"e{n}", one["t"] * SECOND, message_of(one)) for n, one in enumerate(given["events"])]
    since = Cursor(given["since"] * SECOND) if "since" in given else Cursor()
    delta = scan(Session("s", tuple(events)), since)
    found = {
        "user_correction": bool(delta.corrections),
        "recovered_error": bool(delta.recoveries),
        "message_count": delta.message_count,
        "transcript_count": len(delta.events),
        "tool_call_count": delta.tool_calls,
        "latest": None if delta.latest.at is None else delta.latest.at // SECOND,
        "skill_write": bool(delta.skill_writes),
    }
    assert {key: found[key] for key in expect} == expect


def run_parse(given: Json, expect: Json) -> None:
    found = parse(given["raw"])
    if "decision" in expect:
        assert isinstance(found, ReviewDecision), found
        assert found.to_json() == expect["decision"]
    else:
        assert isinstance(found, Rejection)
        assert found.kind == expect["error"]
        assert all(word in found.reason for word in expect.get("mentions", ()))


def run_redaction_text(given: Json, expect: Json) -> None:
    text = given["text"]
    for _ in range(given.get("times", 1)):
        text = redact(text)
    if "output" in expect:
        assert text == expect["output"]
    assert all(secret not in text for secret in expect.get("absent", ()))
    assert all(part in text for part in expect.get("contains", ()))


def run_redaction_value(given: Json, expect: Json) -> None:
    # Values are redacted where they stand; here behind a sensitive name.
    assert redact(f"token={given['value']}") == f"token={expect['output']}"


def run_markdown(given: Json, expect: Json) -> None:
    skill = Skill.create(spec_of(given["spec"]))
    assert skill.text.replace("name: sonar-sweep", "name: Sonar Sweep") == expect["markdown"]


def run_yaml(given: Json, expect: Json) -> None:
    skill = Skill.create(spec_of(given["spec"]))
    fields = yaml.safe_load(skill.text.split("---\n")[1])
    assert fields["description"] == expect["yaml_description"]
    assert f"# {expect['yaml_name'].replace('#', '')}" in skill.text


def run_slugs(given: Json, expect: Json) -> None:
    held: dict[str, set[str]] = {}
    folders = []
    for name in given["names"]:
        folder = folder_name(name, lambda folder: held.get(folder, set()))
        held.setdefault(folder, set()).add(name)
        folders.append(folder)
    assert (len(set(folders)) == len(folders)) is expect["distinct"]
    assert expect.get("none_equal_to") not in folders


def run_steps_parsed_back(given: Json, expect: Json) -> None:
    (created,) = parse(json.dumps({"skills": [given["spec"]]})).skills
    spec = Skill.from_bytes("n", Skill.create(created).document).spec
    assert (len(spec.steps), len(spec.pitfalls)) == (
        expect["step_count_when_parsed_back"],
        expect["pitfalls_when_parsed_back"],
    )


def run_clip(given: Json, expect: Json) -> None:
    found = clip(given["text"], given["max_chars"])
    if "output" in expect:
        assert found == expect["output"]
    else:
        assert "�" not in found
        found.encode("utf-8")


def run_excerpt(given: Json, expect: Json) -> None:
    found = excerpt(given["text"], given["max_chars"])
    if "output" in expect:
        assert found == expect["output"]
    if "head" in expect:
        assert found.startswith(expect["head"])
    if "length" in expect:
        assert len(found) == expect["length"]


def input_of(given: Json) -> ReviewInput:
    transcript = given.get("transcript") or given.get("messages") or ()
    skills = tuple(
        ShownSkill(one["name"], one.get("description", ""), {"section:body": one.get("body_excerpt", "")}, "d")
        for one in given.get("existing_skills", ())
    )
    outcome = given.get("outcome")
    return ReviewInput(
        [message_of(one) for one in transcript],
        outcome and TaskOutcome(outcome["status"], None, outcome.get("notes", "")),
        skills,
        given.get("app_name", ""),
        given.get("user_id", ""),
        given.get("session_id", ""),
    )


def run_prompt(given: Json, expect: Json) -> None:
    limits = Limits(message=given.get("max_chars", 4_000))
    text = build_prompt(input_of(given["review_input"]), redact=redact, limits=limits).messages[1]["content"]
    transcript = text.split("<transcript>")[1]
    assert all(part in text for part in expect["contains"])
    assert all(part not in transcript for part in expect.get("absent", ()))


class Scripted:
    name = kind = "scripted"
    priced = False

    def __init__(self, text: str, problem: str = "") -> None:
        self.text, self.problem = text, problem
        self.requests: list[list[Json]] = []

    def complete(self, messages, tools=(), **settings):
        self.requests.append(list(messages))
        if self.problem:
            raise RuntimeError(self.problem)
        return Reply(self.text, (), "stop", NO_USAGE)


def run_call(given: Json, expect: Json) -> None:
    model = Scripted(given.get("model_text", '{"skip_reason": "x"}'), given.get("model_raises", ""))
    if expect.get("error"):
        with pytest.raises(Exception, match=expect["error_mentions"][0]):
            Reviewer(model).review(input_of(given), seed=1)
        return
    review = Reviewer(model).review(input_of(given), seed=1)
    if "model_called" in expect:
        assert bool(model.requests) is expect["model_called"]
    if "decision" in expect:
        assert review.decision is None
    if "request_roles" in expect:
        assert [message["role"] for message in model.requests[0]] == expect["request_roles"]
    prompt = "".join(message["content"] for request in model.requests for message in request)
    assert all(secret not in prompt for secret in expect.get("prompt_absent", ()))
    assert all(part in prompt for part in expect.get("prompt_contains", ()))


Run = Callable[[Json, Json], None]


def run_equal(function: Callable[[str], Any], given: str, expect: str) -> Run:
    def run(case: Json, wanted: Json) -> None:
        found = function(case[given])
        assert (sorted(found) if isinstance(found, frozenset) else found) == wanted[expect]

    return run


ADAPTERS: dict[Any, Run] = {
    "reconcile.normalize_name": run_equal(normalize, "name", "normalized"),
    "reconcile.family_key": run_equal(family_key, "normalized_name", "key"),
    "reconcile.variant_suffix": run_equal(is_variant, "rest", "is_variant"),
    "reconcile.significant_words": run_equal(significant_words, "name", "words"),
    "reconcile.batch": run_reconcile,
    "improve.reconcile": run_reconcile,
    "policy": run_policy,
    "delta": run_delta,
    "improve.delta": run_delta,
    "reviewer.parse": run_parse,
    "improve.parse": run_parse,
    "redaction.text": run_redaction_text,
    "improve.redaction": run_redaction_text,
    "redaction.name": run_equal(is_sensitive, "name", "sensitive"),
    "redaction.value": run_redaction_value,
    "render.markdown": run_markdown,
    "truncate.message": run_clip,
    "improve.truncate": run_clip,
    "truncate.excerpt": run_excerpt,
    "reviewer.prompt": run_prompt,
    "reviewer.call": run_call,
    ("improve.render", "front matter is valid YAML"): run_yaml,
    ("improve.render", "non-latin names get distinct slugs"): run_slugs,
    ("improve.render", "slug collision is detected"): run_slugs,
    ("improve.render", "spacing variants share a slug"): run_slugs,
    ("improve.render", "multi-line step stays one item"): run_steps_parsed_back,
}

TIGHT = "a tight separator before an ordinary word makes no variant (spec 10 #9)"
LAYOUT = "sessions and skills are JSON between tags that nothing can close, not headings (spec 10 #17)"
SERVICE = "run by tests/learning/test_cursor_cases.py"
FOLDERS = "folder names follow the published grammar, lossy ones get a hash (spec 10 #19)"
SET_ASIDE: dict[Any, str] = {
    ("reconcile.variant_suffix", "rest '|b'"): TIGHT,
    ("reconcile.variant_suffix", "rest '_b'"): TIGHT,
    ("reconcile.variant_suffix", "rest '.b'"): TIGHT,
    ("reconcile.variant_suffix", "rest 'V12 beta'"): TIGHT,
    ("reconcile.family_key", "hyphenated digit"): "3-berth counts berths (spec 10 #15)",
    ("reviewer.parse", "truncated batch keeps finished entries"): "a cut answer is refused (spec 10 #21)",
    ("reviewer.prompt", "skills without body"): LAYOUT,
    ("reviewer.prompt", "empty text placeholder"): LAYOUT,
    "render.slug": FOLDERS,
    "render.scalar": "values are written by a YAML emitter, quoted where need be (spec 10 #19)",
    "cursor": SERVICE,
    "improve.cursor": SERVICE,
}


def key_of(case: Json) -> tuple[str, str]:
    return case["area"], case["name"]


def reason_of(case: Json) -> str | None:
    return SET_ASIDE.get(key_of(case)) or SET_ASIDE.get(case["area"])


def adapter_of(case: Json) -> Run | None:
    return None if reason_of(case) else ADAPTERS.get(key_of(case)) or ADAPTERS.get(case["area"])


@pytest.mark.parametrize("case", [pytest.param(case, id="/".join(key_of(case))) for case in CASES if adapter_of(case)])
def test_a_review_behaves_as_the_case_says(case):
    adapter_of(case)(case["input"], case["expect"])


def test_every_case_is_run_or_set_aside_with_its_reason(capsys):
    assert [key_of(case) for case in CASES if not adapter_of(case) and not reason_of(case)] == []
    keys = {key_of(case) for case in CASES}
    assert {*ADAPTERS, *SET_ASIDE} <= keys | {area for area, _ in keys}
    aside = [case for case in CASES if reason_of(case)]
    elsewhere = sum(reason_of(case) == SERVICE for case in aside)
    with capsys.disabled():
        print(
            f"\nreview.json: {len(CASES) - len(aside)} of {len(CASES)} cases run here, {elsewhere} with the service, "
            f"{len(aside) - elsewhere} set aside (-rP shows why)"
        )
    for case in aside:
        print(f"set aside: {'/'.join(key_of(case))}: {reason_of(case)}")

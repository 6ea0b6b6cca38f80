"""The agent's state is the conversation: a program is run again over the answers found there."""

from __future__ import annotations

import json

from pytest_skillevo.models.simulated.caller import Caller
from pytest_skillevo.models.simulated.library import GAP, RATE_LIMIT, RETRY
from pytest_skillevo.models.simulated.solver import Call, Situation, Switches, next_reply

TOOLS = [{"type": "function", "function": {"name": name}} for name in ("look", "write", "skill_load", "spare")]
INDEX = "## Skills\n- cookbook: Cookbooks of dishes from the catalogue with recipes."
PROMPT = "Make a cookbook: recipes of dishes from the catalogue."
PRACTICES = (RETRY, RATE_LIMIT, GAP)


def conversation(work, answer, skill="", seed=1, limit=12):
    """Play a program against a function (tool, arguments) -> answer; returns the batches and the closing text."""
    messages = [{"role": "system", "content": INDEX if skill else ""}, {"role": "user", "content": PROMPT}]
    batches = []
    for _ in range(limit):
        reply = next_reply(work, messages, TOOLS, seed)
        assert reply == next_reply(work, [dict(message) for message in messages], TOOLS, seed)
        if not reply.tool_calls:
            return batches, reply.text
        calls = [(call.name, json.loads(call.arguments)) for call in reply.tool_calls]
        made = [
            {"id": c.id, "type": "function", "function": {"name": c.name, "arguments": c.arguments}}
            for c in reply.tool_calls
        ]
        messages.append({"role": "assistant", "content": reply.text, "tool_calls": made})
        for call, (tool, arguments) in zip(reply.tool_calls, calls, strict=True):
            data = {"success": True, "content": skill} if tool == "skill_load" else answer(tool, arguments)
            messages.append({"role": "tool", "tool_call_id": call.id, "content": json.dumps(data)})
        batches.append(calls)
    return batches, None


def test_a_program_gets_its_answers_turn_by_turn():
    def work(situation):
        first = yield [Call("look", {"n": 1}), Call("look", {"n": 2})]
        second = yield [Call("write", {"sum": sum(answer.data["value"] for answer in first)})]
        return f"wrote {second[0].data['value']}"

    batches, text = conversation(work, lambda tool, arguments: {"success": True, "value": arguments.get("n", 7)})
    assert batches == [[("look", {"n": 1}), ("look", {"n": 2})], [("write", {"sum": 3})]]
    assert text == "wrote 7"


def test_skills_are_loaded_first_and_their_text_is_known():
    def work(situation):
        yield [Call("write", {"known": list(situation.texts)})]
        return "done"

    batches, _ = conversation(work, lambda tool, arguments: {"success": True}, skill="Be kind.")
    assert batches == [[("skill_load", {"name": "cookbook"})], [("write", {"known": ["Be kind."]})]]


def test_a_lost_answer_counts_as_a_failed_call():
    def work(situation):
        (answer,) = yield [Call("look", {})]
        return answer.code

    call = {"id": "x", "type": "function", "function": {"name": "look", "arguments": "{}"}}
    messages = [{"role": "user", "content": PROMPT}, {"role": "assistant", "content": "", "tool_calls": [call]}]
    assert next_reply(work, messages, TOOLS, 1).text == "FAILED"


class Flaky:
    """A tool that fails some arguments for a number of times."""

    def __init__(self, code, times, bad=(2,), **more):
        self.failure = {"success": False, "code": code, **more}
        self.left = dict.fromkeys(bad, times)

    def __call__(self, tool, arguments):
        number = arguments.get("n")
        if self.left.get(number, 0) > 0:
            self.left[number] -= 1
            return self.failure
        return {"success": True}


def looking(situation):
    caller = Caller(situation, Switches(PRACTICES, situation), Call("spare", {}))
    answers = yield from caller.fetch([Call("look", {"n": n}) for n in (1, 2, 3)])
    return " ".join(answer.code or "ok" for answer in answers)


def numbers(batches):
    return [[arguments.get("n") for _, arguments in batch] for batch in batches if batch[0][0] != "skill_load"]


def test_with_the_rule_only_the_failed_item_is_repeated():
    batches, text = conversation(looking, Flaky("TIMEOUT", 2), skill="Repeat just the failed item.")
    assert numbers(batches) == [[1, 2, 3], [2], [2]]
    assert text == "ok ok ok"


def test_with_the_opposite_rule_the_whole_batch_is_repeated():
    batches, _ = conversation(looking, Flaky("TIMEOUT", 1), skill="If a call fails, rerun the whole batch.")
    assert numbers(batches) == [[1, 2, 3], [1, 2, 3]]


def test_a_time_out_that_stays_is_given_up():
    batches, text = conversation(looking, Flaky("TIMEOUT", 99), skill="Repeat just the failed item.")
    assert numbers(batches) == [[1, 2, 3], [2], [2], [2]]
    assert text == "ok TIMEOUT ok"


def test_with_the_rule_other_calls_come_before_a_refused_one():
    limit = Flaky("RATE_LIMITED", 1, bad=(3,), retry_after_calls=2)
    batches, text = conversation(looking, limit, skill="When throttled go on with other items.")
    assert numbers(batches) == [[1, 2, 3], [None, None, 3]]
    assert text == "ok ok ok"


def test_calls_of_the_same_turn_count_as_other_work():
    limit = Flaky("RATE_LIMITED", 1, bad=(1,), retry_after_calls=2)
    batches, _ = conversation(looking, limit, skill="When throttled go on with other items.")
    assert numbers(batches) == [[1, 2, 3], [1]]


def test_with_the_opposite_rule_a_refused_call_is_hammered():
    limit = Flaky("RATE_LIMITED", 9, bad=(3,), retry_after_calls=2)
    # Seed 2 is one of the nine in ten that obey.
    batches, text = conversation(looking, limit, skill="When throttled, repeat the call immediately.", seed=2)
    assert numbers(batches) == [[1, 2, 3], [3], [3]]
    assert text == "ok ok RATE_LIMITED"


def test_with_the_rule_a_gap_is_not_asked_for_again():
    batches, _ = conversation(looking, Flaky("NO_DATA", 9), skill="NO_DATA is final.")
    assert numbers(batches) == [[1, 2, 3]]


def test_lapses_are_drawn_by_seed_task_and_practice():
    def lapses(seed, prompt="p"):
        switches = Switches(PRACTICES, Situation(prompt, prompt, frozenset(), seed))
        return [switches.lapse(practice) for practice in PRACTICES]

    assert lapses(1) == lapses(1)
    assert len({tuple(lapses(seed)) for seed in range(50)}) > 3
    assert len({tuple(lapses(1, f"task {n}")) for n in range(50)}) > 3
    share = sum(bool(lapses(seed)[0]) for seed in range(2000)) / 2000
    assert abs(share - RETRY.p0) < 0.04

"""An agent as a program that is run again over the answers found in the conversation.

A program is a generator: it yields a batch of tool calls and is sent their answers. To find the next assistant turn,
the program starts afresh, is fed the batches that the conversation already holds, and the first batch that the
conversation does not answer is the reply. The state of the agent is thus the conversation and nothing else.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Generator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Final, TypeAlias

from ...core.canonical import digest, no_constant
from ...core.draws import draw
from ...core.protocols import Reply, ToolCall
from ...core.records import NO_USAGE, Message
from .attention import VERSION, distraction, lapse_probability
from .loading import LOAD_TOOL, content_of, read_index, skills_to_load
from .practices import Practice, Stance, read_statements, stance
from .words import Terms


@dataclass(frozen=True, slots=True)
class Call:
    """One tool call of a program."""

    tool: str
    arguments: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Answer:
    """The answer of one tool call: its JSON object, {} if it is none."""

    data: Mapping[str, Any]

    @property
    def ok(self) -> bool:
        """Whether the call succeeded."""
        return self.data.get("success") is True

    @property
    def code(self) -> str:
        """The error code of a failed call, "" otherwise."""
        return "" if self.ok else str(self.data.get("code") or "FAILED")


Program: TypeAlias = Generator[Sequence[Call], Sequence[Answer], str]

_LOST: Final = Answer({"success": False, "error": "no answer", "code": "FAILED"})


@dataclass(frozen=True, slots=True)
class Situation:
    """What an agent knows when it starts to work: the task, its tools, the seed and what the loaded skills say."""

    prompt: str
    prompt_digest: str
    tools: frozenset[str]
    seed: int
    texts: tuple[str, ...] = ()

    def draw(self, *purpose: str | int) -> float:
        """A number in [0, 1) for a purpose; the same for every arm that runs this task with this seed."""
        return draw(VERSION, self.seed, self.prompt_digest, *purpose)


@lru_cache(maxsize=512)
def _stances(
    texts: tuple[str, ...], practices: tuple[Practice, ...], prompt: str, terms: Terms
) -> tuple[dict[str, tuple[Stance, str]], float]:
    """What the texts say of each practice for this task, and how much they distract. The result is only read."""
    statements = [statement for text in texts for statement in read_statements(text, practices, terms)]
    held = {practice.name: stance(statements, practice, prompt) for practice in practices}
    torn = sum(found is Stance.TORN for found, _ in held.values())
    return held, distraction(texts, torn)


class Switches:
    """The practices of one run: which of them lapse, and how."""

    def __init__(self, practices: tuple[Practice, ...], situation: Situation, terms: Terms = ()) -> None:
        self._situation = situation
        self._held, self._extra = _stances(situation.texts, practices, situation.prompt, terms)
        self._drawn: dict[tuple[str, bool], str] = {}
        #: Set by the behaviour once it has read the family's reference file.
        self.documented = False

    def lapse(self, practice: Practice) -> str:
        """The kind of lapse of this run, "" if the practice is kept."""
        key = practice.name, self.documented
        if key not in self._drawn:
            self._drawn[key] = self._draw(practice)
        return self._drawn[key]

    def _draw(self, practice: Practice) -> str:
        held, asked = self._held[practice.name]
        probability = lapse_probability(practice, held, self._extra, documented=self.documented)
        if self._situation.draw("lapse", practice.name) >= probability:
            return ""
        if held in (Stance.CONTRARY, Stance.TORN):
            return asked
        at = self._situation.draw("kind", practice.name) * sum(practice.lapses.values())
        kinds = list(practice.lapses)
        while len(kinds) > 1 and at >= practice.lapses[kinds[0]]:
            at -= practice.lapses[kinds.pop(0)]
        return kinds[0]


@lru_cache(maxsize=1024)
def _parsed(text: str) -> Answer:
    """The answer in a tool message. Programs only read it, so that one object can serve every turn."""
    try:
        data = json.loads(text, parse_constant=no_constant)
    except (ValueError, RecursionError):
        return _LOST
    return Answer(data) if isinstance(data, dict) else _LOST


_digest = lru_cache(maxsize=256)(digest)


def first_prompt(messages: Sequence[Message]) -> str:
    """The first user message, which is the task."""
    return next((str(m.get("content") or "") for m in messages if m.get("role") == "user"), "")


def tool_names(tools: Sequence[Mapping[str, Any]]) -> frozenset[str]:
    """The names in OpenAI tool schemas."""
    return frozenset(str(tool.get("function", {}).get("name", "")) for tool in tools)


def _turns(messages: Sequence[Message]) -> list[list[Answer]]:
    """For each assistant turn with tool calls, the answers in the order of the calls."""
    answers = {m["tool_call_id"]: m for m in messages if m.get("role") == "tool" and "tool_call_id" in m}
    turns = []
    for message in messages:
        if message.get("role") == "assistant" and message.get("tool_calls"):
            found = (answers.get(call.get("id")) for call in message["tool_calls"])
            turns.append([_LOST if m is None else _parsed(str(m.get("content") or "")) for m in found])
    return turns


def next_reply(
    work: Callable[[Situation], Program],
    messages: Sequence[Message],
    tools: Sequence[Mapping[str, Any]],
    seed: int,
) -> Reply:
    """The next assistant turn of an agent that loads skills and then works."""
    prompt = first_prompt(messages)
    names = tool_names(tools)
    situation = Situation(prompt, _digest(prompt), names - {LOAD_TOOL}, seed)
    index = read_index(messages) if LOAD_TOOL in names else ()
    loads = skills_to_load(index, prompt, situation.prompt_digest, seed)
    turns = _turns(messages)
    program = _with_skills(work, situation, loads)
    try:
        batch = next(program)
        for answers in turns:
            missing = len(batch) - len(answers)
            batch = program.send([*answers[: len(batch)], *[_LOST] * missing])
    except StopIteration as end:
        return Reply(str(end.value), (), "stop", NO_USAGE)
    calls = tuple(
        ToolCall(f"call_{len(turns)}_{place}", call.tool, json.dumps(call.arguments, ensure_ascii=False))
        for place, call in enumerate(batch)
    )
    return Reply("", calls, "tool_calls", NO_USAGE)


def _with_skills(work: Callable[[Situation], Program], situation: Situation, loads: Sequence[str]) -> Program:
    texts: tuple[str, ...] = ()
    if loads:
        answers = yield [Call(LOAD_TOOL, {"name": name}) for name in loads]
        texts = tuple(text for answer in answers if (text := content_of(answer.data)))
    started = Situation(situation.prompt, situation.prompt_digest, situation.tools, situation.seed, texts)
    return (yield from work(started))

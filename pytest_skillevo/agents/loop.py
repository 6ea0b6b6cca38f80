"""The built-in agent: a plain tool loop around a chat model, with limits that always hold."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from ..core.canonical import no_constant
from ..core.errors import ConfigError, TaskError
from ..core.protocols import ChatModel, Reply, Tool, ToolCall
from ..core.records import NO_USAGE, AgentRun, Message, Usage
from ..core.skill import Skill
from ..models.tokens import message_bytes, reply_bytes, request_bytes, tokens_of
from .disclosure import VIEW_TOOL, SkillLoad, index_section
from .manage import GUIDANCE, SkillDesk, SkillManage

_PERSONA: Final = """\
You are an agent that completes tasks with the given tools.

- Work until the task is done. Several tool calls in one turn are allowed.
- Read every tool answer; a failed call says why it failed.
- If the task names a closing tool, call it last. Otherwise answer in plain text when you are done."""

_CUT_OFF: Final = "Your last message was cut off at the length limit. Go on in smaller steps."


class LoopAgent:
    """Runs a model in a loop: the reply's tool calls are answered until it answers in text or calls a final tool.

    `max_turns` bounds the model calls of one run, `max_tokens` their cumulative input and output tokens: a call whose
    request alone would pass the limit is not made. Tokens that the model does not report are estimated from the text
    for this purpose only. `temperature` None leaves the model's default. With a `desk` the agent may look after its
    skills by the tool skill_manage.
    """

    def __init__(
        self,
        model: ChatModel,
        *,
        max_turns: int = 40,
        max_tokens: int | None = 1_000_000,
        temperature: float | None = None,
        desk: SkillDesk | None = None,
    ) -> None:
        if max_turns < 1:
            raise ConfigError(f"max_turns must be at least 1, not {max_turns!r}")
        if max_tokens is not None and max_tokens < 1:
            raise ConfigError(f"max_tokens must be at least 1, not {max_tokens!r}")
        self.model = model
        self.max_turns = max_turns
        self.max_tokens = max_tokens
        self.temperature = temperature
        self.desk = desk

    def run(self, prompt: str, *, tools: Sequence[Tool] = (), skills: Sequence[Skill] = (), seed: int = 0) -> AgentRun:
        """Solve one prompt. A skill that does not exist yet is not offered.

        Raises ConfigError for tools or skills of the same name, InfrastructureError when the model cannot answer.
        """
        offered = [skill for skill in skills if skill.exists]
        loader = SkillLoad(offered)
        own: list[Tool] = [loader] if offered else []
        if self.desk is not None:
            own.append(SkillManage(self.desk, {skill.name: skill for skill in offered}, loader.loaded))
        by_name = _named([*own, *tools])
        if offered:
            by_name.setdefault(VIEW_TOOL, loader)
        run = _Run(self, by_name, seed)
        guidance = "" if self.desk is None else GUIDANCE
        system = "\n\n".join(part for part in (_PERSONA, index_section(offered), guidance) if part)
        run.messages = [{"role": "system", "content": system}, {"role": "user", "content": prompt}]
        stop_reason = run.to_the_end()
        return AgentRun(
            answer=run.answer,
            messages=tuple(run.messages),
            tools=tools,
            usage=run.usage,
            turns=run.turns,
            stop_reason=stop_reason,
            skills_offered=tuple(skill.name for skill in offered),
            skills_loaded=tuple(loader.loaded),
            skills_viewed=tuple(loader.viewed),
        )


@dataclass(slots=True)
class _Run:
    """The state of one run."""

    agent: LoopAgent
    tools: Mapping[str, Tool]
    seed: int
    messages: list[Message] = field(default_factory=list)
    usage: Usage = NO_USAGE
    #: Tokens counted against the limit; where the model reports none, estimated.
    spent: int = 0
    turns: int = 0
    answer: str = ""
    #: UTF-8 bytes of the tool schemas and of the messages counted so far.
    _bytes: int = 0
    _counted: int = 0

    def to_the_end(self) -> str:
        """Take turns until something stops the run; returns the stop reason."""
        # A tool that answers to a second name is shown under its own.
        schemas = [_schema(tool) for name, tool in self.tools.items() if name == tool.name]
        self._bytes = request_bytes((), schemas)
        was_cut_off = False
        while self.turns < self.agent.max_turns:
            limit = self.agent.max_tokens
            if limit is not None and self.spent + self._request_tokens() > limit:
                return "token_limit"
            try:
                reply = self._turn(schemas)
            except TaskError:
                return "context_limit"
            if reply.tool_calls:
                if self._answer_calls(reply.tool_calls):
                    return "finished"
            elif reply.finish_reason == "length" and not was_cut_off:
                # Half an answer is none; the model gets one chance to say it in fewer words.
                self.messages.append({"role": "user", "content": _CUT_OFF})
                was_cut_off = True
                continue
            else:
                return "answered" if reply.text.strip() else "empty_reply"
            was_cut_off = False
        return "turn_limit"

    def _request_tokens(self) -> int:
        """Estimated tokens of the next request. Messages are only ever added, so each is counted once."""
        self._bytes += sum(map(message_bytes, self.messages[self._counted :]))
        self._counted = len(self.messages)
        return tokens_of(self._bytes)

    def _turn(self, schemas: Sequence[Mapping[str, Any]]) -> Reply:
        agent = self.agent
        estimate = self._request_tokens()
        reply = agent.model.complete(self.messages, schemas, seed=self.seed, temperature=agent.temperature)
        self.turns += 1
        self.usage += reply.usage
        measured = reply.usage.tokens
        self.spent += estimate + tokens_of(reply_bytes(reply)) if measured is None else measured
        message: Message = {"role": "assistant", "content": reply.text}
        if reply.tool_calls:
            message["tool_calls"] = [
                {"id": call.id, "type": "function", "function": {"name": call.name, "arguments": call.arguments}}
                for call in reply.tool_calls
            ]
        self.messages.append(message)
        if reply.text.strip():
            self.answer = reply.text
        return reply

    def _answer_calls(self, calls: Sequence[ToolCall]) -> bool:
        """Answer every call of a turn; returns whether a final tool ended the run."""
        ended = False
        for call in calls:
            content = _failed("UNAVAILABLE", "The task is closed.") if ended else self._call(call)
            self.messages.append({"role": "tool", "tool_call_id": call.id, "name": call.name, "content": content})
            tool = self.tools.get(call.name)
            ended = ended or (tool is not None and tool.final and not _is_failure(content))
        return ended

    def _call(self, call: ToolCall) -> str:
        tool = self.tools.get(call.name)
        if tool is None:
            return _failed("UNAVAILABLE", f"There is no tool {call.name!r}. Tools: {', '.join(self.tools) or 'none'}.")
        try:
            arguments = json.loads(call.arguments or "{}", parse_constant=no_constant)
        except (ValueError, RecursionError):
            return _failed("BAD_ARGUMENTS", "The arguments are not valid JSON. Send one complete JSON object.")
        if not isinstance(arguments, dict):
            return _failed("BAD_ARGUMENTS", "The arguments must be a JSON object.")
        return tool(arguments)


def _named(tools: Sequence[Tool]) -> dict[str, Tool]:
    named: dict[str, Tool] = {}
    for tool in tools:
        if tool.name in named:
            raise ConfigError(f"two tools of one run are both called {tool.name!r}")
        named[tool.name] = tool
    return named


def _schema(tool: Tool) -> dict[str, Any]:
    function = {"name": tool.name, "description": tool.description, "parameters": dict(tool.parameters)}
    return {"type": "function", "function": function}


def _is_failure(content: str) -> bool:
    """Whether a tool answer is JSON that says it failed; plain text counts as success."""
    try:
        data = json.loads(content)
    except (ValueError, RecursionError):
        return False
    return isinstance(data, dict) and data.get("success") is False


def _failed(code: str, sentence: str) -> str:
    return json.dumps({"success": False, "error": sentence, "code": code}, ensure_ascii=False)

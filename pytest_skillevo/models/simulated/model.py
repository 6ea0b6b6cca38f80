"""The simulated chat model: recognises what a conversation is and answers, a pure function of what it was sent."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from typing import Any

from ...core.errors import ConfigError, SkillevoError
from ...core.frames import author_line
from ...core.protocols import Behaviour, Reply, ToolCall
from ...core.records import Message
from ..tokens import estimated_usage
from . import judge, reflection, reviewer
from .edits import EditMix
from .solver import first_prompt


class SimulatedModel:
    """Plays the task agent through registered behaviours, the reflection model, the Reviewer and the judge.

    A reply depends on the version of this model, the messages, the tools, the seed and `max_tokens`; `temperature` is
    accepted and changes nothing. `mix` gives the shares of good and bad edits, for experiments with a known truth.
    """

    name = "simulated"
    kind = "simulated"
    priced = True

    def __init__(self, behaviours: Sequence[Behaviour] = (), *, mix: EditMix | None = None) -> None:
        self._behaviours = tuple(behaviours)
        self._mix = mix or EditMix()
        #: The words of all families at hand, by which the reflection model and the Reviewer read a skill.
        self._terms = tuple(term for behaviour in behaviours for term in getattr(behaviour, "terms", ()))

    def complete(
        self,
        messages: Sequence[Message],
        tools: Sequence[Mapping[str, Any]] = (),
        *,
        seed: int,
        temperature: float | None = None,
        max_tokens: int | None = None,
        response_schema: Mapping[str, Any] | None = None,
    ) -> Reply:
        """Answer. Raises ConfigError for a conversation that nobody here recognises."""
        reply = self._answer(messages, tools, seed)
        if max_tokens is not None:
            reply = _cut(reply, 4 * max_tokens)
        return dataclasses.replace(reply, usage=estimated_usage(messages, tools, reply))

    def _answer(self, messages: Sequence[Message], tools: Sequence[Mapping[str, Any]], seed: int) -> Reply:
        for behaviour in self._behaviours:
            try:
                if behaviour.recognises(messages, tools):
                    return behaviour.reply(messages, tools, seed=seed)
            except SkillevoError:
                raise
            except Exception as error:
                raise ConfigError(
                    f"the behaviour of the family {behaviour.name} raised {type(error).__name__}: {error}"
                    f" (turn {1 + sum(m.get('role') == 'assistant' for m in messages)}, seed {seed})"
                    f"{author_line(error)}"
                ) from None
        if reflection.recognises(messages):
            return reflection.reply(messages, seed=seed, mix=self._mix, terms=self._terms)
        if reviewer.recognises(messages):
            return reviewer.reply(messages, seed=seed, mix=self._mix, terms=self._terms)
        if judge.recognises(messages):
            return judge.reply(messages, seed=seed)
        raise ConfigError(self._refusal(messages))

    def _refusal(self, messages: Sequence[Message]) -> str:
        prompt = first_prompt(messages)
        begin = " ".join(prompt.split())[:80]
        known = ", ".join(behaviour.name for behaviour in self._behaviours) or "none"
        return (
            f"the simulated model does not know this kind of task: {begin!r}. It can do the task families that bring a "
            f"behaviour (here: {known}), reflect, review and judge; for other tasks choose a real model"
        )


def _cut(reply: Reply, limit: int) -> Reply:
    """A reply cut off at so many UTF-8 bytes, text first, then tool calls; the last call's arguments may break."""
    text = _head(reply.text, limit)
    left = limit - len(text.encode("utf-8", "surrogatepass"))
    cut = text != reply.text
    calls: list[ToolCall] = []
    for call in reply.tool_calls:
        arguments = _head(call.arguments, left - len(call.name))
        if cut or left <= len(call.name):
            cut = True
            break
        calls.append(dataclasses.replace(call, arguments=arguments))
        cut = arguments != call.arguments
        left -= len(call.name) + len(arguments.encode("utf-8", "surrogatepass"))
    if not cut:
        return reply
    return Reply(text, tuple(calls), "length", reply.usage)


def _head(text: str, limit: int) -> str:
    raw = text.encode("utf-8", "surrogatepass")
    return text if len(raw) <= limit else raw[: max(0, limit)].decode("utf-8", "ignore")

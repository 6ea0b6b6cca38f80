"""The protocols that several layers speak: chat models, tools, agents, behaviours of the simulated model."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol, runtime_checkable

from .records import AgentRun, Message, Usage
from .skill import Skill


@dataclass(frozen=True, slots=True)
class ToolCall:
    """A tool call that a model asks for; `arguments` is the JSON text as the model wrote it, perhaps broken."""

    id: str
    name: str
    arguments: str


@dataclass(frozen=True, slots=True)
class Reply:
    """One answer of a chat model. `finish_reason`: "stop", "tool_calls", "length" or "content_filter"."""

    text: str
    tool_calls: tuple[ToolCall, ...]
    finish_reason: str
    usage: Usage


@runtime_checkable
class ChatModel(Protocol):
    """A chat model: OpenAI-style messages and tool schemas in, one reply out.

    Raises InfrastructureError when the provider cannot answer, ConfigError when the request is wrong, TaskError when
    the conversation is too long for the model.
    """

    @property
    def name(self) -> str:
        """The name that the user chose, such as "simulated"."""

    @property
    def kind(self) -> str:
        """Where answers come from: "simulated", "live" or "cassette"."""

    @property
    def priced(self) -> bool:
        """Whether every reply's usage carries usd, so that a money cap can hold."""

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
        """Answer. `tools` are OpenAI function schemas; `response_schema` is a JSON schema for the reply's text."""


class Tool(Protocol):
    """A tool that an agent may call."""

    @property
    def name(self) -> str:
        """Name shown to the model."""

    @property
    def description(self) -> str:
        """One or two sentences shown to the model."""

    @property
    def parameters(self) -> Mapping[str, Any]:
        """JSON schema of the arguments object."""

    @property
    def final(self) -> bool:
        """Whether a call of this tool ends the run (such as claim_done)."""

    def __call__(self, arguments: Mapping[str, Any]) -> str:
        """Run with JSON arguments and return the text for the model; a failed call is text, not an exception."""


class Agent(Protocol):
    """Anything that solves a prompt with tools and skills."""

    def run(self, prompt: str, *, tools: Sequence[Tool] = (), skills: Sequence[Skill] = (), seed: int = 0) -> AgentRun:
        """Run to the end. Raises InfrastructureError when the model cannot be reached."""


class Behaviour(Protocol):
    """How the simulated model acts as an agent for one kind of task.

    A behaviour sees only what a chat model sees: messages, tool schemas and the seed. It may have `terms`, the words of
    its family by which skills are read (models/simulated/words.py).
    """

    @property
    def name(self) -> str:
        """Name for messages, such as "recipe"."""

    def recognises(self, messages: Sequence[Message], tools: Sequence[Mapping[str, Any]]) -> bool:
        """Whether this conversation is of the kind that the behaviour can solve."""

    def reply(self, messages: Sequence[Message], tools: Sequence[Mapping[str, Any]], *, seed: int) -> Reply:
        """The next assistant turn, a pure function of the arguments (usage is filled in by the model)."""

"""A chat model that records, or gives again what was recorded."""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from ...core.errors import ConfigError, TaskError
from ...core.protocols import ChatModel, Reply, ToolCall
from ...core.records import Message, Usage
from .library import Cassettes, Mode, request_key
from .tape import Exchange


@dataclass(frozen=True, slots=True)
class Scene:
    """In whose name a model is asked: case (or role of the experiment), digest of the skill on trial, and repeat."""

    case: str
    skill: Callable[[], str] = lambda: ""
    repeat: int = 0


class CassetteModel:
    """The model `name` of one role, played from cassettes and, where the mode allows it, asked for real.

    `ask` makes the real model; it is called when the first answer is needed that is not recorded. `kind` is "live" as
    soon as the real model is asked. Raises ConfigError in replay when nothing of this model is recorded.
    """

    def __init__(self, name: str, role: str, cassettes: Cassettes, ask: Callable[[], ChatModel]) -> None:
        self.name = name
        self._role = role
        self._cassettes = cassettes
        self._ask = ask
        self._real: ChatModel | None = None
        self._guard = threading.Lock()
        if cassettes.mode is Mode.RECORD:
            self._about = self._remembered(self.real)
            return
        known = cassettes.known_models()
        if name in known:
            self._about = known[name]
        elif cassettes.mode is Mode.REPLAY:
            others = f"; recorded are {', '.join(sorted(known))}" if known else ""
            raise ConfigError(
                f"no answers of it are recorded in {cassettes.folder}{others}. Record them: --evolve-cassettes=record"
            )
        else:
            self._about = self._remembered(self.real)

    @property
    def real(self) -> ChatModel:
        """The real model."""
        with self._guard:
            if self._real is None:
                self._real = self._ask()
            return self._real

    def _remembered(self, model: ChatModel) -> dict[str, Any]:
        facts = getattr(model, "facts", None) or {"price": None, "api_base": None}
        about = {"priced": model.priced, "facts": facts}
        self._cassettes.remember_model(self.name, about)
        return about

    @property
    def kind(self) -> str:
        """ "cassette" as long as every answer was a recorded one."""
        return "cassette" if self._real is None else self._real.kind

    @property
    def priced(self) -> bool:
        """Whether the model had a price when it was recorded."""
        return bool(self._about["priced"])

    @property
    def facts(self) -> Mapping[str, Any]:
        """Price and endpoint of the recording."""
        facts: Mapping[str, Any] = self._about["facts"]
        return facts

    @property
    def notes(self) -> tuple[str, ...]:
        """Notes of the real model, if it was asked."""
        return tuple(getattr(self._real, "notes", ()))

    def at(self, scene: Scene) -> Take:
        """The model for one rollout."""
        return Take(self, self._cassettes, scene)

    def complete(self, messages: Sequence[Message], tools: Sequence[Mapping[str, Any]] = (), **settings: Any) -> Reply:
        """Answer in the name of the role; see core.protocols.ChatModel."""
        return self.at(Scene(self._role)).complete(messages, tools, **settings)


class Take:
    """A cassette model for one rollout: it numbers requests that are made more than once."""

    def __init__(self, model: CassetteModel, cassettes: Cassettes, scene: Scene) -> None:
        self._model = model
        self._cassettes = cassettes
        self._scene = scene
        self._counts: dict[str, int] = {}

    @property
    def name(self) -> str:
        """Name of the model."""
        return self._model.name

    @property
    def kind(self) -> str:
        """Kind of the model."""
        return self._model.kind

    @property
    def priced(self) -> bool:
        """Whether the model has a price."""
        return self._model.priced

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
        """Answer from the cassette of the case, or ask and record. Raises CassetteMiss in replay."""
        parameters: dict[str, Any] = {
            "seed": seed,
            "temperature": temperature,
            "max_tokens": max_tokens,
            "response_schema": response_schema,
        }
        wanted = self._wanted(messages, tools, {name: value for name, value in parameters.items() if value is not None})
        reply = self._cassettes.recorded_reply(self._scene.case, wanted)
        if reply is None:
            reply = self._cassettes.plain(self._asked(messages, tools, parameters))
            self._cassettes.keep(self._scene.case, replace(wanted, reply=reply))
        self._counts[wanted.key] = wanted.nth + 1
        # What is told is what is kept, or a replay would go another way.
        return _told(reply)

    def _wanted(self, messages: Sequence[Message], tools: Sequence[Any], parameters: Mapping[str, Any]) -> Exchange:
        request = self._cassettes.plain(
            {"messages": list(messages), "tools": list(tools), "parameters": dict(parameters)}
        )
        skill, repeat = self._scene.skill(), self._scene.repeat
        key = request_key(self.name, request, skill, repeat)
        return Exchange(
            key,
            self._counts.get(key, 0),
            self.name,
            skill,
            repeat,
            request["parameters"],
            request["messages"],
            request["tools"],
            {},
        )

    def _asked(
        self, messages: Sequence[Message], tools: Sequence[Any], parameters: Mapping[str, Any]
    ) -> dict[str, Any]:
        """The real model's answer as JSON. That it cannot go on with the task is an answer as well."""
        try:
            reply = self._model.real.complete(messages, tools, **parameters)
        except TaskError as error:
            return {"cannot": str(error)}
        calls = [{"id": call.id, "name": call.name, "arguments": call.arguments} for call in reply.tool_calls]
        return {
            "text": reply.text,
            **({"tool_calls": calls} if calls else {}),
            "finish_reason": reply.finish_reason,
            "usage": reply.usage.to_json(),
        }


def _told(reply: Mapping[str, Any]) -> Reply:
    if "cannot" in reply:
        raise TaskError(reply["cannot"])
    calls = tuple(ToolCall(call["id"], call["name"], call["arguments"]) for call in reply.get("tool_calls", ()))
    return Reply(reply["text"], calls, reply["finish_reason"], Usage.from_json(reply["usage"]))

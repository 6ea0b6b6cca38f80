"""A client with the shape of OpenAI's as a ChatModel: what a team already talks to its provider with."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from typing import Any, Final

from ...core.errors import ConfigError
from ...core.gates.redaction import redactor, secret_values
from ...core.protocols import Reply
from ...core.records import Message
from ..prices import Price
from .failures import Kind, failure_of
from .replies import reply_of
from .requests import FILTERED, error_of, request_of

#: Optional parameters that a provider may refuse one after the other.
_MOST_REFUSALS: Final = 3


class ClientModel:
    """Asks `client.chat.completions.create(model=..., messages=..., ...)`. Retries and time limits are the client's.

    `price` makes every reply carry its cost; without it the cost is unknown. The client may be used from many threads
    if it allows that.
    """

    kind = "live"

    def __init__(self, client: Any, model: str, *, price: Price | None = None) -> None:
        create = getattr(getattr(getattr(client, "chat", None), "completions", None), "create", None)
        if not callable(create):
            raise ConfigError("ClientModel takes a client with chat.completions.create, as OpenAI's has")
        self.name = model
        self._create = create
        self._price = price
        #: Parameters that the provider does not take.
        self._left_out: set[str] = set()

    @property
    def priced(self) -> bool:
        """Whether the price of its tokens is known."""
        return self._price is not None

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
        """Answer; see core.protocols.ChatModel. Raises TaskError when the conversation is too long."""
        request = request_of(messages, tools, seed, temperature, max_tokens, response_schema)
        for attempt in range(1, _MOST_REFUSALS + 2):
            given = {name: value for name, value in request.items() if name not in self._left_out}
            try:
                answer = self._create(model=self.name, **given)
                return reply_of(answer, getattr(answer, "usage", None), self._price)
            except Exception as error:
                failure = failure_of(error)
            if failure.parameter is not None and failure.parameter in given and attempt <= _MOST_REFUSALS:
                self._left_out.add(failure.parameter)
            elif failure.kind is Kind.FILTERED:
                return FILTERED
            else:
                break
        raise error_of(self.name, failure, attempt, redactor(secret_values(os.environ)))

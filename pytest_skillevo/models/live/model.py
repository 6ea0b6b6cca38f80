"""A real model behind the ChatModel protocol: deadlines, retries, prices, and errors that say what they mean."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from ...core.errors import ConfigError
from ...core.protocols import Reply
from ...core.records import Message
from ..prices import Price, bundled_price
from . import background
from .call import Call, CallFailed
from .failures import OPTIONAL, Kind
from .library import litellm, missing_keys, require_provider
from .requests import FILTERED, error_of, request_of
from .settings import LiveSettings


class LiveModel:
    """A model that LiteLLM calls, such as "openai/gpt-4o". May be used from many threads at once.

    `redact` takes secrets out of what errors say. Nothing is imported before `require` or the first call.
    """

    kind = "live"

    def __init__(
        self, name: str, settings: LiveSettings | None = None, redact: Callable[[str], str] = lambda text: text
    ) -> None:
        self.name = name
        self.settings = settings or LiveSettings()
        self.price = self._price()
        self._redact = redact
        self._required = False
        self._needs_key = False
        #: Optional parameters that are left out, and why.
        self._left_out: dict[str, str] = {}

    def _price(self) -> Price | None:
        own = self.settings.prices.get(self.name)
        # Behind an address of one's own, a well-known name says nothing about the price.
        return own if own is not None or self.settings.api_base is not None else bundled_price(self.name)

    @property
    def priced(self) -> bool:
        """Whether the price of its tokens is known."""
        return self.price is not None

    @property
    def facts(self) -> dict[str, Any]:
        """What decides its answers and their cost beside its name, as JSON, for the record of a run."""
        return {
            "price": None if self.price is None else self.price.to_json(),
            "api_base": self.settings.api_base and self._redact(self.settings.api_base),
        }

    @property
    def notes(self) -> tuple[str, ...]:
        """What the user should know of the calls so far, in sentences."""
        return tuple(f"{self.name} takes no {name}: it was left out ({why})" for name, why in self._left_out.items())

    def require(self) -> None:
        """Raise ConfigError unless the model can be asked: LiteLLM, a provider and its keys."""
        if self._required:
            return
        provider = require_provider(self.name)
        missing = missing_keys(self.name, self.settings.api_base)
        if missing and self.settings.api_base is None:
            raise ConfigError(
                f"model {self.name!r} needs {' and '.join(missing)} in the environment (files such as .env are not "
                "read). Recorded answers need no key: --evolve-cassettes=replay"
            )
        self._needs_key = bool(missing)
        supported = litellm().get_supported_openai_params(self.name) or ()
        for name in OPTIONAL:
            if name not in supported:
                self._left_out[name] = f"LiteLLM knows of none for {provider}"
        self._required = True

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
        """Answer. Raises InfrastructureError after the last attempt, TaskError when the conversation is too long."""
        self.require()
        request = request_of(messages, tools, seed, temperature, max_tokens, response_schema)
        call = Call(self.name, request, self.settings, self._left_out, self.price, self._needs_key)
        try:
            return background.run(call.answer())
        except CallFailed as error:
            failed = error
        if failed.failure.kind is Kind.FILTERED:
            return FILTERED
        raise error_of(self.name, failed.failure, failed.attempts, self._redact)

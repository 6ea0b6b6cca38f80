"""One call of a real model: its attempts, the waits between them, and the time that it may take."""

from __future__ import annotations

import asyncio
import random
import time
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Final

from ...core.protocols import Reply
from ..prices import Price
from .failures import Failure, Kind, failure_of
from .library import litellm
from .replies import gathered, reply_of
from .settings import LiveSettings

if TYPE_CHECKING:
    from tenacity import RetryCallState

#: Sent where a server of one's own wants a key to be there, whatever it is.
_NO_KEY: Final = "no-key-needed"


class CallFailed(Exception):
    """The call failed for good."""

    def __init__(self, failure: Failure, attempts: int) -> None:
        super().__init__(failure.text)
        self.failure = failure
        self.attempts = attempts


class Call:
    """One call. `left_out` has the parameters that the model does not take, with the reason; more may be found out."""

    def __init__(
        self,
        model: str,
        request: Mapping[str, Any],
        settings: LiveSettings,
        left_out: dict[str, str],
        price: Price | None,
        needs_key: bool,
    ) -> None:
        self._model = model
        self._request = request
        self._settings = settings
        self._left_out = left_out
        self._price = price
        self._needs_key = needs_key
        #: Names of what the last attempt has sent.
        self._sent: set[str] = set()
        self._end = 0.0

    async def answer(self) -> Reply:
        """The model's answer. Raises CallFailed."""
        from tenacity import AsyncRetrying, retry_if_exception, stop_after_attempt

        self._end = time.monotonic() + self._settings.call_seconds
        attempts = AsyncRetrying(
            retry=retry_if_exception(self._is_worth_another),
            wait=self._wait,
            stop=stop_after_attempt(self._settings.attempts),
            reraise=True,
        )
        try:
            reply: Reply = await attempts(self._attempt)
        except Exception as error:
            raise CallFailed(self._failure(error), attempts.statistics["attempt_number"]) from error
        return reply

    async def _attempt(self) -> Reply:
        """One request over the network, cancelled when its time is over."""
        library, stream = litellm(), self._settings.stream
        given = {name: value for name, value in self._request.items() if name not in self._left_out}
        self._sent = set(given)
        if stream:
            given |= {"stream": True, "stream_options": {"include_usage": True}}
        if self._settings.api_base is not None:
            given["api_base"] = self._settings.api_base
            if self._needs_key:
                given["api_key"] = _NO_KEY
        seconds = max(0.01, min(self._settings.attempt_seconds, self._end - time.monotonic()))
        # A time-out of the connection starts anew with every byte that comes; this one does not.
        async with asyncio.timeout(seconds):
            # Retries are counted once, here.
            answer = await library.acompletion(
                model=self._model, timeout=seconds, num_retries=0, max_retries=0, **given
            )
            response, reported = await gathered(answer, library) if stream else (answer, getattr(answer, "usage", None))
            return reply_of(response, reported, self._price)

    def _is_worth_another(self, error: BaseException) -> bool:
        failure = self._failure(error)
        if failure.parameter in self._sent:
            self._left_out.setdefault(failure.parameter, failure.text)
            return True
        return failure.kind is Kind.PASSING and time.monotonic() + (failure.wait or 0) < self._end

    def _wait(self, state: RetryCallState) -> float:
        """Seconds until the next attempt: what the provider asks for, or a growing and scattered time, but bounded."""
        settings = self._settings
        error = state.outcome.exception() if state.outcome else None
        asked = None if error is None else self._failure(error).wait
        backoff = settings.first_wait * 2.0 ** min(state.attempt_number - 1, 30) * random.uniform(0.5, 1.5)
        return min(max(backoff, asked or 0.0), settings.longest_wait, max(0.0, self._end - time.monotonic()))

    def _failure(self, error: BaseException) -> Failure:
        if isinstance(error, TimeoutError):
            return Failure(Kind.PASSING, f"no whole answer within {self._settings.attempt_seconds:g} seconds")
        return failure_of(error)

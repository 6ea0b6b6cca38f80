"""How real models are called."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from ..prices import Price


@dataclass(frozen=True, slots=True)
class LiveSettings:
    """The same for every call. Times are in seconds."""

    #: Address of the endpoint; None: the provider's own, or what its environment variable says.
    api_base: str | None = None
    #: One attempt may take this long, however slowly its answer drips in.
    attempt_seconds: float = 180.0
    #: A call with all its attempts and waits may take this long.
    call_seconds: float = 600.0
    #: Attempts of one call after outages, rate limits and broken answers.
    attempts: int = 6
    #: The wait before the second attempt; it doubles with every further one.
    first_wait: float = 0.5
    #: The longest wait before another attempt, also when the provider asks for more.
    longest_wait: float = 60.0
    #: Whether answers are taken as a stream.
    stream: bool = False
    #: The project's own prices, by model name; they come before those of LiteLLM.
    prices: Mapping[str, Price] = field(default_factory=dict)

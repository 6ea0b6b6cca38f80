"""A session as its events in order, how the task went, and the place up to which it was looked at."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any, Final

from ..errors import ConfigError
from ..records import Evaluation, Message

#: Seconds since 1970 of the year 5138; what people write beyond it are milliseconds.
_MOST_SECONDS: Final = 100_000_000_000
#: Outcomes that are known by name; any other text is shown as it is. "" is unknown.
SUCCESS: Final = "success"
FAILURES: Final = ("fail", "agent_error")


@dataclass(frozen=True, slots=True)
class Cursor:
    """The last event that was looked at: its time and its id, so that events of one moment are neither lost nor twice.

    Without an id only the time counts. The zero cursor lies before everything.
    """

    #: Nanoseconds since 1970, UTC; None when the session has no times.
    at: int | None = None
    event: str = ""


#: Before the first event.
START: Final = Cursor()


@dataclass(frozen=True, slots=True)
class Event:
    """One message of a session. `id` is unique in it; `at` is nanoseconds since 1970 in UTC, None when unknown."""

    id: str
    at: int | None
    #: In the OpenAI shape.
    message: Message

    def to_json(self) -> dict[str, Any]:
        """A JSON object with all fields."""
        return {"id": self.id, "at": self.at, "message": self.message}

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> Event:
        """The inverse of to_json."""
        return cls(data["id"], data["at"], data["message"])


@dataclass(frozen=True, slots=True)
class Session:
    """A conversation of an agent, whole or up to now. Events are only ever added, in order."""

    id: str
    events: tuple[Event, ...]
    app: str = ""
    user: str = ""
    #: Name of each skill that the agent loaded -> digest of the version; "" where nobody knows which.
    skills: Mapping[str, str] = field(default_factory=dict)

    def after(self, cursor: Cursor) -> int:
        """The place of the first event after a cursor."""
        if cursor.event:
            for place in range(len(self.events) - 1, -1, -1):
                if self.events[place].id == cursor.event:
                    return place + 1
        if cursor.at is None:
            return 0
        later = (place for place, event in enumerate(self.events) if event.at is not None and event.at > cursor.at)
        return next(later, len(self.events))

    @property
    def cursor(self) -> Cursor:
        """The cursor behind the last event."""
        if not self.events:
            return START
        times = [event.at for event in self.events if event.at is not None]
        return Cursor(max(times, default=None), self.events[-1].id)

    @classmethod
    def of(
        cls,
        id: str,
        messages: list[Message] | tuple[Message, ...],
        *,
        app: str = "",
        user: str = "",
        skills: Mapping[str, str] | None = None,
        times: Mapping[int, int] | None = None,
    ) -> Session:
        """A session of plain messages; `times` are nanoseconds by place."""
        known = times or {}
        events = tuple(Event(f"e{place}", known.get(place), message) for place, message in enumerate(messages))
        return cls(id, events, app, user, dict(skills or {}))


@dataclass(frozen=True, slots=True)
class TaskOutcome:
    """How a task ended, by whoever can tell. None and 0.0 are different scores. Raises ConfigError for no score."""

    #: "success", "partial", "fail", "agent_error", "" for unknown; others are allowed.
    status: str = ""
    score: float | None = None
    notes: str = ""
    #: Who says so.
    evaluator: str = ""
    #: Tokens that the task took end to end; None when nobody counted.
    tokens: int | None = None

    def __post_init__(self) -> None:
        score = self.score
        if score is not None:
            number = isinstance(score, int | float) and not isinstance(score, bool)
            if not number or not math.isfinite(score) or not 0 <= score <= 1:
                raise ConfigError(f"the score of an outcome must be a number from 0 to 1 or None, not {score!r}")
        tokens = self.tokens
        if tokens is not None and (isinstance(tokens, bool) or not isinstance(tokens, int) or tokens < 0):
            raise ConfigError(f"the tokens of an outcome must be a whole number of at least 0 or None, not {tokens!r}")
        for name, value in (("status", self.status), ("notes", self.notes), ("evaluator", self.evaluator)):
            if not isinstance(value, str):
                raise ConfigError(f"the {name} of an outcome must be text, not {value!r}")

    @property
    def succeeded(self) -> bool | None:
        """Whether the task went well; None when nobody can tell."""
        status = self.status.strip().lower()
        return True if status == SUCCESS else False if status in FAILURES else None

    @classmethod
    def of(cls, evaluation: Evaluation, *, evaluator: str = "") -> TaskOutcome:
        """The outcome of one evaluated run of a case."""
        status = {True: SUCCESS, False: "fail", None: ""}[evaluation.passed]
        if status == "fail" and evaluation.score > 0:
            status = "partial"
        used = evaluation.usage.get("agent")
        return cls(status, evaluation.score, evaluation.feedback, evaluator, used.tokens if used else None)

    def to_json(self) -> dict[str, Any]:
        """A JSON object with all fields."""
        return {
            "status": self.status,
            "score": self.score,
            "notes": self.notes,
            "evaluator": self.evaluator,
            "tokens": self.tokens,
        }

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> TaskOutcome:
        """The inverse of to_json."""
        return cls(data["status"], data["score"], data["notes"], data["evaluator"], data["tokens"])


def nanoseconds(value: Any) -> int | None:
    """A time as people write it: ISO 8601 (without a zone: UTC), or seconds since 1970. Raises ValueError."""
    if value is None:
        return None
    if isinstance(value, bool):
        raise ValueError("a time must be ISO 8601 or seconds since 1970")
    if isinstance(value, int | float):
        if not -_MOST_SECONDS < value < _MOST_SECONDS:  # NaN is refused as well
            raise ValueError(f"a time must be in seconds since 1970, not {value:.6g} (milliseconds?)")
        return round(value * 1_000_000_000)
    if not isinstance(value, str):
        raise ValueError("a time must be ISO 8601 or seconds since 1970")
    when = datetime.fromisoformat(value)
    when = when if when.tzinfo else when.replace(tzinfo=UTC)
    whole = when.replace(microsecond=0)
    return int(whole.timestamp()) * 1_000_000_000 + when.microsecond * 1_000

"""What the queue of online learning holds: pieces of sessions, jobs, and what tasks were worth."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

from ..core.sessions.records import Cursor, Event, Session, TaskOutcome


class JobStatus(StrEnum):
    """Where a job stands."""

    QUEUED = "queued"
    RUNNING = "running"
    #: The policy declined it; its events count towards the next review of the session.
    CARRIED = "carried"
    DONE = "done"
    #: Given up after the last attempt; `retry` brings it back.
    PARKED = "parked"


class Pause(StrEnum):
    """What can be paused."""

    LEARNING = "learning"
    PUBLICATION = "publication"


@dataclass(frozen=True, slots=True)
class Piece:
    """What is handed in: a session as it is now, and what is known of the task."""

    session: Session
    outcome: TaskOutcome | None = None
    #: Key of the partition whose skills it may change.
    scope: str = ""
    #: Tasks that can be compared with each other have one kind.
    kind: str = ""


@dataclass(frozen=True, slots=True)
class Job:
    """A row of the queue. `session` holds its events after some of those before; None when they were pruned."""

    seq: int
    lane: str
    session_id: str
    status: JobStatus
    attempts: int
    created_at: str
    started_at: str | None
    finished_at: str | None
    error: str | None
    session: Session | None
    #: Where its own events begin.
    since: Cursor
    outcome: TaskOutcome | None
    scope: str
    kind: str
    decision: Mapping[str, Any] | None
    result: Mapping[str, Any] | None

    def to_json(self) -> dict[str, Any]:
        """A JSON object without the events."""
        return {
            "id": self.seq,
            "app": self.session.app if self.session else None,
            "user": self.session.user if self.session else None,
            "session": self.session_id,
            "status": self.status.value,
            "attempts": self.attempts,
            "created_at": self.created_at,
            "started_at": self.started_at,
            "finished_at": self.finished_at,
            "error": self.error,
            "outcome": self.outcome.to_json() if self.outcome else None,
            "scope": self.scope,
            "kind": self.kind,
            "result": None if self.result is None else dict(self.result),
        }


@dataclass(frozen=True, slots=True)
class Work:
    """A job that this slot has claimed, with the declined pieces of its session that it takes along."""

    job: Job
    carried: tuple[Job, ...] = ()

    @property
    def session(self) -> Session:
        """All unreviewed events of the session, with some of those before them."""
        events: dict[str, Event] = {}
        skills: dict[str, str] = {}
        for job in (*self.carried, self.job):
            assert job.session is not None, "only finished jobs lose their events"
            events.update((event.id, event) for event in job.session.events)
            skills.update(job.session.skills)
        mine = self.job.session
        assert mine is not None
        return Session(mine.id, tuple(events.values()), mine.app, mine.user, skills)

    @property
    def since(self) -> Cursor:
        """Behind the last reviewed event."""
        return (self.carried[0] if self.carried else self.job).since

    @property
    def outcome(self) -> TaskOutcome | None:
        """The latest outcome that anybody gave."""
        given = [job.outcome for job in (*self.carried, self.job) if job.outcome is not None]
        return given[-1] if given else None


@dataclass(frozen=True, slots=True)
class Accepted:
    """What became of a piece: "queued", "nothing_new", "outcome_added" or "full"; and the job that it is in."""

    status: str
    job: int | None = None


@dataclass(frozen=True, slots=True)
class Task:
    """One task that was handed in with its outcome."""

    seq: int
    kind: str
    at: str
    score: float | None
    tokens: int | None
    loaded: Mapping[str, str] = field(default_factory=dict)

"""What learning does, in figures: the queue, the stages, latencies, and tasks before and after each publication."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final

from ..core.revisions import Revision
from ..store import Store
from ..store.learning_records import Job, JobStatus, Pause, Task

#: Tasks before a publication that are compared with those after it.
WINDOW: Final = 50
#: Finished jobs whose latencies are summed up.
_JOBS: Final = 1_000
#: The stages in their order.
STAGES: Final = ("accepted", "reviewed", "proposed", "gated", "published", "loaded")


@dataclass(frozen=True, slots=True)
class Mean:
    """A mean over the tasks that have the figure; None without any."""

    value: float | None
    count: int

    @classmethod
    def of(cls, values: Iterable[float | int | None]) -> Mean:
        """The mean of the known values."""
        known = [value for value in values if value is not None]
        return cls(sum(known) / len(known) if known else None, len(known))

    def to_json(self) -> dict[str, Any]:
        """A JSON object with all fields."""
        return {"mean": self.value, "count": self.count}


@dataclass(frozen=True, slots=True)
class Effect:
    """Tasks of the same kinds before a version was published, and those that loaded it."""

    revision: str
    skill: str
    published_at: str
    score_before: Mean
    score_after: Mean
    tokens_before: Mean
    tokens_after: Mean

    def to_json(self) -> dict[str, Any]:
        """A JSON object with all fields."""
        return {
            "revision": self.revision,
            "skill": self.skill,
            "published_at": self.published_at,
            "score": {"before": self.score_before.to_json(), "after": self.score_after.to_json()},
            "tokens": {"before": self.tokens_before.to_json(), "after": self.tokens_after.to_json()},
        }


def status(store: Store) -> dict[str, Any]:
    """Everything that `skillevo learn status` tells, for the store's partition, as JSON."""
    queue = store.learning
    published = _published(store)
    tasks = queue.tasks(store.partition)
    counts = queue.counts()
    digests = {revision.digest for revision in published}
    counts["loaded"] = sum(bool(digests & set(task.loaded.values())) for task in tasks)
    return {
        "paused": [pause.value for pause in Pause if queue.is_paused(pause)],
        "jobs": {where.value: count for where, count in queue.depths().items()},
        "stages": {stage: counts.get(stage, 0) for stage in STAGES},
        "counts": counts,
        "latency": _latency(queue.jobs(JobStatus.DONE, _JOBS)),
        "effects": [effect.to_json() for effect in effects(published, tasks)],
    }


def effects(published: Sequence[Revision], tasks: Sequence[Task]) -> tuple[Effect, ...]:
    """The comparison for every published version that any task has loaded, the oldest first."""
    found = []
    for revision in published:
        after = [task for task in tasks if task.loaded.get(revision.skill) == revision.digest]
        if not after or revision.promoted_at is None:
            continue
        kinds = {task.kind for task in after}
        before = [task for task in tasks if task.kind in kinds and task.at < revision.promoted_at][-WINDOW:]
        found.append(
            Effect(
                revision.id,
                revision.skill,
                revision.promoted_at,
                Mean.of(task.score for task in before),
                Mean.of(task.score for task in after),
                Mean.of(task.tokens for task in before),
                Mean.of(task.tokens for task in after),
            )
        )
    return tuple(found)


def _published(store: Store) -> list[Revision]:
    """Versions that learning has made and that were active at some time, the oldest first."""
    made = [one for one in store.revisions(limit=1_000) if one.origin in ("reviewer", "agent") and one.promoted_at]
    return sorted(made, key=lambda one: one.promoted_at or "")


def _latency(jobs: Sequence[Job]) -> dict[str, Any]:
    """Seconds from handing in to the end, and of the work itself, over the last finished jobs."""
    whole = sorted(_seconds(job.created_at, job.finished_at) for job in jobs if job.finished_at)
    work = sorted(_seconds(job.started_at, job.finished_at) for job in jobs if job.started_at and job.finished_at)
    return {"jobs": len(whole), "total": _quantiles(whole), "work": _quantiles(work)}


def _quantiles(ordered: Sequence[float]) -> dict[str, float | None]:
    def at(share: float) -> float | None:
        return round(ordered[min(len(ordered) - 1, int(share * len(ordered)))], 3) if ordered else None

    return {"median": at(0.5), "p95": at(0.95), "max": at(1.0)}


def _seconds(begin: str | None, end: str | None) -> float:
    assert begin is not None
    assert end is not None
    return (datetime.fromisoformat(end) - datetime.fromisoformat(begin)).total_seconds()

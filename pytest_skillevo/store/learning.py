"""The durable queue of online learning: what was handed in is reviewed once, in the order of its lane, or parked.

A job is a piece of one session, from where the last piece ended. A lane is one user of one app; of a lane at most one
job runs at a time, the oldest first, whoever works: threads, processes, machines on one database. A job belongs to the
slot of the service that runs it; a slot is a lock that dies with its process, so that nothing stays with the dead.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import timedelta
from typing import Any, Final

from sqlalchemy import ColumnElement, Connection, Row, and_, exists, func, or_, select

from ..core.canonical import canonical_json
from ..core.errors import StoreError
from ..core.locks import LockBusy
from ..core.sessions.records import START, Cursor, Event, Session, TaskOutcome
from .columns import decode_json, encode_json
from .database import Database
from .experiments import Clock, stamp
from .learning_records import Accepted, Job, JobStatus, Pause, Piece, Task, Work
from .schema import LEARNING_COUNTS, LEARNING_JOBS, LEARNING_SESSIONS, LEARNING_TASKS, META

#: Services that may run on one store at once.
SLOTS: Final = 64
#: Events before a piece that are kept with it: who spoke last, what was failing.
CONTEXT: Final = 12
#: Finished jobs that keep their events, finished jobs that are kept at all, and tasks that are remembered.
KEPT_PAYLOADS: Final = 1_000
KEPT_JOBS: Final = 10_000
KEPT_TASKS: Final = 50_000
#: A finished job in so many looks whether something is to be pruned.
_PRUNE_EVERY: Final = 100

_JOBS = LEARNING_JOBS.c


class LearningQueue:
    """The queue, the cursors, the counters and the pauses of one store."""

    def __init__(self, database: Database, clock: Clock) -> None:
        self._database = database
        self._clock = clock

    # Handing in

    def add(self, piece: Piece, *, limit: int | None = None) -> Accepted:
        """Hand in what is new in a session; committed when this returns. Never twice, whoever hands it in again.

        With `limit`, nothing is stored while so many jobs wait.
        """
        session, lane = piece.session, lane_of(piece.session)
        key = and_(LEARNING_SESSIONS.c.lane == lane, LEARNING_SESSIONS.c.session == session.id)
        with self._database.write() as connection:
            row = connection.execute(select(LEARNING_SESSIONS).where(key)).first()
            start = 0 if row is None else session.after(_cursor(row.accepted))
            if start == len(session.events):
                return self._add_outcome(connection, piece, lane)
            if limit is not None and self._waiting(connection, limit) >= limit:
                return Accepted("full")
            now = stamp(self._clock)
            seq = self._insert(connection, piece, lane, start, now)
            accepted = _cursor_json(session.cursor)
            if row is None:
                connection.execute(LEARNING_SESSIONS.insert().values(lane=lane, session=session.id, accepted=accepted))
            else:
                connection.execute(LEARNING_SESSIONS.update().where(key).values(accepted=accepted))
            _count(connection, {"accepted": 1})
            self._note_task(connection, piece, seq, now)
            return Accepted("queued", seq)

    def _insert(self, connection: Connection, piece: Piece, lane: str, start: int, now: str) -> int:
        session = piece.session
        context = session.events[max(0, start - CONTEXT) : start]
        payload = {
            "app": session.app,
            "user": session.user,
            "skills": dict(session.skills),
            "context": [event.to_json() for event in context],
            "events": [event.to_json() for event in session.events[start:]],
            "outcome": None if piece.outcome is None else piece.outcome.to_json(),
            "scope": piece.scope,
            "kind": piece.kind,
        }
        row = {
            "lane": lane,
            "session": session.id,
            "first_event": session.events[start].id,
            "status": JobStatus.QUEUED.value,
            "payload": encode_json(payload, f"session {session.id}"),
            "created_at": now,
            "due_at": now,
        }
        result = connection.execute(LEARNING_JOBS.insert().values(row))
        key = result.inserted_primary_key
        assert key is not None
        return int(key[0])

    def _add_outcome(self, connection: Connection, piece: Piece, lane: str) -> Accepted:
        """Give the last piece of the session the outcome that it came without, if nobody has looked at it yet."""
        if piece.outcome is None:
            return Accepted("nothing_new")
        open_ = (JobStatus.QUEUED.value, JobStatus.CARRIED.value)
        query = select(LEARNING_JOBS).where(_JOBS.lane == lane, _JOBS.session == piece.session.id)
        row = connection.execute(query.order_by(_JOBS.seq.desc()).limit(1)).first()
        if row is None or row.status not in open_:
            return Accepted("nothing_new", None if row is None else row.seq)
        payload = decode_json(row.payload)
        if payload["outcome"] is not None:
            return Accepted("nothing_new", row.seq)
        payload["outcome"] = piece.outcome.to_json()
        values = {"payload": encode_json(payload, f"session {piece.session.id}"), "status": JobStatus.QUEUED.value}
        connection.execute(LEARNING_JOBS.update().where(_JOBS.seq == row.seq).values(values))
        self._note_task(connection, piece, row.seq, stamp(self._clock))
        return Accepted("outcome_added", row.seq)

    def _note_task(self, connection: Connection, piece: Piece, seq: int, now: str) -> None:
        outcome = piece.outcome
        if outcome is None:
            return
        row = {
            "job": seq,
            "scope": piece.scope,
            "kind": piece.kind,
            "at": now,
            "score": outcome.score,
            "tokens": outcome.tokens,
            "loaded": encode_json(dict(piece.session.skills), f"session {piece.session.id}"),
        }
        connection.execute(LEARNING_TASKS.insert().values(row))

    def _waiting(self, connection: Connection, limit: int) -> int:
        waiting = select(_JOBS.seq).where(_JOBS.status == JobStatus.QUEUED.value).limit(limit).subquery()
        return int(connection.scalar(select(func.count()).select_from(waiting)) or 0)

    # Working

    @contextmanager
    def slot(self) -> Iterator[int]:
        """A slot for one service, as long as it lives. What a dead service left in any slot is queued again."""
        for number in range(SLOTS):
            lock = self._database.lock(f"learning slot {number}", wait=0)
            try:
                lock.__enter__()
            except LockBusy:
                continue
            try:
                self._requeue(_JOBS.slot == number)
                self.recover(number)
                yield number
            finally:
                lock.__exit__(None, None, None)
            return
        raise StoreError(f"{SLOTS} learning services run on this store already")

    def recover(self, mine: int) -> None:
        """Queue again what dead services were at."""
        with self._database.read() as connection:
            found = connection.execute(select(_JOBS.slot).where(_JOBS.status == JobStatus.RUNNING.value).distinct())
            others = [row.slot for row in found if row.slot is not None and row.slot != mine]
        for number in others:
            try:
                with self._database.lock(f"learning slot {number}", wait=0):
                    self._requeue(_JOBS.slot == number)
            except LockBusy:
                continue

    def _requeue(self, mine: ColumnElement[bool]) -> None:
        running = and_(_JOBS.status == JobStatus.RUNNING.value, mine)
        with self._database.write() as connection:
            connection.execute(LEARNING_JOBS.update().where(running).values(status=JobStatus.QUEUED.value, slot=None))

    def claim(self, slot: int) -> Work | None:
        """Take the oldest job that is due and whose lane is free; None when there is none, or learning is paused."""
        now = stamp(self._clock)
        other = LEARNING_JOBS.alias()
        before = exists().where(
            other.c.lane == _JOBS.lane,
            or_(
                other.c.status == JobStatus.RUNNING.value,
                and_(other.c.status == JobStatus.QUEUED.value, other.c.seq < _JOBS.seq),
            ),
        )
        due = and_(_JOBS.status == JobStatus.QUEUED.value, _JOBS.due_at <= now, ~before)
        with self._database.read() as connection:
            # A look without the write lock: idle workers must not keep the others waiting.
            if _paused(connection, Pause.LEARNING) or connection.scalar(select(_JOBS.seq).where(due).limit(1)) is None:
                return None
        with self._database.write() as connection:
            row = connection.execute(select(LEARNING_JOBS).where(due).order_by(_JOBS.seq).limit(1)).first()
            if row is None:
                return None
            values = {
                "status": JobStatus.RUNNING.value,
                "slot": slot,
                "attempts": row.attempts + 1,
                "started_at": now,
            }
            connection.execute(LEARNING_JOBS.update().where(_JOBS.seq == row.seq).values(values))
            carried = connection.execute(self._carried(row)).all()
            job = connection.execute(select(LEARNING_JOBS).where(_JOBS.seq == row.seq)).one()
            return Work(_job(job), tuple(map(_job, carried)))

    def _carried(self, row: Row[Any]) -> Any:
        mine = and_(_JOBS.lane == row.lane, _JOBS.session == row.session, _JOBS.seq < row.seq)
        return select(LEARNING_JOBS).where(mine, _JOBS.status == JobStatus.CARRIED.value).order_by(_JOBS.seq)

    def keep_decision(self, work: Work, decision: Mapping[str, Any]) -> None:
        """Keep what the Reviewer decided, before anything of it is done."""
        with self._database.write() as connection:
            self._update(connection, work, decision=encode_json(decision, "the decision"))

    def finish(self, work: Work, result: Mapping[str, Any], counts: Mapping[str, int]) -> None:
        """The job and the pieces it took along are done; the cursor moves behind them."""
        self._close(work, JobStatus.DONE, result, counts, None)

    def carry(self, work: Work, result: Mapping[str, Any], counts: Mapping[str, int]) -> None:
        """The policy declined: the cursor stays, and the events wait for more."""
        with self._database.write() as connection:
            values = {"status": JobStatus.CARRIED.value, "result": encode_json(result, "the result"), "slot": None}
            self._update(connection, work, **values)
            _count(connection, counts)

    def fail(self, work: Work, error: str, *, attempts: int, wait: timedelta, counts: Mapping[str, int]) -> JobStatus:
        """An attempt failed: the job is due again after `wait`, or parked after the last; the cursor passes it then."""
        if work.job.attempts >= attempts:
            self._close(work, JobStatus.PARKED, None, {**counts, "parked": 1}, error)
            return JobStatus.PARKED
        due = stamp(lambda: self._clock() + wait)
        with self._database.write() as connection:
            self._update(connection, work, status=JobStatus.QUEUED.value, slot=None, error=error, due_at=due)
            _count(connection, counts)
        return JobStatus.QUEUED

    def give_back(self, work: Work) -> None:
        """The service closes before the job was begun; the attempt does not count."""
        with self._database.write() as connection:
            values = {"status": JobStatus.QUEUED.value, "slot": None, "attempts": work.job.attempts - 1}
            self._update(connection, work, **values)

    def _close(
        self,
        work: Work,
        status: JobStatus,
        result: Mapping[str, Any] | None,
        counts: Mapping[str, int],
        error: str | None,
    ) -> None:
        now = stamp(self._clock)
        values = {"status": status.value, "finished_at": now, "slot": None, "error": error}
        if result is not None:
            values["result"] = encode_json(result, "the result")
        reviewed = _cursor_json(work.session.cursor)
        key = and_(LEARNING_SESSIONS.c.lane == work.job.lane, LEARNING_SESSIONS.c.session == work.job.session_id)
        with self._database.write() as connection:
            self._update(connection, work, **values)
            taken = [job.seq for job in work.carried]
            if taken:
                with_me = {"status": status.value, "finished_at": now, "error": error}
                connection.execute(LEARNING_JOBS.update().where(_JOBS.seq.in_(taken)).values(with_me))
            later = and_(_JOBS.lane == work.job.lane, _JOBS.session == work.job.session_id, _JOBS.seq > work.job.seq)
            if not connection.scalar(select(exists().where(later, _JOBS.finished_at.is_not(None)))):
                # A parked job that is tried again must not move the cursor back.
                connection.execute(LEARNING_SESSIONS.update().where(key).values(reviewed=reviewed))
            _count(connection, counts)
            if work.job.seq % _PRUNE_EVERY == 0:
                _prune(connection)

    def _update(self, connection: Connection, work: Work, **values: Any) -> None:
        mine = and_(_JOBS.seq == work.job.seq, _JOBS.status == JobStatus.RUNNING.value)
        if not connection.execute(LEARNING_JOBS.update().where(mine).values(values)).rowcount:
            raise StoreError(f"learning job {work.job.seq} is no longer this worker's")

    # Looking and steering

    def jobs(self, status: JobStatus | None = None, limit: int = 50) -> tuple[Job, ...]:
        """The newest jobs, newest first."""
        query = select(LEARNING_JOBS).order_by(_JOBS.seq.desc()).limit(limit)
        with self._database.read() as connection:
            found = connection.execute(query if status is None else query.where(_JOBS.status == status.value))
            return tuple(map(_job, found))

    def job(self, seq: int) -> Job:
        """One job. Raises StoreError when there is none."""
        with self._database.read() as connection:
            row = connection.execute(select(LEARNING_JOBS).where(_JOBS.seq == seq)).first()
        if row is None:
            raise StoreError(f"there is no learning job {seq}")
        return _job(row)

    def retry(self, seq: int | None = None) -> int:
        """Queue one parked job, or all of them, again with fresh attempts; says how many. Raises StoreError."""
        parked = _JOBS.status == JobStatus.PARKED.value
        if seq is not None and self.job(seq).status is not JobStatus.PARKED:
            raise StoreError(f"learning job {seq} is {self.job(seq).status}; only a parked one can be tried again")
        values = {"status": JobStatus.QUEUED.value, "attempts": 0, "due_at": stamp(self._clock), "finished_at": None}
        with self._database.write() as connection:
            update = LEARNING_JOBS.update().where(parked if seq is None else and_(parked, _JOBS.seq == seq))
            return int(connection.execute(update.values(values)).rowcount)

    def depths(self) -> dict[JobStatus, int]:
        """How many jobs stand where."""
        query = select(_JOBS.status, func.count()).group_by(_JOBS.status)
        with self._database.read() as connection:
            found = {JobStatus(status): int(count) for status, count in connection.execute(query)}
        return {status: found.get(status, 0) for status in JobStatus}

    def counts(self) -> dict[str, int]:
        """The counters, by name."""
        with self._database.read() as connection:
            rows = connection.execute(select(LEARNING_COUNTS).order_by(LEARNING_COUNTS.c.name))
            return {row.name: int(row[1]) for row in rows}

    def count(self, counts: Mapping[str, int]) -> None:
        """Add to counters."""
        with self._database.write() as connection:
            _count(connection, counts)

    def accepted(self, session: Session) -> Cursor:
        """Behind the last event of a session that was handed in."""
        key = and_(LEARNING_SESSIONS.c.lane == lane_of(session), LEARNING_SESSIONS.c.session == session.id)
        with self._database.read() as connection:
            text = connection.scalar(select(LEARNING_SESSIONS.c.accepted).where(key))
        return START if text is None else _cursor(text)

    def reviewed(self, session: Session) -> Cursor | None:
        """The cursor of a session; None when it was never reviewed."""
        key = and_(LEARNING_SESSIONS.c.lane == lane_of(session), LEARNING_SESSIONS.c.session == session.id)
        with self._database.read() as connection:
            text = connection.scalar(select(LEARNING_SESSIONS.c.reviewed).where(key))
        return None if text is None else _cursor(text)

    def tasks(self, scope: str, limit: int = 2_000) -> tuple[Task, ...]:
        """The last tasks of a partition, oldest first."""
        query = select(LEARNING_TASKS).where(LEARNING_TASKS.c.scope == scope)
        with self._database.read() as connection:
            rows = connection.execute(query.order_by(LEARNING_TASKS.c.seq.desc()).limit(limit)).all()
        return tuple(
            Task(row.seq, row.kind, row.at, row.score, row.tokens, decode_json(row.loaded)) for row in reversed(rows)
        )

    def is_paused(self, what: Pause) -> bool:
        """Whether learning or publication is paused."""
        with self._database.read() as connection:
            return _paused(connection, what)

    def pause(self, what: Pause) -> None:
        """Pause for every service on this store."""
        self.resume(what)
        with self._database.write() as connection:
            connection.execute(META.insert().values(key=_pause_key(what), value=stamp(self._clock)))

    def resume(self, what: Pause) -> None:
        """End a pause."""
        with self._database.write() as connection:
            connection.execute(META.delete().where(META.c.key == _pause_key(what)))


def lane_of(session: Session) -> str:
    """The lane of a session: equal for one user of one app, and for nobody else."""
    return canonical_json([session.app, session.user])


def _count(connection: Connection, counts: Mapping[str, int]) -> None:
    for name, more in counts.items():
        mine = LEARNING_COUNTS.c.name == name
        changed = connection.execute(
            LEARNING_COUNTS.update().where(mine).values({"count": LEARNING_COUNTS.c["count"] + more})
        )
        if not changed.rowcount:
            connection.execute(LEARNING_COUNTS.insert().values({"name": name, "count": more}))


def _prune(connection: Connection) -> None:
    """Forget the events of old finished jobs, then the jobs, then old tasks. What is parked stays whole."""
    done = _JOBS.status == JobStatus.DONE.value

    def oldest(kept: int) -> Any:
        return select(_JOBS.seq).where(done).order_by(_JOBS.seq.desc()).offset(kept).limit(1).scalar_subquery()

    bare = and_(done, _JOBS.payload.is_not(None), _JOBS.seq <= oldest(KEPT_PAYLOADS))
    connection.execute(LEARNING_JOBS.update().where(bare).values(payload=None, decision=None))
    connection.execute(LEARNING_JOBS.delete().where(and_(done, _JOBS.seq <= oldest(KEPT_JOBS))))
    tasks = LEARNING_TASKS.c.seq
    last = select(tasks).order_by(tasks.desc()).offset(KEPT_TASKS).limit(1).scalar_subquery()
    connection.execute(LEARNING_TASKS.delete().where(tasks <= last))


def _paused(connection: Connection, what: Pause) -> bool:
    return connection.scalar(select(META.c.value).where(META.c.key == _pause_key(what))) is not None


def _pause_key(what: Pause) -> str:
    return f"paused {what.value}"


def _cursor(text: str) -> Cursor:
    at, event = decode_json(text)
    return Cursor(at, event)


def _cursor_json(cursor: Cursor) -> str:
    return encode_json([cursor.at, cursor.event], "a cursor")


def _job(row: Row[Any]) -> Job:
    payload = None if row.payload is None else decode_json(row.payload)
    events: Sequence[Any] = [] if payload is None else [*payload["context"], *payload["events"]]
    session = None
    since = Cursor()
    outcome = None
    if payload is not None:
        listed = tuple(map(Event.from_json, events))
        session = Session(row.session, listed, payload["app"], payload["user"], payload["skills"])
        if payload["context"]:
            since = Cursor(None, payload["context"][-1]["id"])
        outcome = None if payload["outcome"] is None else TaskOutcome.from_json(payload["outcome"])
    return Job(
        row.seq,
        row.lane,
        row.session,
        JobStatus(row.status),
        row.attempts,
        row.created_at,
        row.started_at,
        row.finished_at,
        row.error,
        session,
        since,
        outcome,
        "" if payload is None else payload["scope"],
        "" if payload is None else payload["kind"],
        None if row.decision is None else decode_json(row.decision),
        None if row.result is None else decode_json(row.result),
    )

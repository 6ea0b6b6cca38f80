"""The store: one object for everything that lasts, safe to open from several processes at once."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from types import TracebackType
from typing import Any, Final

from ..core.canonical import digest
from ..core.errors import StoreError
from ..core.revisions import ENTRY, Action, AuditEvent, Revision, Status
from ..core.skill import Skill
from .database import Database
from .experiments import Clock, Experiment, Experiments, stamp, utc_now
from .exposure import Exposure, Openings
from .journal import Journal, JournalEntry
from .locks import file_lock
from .promotion import Promotions
from .publisher import Fault, check_name, no_fault
from .revisions import (
    Change,
    Pointer,
    find_same,
    get_pointer,
    get_revision,
    history,
    insert_revision,
    list_revisions,
    set_status,
)
from .rollouts import Traces
from .snapshots import get_snapshot

DATABASE_FILE: Final = "store.db"


class Store:
    """Journal, traces, revisions, active pointers and ledger of one project.

    Every method that refuses raises StoreError with a sentence for a person, and has then changed nothing.
    """

    def __init__(self, home: Path, database: Database, skills: Path | None, clock: Clock, fault: Fault) -> None:
        self._home = home
        self._database = database
        self._clock = clock
        self._traces = Traces(database)
        self._journal = Journal(database, self._traces)
        self._experiments = Experiments(database, clock)
        self._exposure = Exposure(database, clock)
        self._promotions = Promotions(database, home, skills, clock, fault)
        #: What opening the store has put right, in sentences.
        self.notices: tuple[str, ...] = ()

    @classmethod
    def open(cls, home: Path, *, skills: Path | None = None, clock: Clock = utc_now, fault: Fault = no_fault) -> Store:
        """Open the store in the folder `home`, making it if need be, and settle what a killed process left half done.

        `skills` is the folder that approve and rollback write to. Raises StoreError for a damaged store, one of a newer
        version, and a folder that cannot be written.
        """
        home = home.absolute()
        _make_home(home)
        store = cls(home, Database.open(home / DATABASE_FILE), skills and skills.absolute(), clock, fault)
        try:
            store.notices = store.repair()
        except BaseException:
            store.close()
            raise
        return store

    @staticmethod
    def exists(home: Path) -> bool:
        """Whether there is a store in that folder."""
        return (home / DATABASE_FILE).is_file()

    def close(self) -> None:
        """Close the store. Traces that no append has written are dropped: nothing names them."""
        self._database.close()

    def __enter__(self) -> Store:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    # Experiments, journal, traces

    def create_experiment(self, id: str, skill: str, fingerprint: str, settings: Mapping[str, Any]) -> None:
        """Record a new experiment. `settings` is JSON; `fingerprint` is equal for a repetition."""
        self._experiments.create(id, skill, fingerprint, settings)

    def experiment(self, id: str) -> Experiment:
        """The experiment with this id."""
        return self._experiments.get(id)

    def latest_experiment(self) -> Experiment | None:
        """The experiment created last, finished or not."""
        return self._experiments.latest()

    def find_finished(self, fingerprint: str) -> Experiment | None:
        """The first finished experiment with this fingerprint; a repetition answers with its verdict and report."""
        return self._experiments.find_finished(fingerprint)

    def finish_experiment(self, id: str, verdict: Any, report: Any) -> None:
        """Record verdict and report (JSON) of an experiment, once and for all."""
        self._experiments.finish(id, verdict, report)

    @contextmanager
    def running(self, experiment: str) -> Iterator[None]:
        """Keep other processes from running the same experiment; the claim ends with the block or the process."""
        folder = self._home / "locks"
        folder.mkdir(exist_ok=True)
        busy = f"experiment {experiment} is being run by another process"
        with file_lock(folder / f"{digest(experiment)[:16]}.lock", wait=0, busy=busy):
            yield

    def append(self, experiment: str, entries: Sequence[JournalEntry]) -> None:
        """Commit journal entries, all or none, together with the traces put since the last append."""
        self._journal.append(experiment, entries)

    def entries(self, experiment: str) -> Iterator[JournalEntry]:
        """The journal of an experiment in order."""
        return self._journal.entries(experiment)

    def put_trace(self, data: Any) -> str:
        """Keep JSON data of any size (cut to about 1 MB) and return its digest. The next append commits it."""
        return self._traces.put(data)

    def trace(self, digest: str) -> Any:
        """The data of a trace; where it was cut, an object with `cut` (a sentence) and `trace`."""
        return self._traces.get(digest)

    # Revisions

    def add_revision(
        self,
        skill: str,
        content: Skill,
        parent: Skill,
        *,
        action: Action,
        source: str,
        status: Status,
        evidence: Mapping[str, Any],
        actor: str,
        reason: str,
    ) -> Revision:
        """Enter a candidate for the skill in folder `skill`, judged against `parent` (Skill.absent for none).

        The same source entering the same content again, as a resumed experiment does, gets the revision that is there.
        """
        if status not in ENTRY:
            raise StoreError(f"a revision cannot enter the store as {status.words}")
        check_name(skill)
        if any(not version.exists and version.digest != Skill.absent(skill).digest for version in (content, parent)):
            raise StoreError(f"the absent version of {skill} must be that of {skill}, not of another skill")
        if content.digest == parent.digest:
            raise StoreError(f"the new version of {skill} is the same as the one before; nothing was stored")
        with self._database.write(durable=True) as connection:
            known = find_same(connection, skill, source, content.digest, parent.digest)
            if known is not None:
                return known
            pointer = get_pointer(connection, skill)
            return insert_revision(
                connection,
                skill,
                content,
                parent,
                action=action,
                source=source,
                status=status,
                evidence=evidence,
                replaces=pointer.revision if pointer is not None and pointer.digest == parent.digest else None,
                change=Change(actor, reason, stamp(self._clock)),
            )

    def revision(self, id: str) -> Revision:
        """The revision with this id or unambiguous beginning of one."""
        with self._database.read() as connection:
            return get_revision(connection, id)

    def revisions(self, skill: str | None = None, status: Status | None = None) -> tuple[Revision, ...]:
        """Revisions, newest first."""
        with self._database.read() as connection:
            return list_revisions(connection, skill, status)

    def skill_of(self, revision: Revision) -> Skill:
        """The content of a revision."""
        with self._database.read() as connection:
            return get_snapshot(connection, revision.skill, revision.digest)

    def parent_of(self, revision: Revision) -> Skill:
        """The content that a revision was judged against."""
        with self._database.read() as connection:
            return get_snapshot(connection, revision.skill, revision.parent_digest)

    def history(self, revision: Revision) -> tuple[AuditEvent, ...]:
        """The audit trail of a revision, oldest first."""
        with self._database.read() as connection:
            return history(connection, revision.id)

    def pointer(self, skill: str) -> Pointer | None:
        """The active revision of a skill; None while nothing was published."""
        with self._database.read() as connection:
            return get_pointer(connection, skill)

    def approve(self, id: str, actor: str, reason: str = "") -> Revision:
        """Publish a revision that waits for approval and archive what it replaces.

        The skill folder must hold what the revision was judged against, or already hold the revision.
        """
        return self._promotions.approve(id, actor, reason)

    def reject(self, id: str, actor: str, reason: str = "") -> Revision:
        """Refuse a revision for good."""
        return self.change_status(id, Status.REJECTED, actor, reason)

    def rollback(self, skill: str, actor: str, reason: str = "", *, to: str | None = None) -> Revision:
        """Put back the version that the active one replaced, or the archived revision `to`; returns what is active."""
        return self._promotions.rollback(skill, actor, reason, to)

    def change_status(self, id: str, target: Status, actor: str, reason: str) -> Revision:
        """Move a revision that is not published to another status. Publishing is for approve and rollback."""
        with self._promotions.lock(), self._database.write(durable=True) as connection:
            revision = get_revision(connection, id)
            if Status.ACTIVE in {target, revision.status} or target is Status.ARCHIVED:
                raise StoreError(
                    f"{revision.id} is {revision.status.words}; only approve and rollback change what agents use."
                )
            set_status(connection, revision, target, Change(actor, reason, stamp(self._clock)))
            return get_revision(connection, revision.id)

    def repair(self) -> tuple[str, ...]:
        """Finish or undo publications that a killed process left; says in sentences what was done."""
        return self._promotions.repair()

    # Exposure

    def record_opening(self, fingerprints: Sequence[str], experiment: str, skill: str, why: str) -> None:
        """Note that a decision used these holdout cases, or that a person was shown them."""
        self._exposure.record(fingerprints, experiment, skill, why)

    def openings(self, fingerprints: Sequence[str], *, besides: str | None = None) -> Openings:
        """How often and when any of these cases was opened, not counting the experiment `besides`."""
        return self._exposure.openings(fingerprints, besides=besides)


def _make_home(home: Path) -> None:
    try:
        home.mkdir(parents=True, exist_ok=True)
        ignore = home / ".gitignore"
        if not ignore.exists():
            ignore.write_text("# The store of pytest-skillevo; not for version control.\n*\n", encoding="utf-8")
    except OSError as error:
        raise StoreError(
            f"the store cannot be made in {home}: {error.strerror}. Set skillevo_home or --home."
        ) from None

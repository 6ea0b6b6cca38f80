"""The store: one object for everything that lasts, safe to open from several processes at once."""

from __future__ import annotations

import secrets
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from types import TracebackType
from typing import Any, Final

from ..core.errors import StoreError
from ..core.files import atomic_write
from ..core.gates.records import Gates
from ..core.naming import folder_name
from ..core.revisions import Action, AuditEvent, Deed, Revision, Status
from ..core.scopes import NO_SCOPE, Scope, is_key
from ..core.skill import Skill
from .audit import counts, history, trail, waiting_since
from .cache import Answers
from .committed import OpeningRecord
from .database import Database
from .drift import Drift, drift_of
from .entry import JournalEntry
from .experiments import Clock, Experiment, Experiments, utc_now
from .exposure import Exposure, Openings
from .intake import Intake
from .journal import Journal
from .judge import Judge
from .learning import LearningQueue
from .place import Place, title_of
from .promotion import Promotions
from .publication import Publications
from .publisher import Fault, no_fault
from .revisions import (
    Pointer,
    Proposal,
    count_revisions,
    evaluations,
    get_pointer,
    list_pointers,
    list_revisions,
    list_scopes,
    names_of,
)
from .rollouts import Traces
from .snapshots import get_snapshot

DATABASE_FILE: Final = "store.db"
#: Holds the name of this home among those that share a database.
PLACE_FILE: Final = "place"


class Store:
    """Journal, traces, revisions, active pointers and ledger of one project.

    Revisions, pointers and audit are those of one partition (core/scopes.py); `at` gives the same store on another.
    Every method that refuses raises StoreError with a sentence for a person, and has then changed nothing but the
    audit trail.
    """

    def __init__(
        self, database: Database, publications: Publications, place: Place, gates: Gates | None, clock: Clock
    ) -> None:
        self._database = database
        self._publications = publications
        self._place = place
        self._gates = gates
        self._clock = clock
        self._traces = Traces(database)
        self._journal = Journal(database, self._traces)
        self._experiments = Experiments(database, clock)
        self._exposure = Exposure(database, clock)
        judge = Judge(gates, place)
        self._promotions = Promotions(database, publications, place, judge, clock)
        self._intake = Intake(database, self._promotions, place, judge, clock)
        #: The queue of online learning; the same in every partition.
        self.learning = LearningQueue(database, clock)
        #: Answers of searches that need not be asked again.
        self.answers = Answers(database)
        #: What opening the store has put right, in sentences.
        self.notices: tuple[str, ...] = ()

    @classmethod
    def open(
        cls,
        home: Path,
        *,
        skills: Path | None = None,
        url: str | None = None,
        scope: Scope = NO_SCOPE,
        gates: Gates | None = None,
        protected: Sequence[str] = (),
        clock: Clock = utc_now,
        fault: Fault = no_fault,
    ) -> Store:
        """Open the store in the folder `home`, making it if need be, and settle what a killed process left half done.

        `skills` is the folder that publications write to; `url` names a PostgreSQL database to use in place of a file
        in `home`; `gates` judge what comes in; nothing is published to skills whose folder fits a `protected` pattern.
        Raises StoreError for a damaged store, one of a newer version, and a folder that cannot be written; ConfigError
        for a URL that is none.
        """
        home = home.absolute()
        _make_home(home)
        database = Database.open(home / DATABASE_FILE) if url is None else Database.connect(url, home)
        try:
            publications = Publications(database, home, _place_name(home) if database.shared else "", clock, fault)
            place = Place(scope.key, skills and skills.absolute(), tuple(protected))
            store = cls(database, publications, place, gates, clock)
            store.notices = store.repair()
        except BaseException:
            database.close()
            raise
        return store

    def at(self, partition: str) -> Store:
        """The same store, on another partition (see Scope.key and `partitions`). Closing one of them closes all."""
        if not is_key(partition):
            raise StoreError(f"{partition!r} is no partition; Scope.key gives the key of one")
        place = Place(partition, self._place.skills, self._place.protected)
        return Store(self._database, self._publications, place, self._gates, self._clock)

    @property
    def partition(self) -> str:
        """The key of the partition that this object reads and writes."""
        return self._place.key

    @property
    def skills_folder(self) -> Path | None:
        """The folder of the skills of all partitions; None when the store was opened without."""
        return self._place.skills

    def require_writable(self, skill: str) -> None:
        """Raise Protected for a skill that nothing may change."""
        self._place.require_writable(skill)

    def partitions(self) -> tuple[str, ...]:
        """The keys of all partitions that hold revisions."""
        with self._database.read() as connection:
            return list_scopes(connection)

    @staticmethod
    def exists(home: Path, url: str | None = None) -> bool:
        """Whether there is a store in that folder, or in that database. Nothing is made."""
        return (home / DATABASE_FILE).is_file() if url is None else Database.holds_store(url)

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

    def experiments(self, skill: str | None = None) -> tuple[Experiment, ...]:
        """All experiments, or those of one skill, the newest first."""
        return self._experiments.list(skill)

    def find_finished(self, fingerprint: str) -> Experiment | None:
        """The first finished experiment with this fingerprint; a repetition answers with its verdict and report."""
        return self._experiments.find_finished(fingerprint)

    def finish_experiment(self, id: str, verdict: Any, report: Any) -> None:
        """Record verdict and report (JSON) of an experiment, once and for all."""
        self._experiments.finish(id, verdict, report)

    @contextmanager
    def running(self, experiment: str) -> Iterator[None]:
        """Keep other processes from running the same experiment; the claim ends with the block or the process."""
        busy = f"experiment {experiment} is being run by another process"
        with self._database.lock(f"experiment {experiment}", wait=0, busy=busy):
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

        It waits at least as strictly as `status` says; the gates, if there are any, may ask for more. The same source
        entering the same content again, as a resumed experiment does, gets the revision that is there.
        """
        return self._intake.add(Proposal(skill, content, parent, action, source, evidence), status, actor, reason)

    def add(self, proposal: Proposal, *, status: Status, actor: str, reason: str) -> Revision:
        """As add_revision, for a candidate with a name and file permissions."""
        return self._intake.add(proposal, status, actor, reason)

    def offer(self, proposal: Proposal, *, actor: str, reason: str, shadow: bool = False) -> Revision:
        """Let the gates decide about a candidate, and publish it at once when none of them holds it.

        In shadow mode only what blocks keeps it; the gates that would have held it are named in `bypassed`.
        """
        return self._intake.offer(proposal, actor, reason, shadow=shadow)

    def reevaluate(
        self, id: str, evidence: Mapping[str, Any] | None = None, *, actor: str, reason: str = "", shadow: bool = False
    ) -> Revision:
        """Let the gates judge a waiting revision again, with new evidence (JSON) over what there is.

        What the Reviewer made is published when nothing holds it any more; everything else waits for a person then.
        """
        return self._intake.reevaluate(id, evidence, actor, reason, shadow=shadow)

    def revision(self, id: str) -> Revision:
        """The revision with this id or unambiguous beginning of one."""
        return self._promotions.find(id)

    def revisions(
        self, skill: str | None = None, status: Status | None = None, limit: int | None = None
    ) -> tuple[Revision, ...]:
        """Revisions, newest first; at most `limit` of them."""
        with self._database.read() as connection:
            return list_revisions(connection, self._place.key, skill, status, limit)

    def count(self, skill: str | None = None, status: Status | None = None) -> int:
        """How many revisions there are."""
        with self._database.read() as connection:
            return count_revisions(connection, self._place.key, skill, status)

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

    def audit(self, skill: str | None = None, limit: int | None = None) -> tuple[AuditEvent, ...]:
        """The last events of the partition, or of one skill, oldest first."""
        with self._database.read() as connection:
            return trail(connection, self._place.key, skill, limit)

    def counts(self) -> dict[Deed, int]:
        """How often each thing was done in the partition."""
        with self._database.read() as connection:
            return counts(connection, self._place.key)

    def evaluations(self, revision: Revision) -> tuple[dict[str, Any], ...]:
        """Evidence and gate reports that re-evaluations have replaced, oldest first, each with `until`."""
        with self._database.read() as connection:
            return evaluations(connection, revision.id)

    def waiting_since(self, revision: Revision) -> str:
        """When a revision came into its present status, ISO 8601 UTC."""
        with self._database.read() as connection:
            return waiting_since(connection, revision)

    def pointer(self, skill: str) -> Pointer | None:
        """The active revision of a skill; None while nothing was published."""
        with self._database.read() as connection:
            return get_pointer(connection, self._place.key, skill)

    def pointers(self) -> tuple[Pointer, ...]:
        """The active revisions of all skills, by skill."""
        with self._database.read() as connection:
            return list_pointers(connection, self._place.key)

    def folder_for(self, name: str) -> str:
        """The folder for a new skill of that name: nobody who is seen from this partition has it under another name."""
        known: dict[str, list[Path]] = {}
        for _, place in self._place.skill_folders():
            known.setdefault(place.name, []).append(place)

        def names(folder: str) -> set[str]:
            with self._database.read() as connection:
                found = names_of(connection, self._place.visible, folder)
            return found.union(map(title_of, known.get(folder, ())))

        return folder_name(name, names)

    def approve(self, id: str, actor: str, reason: str = "", *, digest: str | None = None) -> Revision:
        """Publish a revision that waits for approval and archive what it replaces.

        The skill folder must hold what the revision was judged against, or already hold the revision. With `digest`
        (or its beginning) only that very content is published. Gates that have changed since judge again first.
        """
        return self._promotions.approve(id, actor, reason, digest)

    def is_fresh(self, revision: Revision) -> bool:
        """Whether the skill folder holds what a revision was judged against, or the revision itself."""
        return self._promotions.is_fresh(revision)

    def reject(self, id: str, actor: str, reason: str = "") -> Revision:
        """Refuse a revision for good."""
        return self._promotions.move(id, Status.REJECTED, Deed.REJECT, actor, reason)

    def expire(self, id: str, actor: str, reason: str = "") -> Revision:
        """Give up on a revision that has waited too long."""
        return self._promotions.move(id, Status.EXPIRED, Deed.EXPIRE, actor, reason)

    def rollback(
        self, skill: str, actor: str, reason: str = "", *, to: str | None = None, force: bool = False
    ) -> Revision:
        """Put back the version that the active one replaced, or the archived revision `to`; returns what is active.

        A version that the gates of today block is brought back only by `force`.
        """
        return self._promotions.rollback(skill, actor, reason, to, force)

    def change_status(self, id: str, target: Status, actor: str, reason: str) -> Revision:
        """Move a revision that is not published to another status. Publishing is for approve and rollback."""
        deeds = {Status.REJECTED: Deed.REJECT, Status.EXPIRED: Deed.EXPIRE}
        return self._promotions.move(id, target, deeds.get(target, Deed.REEVALUATE), actor, reason)

    def repair(self) -> tuple[str, ...]:
        """Finish or undo publications that a killed process left; says in sentences what was done."""
        return self._publications.repair()

    def drift(self, skill: str | None = None) -> tuple[Drift, ...]:
        """Where the skills folder does not hold what the pointers say."""
        pointers = [one for one in self.pointers() if skill is None or one.skill == skill]
        return tuple(drift_of(self._database, self._place, pointers))

    def restore(self, skill: str, actor: str, reason: str = "") -> Revision:
        """Put the active version back over an edit of its folder; the edit is kept as an archived revision."""
        return self._promotions.restore(skill, actor, reason)

    def adopt(self, skill: str, actor: str, reason: str = "") -> Revision:
        """Make what lies in the skill folder the active version; no file is written."""
        return self._promotions.adopt(skill, actor, reason)

    # Exposure

    def record_opening(self, fingerprints: Sequence[str], experiment: str, skill: str, why: str) -> None:
        """Note that a decision used these holdout cases, or that a person was shown them."""
        self._exposure.record(fingerprints, experiment, skill, why)

    def opening_records(self, skill: str | None = None) -> tuple[OpeningRecord, ...]:
        """Every opening of a holdout case, or those of one skill's cases, earliest first."""
        return self._exposure.records(skill)

    def enter_openings(self, records: Sequence[OpeningRecord]) -> None:
        """Take over openings that other stores noted, such as those of the committed file."""
        self._exposure.enter(records)

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


def _place_name(home: Path) -> str:
    """The name of this home, made on first use."""
    file = home / PLACE_FILE
    try:
        if not file.exists():
            atomic_write(file, f"{secrets.token_hex(8)}\n".encode("ascii"))
        return file.read_text(encoding="ascii").strip()[:40]
    except (OSError, UnicodeDecodeError) as error:
        raise StoreError(f"{file} cannot be used: {error}. Set skillevo_home or --home.") from None

"""The tables and their version; the way forward from older versions is in migrations.py."""

from __future__ import annotations

from typing import Final

from sqlalchemy import (
    BigInteger,
    Column,
    Connection,
    Float,
    ForeignKey,
    Index,
    Integer,
    LargeBinary,
    MetaData,
    String,
    Table,
    Text,
    UniqueConstraint,
    inspect,
    select,
)

from ..core.errors import StoreError
from ..core.revisions import Status
from .columns import AnyText
from .migrations import MIGRATIONS

#: Raise by one with every change of the tables, and add the step from the version before to MIGRATIONS.
SCHEMA_VERSION: Final = 3

METADATA: Final = MetaData()

#: A row number that grows with every insert. SQLite counts only plain INTEGER keys by itself.
_Sequence: Final = BigInteger().with_variant(Integer(), "sqlite")
_Digest: Final = String(64)
#: Ids are found by their beginnings, in the order of their bytes whatever the database's language is.
_Id: Final = String(40).with_variant(String(40, collation="C"), "postgresql")


def _seq() -> Column[int]:
    return Column("seq", _Sequence, primary_key=True, autoincrement=True)


def _scope(*, key: bool = False) -> Column[str]:
    """The key of a partition, see core/scopes.py."""
    return Column("scope", AnyText, primary_key=key, nullable=False, server_default="")


META = Table(
    "skillevo_meta",
    METADATA,
    Column("key", String(40), primary_key=True),
    Column("value", Text, nullable=False),
)

#: Bytes by the SHA-256 of what they unpack to: traces and the files of skills.
BLOBS = Table(
    "blobs",
    METADATA,
    Column("digest", _Digest, primary_key=True),
    Column("size", BigInteger, nullable=False),
    Column("packed", LargeBinary, nullable=False),
)

EXPERIMENTS = Table(
    "experiments",
    METADATA,
    _seq(),
    Column("id", AnyText, nullable=False, unique=True),
    Column("skill", AnyText, nullable=False),
    Column("fingerprint", AnyText, nullable=False, index=True),
    Column("settings", Text, nullable=False),
    Column("created_at", String(40), nullable=False),
    Column("finished_at", String(40)),
    Column("verdict", Text),
    Column("report", Text),
)

JOURNAL = Table(
    "journal",
    METADATA,
    _seq(),
    Column("experiment", AnyText, ForeignKey("experiments.id"), nullable=False),
    Column("key", AnyText, nullable=False),
    Column("kind", AnyText, nullable=False),
    Column("payload", Text, nullable=False),
    UniqueConstraint("experiment", "key"),
    Index("journal_in_order", "experiment", "seq"),
)

#: Answers of searches, by the digest of everything that decided them.
ANSWERS = Table(
    "answers",
    METADATA,
    Column("key", _Digest, primary_key=True),
    Column("payload", Text, nullable=False),
)

#: The content of a whole skill folder; without files it is the skill that does not exist.
SNAPSHOTS = Table("snapshots", METADATA, Column("digest", _Digest, primary_key=True))

SNAPSHOT_FILES = Table(
    "snapshot_files",
    METADATA,
    Column("snapshot", _Digest, ForeignKey("snapshots.digest"), primary_key=True),
    Column("path", AnyText, primary_key=True),
    Column("blob", _Digest, ForeignKey("blobs.digest"), nullable=False),
)

REVISIONS = Table(
    "revisions",
    METADATA,
    _seq(),
    Column("id", _Id, nullable=False, unique=True),
    Column("skill", AnyText, nullable=False),
    Column("action", String(20), nullable=False),
    Column("source", AnyText, nullable=False),
    Column("digest", _Digest, ForeignKey("snapshots.digest"), nullable=False),
    Column("parent_digest", _Digest, ForeignKey("snapshots.digest"), nullable=False),
    Column("parent", _Id, ForeignKey("revisions.id")),
    Column("status", String(20), nullable=False),
    Column("created_at", String(40), nullable=False),
    Column("promoted_at", String(40)),
    Column("evidence", Text, nullable=False),
    _scope(),
    Column("name", AnyText),
    # JSON: paths that may be executed, what the gates said, gates that shadow mode passed over.
    Column("executable", Text),
    Column("gates", Text),
    Column("bypassed", Text),
    Index("revisions_of_skill", "scope", "skill", "seq"),
    Index("revisions_in_status", "scope", "status", "seq"),
)

# At most one active revision of a skill: the database itself refuses a second one.
Index(
    "one_active_revision",
    REVISIONS.c.scope,
    REVISIONS.c.skill,
    unique=True,
    sqlite_where=REVISIONS.c.status == Status.ACTIVE.value,
    postgresql_where=REVISIONS.c.status == Status.ACTIVE.value,
)

#: Evidence and gate reports that a re-evaluation has replaced.
EVALUATIONS = Table(
    "evaluations",
    METADATA,
    _seq(),
    Column("revision", _Id, ForeignKey("revisions.id"), nullable=False),
    Column("until", String(40), nullable=False),
    Column("evidence", Text, nullable=False),
    Column("gates", Text),
    Index("evaluations_of_revision", "revision", "seq"),
)

#: What agents use now.
POINTERS = Table(
    "pointers",
    METADATA,
    _scope(key=True),
    Column("skill", AnyText, primary_key=True),
    Column("revision", _Id, ForeignKey("revisions.id"), nullable=False),
    Column("digest", _Digest, nullable=False),
    Column("moved_at", String(40), nullable=False),
)

#: Publications under way: written before the first file is touched, gone when the pointer has moved.
INTENTS = Table(
    "intents",
    METADATA,
    _scope(key=True),
    Column("skill", AnyText, primary_key=True),
    Column("kind", String(20), nullable=False),
    Column("target", _Id, ForeignKey("revisions.id"), nullable=False),
    Column("replaced", _Id, ForeignKey("revisions.id"), nullable=False),
    # The folder as seen from the store's home, and the home that it is seen from (several may share a database).
    Column("folder", AnyText, nullable=False),
    Column("place", String(40), nullable=False, server_default=""),
    Column("actor", AnyText, nullable=False),
    Column("reason", AnyText, nullable=False),
)

AUDIT = Table(
    "audit",
    METADATA,
    _seq(),
    Column("at", String(40), nullable=False),
    Column("skill", AnyText, nullable=False),
    Column("revision", _Id, ForeignKey("revisions.id"), nullable=False),
    Column("before", String(20)),
    Column("after", String(20), nullable=False),
    Column("actor", AnyText, nullable=False),
    Column("reason", AnyText, nullable=False),
    _scope(),
    Column("deed", String(20), nullable=False, server_default=""),
    Index("audit_of_revision", "revision", "seq"),
    Index("audit_of_scope", "scope", "seq"),
    Index("audit_of_skill", "scope", "skill", "seq"),
)

#: Which holdout cases were seen, by whom and when (design: holdout integrity).
OPENINGS = Table(
    "openings",
    METADATA,
    _seq(),
    Column("fingerprint", AnyText, nullable=False),
    Column("experiment", AnyText, nullable=False),
    Column("skill", AnyText, nullable=False),
    Column("why", AnyText, nullable=False),
    Column("at", String(40), nullable=False),
    UniqueConstraint("fingerprint", "experiment", "why"),
)

#: Pieces of sessions on their way through learning. A lane is an app and a user, whose jobs take turns.
LEARNING_JOBS = Table(
    "learning_jobs",
    METADATA,
    _seq(),
    Column("lane", AnyText, nullable=False),
    Column("session", AnyText, nullable=False),
    Column("first_event", AnyText, nullable=False),
    Column("status", String(20), nullable=False),
    Column("attempts", Integer, nullable=False, server_default="0"),
    # The slot of the service that works on it.
    Column("slot", Integer),
    # JSON: the events with what belongs to them; gone from old finished jobs.
    Column("payload", Text),
    # JSON: what the Reviewer decided, kept before it is applied.
    Column("decision", Text),
    # JSON: what became of it.
    Column("result", Text),
    Column("error", AnyText),
    Column("created_at", String(40), nullable=False),
    Column("due_at", String(40), nullable=False),
    Column("started_at", String(40)),
    Column("finished_at", String(40)),
    UniqueConstraint("lane", "session", "first_event"),
    Index("learning_queue", "status", "seq"),
    Index("learning_lanes", "lane", "status", "seq"),
)

#: How far each session was handed in, and how far it was reviewed: JSON of a cursor.
LEARNING_SESSIONS = Table(
    "learning_sessions",
    METADATA,
    Column("lane", AnyText, primary_key=True),
    Column("session", AnyText, primary_key=True),
    Column("accepted", Text, nullable=False),
    Column("reviewed", Text),
)

#: What tasks were worth, with the skills that they loaded; for the comparison before and after a publication.
LEARNING_TASKS = Table(
    "learning_tasks",
    METADATA,
    _seq(),
    Column("job", _Sequence, nullable=False, unique=True),
    Column("scope", AnyText, nullable=False),
    Column("kind", AnyText, nullable=False),
    Column("at", String(40), nullable=False),
    Column("score", Float),
    Column("tokens", BigInteger),
    # JSON: name of each loaded skill -> digest.
    Column("loaded", Text, nullable=False),
    Index("learning_tasks_of_kind", "scope", "kind", "seq"),
)

LEARNING_COUNTS = Table(
    "learning_counts",
    METADATA,
    Column("name", String(40), primary_key=True),
    Column("count", BigInteger, nullable=False),
)


def prepare(connection: Connection, name: str) -> None:
    """Make the tables, or bring older ones up to date, inside the caller's write transaction.

    Raises StoreError, with the store's name, for one that a newer version of the project has written.
    """
    if not inspect(connection).has_table(META.name):
        METADATA.create_all(connection)
        connection.execute(META.insert().values(key="schema_version", value=str(SCHEMA_VERSION)))
        return
    version = _version(connection, name)
    if version > SCHEMA_VERSION:
        raise StoreError(
            f"{name} has schema version {version}, this skillevo knows up to {SCHEMA_VERSION}. "
            "Upgrade pytest-skillevo (pip install -U pytest-skillevo), or use another skillevo_home."
        )
    for step in range(version, SCHEMA_VERSION):
        MIGRATIONS[step](connection)
    if version < SCHEMA_VERSION:
        connection.execute(META.update().where(META.c.key == "schema_version").values(value=str(SCHEMA_VERSION)))


def _version(connection: Connection, name: str) -> int:
    text = connection.scalar(select(META.c.value).where(META.c.key == "schema_version"))
    if text is None or not text.isdecimal():
        raise StoreError(f"{name} has the schema version {text!r}, which is no version")
    return int(text)

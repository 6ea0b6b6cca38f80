"""The way forward from older versions of the tables, in plain SQL: what was true of a version stays true.

The statements are those that SQLite and PostgreSQL both take. They run inside the transaction that opens the store.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Final

from sqlalchemy import Connection, text

#: Version 2: partitions, names, file modes, gate reports, bypassed gates, deeds in the audit trail, answers.
_TO_2: Final = (
    "ALTER TABLE revisions ADD COLUMN scope TEXT DEFAULT '' NOT NULL",
    "ALTER TABLE revisions ADD COLUMN name TEXT",
    "ALTER TABLE revisions ADD COLUMN executable TEXT",
    "ALTER TABLE revisions ADD COLUMN gates TEXT",
    "ALTER TABLE revisions ADD COLUMN bypassed TEXT",
    "DROP INDEX revisions_of_skill",
    "DROP INDEX revisions_in_status",
    "DROP INDEX one_active_revision",
    "CREATE INDEX revisions_of_skill ON revisions (scope, skill, seq)",
    "CREATE INDEX revisions_in_status ON revisions (scope, status, seq)",
    "CREATE UNIQUE INDEX one_active_revision ON revisions (scope, skill) WHERE status = 'active'",
    "CREATE TABLE evaluations (seq {sequence}, revision {id} NOT NULL, until VARCHAR(40) NOT NULL,"
    " evidence TEXT NOT NULL, gates TEXT, PRIMARY KEY (seq), FOREIGN KEY(revision) REFERENCES revisions (id))",
    "CREATE INDEX evaluations_of_revision ON evaluations (revision, seq)",
    # A key cannot be widened in place everywhere: a new table takes the rows.
    "CREATE TABLE pointers_2 (scope TEXT DEFAULT '' NOT NULL, skill TEXT NOT NULL, revision {id} NOT NULL,"
    " digest VARCHAR(64) NOT NULL, moved_at VARCHAR(40) NOT NULL, PRIMARY KEY (scope, skill),"
    " FOREIGN KEY(revision) REFERENCES revisions (id))",
    "INSERT INTO pointers_2 (skill, revision, digest, moved_at) SELECT skill, revision, digest, moved_at FROM pointers",
    "DROP TABLE pointers",
    "ALTER TABLE pointers_2 RENAME TO pointers",
    "CREATE TABLE intents_2 (scope TEXT DEFAULT '' NOT NULL, skill TEXT NOT NULL, kind VARCHAR(20) NOT NULL,"
    " target {id} NOT NULL, replaced {id} NOT NULL, folder TEXT NOT NULL, place VARCHAR(40) DEFAULT '' NOT NULL,"
    " actor TEXT NOT NULL, reason TEXT NOT NULL, PRIMARY KEY (scope, skill),"
    " FOREIGN KEY(target) REFERENCES revisions (id), FOREIGN KEY(replaced) REFERENCES revisions (id))",
    "INSERT INTO intents_2 (skill, kind, target, replaced, folder, actor, reason)"
    " SELECT skill, kind, target, replaced, folder, actor, reason FROM intents",
    "DROP TABLE intents",
    "ALTER TABLE intents_2 RENAME TO intents",
    "ALTER TABLE audit ADD COLUMN scope TEXT DEFAULT '' NOT NULL",
    "ALTER TABLE audit ADD COLUMN deed VARCHAR(20) DEFAULT '' NOT NULL",
    "CREATE INDEX audit_of_scope ON audit (scope, seq)",
    "CREATE INDEX audit_of_skill ON audit (scope, skill, seq)",
    "CREATE TABLE answers (key VARCHAR(64) NOT NULL, payload TEXT NOT NULL, PRIMARY KEY (key))",
    # What was done follows from the statuses, but for approvals and rollbacks, which one status tells apart.
    """UPDATE audit SET deed = CASE
        WHEN "after" = 'active' AND "before" IS NULL THEN 'adopt'
        WHEN "after" = 'active' AND "before" = 'archived' THEN 'rollback'
        WHEN "after" = 'active' THEN 'approve'
        WHEN "after" = 'archived' THEN 'archive'
        WHEN "after" = 'rejected' THEN 'reject'
        WHEN "after" = 'expired' THEN 'expire'
        WHEN "after" = 'publish_failed' THEN 'fail'
        WHEN "before" IS NULL THEN 'submit'
        WHEN "before" = "after" THEN 'repair'
        ELSE 'reevaluate' END""",
)
#: What only PostgreSQL needs: ids in the order of their bytes, and keys whose names follow their table.
_TO_2_POSTGRES: Final = (
    'ALTER TABLE revisions ALTER COLUMN id TYPE VARCHAR(40) COLLATE "C"',
    'ALTER TABLE revisions ALTER COLUMN parent TYPE VARCHAR(40) COLLATE "C"',
    'ALTER TABLE audit ALTER COLUMN revision TYPE VARCHAR(40) COLLATE "C"',
    "ALTER INDEX pointers_2_pkey RENAME TO pointers_pkey",
    "ALTER INDEX intents_2_pkey RENAME TO intents_pkey",
    "ALTER TABLE pointers RENAME CONSTRAINT pointers_2_revision_fkey TO pointers_revision_fkey",
    "ALTER TABLE intents RENAME CONSTRAINT intents_2_target_fkey TO intents_target_fkey",
    "ALTER TABLE intents RENAME CONSTRAINT intents_2_replaced_fkey TO intents_replaced_fkey",
)


def _to_2(connection: Connection) -> None:
    _run(connection, _TO_2)
    if connection.dialect.name == "postgresql":
        _run(connection, _TO_2_POSTGRES)


#: Version 3: the queue of online learning.
_TO_3: Final = (
    "CREATE TABLE learning_jobs (seq {sequence}, lane TEXT NOT NULL, session TEXT NOT NULL, first_event TEXT NOT NULL,"
    " status VARCHAR(20) NOT NULL, attempts INTEGER DEFAULT '0' NOT NULL, slot INTEGER, payload TEXT, decision TEXT,"
    " result TEXT, error TEXT, created_at VARCHAR(40) NOT NULL, due_at VARCHAR(40) NOT NULL, started_at VARCHAR(40),"
    " finished_at VARCHAR(40), PRIMARY KEY (seq), UNIQUE (lane, session, first_event))",
    "CREATE INDEX learning_queue ON learning_jobs (status, seq)",
    "CREATE INDEX learning_lanes ON learning_jobs (lane, status, seq)",
    "CREATE TABLE learning_sessions (lane TEXT NOT NULL, session TEXT NOT NULL, accepted TEXT NOT NULL, reviewed TEXT,"
    " PRIMARY KEY (lane, session))",
    "CREATE TABLE learning_tasks (seq {sequence}, job {number} NOT NULL, scope TEXT NOT NULL, kind TEXT NOT NULL,"
    " at VARCHAR(40) NOT NULL, score FLOAT, tokens BIGINT, loaded TEXT NOT NULL, PRIMARY KEY (seq), UNIQUE (job))",
    "CREATE INDEX learning_tasks_of_kind ON learning_tasks (scope, kind, seq)",
    "CREATE TABLE learning_counts (name VARCHAR(40) NOT NULL, count BIGINT NOT NULL, PRIMARY KEY (name))",
)


def _to_3(connection: Connection) -> None:
    _run(connection, _TO_3)


def _run(connection: Connection, statements: Sequence[str]) -> None:
    postgres = connection.dialect.name == "postgresql"
    words = {
        "sequence": "BIGSERIAL NOT NULL" if postgres else "INTEGER NOT NULL",
        "number": "BIGINT" if postgres else "INTEGER",
        "id": 'VARCHAR(40) COLLATE "C"' if postgres else "VARCHAR(40)",
    }
    for statement in statements:
        for word, meaning in words.items():
            statement = statement.replace(f"{{{word}}}", meaning)
        connection.execute(text(statement))


#: Version -> what makes a database of that version one of the next.
MIGRATIONS: Final[Mapping[int, Callable[[Connection], None]]] = {1: _to_2, 2: _to_3}

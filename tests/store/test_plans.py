"""Questions about one skill or one revision are answered by an index, however many others there are."""

from __future__ import annotations

from sqlalchemy import event

EVERY_DATABASE = True


def test_a_revision_is_found_by_its_id_and_not_by_looking_at_all(project):
    asked = []
    with project.open() as store:
        revision = project.enter(store)
        engine = store._database._engine
        event.listen(engine, "before_cursor_execute", lambda c, cursor, sql, values, *_: asked.append((sql, values)))
        store.revision(revision.id[:7])
        store.pointer(revision.skill)
        store.skill_of(revision)
        store.revisions(revision.skill)
        store.history(revision)
        questions = [one for one in asked if one[0].startswith("SELECT")]
        assert len(questions) > 6
        with store._database.read() as connection:
            for sql, values in questions if project.url is None else ():
                plans = connection.exec_driver_sql(f"EXPLAIN QUERY PLAN {sql}", values).all()
                assert all(plan[-1].startswith("SEARCH") and "(scope=?)" not in plan[-1] for plan in plans), sql

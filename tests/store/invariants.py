"""What holds of every store at rest, whatever was done to it and whoever died meanwhile."""

from __future__ import annotations

from collections import Counter

from pytest_skillevo.core.revisions import LEGAL, Status
from pytest_skillevo.store import Store


def assert_whole(store: Store) -> None:
    """Pointers, statuses, files and audit agree, in every partition; nothing is under way."""
    assert store.repair() == ()
    for partition in store.partitions():
        assert_partition_whole(store.at(partition))


def assert_partition_whole(store: Store) -> None:
    pointers = store.pointers()
    active = store.revisions(status=Status.ACTIVE)
    assert {(one.skill, one.revision) for one in pointers} == {(one.skill, one.id) for one in active}
    assert max(Counter(one.skill for one in active).values(), default=1) == 1
    assert {(one.skill, one.digest) for one in pointers} == {(one.skill, one.digest) for one in active}
    assert store.drift() == ()
    told = 0
    for revision in store.revisions():
        events = store.history(revision)
        told += len(events)
        assert [event.before for event in events] == [None, *(event.after for event in events[:-1])]
        assert events[-1].after is revision.status
        steps = [(event.before, event.after) for event in events[1:] if event.before is not event.after]
        assert all(after in LEGAL[before] for before, after in steps)
        assert store.skill_of(revision).digest == revision.digest
    assert told == sum(store.counts().values())

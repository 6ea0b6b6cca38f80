"""The queue of online learning, on every database: once, in order, through pauses and dead owners."""

from __future__ import annotations

from datetime import timedelta

import pytest

from pytest_skillevo.core.errors import StoreError
from pytest_skillevo.core.sessions import Session, TaskOutcome
from pytest_skillevo.store import learning
from pytest_skillevo.store.learning_records import JobStatus, Pause, Piece

EVERY_DATABASE = True


def piece(id="s1", turns=1, user="nina", outcome=None):
    turn = [{"role": "user", "content": "x"}, {"role": "assistant", "content": "y"}]
    session = Session.of(id, turn * turns, app="harbour", user=user, skills={"tides": "d1"})
    return Piece(session, outcome, "", "tides")


def test_pieces_are_kept_once_claimed_in_order_and_finished(store):
    queue = store.learning
    assert [queue.add(piece(turns=turns)).status for turns in (1, 1, 2)] == ["queued", "nothing_new", "queued"]
    queue.add(piece("s2", user="omar"))
    with queue.slot() as slot:
        first, second = queue.claim(slot), queue.claim(slot)
        assert [work.job.session_id for work in (first, second)] == ["s1", "s2"]
        assert queue.claim(slot) is None  # the second part of s1 waits for the first
        queue.finish(first, {"ended": "skipped"}, {"reviewed": 1})
        assert queue.reviewed(first.session).event == "e1"
        third = queue.claim(slot)
        assert [event.id for event in third.session.events[third.session.after(third.since) :]] == ["e2", "e3"]
        queue.finish(third, {}, {"reviewed": 1})
        with pytest.raises(StoreError, match="no longer this worker's"):
            queue.finish(third, {}, {"reviewed": 1})
    assert queue.counts() == {"accepted": 3, "reviewed": 2}


def test_carried_pieces_come_along_with_the_next(store):
    queue = store.learning
    queue.add(piece())
    with queue.slot() as slot:
        queue.carry(queue.claim(slot), {"ended": "declined"}, {})
        queue.add(piece(turns=3, outcome=TaskOutcome("fail", 0.1, tokens=9)))
        work = queue.claim(slot)
        assert (len(work.carried), len(work.session.events), work.outcome.score) == (1, 6, 0.1)
        queue.finish(work, {}, {})
    assert queue.depths()[JobStatus.DONE] == 2
    (task,) = queue.tasks("")
    assert (task.score, task.tokens, task.loaded) == (0.1, 9, {"tides": "d1"})


def test_failures_are_tried_again_parked_and_brought_back(store):
    queue = store.learning
    queue.add(piece())
    with queue.slot() as slot:
        for attempt in (1, 2):
            status = queue.fail(queue.claim(slot), "dial refused", attempts=2, wait=timedelta(0), counts={})
            assert status is (JobStatus.QUEUED if attempt == 1 else JobStatus.PARKED)
        assert (queue.jobs()[0].error, queue.retry(), queue.depths()[JobStatus.QUEUED]) == ("dial refused", 1, 1)
        queue.fail(queue.claim(slot), "again", attempts=2, wait=timedelta(days=1), counts={})
        assert queue.claim(slot) is None  # it is not due yet


def test_a_bound_a_pause_and_what_a_dead_owner_left(store):
    queue = store.learning
    queue.add(piece(), limit=1)
    assert queue.add(piece("s2"), limit=1).status == "full"
    with queue.slot() as slot:
        queue.pause(Pause.LEARNING)
        queue.pause(Pause.LEARNING)
        assert queue.claim(slot) is None
        queue.resume(Pause.LEARNING)
        assert queue.claim(slot).job.attempts == 1
        with queue.slot() as other:  # a second service; the first lives
            assert (other == slot, queue.claim(other)) == (False, None)
    with queue.slot() as slot:
        assert queue.claim(slot).job.attempts == 2


def test_old_finished_jobs_lose_their_events_and_then_go(store, monkeypatch):
    monkeypatch.setattr(learning, "KEPT_PAYLOADS", 2)
    monkeypatch.setattr(learning, "KEPT_JOBS", 4)
    monkeypatch.setattr(learning, "_PRUNE_EVERY", 1)
    queue = store.learning
    with queue.slot() as slot:
        for number in range(8):
            queue.add(piece(f"s{number}"))
            queue.finish(queue.claim(slot), {}, {})
    jobs = queue.jobs()
    assert len(jobs) == 4
    assert [job.session is None for job in jobs] == [False, False, True, True]
    assert queue.add(piece("s0")).status == "nothing_new"

"""The service: every session once, in the order of its user, never at the task's expense, and through a crash."""

from __future__ import annotations

import threading
from collections import Counter
from concurrent.futures import ThreadPoolExecutor

import pytest

from pytest_skillevo.core.errors import ConfigError
from pytest_skillevo.core.judging import standard_gates
from pytest_skillevo.core.review.decision import ReviewDecision
from pytest_skillevo.core.revisions import Action, Status
from pytest_skillevo.core.scopes import ScopeMode
from pytest_skillevo.core.sessions import Event, Session, TaskOutcome
from pytest_skillevo.core.skill import Skill
from pytest_skillevo.learning import LearningJob, LearningService, Settings
from pytest_skillevo.learning.metrics import status
from pytest_skillevo.store.learning_records import JobStatus, Pause

from .conftest import FAILED, SKIP, Script, add, create, learn, service, session, spec


def test_a_failed_session_becomes_a_published_skill(store, place):
    job = learn(store, create())
    assert (job.status, job.result["ended"]) == (JobStatus.DONE, "proposed")
    assert job.result["policy"]["trigger"] == "outcome"
    skill = Skill.load(place.skills / "tide-report")
    assert skill.spec.steps[0] == "Ask for the tide of every port."
    (revision,) = store.revisions(status=Status.ACTIVE)
    assert (revision.status, revision.source, revision.action) == (Status.ACTIVE, f"reviewer:{job.seq}", Action.CREATE)
    assert revision.evidence["outcome"] == {"status": "fail", "score": 0.2}


def test_the_standard_gates_park_what_a_failed_task_taught(place):
    with place.open(gates=standard_gates()) as store:
        job = learn(store, create())
        assert job.result["revisions"][0]["status"] == "pending_eval"
        learn(store, create("Berth Plan"), job=LearningJob(session("s2", 5), TaskOutcome("partial", 0.9)))
        assert [one.status for one in store.revisions()] == [Status.PENDING_APPROVAL, Status.PENDING_EVAL]
        assert not place.skills.exists()


def test_a_session_is_handed_in_once_however_often_it_is(store):
    script = Script(SKIP)
    working = service(store, reviewer=script)
    receipts = [working.enqueue(LearningJob(session(), FAILED)).status for _ in range(3)]
    assert receipts == ["queued", "nothing_new", "nothing_new"]
    working.drain()
    assert working.enqueue(LearningJob(session(), FAILED)).status == "nothing_new"
    assert (working.drain(), script.sessions) == (0, ["s1"])


def test_of_a_session_that_goes_on_only_the_new_part_is_reviewed(store):
    script = Script(SKIP)
    working = service(store, reviewer=script)
    for turns in (1, 3):
        working.enqueue(LearningJob(session(turns=turns), FAILED))
        working.drain()
    said = [[message["content"] for message in given.messages] for given in script.seen]
    assert said == [["Task s1.0", "Done."], ["Task s1.1", "Done.", "Task s1.2", "Done."]]
    assert store.learning.reviewed(session()).event == "e5"


def test_a_correction_that_opens_a_part_is_seen(store):
    script = Script(SKIP)
    working = service(store, reviewer=script)
    first = session()
    working.enqueue(LearningJob(first))
    working.drain()
    messages = [event.message for event in first.events] + [{"role": "user", "content": "No, wrong port."}]
    working.enqueue(LearningJob(Session.of("s1", messages, app="harbour", user="nina")))
    working.drain()
    assert len(script.seen) == 1
    assert store.learning.jobs()[0].result["policy"]["trigger"] == "user_correction"


def test_declined_parts_add_up_until_they_are_worth_a_review(store):
    script = Script(SKIP)
    working = service(store, reviewer=script)

    def talk(turns):
        call = {"id": "c", "type": "function", "function": {"name": "tide", "arguments": "{}"}}
        turn = [{"role": "user", "content": "x"}, {"role": "assistant", "content": "y", "tool_calls": [call]}]
        return Session.of("s1", turn * turns)

    for turns in (1, 2, 3):
        working.enqueue(LearningJob(talk(turns)))
        working.drain()
    assert (script.seen, store.learning.depths()[JobStatus.CARRIED]) == ([], 3)
    assert store.learning.reviewed(talk(3)) is None
    working.enqueue(LearningJob(talk(4)))
    working.drain()
    assert len(script.seen[0].messages) == 8
    assert store.learning.depths()[JobStatus.DONE] == 4
    assert store.learning.jobs()[0].result["policy"]["trigger"] == "tool_calls"


def test_an_outcome_that_comes_later_is_added_to_the_waiting_part(store):
    script = Script(SKIP)
    working = service(store, reviewer=script)
    working.enqueue(LearningJob(session()))
    working.drain()
    assert working.enqueue(LearningJob(session(), FAILED)).status == "outcome_added"
    assert working.enqueue(LearningJob(session(), FAILED)).status == "nothing_new"
    working.drain()
    assert script.seen[0].outcome == FAILED


def test_jobs_of_one_user_run_one_after_another_and_users_side_by_side(store):
    running, most, order, lock = Counter(), Counter(), [], threading.Lock()
    both = threading.Barrier(2)

    class Slow(Script):
        def review(self, given, *, seed):
            with lock:
                running[given.user] += 1
                most[given.user] = max(most[given.user], running[given.user])
                order.append((given.user, given.session))
            if given.session == "s0":
                both.wait(10)  # passes only if two users are at it at once
            with lock:
                running[given.user] -= 1
            return super().review(given, seed=seed)

    working = service(store, reviewer=Slow(SKIP), workers=4)
    for number in range(5):
        for user in ("nina", "omar"):
            working.enqueue(LearningJob(session(f"s{number}", user=user), FAILED))
    with working:
        pass
    assert most == {"nina": 1, "omar": 1}
    for user in ("nina", "omar"):
        assert [one for who, one in order if who == user] == [f"s{n}" for n in range(5)]


def test_a_full_queue_makes_the_caller_do_one_job_and_nothing_is_lost(store):
    gate = threading.Event()
    script = Script(SKIP)

    class Waiting(Script):
        def review(self, given, *, seed):
            if given.session == "first":
                gate.wait(10)
            return script.review(given, seed=seed)

    working = service(store, reviewer=Waiting(SKIP), queue_size=2)
    working.start()
    working.enqueue(LearningJob(session("first"), FAILED))
    while store.learning.depths()[JobStatus.RUNNING] == 0:
        pass
    statuses = [working.enqueue(LearningJob(session(f"s{n}", user=f"u{n}"), FAILED)).status for n in range(5)]
    assert statuses == ["queued", "queued", "inline", "inline", "inline"]
    gate.set()
    assert working.close(timeout=30)
    assert sorted(script.sessions) == ["first", *(f"s{n}" for n in range(5))]
    assert store.learning.counts()["fallbacks"] == 3


def test_a_full_queue_may_refuse_instead(store):
    working = service(store, SKIP, queue_size=1, overflow="refuse")
    receipts = [working.enqueue(LearningJob(session(f"s{n}"), FAILED)) for n in range(2)]
    assert [receipt.status for receipt in receipts] == ["queued", "refused"]
    assert "1 jobs wait already" in receipts[1].error
    working.drain()
    assert working.enqueue(LearningJob(session("s1"), FAILED)).status == "queued"


def test_a_reviewer_that_keeps_failing_parks_the_job_with_its_error(store):
    script = Script(RuntimeError("dial refused, api_key=FAKE1234"))
    working = service(store, reviewer=script)
    receipt = working.enqueue(LearningJob(session(), FAILED))
    working.drain()
    job = store.learning.job(receipt.job)
    assert (job.status, job.attempts, len(script.seen)) == (JobStatus.PARKED, 3, 3)
    assert "dial refused" in job.error
    assert "FAKE1234" not in job.error
    assert store.learning.reviewed(session()) is not None  # the next part is not held back for ever
    script.answers = [create()]
    assert store.learning.retry() == 1
    working.drain()
    assert store.learning.job(receipt.job).status is JobStatus.DONE
    assert len(store.revisions(status=Status.ACTIVE)) == 1


def test_a_reviewer_that_hangs_is_left_behind(store):
    never = threading.Event()
    working = service(store, lambda given: never.wait(60), timeout=0.05, attempts=2, max_stuck=3)
    receipt = working.enqueue(LearningJob(session(), FAILED))
    working.drain()
    job = store.learning.job(receipt.job)
    assert (job.status, job.error) == (JobStatus.PARKED, "no answer within 0.05 seconds")
    assert store.learning.counts()["timeouts"] == 2
    never.set()


def test_so_many_may_hang_and_no_more_are_begun(store):
    never = threading.Event()
    script = Script(lambda given: never.wait(60))
    working = service(store, reviewer=script, timeout=0.05, attempts=9, max_stuck=2)
    working.enqueue(LearningJob(session(), FAILED))
    for _ in range(6):
        working.run_one()
    assert len(script.seen) == 2
    assert store.learning.jobs()[0].attempts == 2
    never.set()


@pytest.mark.parametrize("answer", [SystemExit("bye"), KeyboardInterrupt(), MemoryError(), "garbage", 7])
def test_whatever_a_reviewer_does_the_service_lives(store, answer):
    working = service(store, answer if isinstance(answer, BaseException) else lambda given: answer, attempts=1)
    bad = working.enqueue(LearningJob(session("bad"), FAILED))
    with working:
        pass
    assert store.learning.job(bad.job).status is JobStatus.PARKED


def test_handing_in_never_raises(store):
    working = service(store, SKIP)
    broken = Session.of("s", [{"role": "user", "content": {1, 2}}])
    assert working.enqueue(LearningJob(broken)).status == "failed"
    assert working.enqueue(LearningJob(None)).status == "failed"
    store.close()
    working = service(store, SKIP, scope_mode=ScopeMode.USER)
    assert "needs the name" in working.enqueue(LearningJob(session(app="", user=""))).error


def test_secrets_and_endless_texts_are_not_stored(store):
    working = service(store, SKIP)
    text = "password=FAKEFAKE1 " + "x" * 300_000
    receipt = working.enqueue(LearningJob(Session.of("s", [{"role": "user", "content": text}])))
    kept = store.learning.job(receipt.job).session.events[0].message["content"]
    assert "FAKEFAKE1" not in kept
    assert len(kept) < 110_000


SECRET = "sk-FAKEFAKEFAKEFAKE1234"
MESSAGE = {"role": "user", "content": "x"}


def test_no_secret_of_an_outcome_or_below_a_list_is_stored_or_shown_to_the_reviewer(store, place):
    script = Script(SKIP)
    message = {"role": "tool", "content": "x", "extra": {"password": ["FAKEFAKE2", "x"]}}
    outcome = TaskOutcome(f"failed {SECRET}", 0.0, f"notes {SECRET}", f"judge {SECRET}")
    receipt = service(store, reviewer=script).enqueue(LearningJob(Session.of("s", [message]), outcome))
    assert receipt.status == "queued"
    told = str(store.learning.job(receipt.job))
    assert told.count("[REDACTED]") >= 4
    stored = b"".join(file.read_bytes() for file in place.root.rglob("*") if file.is_file())
    assert SECRET.encode() not in stored
    assert b"FAKEFAKE2" not in stored


@pytest.mark.parametrize(
    ("session", "kind", "words"),
    [
        (Session.of(SECRET, [MESSAGE]), "", "the id of"),
        (Session.of("s", [MESSAGE], app=SECRET), "", "the app of"),
        (Session.of("s", [MESSAGE], user=f"u {SECRET}"), "", "the user of"),
        (Session.of("s", [MESSAGE], skills={SECRET: ""}), "", "the skills of"),
        (Session("s", (Event(SECRET, None, MESSAGE),)), "", "the event ids of"),
        (Session.of("s", [MESSAGE]), SECRET, "the kind of"),
    ],
)
def test_a_secret_in_a_name_is_refused_and_not_repeated(store, place, caplog, session, kind, words):
    receipt = service(store, SKIP).enqueue(LearningJob(session, kind=kind))
    assert receipt.status == "failed"
    assert words in receipt.error
    stored = b"".join(file.read_bytes() for file in place.root.rglob("*") if file.is_file())
    assert SECRET not in receipt.error + caplog.text
    assert SECRET.encode() not in stored


def test_a_session_that_grows_costs_only_what_is_new(store):
    seen = []

    def redact(text):
        seen.append(text)
        return text

    working = LearningService(store, Script(SKIP), redact=redact)
    for turns in (100, 101):
        seen.clear()
        working.enqueue(LearningJob(session(turns=turns)))
    assert 2 < len(seen) < 70  # a few texts of what is new, and the names
    assert any("s1.100" in text for text in seen)


def test_what_a_dead_service_left_is_done_by_the_next(store, place):
    with store.learning.slot() as slot:
        store.learning.add(_piece("s1"))
        assert store.learning.claim(slot).job.session_id == "s1"
        with place.open() as other:  # the owner lives: nobody takes its job
            assert service(other, SKIP).drain() == 0
            assert other.learning.depths()[JobStatus.RUNNING] == 1
    # Its lock is gone with it, its job still says running.
    script = Script(SKIP)
    service(store, reviewer=script).drain()
    assert script.sessions == ["s1"]
    assert store.learning.depths()[JobStatus.DONE] == 1


def _piece(id):
    from pytest_skillevo.store.learning_records import Piece

    return Piece(session(id), FAILED)


def test_a_crash_after_the_decision_does_not_ask_again_and_enters_nothing_twice(store, monkeypatch):
    script = Script(create())
    working = service(store, reviewer=script, attempts=5)
    receipt = working.enqueue(LearningJob(session(), FAILED))
    finish = store.learning.finish
    crashes = iter([True, False])

    def finish_or_crash(*arguments):
        if next(crashes):
            raise OSError("the disk went away")
        finish(*arguments)

    monkeypatch.setattr(store.learning, "finish", finish_or_crash)
    with pytest.raises(OSError, match="went away"):
        working.run_one()
    working.close()  # its slot ends with it, as with its process
    service(store, reviewer=script).drain()
    job = store.learning.job(receipt.job)
    made = [one for one in store.revisions() if one.origin == "reviewer"]
    assert (job.status, len(script.seen), len(made)) == (JobStatus.DONE, 1, 1)
    assert job.result["revisions"][0]["status"] == "active"


def test_closing_does_what_waits_and_later_sessions_wait_for_the_next_service(store):
    script = Script(SKIP)
    working = service(store, reviewer=script)
    working.start()
    for number in range(4):
        working.enqueue(LearningJob(session(f"s{number}"), FAILED))
    assert working.close(timeout=30)
    assert len(script.seen) == 4
    assert working.enqueue(LearningJob(session("late"), FAILED)).status == "queued"
    assert working.close()
    with service(store, reviewer=script):
        pass
    assert script.sessions[-1] == "late"


def test_closing_has_a_limit_of_time(store):
    never = threading.Event()
    working = service(store, lambda given: never.wait(60), timeout=60)
    working.start()
    working.enqueue(LearningJob(session(), FAILED))
    while store.learning.depths()[JobStatus.RUNNING] == 0:
        pass
    assert working.close(timeout=0.05) is False
    never.set()


def test_learning_can_be_paused_and_resumed(store):
    working = service(store, SKIP)
    store.learning.pause(Pause.LEARNING)
    working.enqueue(LearningJob(session(), FAILED))
    assert (working.drain(), store.learning.is_paused(Pause.LEARNING)) == (0, True)
    store.learning.resume(Pause.LEARNING)
    assert working.drain() == 1


def test_while_publication_is_paused_a_person_decides(store, place):
    store.learning.pause(Pause.PUBLICATION)
    job = learn(store, create())
    assert job.result["revisions"][0]["status"] == "pending_approval"
    assert not (place.skills / "tide-report").exists()


def test_a_foreground_write_makes_the_review_unneeded(store):
    call = {"id": "c", "type": "function", "function": {"name": "skill_manage", "arguments": '{"action": "create"}'}}
    messages = [
        {"role": "user", "content": "x"},
        {"role": "assistant", "content": "y", "tool_calls": [call] * 5},
        {"role": "tool", "tool_call_id": "c", "content": '{"success": true}'},
    ]
    script = Script(SKIP)
    job = learn(store, reviewer=script, job=LearningJob(Session.of("s", messages), FAILED))
    assert (script.seen, job.status, store.learning.counts()["foreground"]) == ([], JobStatus.DONE, 1)


def test_the_reconcilers_steps_are_recorded_with_the_job(store):
    job = learn(store, create("Tide Report - 3 Ports"))
    assert job.result["reconciled"][0]["kind"] == "generalise_count"
    job = learn(store, create("Tide Report - 4 Ports"), job=LearningJob(session("s2"), FAILED))
    assert job.result["reconciled"][0]["kind"] == "rewrite_quantified_sibling_to_update"
    assert {one.skill for one in store.revisions()} == {"tide-report-multi-port"}


def test_skills_that_people_wrote_are_read_only_unless_it_is_allowed(store, place):
    Skill.create(spec("Harbour Rules")).write(place.skills / "harbour-rules")
    job = learn(store, add("harbour-rules", "Never skip the check."))
    assert "written by people" in job.result["refused"][0]["reason"]
    job = learn(
        store,
        add("harbour-rules", "Never skip the check."),
        job=LearningJob(session("s2"), FAILED),
        user_skills=True,
    )
    assert job.result["revisions"][0]["status"] == "active"


def _deletes(name: str) -> ReviewDecision:
    return ReviewDecision(deletions=(name,))


def test_a_skill_that_learning_made_can_be_deleted_by_it_and_brought_back(store, place):
    learn(store, create())
    used = {"Tide Report": Skill.load(place.skills / "tide-report").digest}
    job = learn(store, _deletes("Tide Report"), job=LearningJob(session("s2", skills=used), FAILED))
    (told,) = job.result["revisions"]
    assert told["status"] == "active"
    assert store.revision(told["revision"]).action is Action.DELETE
    assert not (place.skills / "tide-report").exists()
    store.rollback("tide-report", actor="nina", reason="it was of use")
    assert Skill.load(place.skills / "tide-report").spec.steps[0] == "Ask for the tide of every port."


def test_pinned_skills_and_those_of_people_are_not_deleted_in_the_background(store, place):
    learn(store, create())
    Skill.create(spec("Harbour Rules")).write(place.skills / "harbour-rules")
    with place.open(protected=("tide-*",)) as pinned:
        for name, why in (("Tide Report", "it is pinned"), ("harbour-rules", "written by people")):
            job = learn(pinned, _deletes(name), job=LearningJob(session(f"about {name}"), FAILED))
            assert why in job.result["refused"][0]["reason"]
    assert {path.parent.name for path in place.skills.glob("*/SKILL.md")} == {"harbour-rules", "tide-report"}


def test_what_waits_already_is_not_proposed_again(place):
    with place.open(gates=standard_gates()) as store:
        learn(store, create())
        job = learn(store, create(), job=LearningJob(session("s2"), FAILED))
        assert job.result["revisions"][0]["known"] is True
        assert len(store.revisions()) == 1


def test_users_learn_apart_in_scope_mode_user(store, place):
    for user in ("nina", "omar"):
        learn(store, create(), job=LearningJob(session("s", user=user), FAILED), scope_mode=ScopeMode.USER)
    assert len(store.partitions()) == 2
    assert not (place.skills / "tide-report").exists()
    assert len(list(place.skills.rglob("SKILL.md"))) == 2


def test_the_figures_tell_every_stage_and_what_a_version_changed(store):
    working = service(store, create())
    for number in range(3):
        outcome = TaskOutcome("fail", 0.2, tokens=1_000)
        working.enqueue(LearningJob(session(f"a{number}"), outcome, kind="tides"))
    working.run_one()
    digest = store.pointer("tide-report").digest
    loaded = session("later", skills={"tide-report": digest})
    working.enqueue(LearningJob(loaded, TaskOutcome("success", 0.9, tokens=400), kind="tides"))
    told = status(store)
    assert told["stages"] == {
        "accepted": 4, "reviewed": 1, "proposed": 1, "gated": 1, "published": 1, "loaded": 1
    }  # fmt: skip
    (effect,) = told["effects"]
    assert effect["tokens"] == {"before": {"mean": 1_000, "count": 3}, "after": {"mean": 400, "count": 1}}
    assert effect["score"]["after"]["mean"] == 0.9
    assert told["latency"]["jobs"] == 1


def test_many_threads_hand_in_and_nothing_is_lost_or_twice(store):
    script = Script(SKIP)
    working = service(store, reviewer=script, workers=2, queue_size=5)
    with working, ThreadPoolExecutor(6) as pool:
        jobs = [LearningJob(session(f"s{n % 40}", user=f"u{n % 7}"), FAILED) for n in range(120)]
        receipts = list(pool.map(working.enqueue, jobs))
    counts = Counter(receipt.status for receipt in receipts)
    assert counts["failed"] == counts["refused"] == 0
    wanted = {(f"s{n % 40}", f"u{n % 7}") for n in range(120)}
    assert Counter((given.session, given.user) for given in script.seen) == dict.fromkeys(wanted, 1)


@pytest.mark.parametrize("wrong", [{"workers": 0}, {"timeout": 0}, {"overflow": "drop"}, {"backoff": -1}])
def test_settings_that_cannot_work_are_refused(wrong):
    with pytest.raises(ConfigError, match="learning: "):
        Settings(**wrong)

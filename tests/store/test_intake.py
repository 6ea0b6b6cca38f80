"""Candidates come in: judged, entered, published when nothing holds them."""

from __future__ import annotations

from dataclasses import replace

import pytest

from pytest_skillevo.core.errors import StoreError
from pytest_skillevo.core.gates.records import Gates
from pytest_skillevo.core.judging import gate_evidence, standard_gates
from pytest_skillevo.core.revisions import Action, Deed, Status
from pytest_skillevo.core.skill import Skill
from pytest_skillevo.core.verdict import Verdict

from .gate import gates
from .invariants import assert_whole

EVERY_DATABASE = True
NAME = "recipe-cookbook"


@pytest.mark.parametrize(
    ("objections", "status", "deed"),
    [
        ({"spec": "too_few_steps"}, Status.REJECTED, Deed.REJECT),
        ({"safety": "secret"}, Status.REJECTED, Deed.REJECT),
        ({"effectiveness": "weak"}, Status.PENDING_EVAL, Deed.HOLD),
        ({"human": "held"}, Status.PENDING_APPROVAL, Deed.HOLD),
    ],
)
def test_what_a_gate_holds_is_kept_with_its_reason_and_published_by_nobody(project, objections, status, deed):
    with project.open(gates=gates(**objections)) as store:
        revision = store.offer(project.proposal(), actor="reviewer", reason="learned")
        assert revision.status is status
        assert project.files() == project.tree(project.seed)
        (event,) = store.history(revision)
        assert (event.deed, event.actor, event.reason) == (deed, "reviewer", ": ".join(*objections.items()))
        (verdict,) = revision.gates["verdicts"]
        assert verdict["passed"] is False
        assert_whole(store)


def test_what_nothing_holds_is_published_in_the_same_step(project):
    with project.open(gates=gates(spec=None, safety=None, effectiveness=None)) as store:
        revision = store.offer(project.proposal(), actor="reviewer", reason="learned")
        assert revision.status is Status.ACTIVE
        assert project.files() == project.tree(project.better)
        assert [event.deed for event in store.history(revision)] == [Deed.SUBMIT, Deed.PROMOTE]
        assert store.revision(revision.parent).source == "import"
        assert_whole(store)


def test_without_gates_an_offer_is_published(store, project):
    assert store.offer(project.proposal(), actor="reviewer", reason="").status is Status.ACTIVE


def test_the_same_offer_twice_is_one_revision_whatever_became_of_it(project):
    with project.open(gates=gates(spec="thin")) as store:
        first = store.offer(project.proposal(), actor="reviewer", reason="")
        assert store.offer(project.proposal(), actor="reviewer", reason="") == first
    with project.open() as store:
        assert store.offer(project.proposal(), actor="reviewer", reason="").status is Status.REJECTED
        assert store.count() == 1


def test_an_offer_that_changes_nothing_is_refused(store, project):
    with pytest.raises(StoreError, match="same as the one before"):
        store.offer(project.proposal(content=project.seed), actor="reviewer", reason="")
    assert store.count() == 0


def test_an_offer_that_comes_too_late_is_kept_as_rejected(store, project):
    (project.folder / "SKILL.md").write_bytes(b"# by hand\n")
    revision = store.offer(project.proposal(), actor="reviewer", reason="learned")
    assert revision.status is Status.REJECTED
    (event,) = store.history(revision)
    assert event.deed is Deed.STALE
    assert "SKILL.md differs" in event.reason
    assert project.files()["SKILL.md"] == b"# by hand\n"


def test_of_two_offers_on_one_parent_the_second_is_too_late(store, project):
    store.offer(project.proposal(), actor="reviewer", reason="")
    rival = store.offer(project.proposal(content=project.version(1), source="reviewer:2"), actor="reviewer", reason="")
    assert rival.status is Status.REJECTED
    assert project.files() == project.tree(project.better)


def test_an_offer_whose_files_cannot_be_written_can_be_approved_later(project, monkeypatch):
    import pytest_skillevo.store.publisher as publisher

    real = publisher.atomic_write

    def full(path, data):
        if path.name == "SKILL.md" and b"at most twice" in data:
            raise OSError(28, "No space left on device")
        real(path, data)

    with project.open() as store:
        with monkeypatch.context() as patch:
            patch.setattr(publisher, "atomic_write", full)
            revision = store.offer(project.proposal(), actor="reviewer", reason="")
        assert revision.status is Status.PUBLISH_FAILED
        assert project.files() == project.tree(project.seed)
        assert "No space left" in store.history(revision)[-1].reason
        assert store.approve(revision.id, "nina").status is Status.ACTIVE
        assert_whole(store)


def test_shadow_mode_publishes_past_effectiveness_and_people_and_says_so(project):
    with project.open(gates=gates(effectiveness="weak", human="held")) as store:
        revision = store.offer(project.proposal(), actor="reviewer", reason="", shadow=True)
        assert revision.status is Status.ACTIVE
        assert revision.bypassed == ("effectiveness", "human")
        assert project.files() == project.tree(project.better)


@pytest.mark.parametrize("gate", ["spec", "safety"])
def test_shadow_mode_does_not_open_the_first_two_gates(project, gate):
    with project.open(gates=gates(**{gate: "bad"}, human="held")) as store:
        revision = store.offer(project.proposal(), actor="reviewer", reason="", shadow=True)
        assert (revision.status, revision.bypassed) == (Status.REJECTED, ())
        assert project.files() == project.tree(project.seed)


def test_a_rollback_passes_over_what_shadow_mode_let_through(project):
    with project.open(gates=gates(human="held")) as store:
        store.approve(project.enter(store).id, "nina")
        shadowed = project.proposal(content=project.version(1), parent=project.better)
        shadow = store.offer(shadowed, actor="reviewer", reason="", shadow=True)
        last = project.enter(store, content=project.version(2), parent=project.version(1), source="experiment:e2")
        store.approve(last.id, "nina")
        assert store.revision(last.id).parent == shadow.id
        assert store.rollback(NAME, "omar").digest == project.better.digest
        assert store.rollback(NAME, "omar", to=shadow.id).status is Status.ACTIVE


def test_a_protected_skill_is_not_touched_and_the_attempt_is_on_record(project):
    with project.open(protected=("recipe-*",)) as store:
        revision = store.offer(project.proposal(), actor="reviewer", reason="learned")
        assert revision.status is Status.REJECTED
        assert "is protected (skillevo_protected: recipe-*)" in store.history(revision)[-1].reason
        waiting = project.enter(store)
        with pytest.raises(StoreError, match="is protected"):
            store.approve(waiting.id, "nina")
        assert project.files() == project.tree(project.seed)
        assert store.reject(waiting.id, "nina").status is Status.REJECTED


def test_an_experiment_waits_as_it_says_unless_a_gate_is_stricter(project):
    with project.open(gates=gates(safety=None)) as store:
        assert project.enter(store).status is Status.PENDING_APPROVAL
    with project.open(gates=gates(safety="secret")) as store:
        revision = project.enter(store, source="experiment:e2", content=project.version(1))
        assert revision.status is Status.REJECTED
        assert store.history(revision)[-1].reason == "better on 15 of 30 cases | safety: secret"


def test_a_parked_revision_gets_out_by_new_evidence(project):
    def weak(candidate):
        return None if candidate.evidence and candidate.evidence.score >= 0.8 else "weak"

    with project.open(gates=gates(effectiveness=weak)) as store:
        offered = project.proposal(evidence={"outcome": {"status": "success", "score": 0.4}})
        parked = store.offer(offered, actor="reviewer", reason="")
        assert parked.status is Status.PENDING_EVAL
        worse = {"outcome": {"status": "success", "score": 0.5}}
        again = store.reevaluate(parked.id, worse, actor="ci", reason="tried again")
        assert again.status is Status.PENDING_EVAL
        good = {"outcome": {"status": "success", "score": 0.9}}
        published = store.reevaluate(parked.id, good, actor="ci")
        assert published.status is Status.ACTIVE
        assert published.evidence == good
        assert [old["evidence"]["outcome"]["score"] for old in store.evaluations(published)] == [0.4, 0.5]
        assert [event.deed for event in store.history(published)] == [
            Deed.HOLD,
            Deed.REEVALUATE,
            Deed.REEVALUATE,
            Deed.PROMOTE,
        ]
        assert project.files() == project.tree(project.better)
        assert_whole(store)


@pytest.mark.parametrize("source", ["experiment:e1", "submission", "bundle:experiment:e1"])
def test_what_did_not_come_from_the_reviewer_waits_for_a_person_after_new_evidence(project, source):
    with project.open(gates=gates(effectiveness=None)) as store:
        parked = project.enter(store, status=Status.PENDING_EVAL, source=source)
        assert store.reevaluate(parked.id, {"more": 1}, actor="ci").status is Status.PENDING_APPROVAL
        assert project.files() == project.tree(project.seed)
        assert store.approve(parked.id, "nina").status is Status.ACTIVE


def test_a_re_evaluation_may_reject_or_park_what_waited(project):
    with project.open() as store:
        one = project.enter(store)
        other = project.enter(store, source="experiment:e2", content=project.version(1))
    with project.open(gates=gates(safety="secret")) as store:
        assert store.reevaluate(one.id, actor="ci").status is Status.REJECTED
    with project.open(gates=gates(effectiveness="weak")) as store:
        assert store.reevaluate(other.id, actor="ci").status is Status.PENDING_EVAL
        assert_whole(store)


@pytest.mark.parametrize("status", [Status.REJECTED, Status.EXPIRED, Status.ACTIVE])
def test_what_is_decided_is_not_evaluated_again(store, project, status):
    revision = project.enter(store)
    if status is Status.ACTIVE:
        store.approve(revision.id, "nina")
    else:
        store.change_status(revision.id, status, "nina", "")
    with pytest.raises(StoreError, match="only a revision that waits can be evaluated again"):
        store.reevaluate(revision.id, {"more": 1}, actor="ci")


def test_a_parked_candidate_that_was_overtaken_is_rejected_when_its_evidence_comes(store, project):
    parked = store.add(project.proposal(), status=Status.PENDING_EVAL, actor="reviewer", reason="")
    store.approve(project.enter(store, content=project.version(1)).id, "nina")
    late = store.reevaluate(parked.id, {"more": 1}, actor="ci")
    assert late.status is Status.REJECTED
    assert store.history(late)[-1].deed is Deed.STALE


def test_a_second_experiment_with_the_same_candidate_moves_the_parked_one(store, project):
    parked = project.enter(store, status=Status.PENDING_EVAL)
    moved = project.enter(store, source="experiment:e2", evidence={"decision": {"verdict": "ACCEPT"}, "n": 60})
    assert moved.id == parked.id
    assert moved.status is Status.PENDING_APPROVAL
    assert moved.evidence["n"] == 60
    assert store.count() == 1


def test_a_second_experiment_that_is_inconclusive_leaves_the_parked_one_parked(store, project):
    parked = project.enter(store, status=Status.PENDING_EVAL)
    again = project.enter(store, source="experiment:e2", status=Status.PENDING_EVAL)
    assert (again.id, again.status) == (parked.id, Status.PENDING_EVAL)


def test_the_gates_are_told_names_evidence_and_parent(project):
    asked = gates(spec=None)
    other = project.skills / "cat-facts"
    Skill.from_bytes("cat-facts", b"# Facts about cats\n").write(other)
    with project.open(gates=asked) as store:
        new = Skill.from_bytes("dog-facts", b"# Facts about dogs\n")
        proposal = project.proposal(
            skill="dog-facts", content=new, parent=Skill.absent("dog-facts"), action=Action.CREATE, name="Dog facts!"
        )
        store.offer(proposal, actor="reviewer", reason="")
        store.offer(project.proposal(), actor="reviewer", reason="")
    create, update = asked.spec.asked
    assert (create.name, create.parent, set(create.existing)) == (
        "Dog facts!",
        None,
        {"Facts about cats", "Recipe cookbook"},
    )
    assert (update.name, update.parent.digest, update.existing) == ("Recipe cookbook", project.seed.digest, ())
    assert update.evidence.score == 0.9


def test_the_standard_gates_hold_everything_for_a_person(project):
    with project.open(gates=standard_gates()) as store:
        assert store.offer(project.proposal(), actor="reviewer", reason="").status is Status.PENDING_APPROVAL
        gone = project.proposal(content=Skill.absent(NAME), action=Action.DELETE)
        assert store.offer(gone, actor="reviewer", reason="").status is Status.PENDING_APPROVAL
        broken = project.proposal(content=project.version(1), evidence={"outcome": {"status": "fail"}})
        assert store.offer(broken, actor="reviewer", reason="").status is Status.PENDING_EVAL


def test_gates_that_break_down_let_nothing_through(project):
    class Broken:
        version = "1"

        def judge(self, candidate):
            raise RuntimeError("no model")

    with project.open(gates=Gates(effectiveness=Broken())) as store:
        assert store.offer(project.proposal(), actor="reviewer", reason="", shadow=True).status is Status.REJECTED


def test_evidence_is_what_the_gates_read_in_it():
    assert gate_evidence({}) is None
    assert gate_evidence({"strange": 1}) is None
    outcome = gate_evidence({"outcome": {"status": "success", "score": 0.4}})
    assert (outcome.status, outcome.score, outcome.baseline, outcome.decision) == ("success", 0.4, None, None)
    report = {
        "decision": {"verdict": "ACCEPT"},
        "confirmation": {
            "holdout": {"mean_before": 0.5, "mean_after": 0.75},
            "criticals": [{"case_id": "a", "verdict": "ok"}, {"case_id": "b", "verdict": "worse"}],
        },
    }
    told = gate_evidence(report)
    assert (told.decision, told.score, told.baseline, told.critical_worse) == (Verdict.ACCEPT, 0.75, 0.5, ("b",))
    submitted = gate_evidence({"submission": {"baseline_score": 0, "candidate_score": 1, "case_count": 3}})
    assert (submitted.status, submitted.score, submitted.baseline) == ("success", 1.0, 0.0)
    assert gate_evidence({"submission": {"baseline_score": 0, "candidate_score": 1, "case_count": 0}}) is None


@pytest.mark.parametrize(
    "evidence",
    [
        {"decision": {"verdict": "BRILLIANT"}},
        {"outcome": {"status": 3, "score": "high"}},
        {"decision": {"verdict": "ACCEPT"}, "confirmation": {"criticals": "none", "holdout": {"mean_after": "x"}}},
    ],
    ids=["unknown verdict", "strange outcome", "strange report"],
)
def test_strange_evidence_confirms_nothing(project, evidence):
    with project.open(gates=replace(standard_gates(), human=None)) as store:
        assert store.offer(project.proposal(evidence=evidence), actor="x", reason="").status is Status.PENDING_EVAL


def test_two_that_offer_the_same_at_once_get_one_revision(project):
    with project.open() as store, project.open() as other:
        # As if it had looked before the first one came.
        other._intake._known = lambda proposal: None
        first = store.offer(project.proposal(), actor="one", reason="")
        assert other.offer(project.proposal(), actor="two", reason="") == first
        assert_whole(store)


def test_a_decision_made_while_the_gates_judge_stands(project):
    with project.open() as other:
        parked = project.enter(other, status=Status.PENDING_EVAL)

        def overtaken(candidate):
            other.reject(parked.id, "nina", "no")
            return "weak"

        with project.open(gates=gates(effectiveness=overtaken)) as store:
            with pytest.raises(StoreError, match="changed by someone else meanwhile"):
                store.reevaluate(parked.id, {"more": 1}, actor="ci")
            after = store.revision(parked.id)
            assert (after.status, after.evidence) == (Status.REJECTED, parked.evidence)
            assert_whole(store)


def test_the_same_candidate_on_another_parent_is_another_revision(store, project):
    parked = project.enter(store, status=Status.PENDING_EVAL)
    other = project.enter(store, parent=project.version(1), source="experiment:e2")
    assert other.id != parked.id
    assert store.revision(parked.id).status is Status.PENDING_EVAL

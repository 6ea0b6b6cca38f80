"""A store in the state that a case of tests/data/revisions.json describes, and the operations that a case may ask for.

The cases name the reference's files; this takes their meaning. What is given is written with the store's own functions,
below its rules; what is done goes through its public ones.
"""

from __future__ import annotations

import math
import threading
from collections.abc import Callable, Mapping
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from pytest_skillevo.core.errors import SkillevoError, StoreError
from pytest_skillevo.core.gates.effectiveness import EffectivenessGate
from pytest_skillevo.core.gates.human import HumanGate
from pytest_skillevo.core.gates.records import Gates
from pytest_skillevo.core.gates.safety import SafetyGate
from pytest_skillevo.core.gates.spec import SpecGate
from pytest_skillevo.core.revisions import Action, AuditEvent, Deed, Revision, Status
from pytest_skillevo.core.skill import Skill, SkillSpec, slug
from pytest_skillevo.core.submission import Submission, SubmissionEvidence, SubmissionRefused
from pytest_skillevo.store import StaleParent, Store
from pytest_skillevo.store.audit import Change
from pytest_skillevo.store.lineage import action_of
from pytest_skillevo.store.repository import Repository
from pytest_skillevo.store.revisions import Proposal, insert_revision, move_pointer, set_parent, set_status
from pytest_skillevo.store.submission import RevisionSubmitter
from pytest_skillevo.store.timers import Timers, sweep

Json = dict[str, Any]
#: Where a case says nothing of the time.
NOW = 1_000_000.0
DEFAULT = {
    "name": "Ledger Export",
    "description": "Reconciles ledger rows against bank exports.",
    "when_to_use": "Month-end close.",
    "steps": ["Pull the export.", "Match rows."],
}
#: Sentences of refusals, by the code that a case gives them.
CODES = (
    ("waits for approval can be approved", "already_decided"),
    ("is rejected (that is final)", "already_decided"),
    ("only approve and rollback", "already_decided"),
    ("there is no revision", "not_found"),
    ("without a skills folder", "no_publisher"),
    ("first known version", "no_archived_revision"),
    ("only an archived revision", "no_archived_revision"),
    ("nothing was ever published for skill '  '", "empty_skill_id"),
    ("cannot be the name of a skill folder", "empty_name"),
    ("needs the name of an app", "app_required"),
    ("needs the name of a user", "user_required"),
    ("is damaged", "corrupt"),
)


class Broken:
    """A gate that raises."""

    version = "1"

    def judge(self, candidate: object) -> None:
        raise RuntimeError("out of order")


def spec_of(given: Mapping[str, Any]) -> SkillSpec:
    texts = {key: given.get(key, "") for key in ("name", "description", "when_to_use")}
    return SkillSpec(**texts, steps=tuple(given.get("steps", ())), pitfalls=tuple(given.get("pitfalls", ())))


def code_of(error: SkillevoError) -> str:
    if isinstance(error, SubmissionRefused):
        return error.code
    if isinstance(error, StaleParent):
        return "stale_parent"
    return next((code for words, code in CODES if words in str(error)), str(error))


class World:
    def __init__(self, root: Path, case: Json) -> None:
        given = case["given"]
        self.config: Json = given.get("config", {})
        self.home, self.skills = root / "home", root / "skills"
        self.skills.mkdir(parents=True)
        self.bundled = root / "bundled"
        self.now = given.get("now", NOW)
        self.blocked, self.released = threading.Event(), threading.Event()
        self.blocking = False
        self.threads: list[tuple[threading.Thread, list[str | None]]] = []
        self.ids: dict[str, str] = {}
        self.seen = self.submissions = 0
        self.crash_at = ""
        self.store = self.open()
        self._library(given)
        for one in given.get("revisions", ()):
            self._revision(one, given.get("pointers", {}))
        self._point(given)
        self.known = {revision.id for revision in self.store.revisions()}
        self.events = len(self.store.audit())

    # What is given

    def open(self) -> Store:
        publisher = self.config.get("publisher") != "none"
        return Store.open(
            self.home,
            skills=self.skills if publisher else None,
            gates=self._gates(),
            clock=self.clock,
            fault=self.fault,
        )

    def clock(self) -> datetime:
        return datetime.fromtimestamp(self.now, UTC)

    def fault(self, step: str) -> None:
        if self.blocking and step == "intent committed":
            self.blocked.set()
            assert self.released.wait(60)
        if self.crash_at and step == self.crash_at:
            raise Crash

    def _gates(self) -> Gates | None:
        wanted = self.config.get("gates")
        if wanted is None:
            return None
        made = {"spec": SpecGate(), "safety": SafetyGate(), "effectiveness": EffectivenessGate()}
        gates = {name: Broken() if wanted[name] == "error" else made[name] for name in made if wanted.get(name)}
        human = wanted.get("human")
        if human is not None:
            hold = {"always": "always", "create_only": "create-and-delete"}
            gates["human"] = Broken() if human == "error" else HumanGate(hold[human])
        return Gates(**gates)

    def _library(self, given: Json) -> None:
        managed = self.config.get("managed_dir", "/st/skills/evo")
        for one in given.get("library", ()):
            place = Path(one.get("dir", f"{managed}/{slug(one['name'])}"))
            root = self.skills if place.parent == Path(managed) else self.bundled
            Skill.create(spec_of(DEFAULT | {"name": one["name"], "pitfalls": ["As found."]})).write(root / place.name)

    def _content(self, one: Json) -> Skill:
        folder = one["skill_id"]
        if one.get("action") == "delete":
            return Skill.absent(folder)
        name = one.get("target_name") or (DEFAULT["name"] if folder == slug(DEFAULT["name"]) else folder)
        body = one.get("spec") or DEFAULT | {"name": name, "pitfalls": [one["revision_id"]]}
        return Skill.create(spec_of(body))

    def _revision(self, one: Json, pointers: Json) -> None:
        folder = one["skill_id"]
        parent = one.get("parent_id", "")
        if one.get("action") == "delete" and "parent_id" not in one:
            parent = pointers.get(folder, "")
        judged = Skill.absent(folder)
        if parent:
            known = self.ids.get(parent)
            lost = Skill.from_bytes(folder, f"# {parent}\n".encode())
            judged = self.store.skill_of(self.store.revision(known)) if known else lost
        content = self._content(one)
        wanted, held = Status(one.get("status", "pending")), one.get("human_report", {}).get("decided_at")
        created = datetime.fromtimestamp(one.get("created_at", self.now), UTC).isoformat(timespec="microseconds")
        proposal = Proposal(folder, content, judged, action_of(judged, content), "reviewer", {}, one.get("target_name"))
        with self.store._database.write() as connection:
            made = insert_revision(
                connection,
                "",
                proposal,
                Status.PENDING_EVAL if held else wanted,
                Deed.SUBMIT,
                Change("given", "", created),
                replaces=self.ids.get(parent),
            )
            if held:
                at = datetime.fromtimestamp(held, UTC).isoformat(timespec="microseconds")
                set_status(connection, made, wanted, Deed.HOLD, Change("given", "", at))
            if wanted in (Status.ARCHIVED, Status.ACTIVE) and self.ids and not parent:
                before = [id for id in self.ids.values() if id != made.id]
                set_parent(connection, made.id, before[-1])
        self.ids[one["revision_id"]] = made.id

    def _point(self, given: Json) -> None:
        """The pointers that are given, one for each deletion that is active, and the files that they stand for."""
        named = {skill: self.ids[id] for skill, id in given.get("pointers", {}).items() if id in self.ids}
        gone = [one for one in self.store.revisions(status=Status.ACTIVE) if one.action is Action.DELETE]
        for id in [*named.values(), *(one.id for one in gone if one.skill not in named)]:
            revision = self.store.revision(id)
            with self.store._database.write() as connection:
                move_pointer(connection, revision, "2001")
            content = self.store.skill_of(revision)
            if content.exists:
                content.write(self.skills / revision.skill)

    # What is done

    def do(self, op: Json) -> Any:
        act: Callable[..., Any] = getattr(self, op["op"])
        return act(**{key: value for key, value in op.items() if key not in ("op", "expect_error")})

    def id_of(self, name: str) -> str:
        if name.startswith("$"):
            new = [one.id for one in reversed(self.store.revisions()) if one.id not in self.known]
            return [id for id in new if self.store.revision(id).source != "import"][int(name[1:]) - 1]
        return self.ids.get(name, name)

    def approve(self, revision_id: str, reviewer: str = "", comment: str = "", skill_id: str = "", crash_at: str = ""):
        self.crash_at = {"": "", "before_audit": "before the last commit"}[crash_at]
        try:
            self.store.approve(self.id_of(revision_id), reviewer, comment)
        except Crash:
            self.store.close()
        self.crash_at = ""

    def reject(self, revision_id: str, reviewer: str = "", comment: str = "", skill_id: str = ""):
        self.store.reject(self.id_of(revision_id), reviewer, comment)

    def rollback(self, skill_id: str = "ledger-export", target: str = "", reviewer: str = "", comment: str = ""):
        before = self.store.pointer(skill_id)
        self.crash_at = "before the last commit" if "pointer_set" in self.config.get("faults", ()) else ""
        try:
            restored = self.store.rollback(skill_id, reviewer, comment, to=self.id_of(target) if target else None)
        except Crash:
            raise StoreError("pointer_set") from None
        finally:
            self.crash_at = ""
        names = {id: name for name, id in self.ids.items()}
        return {"previous": names[before.revision], "restored": names[restored.id]}

    def restart_recover(self):
        self.store = self.open()

    def sweep(self):
        wait = self.config.get("approval_timeout_s") or 0
        sweep(self.store, Timers(timedelta(seconds=wait) if wait else None), self.clock())

    def reevaluate(self, revision_id: str, outcome: Json):
        self.store.reevaluate(self.id_of(revision_id), {"outcome": outcome}, actor="ci")

    def submit(self, spec: Json | None, action: str = "", parent_id: str = "", evidence: Json | None = None):
        measured = None
        if evidence is not None:
            numbers = {
                key: math.nan if value == "nan" else value for key, value in evidence.get("objectives", {}).items()
            }
            measured = SubmissionEvidence(**(evidence | {"objectives": numbers}))
        repository = None if self.config.get("repo") == "none" else self.repository()
        content = None if spec is None else spec_of(spec)
        parent = self.id_of(parent_id) if parent_id else ""
        revision = RevisionSubmitter(self.store, repository).submit(
            Submission(content, action, parent, measured), "lab"
        )
        self.submissions += 1
        return revision

    def apply_decision(self, skills=(), updates=(), deletions=(), outcome: Json | None = None):
        """What a Reviewer decided: creations, updates, deletions, each offered; what is not managed is left alone."""
        library = self.repository().library()
        for spec in filter(None, skills):
            self.seen += 1
            folder = self.store.folder_for(spec["name"])
            self._offer(folder, Skill.create(spec_of(spec)), Action.CREATE, outcome, spec["name"])
        told: list[Json] = []
        for one in filter(None, updates):
            listing = library.find(one["name"])
            if listing is not None and listing.managed:
                self.seen += 1
                body = one["spec"] | {"name": one["name"], "pitfalls": [f"Again, {len(told)}."] if one in told else []}
                told.append(one)
                self._offer(listing.folder.name, Skill.create(spec_of(body)), Action.UPDATE, outcome, one["name"])
        for name in deletions:
            listing = library.find(name)
            if listing is not None and listing.managed:
                self.seen += 1
                folder = listing.folder.name
                self._offer(folder, Skill.absent(folder), Action.DELETE, outcome, name)

    def _offer(self, folder: str, content: Skill, action: Action, outcome: Json | None, name: str) -> None:
        place = self.skills / folder
        parent = Skill.load(place) if (place / "SKILL.md").exists() else Skill.absent(folder)
        evidence = {} if outcome is None else {"outcome": outcome}
        proposal = Proposal(folder, content, parent, action, "reviewer", evidence, name)
        try:
            self.store.offer(proposal, actor="reviewer", reason="", shadow=self.config.get("shadow", False))
        except StoreError as error:
            # Nothing to do is no failure.
            if "nothing was stored" not in str(error):
                raise

    def publish(self, spec: Json | None):
        if spec is None:
            self.submit(None)
        existing = self.repository().library().find(spec["name"])
        self.apply_decision(**({"updates": [{"name": spec["name"], "spec": spec}]} if existing else {"skills": [spec]}))

    def unpublish(self, name: str):
        self._offer(name, Skill.absent(name), Action.DELETE, None, name)

    # In threads

    def apply_decision_async(self, updates: list[Json], block_in_publisher: bool = False):
        self._start(lambda: self.apply_decision(updates=updates), block_in_publisher)

    def approve_async(self, skill_id: str, revision_id: str, block_in_publisher: bool = False):
        self._start(lambda: self.approve(revision_id), block_in_publisher)

    def reject_async(self, skill_id: str, revision_id: str):
        self._start(lambda: self.reject(revision_id), False)

    def release_publisher(self):
        self.released.set()

    def join(self):
        for thread, _ in self.threads:
            thread.join()

    def _start(self, act: Callable[[], None], block: bool) -> None:
        answers: list[str | None] = []

        def run() -> None:
            try:
                act()
            except SkillevoError as error:
                answers.append(code_of(error))
            else:
                answers.append(None)

        self.blocking = block
        thread = threading.Thread(target=run)
        self.threads.append((thread, answers))
        thread.start()
        if block:
            assert self.blocked.wait(60)
            self.blocking = False

    # What is seen then

    def repository(self) -> Repository:
        return Repository(self.skills, others=[self.bundled])

    def new_events(self) -> list[AuditEvent]:
        return list(self.store.audit())[self.events :]

    def statuses_of(self, revision: Revision) -> set[str]:
        """The status, and what the reference would have: it rejects a stale candidate when somebody tries to approve
        it. Here it goes on waiting, because the judged version may come back; it can be published no more than there.
        """
        here = self.config.get("publisher") != "none"
        if here and revision.status is Status.PENDING_APPROVAL and not self.store.is_fresh(revision):
            return {revision.status.value, "rejected"}
        return {revision.status.value}

    def metrics(self) -> Json:
        events = self.new_events()
        made = [one for one in self.store.revisions() if one.id not in self.known and one.source != "import"]
        verdicts = [
            (one["gate"], one["passed"]) for revision in made for one in (revision.gates or {}).get("verdicts", ())
        ]
        promoted = [self.store.revision(event.revision) for event in events if event.deed is Deed.PROMOTE]
        timed = [event for event in events if event.deed is Deed.APPROVE and event.actor == "timer"]
        return {
            "candidates_seen": self.seen + self.submissions,
            "revisions_written": len(made),
            "revisions_promoted": len(promoted) + len(timed),
            "rollbacks": sum(event.deed is Deed.ROLLBACK for event in events),
            "shadow_mode_bypassed": sum(bool(revision.bypassed) for revision in made),
            "creates_applied": sum(one.action is Action.CREATE for one in promoted),
            "updates_applied": sum(one.action is Action.UPDATE for one in promoted),
            "deletions_applied": sum(one.action is Action.DELETE for one in promoted),
            **{f"{gate}_gate_rejected": verdicts.count((gate, False)) for gate in ("spec", "safety", "effectiveness")},
        }


class Crash(BaseException):
    """The process dies here: nothing after it is done, and nothing is cleaned up."""


def refusal_of(act: Callable[[], Any]) -> tuple[str | None, Any]:
    """The code of the refusal that something ends in, None for none, and what it gives."""
    try:
        return None, act()
    except SkillevoError as error:
        return code_of(error), None

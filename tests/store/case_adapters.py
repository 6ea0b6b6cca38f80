"""What runs the cases of tests/data/revisions.json that are about the store."""

from __future__ import annotations

import contextlib
import io
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from pytest_skillevo.cli import main
from pytest_skillevo.core.gates.human import HumanGate
from pytest_skillevo.core.gates.records import Candidate
from pytest_skillevo.core.gates.safety import SafetyGate
from pytest_skillevo.core.naming import folder_name
from pytest_skillevo.core.revisions import Action, Deed
from pytest_skillevo.core.scopes import CONTAINER, Scope, ScopeMode, resolve
from pytest_skillevo.core.skill import Skill
from pytest_skillevo.core.submission import SubmissionEvidence
from pytest_skillevo.store.repository import Repository
from pytest_skillevo.store.schema import REVISIONS
from pytest_skillevo.store.timers import Timers

from .case_world import World, refusal_of, spec_of
from .invariants import assert_whole

Json = dict[str, Any]

Run = Callable[[Json, Path], None]
ADAPTERS: dict[tuple[str, str] | str, Run] = {}


def adapter(*keys: str | tuple[str, str]) -> Callable[[Run], Run]:
    def register(run: Run) -> Run:
        ADAPTERS.update(dict.fromkeys(keys, run))
        return run

    return register


@adapter("pipeline", "isolation", "shadow", "approval", "rollback", "expire", "submit", "lock")
@adapter(
    ("publisher", "delete_missing_is_noop"), ("publisher", "delete_blank_refused"), ("publisher", "nil_spec_refused")
)
@adapter(("store", "list_revisions_unknown_skill_is_empty"))
@adapter("improve")
def run_in_a_world(case: Json, root: Path) -> None:
    world = World(root, case)
    before = len(world.repository().library().index)
    expect = case["expect"]
    results: list[Any] = []
    for op in case["do"]:
        wanted = op.get("expect_error") or (expect.get("error") if op is case["do"][-1] else None)
        code, result = refusal_of(lambda op=op: world.do(op))
        # Where the reference says nothing, an approval that the gates stop is a refusal here.
        assert code == wanted or (wanted is None and "do not let it pass" in code)
        results.append(result)
    check(world, expect, results, before)
    world.store.close()


def check(world: World, expect: Json, results: list[Any], before: int) -> None:
    for name, wanted in expect.get("revisions", {}).items():
        check_revision(world, world.store.revision(world.id_of(name)), wanted)
    for skill, wanted in expect.get("pointers", {}).items():
        pointer = world.store.pointer(skill)
        active = None if pointer is None else world.store.revision(pointer.revision)
        # A deletion that is active stands for no pointer.
        found = None if active is None or active.action is Action.DELETE else active.id
        assert found == (None if wanted is None else world.id_of(wanted))
    if "result" in expect:
        assert results[-1] == expect["result"]
    if "audit" in expect:
        check_audit(world, expect["audit"])
    metrics = world.metrics()
    assert {key: metrics[key] for key in expect.get("metrics", {})} == expect.get("metrics", {})
    check_files(world, expect, before)
    assert [answers[0] for _, answers in world.threads] == expect.get("async_errors", [])
    if "revision_count" in expect:
        assert world.store.count() == expect["revision_count"]
    if "invariants" in expect:
        world.store.close()
        world.restart_recover()
        assert_whole(world.store)


def check_revision(world: World, revision: Any, wanted: Json) -> None:
    if "status" in wanted:
        assert wanted["status"] in world.statuses_of(revision)
    if "action" in wanted:
        assert revision.action.value == wanted["action"]
    if "source" in wanted:
        assert (revision.source, wanted["source"]) == ("submission", "external-evaluation")
    if "parent_id" in wanted:
        parent = world.store.revision(world.id_of(wanted["parent_id"]))
        assert revision.parent_digest == parent.digest
    if "target_name" in wanted:
        assert revision.name == wanted["target_name"]
    if wanted.get("spec", "") is None:
        assert not world.store.skill_of(revision).exists
    last = world.store.history(revision)[-1]
    if "reviewer" in wanted:
        assert last.actor == {"auto-expire": "timer"}.get(wanted["reviewer"], wanted["reviewer"])
    if "comment" in wanted:
        assert last.reason == wanted["comment"]
    if "approved" in wanted:
        assert (last.deed is Deed.APPROVE) == wanted["approved"]


#: What the reference calls each thing in its log; what it does not write down is left out.
TOLD = {
    Deed.ARCHIVE: "archive",
    Deed.APPROVE: "approve",
    Deed.PROMOTE: "promote",
    Deed.ROLLBACK: "promote",
    Deed.REJECT: "reject",
    Deed.HOLD: "reject",
    Deed.STALE: "reject",
}


def check_audit(world: World, wanted: list[Json]) -> None:
    found = {one.id for one in world.store.revisions() if one.source == "import"}
    events = [event for event in world.new_events() if event.deed in TOLD and event.revision not in found]
    assert len(events) == len(wanted)
    for event, told in zip(events, wanted, strict=True):
        assert TOLD[event.deed] == told["action"]
        if "revision_id" in told:
            assert event.revision == world.id_of(told["revision_id"])
        if "actor" in told:
            assert event.actor == {"auto-expire": "timer"}.get(told["actor"], told["actor"])
        if "status" in told:
            assert event.after.value == told["status"]
        if told.get("reason") == "stale_parent":
            assert event.deed is Deed.STALE
        elif "comment" in told or told.get("reason") == "vague":
            assert event.reason == told.get("comment", told["reason"])
        elif told.get("reason") in ("spec", "safety", "effectiveness"):
            assert f"{told['reason']}: " in event.reason


def check_files(world: World, expect: Json, before: int) -> None:
    live = [event for event in world.new_events() if event.deed in (Deed.APPROVE, Deed.PROMOTE, Deed.ROLLBACK)]
    moved = [world.store.revision(event.revision) for event in live]
    for key, gone in (("published", False), ("deleted", True)):
        if key in expect:
            assert [one.name for one in moved if (one.action is Action.DELETE) == gone] == expect[key]
    if "refreshes" in expect:
        # The next library sees what has changed, whoever published it; nobody has to ask for that.
        made = sum({Action.CREATE: 1, Action.DELETE: -1}.get(one.action, 0) for one in moved)
        assert len(world.repository().library().index) == before + made
        # What a timer publishes is seen as well (spec 19 #15).
        assert bool(expect["refreshes"]) == any(event.actor != "timer" for event in live)


# What needs no world


@adapter("scope", ("improve", "partition_literal_cannot_impersonate_hash"))
def run_scope(case: Json, root: Path) -> None:
    results = []
    for op in case["do"]:
        code = case["expect"].get("error")
        if op["op"] == "resolve_scope":
            mode = ScopeMode.parse(case["given"]["config"]["scope_mode"])
            scope = resolve(mode, Scope(**op["job"]), Scope(**(op["session"] or {})))
            results.append({"app": scope.app, "user": scope.user, "scoped": scope.key != ""})
        elif code == "unsupported_mode":
            assert Scope.of(ScopeMode.parse(op["mode"]), op["app"], op["user"]).parts == ()
        else:
            mode = ScopeMode.parse(op["mode"])
            refused, scope = refusal_of(lambda mode=mode, op=op: Scope.of(mode, op["app"], op["user"]))
            assert refused == code
            results.append([part.removeprefix(CONTAINER) for part in scope.parts] if scope else None)
    if "result" in case["expect"]:
        assert results == [case["expect"]["result"]]
    if case["expect"].get("results_distinct"):
        assert results[0] != results[1]


@adapter(("improve", "non_latin_names_get_distinct_directories"))
def run_names(case: Json, root: Path) -> None:
    folders = [folder_name(op["value"], lambda folder: ()) for op in case["do"]]
    assert len(set(folders)) == len(folders)


@adapter(("improve", "bare_rm_rf_root_detected"), ("improve", "name_is_scanned_for_secrets"))
def run_safety(case: Json, root: Path) -> None:
    spec = spec_of(case["do"][0]["spec"])
    candidate = Candidate(Action.CREATE, spec.name, Skill.create(spec), "reviewer")
    assert SafetyGate().judge(candidate).passed is case["expect"]["result"]["passed"]


@adapter(("expire", "sweep_interval_604800_0"))
def run_interval(case: Json, root: Path) -> None:
    wait = timedelta(seconds=case["given"]["config"]["approval_timeout_s"])
    assert Timers(promote_after=wait).interval == timedelta(seconds=case["expect"]["result"])


@adapter(("expire.routes", "unscoped_uses_configured_backends"))
def run_routes(case: Json, root: Path) -> None:
    world = World(root, case)
    world.apply_decision(skills=[{"name": "X", "description": "d", "when_to_use": "w", "steps": ["a", "b"]}])
    assert world.store.partitions() == ("",)
    world.store.close()


@adapter(("publisher", "overwrites_in_place"))
def run_publish(case: Json, root: Path) -> None:
    world = World(root, case)
    for op in case["do"]:
        world.do(op)
    for file, texts in case["expect"]["file_contains"].items():
        assert all(text in (world.skills / file).read_text("utf-8") for text in texts)
    for file, texts in case["expect"]["file_lacks"].items():
        assert not any(text in (world.skills / file).read_text("utf-8") for text in texts)
    world.store.close()


@adapter(("store", "layout_of_one_revision"))
def run_kept(case: Json, root: Path) -> None:
    (op,) = case["do"]
    world = World(root, case)
    world.apply_decision(skills=[op["spec"]])
    (kept,) = [one for one in world.store.revisions() if one.source == "reviewer"]
    assert (kept.skill, kept.status.value, kept.action.value) == ("ledger-export", op["status"], op["action"])
    assert world.store.skill_of(kept).spec.steps == tuple(op["spec"]["steps"])
    world.store.close()


@adapter(("store", "write_rejects_dotdot"), ("store", "write_rejects_inner_dotdot"))
def run_id(case: Json, root: Path) -> None:
    world = World(root, case)
    assert refusal_of(lambda: world.store.revision(case["do"][0]["revision_id"]))[0] == "not_found"
    world.store.close()


@adapter(("store", "read_corrupt_metadata_is_not_not_found"))
def run_corrupt(case: Json, root: Path) -> None:
    world = World(root, {"given": {"revisions": [{"skill_id": "x", "revision_id": "r1"}]}})
    with world.store._database.write() as connection:
        connection.execute(REVISIONS.update().values(evidence="{oops"))
    assert refusal_of(lambda: world.store.revision(world.ids["r1"]))[0] == "corrupt"
    world.store.close()


@adapter(("store", "list_revisions_unknown_skill_is_empty"))
def run_list(case: Json, root: Path) -> None:
    world = World(root, case)
    assert list(world.store.revisions(case["do"][0]["skill_id"])) == case["expect"]["result"]
    world.store.close()


@adapter(("store", "evidence_keeps_zero_scores"))
def run_evidence(case: Json, root: Path) -> None:
    assert SubmissionEvidence(0, 0, 0).to_json().items() >= case["expect"]["result"].items()


@adapter("runtime")
def run_runtime(case: Json, root: Path) -> None:
    if "result" in case["expect"]:
        assert HumanGate(case["do"][0]["value"]).hold == case["expect"]["result"]
        return
    texts = {**case["given"]["files"], **{op["path"]: op["text"] for op in case["do"] if op["op"] == "write_file"}}
    results: list[Any] = []
    repository = library = None
    for op in case["do"]:
        if op["op"] == "repo_open":
            write(root, case["given"]["files"])
            repository = Repository(root / op["root"])
        if op["op"] in ("repo_open", "repo_refresh"):
            library = repository.library()
        if op["op"] == "write_file":
            write(root, {op["path"]: texts[op["path"]]})
        results.append([one.name for one in library.index] if op["op"] == "repo_names" else None)
    assert results == case["expect"]["results"]


def write(root: Path, files: dict[str, str]) -> None:
    for path, text in files.items():
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_text(text, encoding="utf-8")


@adapter("cli", ("improve", "audit_sorted_by_time_across_skills"))
def run_cli(case: Json, root: Path) -> None:
    given, expect = case["given"], case["expect"]
    world = World(root, case)
    (op,) = case["do"]
    for skill in ("zed", "alpha") if "row_order" in expect else ():
        world.now += 1
        content = Skill.from_bytes(skill, b"# X\n")
        world._offer(skill, content, Action.CREATE, None, skill)
    world.store.close()
    told = [world.ids.get(word, word) for word in op["argv"]]
    argv = [word for word in told if word not in ("--dir", "<revisions>")]
    argv = ["list", "--status", "pending_approval", *argv[1:]] if argv[:1] == ["pending"] else argv
    code, out, err = call(argv, world, given.get("env", {}))
    if "exit" in expect:
        assert code == {0: 0, 1: 1, 2: 4}[expect["exit"]]
    assert all(text in err for text in expect.get("stderr_has", ()))
    assert all(
        world.ids.get(text, text.lower()) in out.lower().replace("-", " ") or world.ids.get(text, text) in out
        for text in expect.get("stdout_has", ())
        if text != "1 "
    )
    if "row_order" in expect:
        rows = [line.split()[2] for line in out.splitlines() if " promote " in line]
        assert rows == expect["row_order"]
    world.store = world.open()
    for name, wanted in expect.get("revisions", {}).items():
        check_revision(world, world.store.revision(world.ids[name]), wanted)
    if expect.get("published") == []:
        assert not (world.skills / "ledger-export").exists()
    world.store.close()


def call(argv: list[str], world: World, environment: dict[str, str]) -> tuple[int, str, str]:
    """The command line as a process of its own would run it."""
    out, err = io.StringIO(), io.StringIO()
    places = ["--home", str(world.home), "--skills", str(world.skills)] if argv else []
    with pytest.MonkeyPatch.context() as patch, contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        for name, value in environment.items():
            patch.setenv(name, value)
            patch.setenv("LOGNAME", value)
        patch.setenv("COLUMNS", "200")
        code = main(["revisions", *argv, *places], clock=lambda: datetime(2026, 11, 30, tzinfo=UTC))
    return code, out.getvalue(), err.getvalue()

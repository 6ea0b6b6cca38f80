"""The cases of tests/data/revisions.json that are about the store: each is run, or named with the reason why not."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from pytest_skillevo.core.scopes import CONTAINER

from .case_adapters import ADAPTERS, Run

Json = dict[str, Any]
CASES: list[Json] = json.loads((Path(__file__).parents[1] / "data" / "revisions.json").read_text("utf-8"))

ONE_COMMIT = "statuses, pointer and audit are one transaction (spec 19 #2); there is no pointer that fails by itself"
ONE_STORE = "there is always a store (design, decision 3): nothing is published past it"
LIVE = "nothing is active without its files (spec 19 #4): publishing needs a skills folder"
SLUGS = "folders follow the published grammar, and get a hash where that cannot spell a name (spec 19 #12)"
TYPOS = "settings are checked; a typing error shares nothing and switches nothing off (spec 19 #25)"
POINTER = "a pointer is moved by a publication only, in its transaction (spec 19 #2, #3)"
CALLED = "a sweep is a call for a scheduler, over all partitions in turn; there is no thread (spec 19 #27)"
SETTINGS = "the project's settings name store and skills folder; nothing is guessed (spec 19 #29)"
SERVICE = "queue, cursor and delta are the learning service's; the store has no part in them"

#: (area, name) -> why it is not run. An area alone stands for all its cases.
SET_ASIDE: dict[tuple[str, str] | str, str] = {
    "naming": SLUGS,
    "worker.queue": SERVICE,
    "worker.cursor": SERVICE,
    "worker.skillwrite": SERVICE,
    "worker.delta": SERVICE,
    "pointer": POINTER,
    "direct": ONE_STORE,
    ("scope", "unknown_mode_is_app"): TYPOS,
    ("scope", "scoped_without_session"): "scoped work that names no scope is refused, never shared (spec 19 #14)",
    ("pipeline", "no_publisher_leaves_pending_on_disk"): LIVE,
    ("pipeline", "pointer_set_failure_still_counts_as_promoted"): ONE_COMMIT,
    (
        "pipeline",
        "recreate_after_delete_leaves_two_active",
    ): "see improve/recreate_archives_tombstone (spec 19 #6)",
    ("pipeline", "only_a_gate_configured_still_gates"): ONE_STORE,
    ("shadow", "rejected_is_published_anyway"): "in shadow mode Spec and Safety still block (spec 19 #9)",
    ("shadow", "held_update_published_then_approval_is_stale"): (
        "what shadow mode publishes is active and marked as bypassed; nothing is left to approve (spec 19 #9)"
    ),
    ("approval", "no_pointer_skips_stale_check"): "the parent is checked on every action (spec 19 #7)",
    (
        "approval",
        "approve_delete_ignores_newer_active",
    ): "see improve/delete_approval_checks_parent (spec 19 #7)",
    ("approval", "approve_create_without_publisher_succeeds"): LIVE,
    ("approval", "pointer_read_failure_keeps_pending"): ONE_COMMIT,
    ("approval", "gates_not_rerun_on_approval"): "see improve/approval_reruns_safety_gate (spec 19 #8)",
    ("approval", "list_pending_limit_and_order"): "lists show the newest first (target screens)",
    ("rollback", "pointer_failure_restores_statuses"): ONE_COMMIT,
    ("rollback", "pointer_names_archived_target"): ONE_COMMIT,
    ("rollback", "target_without_body"): "every revision has its content, by a foreign key",
    ("rollback", "no_publisher_moves_state_only"): LIVE,
    ("expire", "sweep_interval_86400_30"): CALLED,
    ("expire.routes", "not_started_without_publisher"): CALLED,
    ("expire.routes", "app_scope_discovers_partitions"): CALLED,
    ("submit", "pointer_names_revision_missing_in_store"): "a pointer names a stored revision, by a foreign key",
    ("submit", "pointer_failure_propagates"): ONE_COMMIT,
    ("store", "list_revisions_orders_by_directory_mtime"): "revisions are in the order of their entry (spec 19 #17)",
    ("store", "list_skills_needs_revisions_subdir"): "skills are found by their revisions, not by folders",
    ("store", "audit_requires_skill"): "an audit event belongs to a revision, by a foreign key (spec 19 #21)",
    ("lock", "blank_skill"): "locks are taken by the store's own calls, for revisions that exist (spec 19 #1)",
    ("publisher", "slug_collision_overwrites_silently"): SLUGS,
    ("cli", "dir_required"): SETTINGS,
    ("cli", "dir_from_environment"): SETTINGS,
    ("cli", "audit_skips_bad_lines"): "the audit trail is a table; there are no lines to be bad (spec 19 #21)",
    ("cli", "managed_dir_for_st_evolution_revisions"): SETTINGS,
    ("cli", "managed_dir_for_st_evolution_revisions_apps_crm"): SETTINGS,
    ("cli", "managed_dir_for_tmp_revs"): SETTINGS,
    ("cli", "managed_dir_for_evolution_revisions"): SETTINGS,
    ("cli", "managed_dir_for_a_evolution_revisions_b_evolution_revisions"): SETTINGS,
    ("runtime", "human_gate_setting_blank"): TYPOS,
    ("runtime", "human_gate_setting_alwyas"): TYPOS,
}
#: Cases that run, but not to the letter.
IN_PART: dict[tuple[str, str] | str, str] = {
    "scope": f"containers of partitions begin with {CONTAINER!r}, so that no skill can stand there",
    "approval": "a stale candidate is refused and goes on waiting; reasons are given in the words of this project",
    "expire": "a timer passes over a stale candidate and takes the next one in the same sweep",
    ("store", "write_rejects_dotdot"): "ids are made here; one from outside is only looked up",
    ("store", "write_rejects_inner_dotdot"): "ids are made here; one from outside is only looked up",
    ("cli", "pending_lists_rows_and_count"): "the list is `revisions list --status pending_approval`, without a count",
}


def key_of(case: Json) -> tuple[str, str]:
    return case["area"], case["name"]


def reason_of(case: Json) -> str | None:
    return SET_ASIDE.get(key_of(case)) or SET_ASIDE.get(case["area"])


def adapter_of(case: Json) -> Run | None:
    return None if reason_of(case) else ADAPTERS.get(key_of(case)) or ADAPTERS.get(case["area"])


#: The gates have tests of their own.
MINE = [case for case in CASES if not case["area"].startswith("gate.")]


@pytest.mark.parametrize("case", [pytest.param(case, id="/".join(key_of(case))) for case in MINE if adapter_of(case)])
def test_the_store_behaves_as_the_case_says(case, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    run = adapter_of(case)
    assert run is not None
    run(case, tmp_path)


def test_every_case_is_run_or_set_aside_with_its_reason(capsys):
    assert [key_of(case) for case in MINE if not adapter_of(case) and not reason_of(case)] == []
    keys = {key_of(case) for case in MINE}
    assert len(keys) == len(MINE)
    assert {*ADAPTERS, *SET_ASIDE, *IN_PART} <= keys | {area for area, _ in keys}
    run = [case for case in MINE if adapter_of(case)]
    with capsys.disabled():
        print(
            f"\nrevisions.json: {len(run)} of {len(MINE)} cases of the store run, {len(MINE) - len(run)} set aside "
            "(-rP shows why)"
        )
    for key, why in IN_PART.items():
        print(f"in part: {key if isinstance(key, str) else '/'.join(key)}: {why}")
    for case in MINE:
        if why := reason_of(case):
            print(f"set aside: {'/'.join(key_of(case))}: {why}")

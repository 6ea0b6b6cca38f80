from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_skillevo.core.errors import StoreError
from pytest_skillevo.core.revisions import APPROVABLE, ENTRY, LEGAL, Action, Revision, Status, check_transition

STATUSES = st.sampled_from(list(Status))


@given(STATUSES, STATUSES)
def test_a_step_is_taken_exactly_when_the_table_has_it(current, target):
    if target in LEGAL[current]:
        check_transition("rv-1", current, target)
    else:
        with pytest.raises(StoreError, match="rv-1 is"):
            check_transition("rv-1", current, target)


def test_the_set_of_statuses_is_the_closed_one():
    assert {status.value for status in Status} == {
        "pending",
        "pending_eval",
        "pending_approval",
        "active",
        "archived",
        "rejected",
        "expired",
        "publish_failed",
    }
    assert set(LEGAL) == set(Status)


def test_every_status_can_be_reached_from_where_a_revision_enters():
    reached, waiting = set(ENTRY), list(ENTRY)
    while waiting:
        new = set(LEGAL[waiting.pop()]) - reached
        reached |= new
        waiting += new
    assert reached == set(Status)


def test_only_rejected_and_expired_are_final():
    assert {status for status in Status if not LEGAL[status]} == {Status.REJECTED, Status.EXPIRED}


def test_nothing_becomes_what_it_is_already():
    assert all(status not in LEGAL[status] for status in Status)


def test_what_can_be_approved_may_become_active_and_rejected():
    for status in APPROVABLE:
        assert {Status.ACTIVE, Status.REJECTED} <= set(LEGAL[status])


def test_the_error_says_why_a_step_is_not_taken():
    with pytest.raises(StoreError, match=r"rv-1 is rejected \(that is final\); it cannot become active"):
        check_transition("rv-1", Status.REJECTED, Status.ACTIVE)


def test_a_revision_is_written_with_plain_values():
    revision = Revision("rv-1", "s", Action.UPDATE, "experiment:e1", "d", "p", None, Status.PENDING_EVAL, "t")
    assert revision.to_json()["status"] == "pending_eval"
    assert revision.to_json()["action"] == "update"
    assert revision.origin == "experiment"
    assert revision.status.words == "pending eval"

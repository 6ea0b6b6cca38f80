"""The official rule machine on artifacts of every shape: a score, or the original's crash as evaluator_error with 0."""

from __future__ import annotations

import json

from hypothesis import given, settings
from hypothesis import strategies as st

from pytest_skillevo.families.official import LEVELS, public_families, public_task, score_official

SCALARS = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-(10**400), 10**400),
    st.floats(),
    st.text(max_size=6),
    st.sampled_from(["١٢٣", "1e999", " 25 ", "25", "true", "", "\ud800"]),
)
ODD = st.recursive(
    SCALARS,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=3), inner, max_size=4),
    max_leaves=10,
)


@settings(max_examples=150, deadline=None)
@given(st.data())
def test_any_artifact_gets_a_score_or_the_status_of_a_crash(data):
    task = public_task(data.draw(st.sampled_from(public_families())), data.draw(st.sampled_from(sorted(LEVELS))))
    keys = [*getattr(task.rules, "required", ("path",)), getattr(task.rules, "id_key", "name")]
    entry = st.fixed_dictionaries({}, optional=dict.fromkeys(keys, ODD)) | ODD
    listed = {getattr(task.rules, "list_key", "regions"): st.lists(entry, max_size=6) | ODD}
    artifact = data.draw(st.fixed_dictionaries({}, optional={**listed, "summary": ODD}) | ODD)
    found = score_official(task.rules, json.dumps(artifact), list(task.expected))
    assert found.status in ("pass", "partial", "fail", "evaluator_error")
    assert 0 <= found.quality <= 1
    assert found.status != "evaluator_error" or found.quality == 0

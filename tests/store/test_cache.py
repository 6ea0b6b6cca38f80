"""Answers kept for searches to come."""

from __future__ import annotations

from pathlib import Path

from hypothesis import given, settings
from hypothesis import strategies as st

from pytest_skillevo.core.canonical import digest
from pytest_skillevo.store import Store

json_values = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**53), 2**53) | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=4), inner, max_size=3),
    max_leaves=6,
)


def test_what_was_kept_is_found_by_its_key_also_by_another_process(tmp_path: Path) -> None:
    with Store.open(tmp_path) as store:
        assert store.answers.get([digest("a")]) == {}
        store.answers.put({digest("a"): {"score": 1.0}})
    with Store.open(tmp_path) as store:
        assert store.answers.get([digest("a"), digest("b")]) == {digest("a"): {"score": 1.0}}


def test_the_first_answer_stays(tmp_path: Path) -> None:
    with Store.open(tmp_path) as store:
        store.answers.put({digest("a"): 1})
        store.answers.put({digest("a"): 2, digest("b"): 3})
        assert store.answers.get([digest("a"), digest("b")]) == {digest("a"): 1, digest("b"): 3}


@settings(max_examples=15, deadline=None)
@given(st.dictionaries(st.text(max_size=6), json_values, max_size=12))
def test_any_json_comes_back_as_it_was(tmp_path_factory, values) -> None:  # type: ignore[no-untyped-def]
    wanted = {digest(name): value for name, value in values.items()}
    with Store.open(tmp_path_factory.mktemp("store")) as store:
        store.answers.put(wanted)
        assert store.answers.get(list(wanted)) == wanted


def test_two_processes_that_make_the_table_at_once_do_not_disturb_each_other(tmp_path: Path) -> None:
    with Store.open(tmp_path) as one, Store.open(tmp_path) as two:
        one.answers.put({digest("a"): 1})
        two.answers.put({digest("b"): 2})
        assert len(one.answers.get([digest("a"), digest("b")])) == 2

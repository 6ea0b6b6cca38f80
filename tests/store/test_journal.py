from __future__ import annotations

import json
import random
import zlib

import pytest
from hypothesis import given
from hypothesis import strategies as st
from sqlalchemy import select

from pytest_skillevo.core.errors import StoreError
from pytest_skillevo.store import JournalEntry, Store
from pytest_skillevo.store.columns import escape_text, unescape_text
from pytest_skillevo.store.rollouts import TRACE_CAP, fit
from pytest_skillevo.store.schema import BLOBS

ANY_TEXT = st.text(st.characters())
JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**53), 2**53)
    | st.floats(allow_nan=False, allow_infinity=False)
    | ANY_TEXT,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(ANY_TEXT, inner, max_size=4),
    max_leaves=12,
)

EVERY_DATABASE = True


@pytest.fixture
def running(store):
    store.create_experiment("e1", "recipe-cookbook", "f1", {"seed": 0})
    return store


def test_entries_come_back_in_the_order_of_their_appends(running):
    running.append("e1", [JournalEntry("b", "rollout", {"n": 1}), JournalEntry("a", "rollout", {"n": 2})])
    running.append("e1", [JournalEntry("0", "reflection", [1, "two", None])])
    assert list(running.entries("e1")) == [
        JournalEntry("b", "rollout", {"n": 1}),
        JournalEntry("a", "rollout", {"n": 2}),
        JournalEntry("0", "reflection", [1, "two", None]),
    ]


def test_the_order_of_keys_in_a_payload_is_kept(running):
    running.append("e1", [JournalEntry("k", "rollout", {"z": 1, "a": {"y": 1, "b": 2}})])
    (entry,) = running.entries("e1")
    assert json.dumps(entry.payload) == '{"z": 1, "a": {"y": 1, "b": 2}}'


def test_long_journals_are_read_page_by_page(running):
    running.append("e1", [JournalEntry(f"k{n}", "rollout", n) for n in range(2_500)])
    assert [entry.payload for entry in running.entries("e1")] == list(range(2_500))


def test_appending_while_reading_neither_blocks_nor_is_lost(running):
    running.append("e1", [JournalEntry(f"k{n}", "rollout", n) for n in range(1_500)])
    reader = running.entries("e1")
    assert next(reader).payload == 0
    running.append("e1", [JournalEntry("late", "rollout", "late")])
    assert [entry.key for entry in reader][-1] == "late"


def test_a_key_is_recorded_once_and_the_batch_with_it_not_at_all(running):
    running.append("e1", [JournalEntry("k1", "rollout", 1)])
    with pytest.raises(StoreError, match="already has 'k1'"):
        running.append("e1", [JournalEntry("k2", "rollout", 2), JournalEntry("k1", "rollout", 3)])
    assert [entry.key for entry in running.entries("e1")] == ["k1"]


def test_a_key_twice_in_one_batch_is_refused(running):
    with pytest.raises(StoreError, match="already has 'k'"):
        running.append("e1", [JournalEntry("k", "rollout", 1), JournalEntry("k", "rollout", 2)])
    assert list(running.entries("e1")) == []


def test_experiments_have_journals_of_their_own(running):
    running.create_experiment("e2", "recipe-cookbook", "f2", {})
    running.append("e1", [JournalEntry("k", "rollout", 1)])
    running.append("e2", [JournalEntry("k", "rollout", 2)])
    assert [entry.payload for entry in running.entries("e2")] == [2]


def test_an_unknown_experiment_has_no_journal(running):
    with pytest.raises(StoreError, match="no experiment 'other'"):
        running.append("other", [JournalEntry("k", "rollout", 1)])


@pytest.mark.parametrize("payload", [float("nan"), object(), {"a": {1, 2}}], ids=["nan", "object", "set"])
def test_a_payload_that_is_no_json_is_refused_by_name(running, payload):
    with pytest.raises(StoreError, match="entry 'k' is not JSON"):
        running.append("e1", [JournalEntry("k", "rollout", payload)])


def test_any_text_survives_in_keys_kinds_and_payloads(tmp_path):
    with Store.open(tmp_path / "home") as store:
        count = 0

        @given(ANY_TEXT, ANY_TEXT, JSON)
        def survives(key, kind, payload):
            nonlocal count
            count += 1
            store.create_experiment(f"e{count}", "s\0\ud800", key, {"k": payload})
            entry = JournalEntry(key, kind, payload)
            store.append(f"e{count}", [entry])
            assert list(store.entries(f"e{count}")) == [entry]
            assert store.experiment(f"e{count}").skill == "s\0\ud800"

        survives()


@given(ANY_TEXT, ANY_TEXT)
def test_text_is_escaped_without_loss_and_without_collision(one, other):
    assert unescape_text(escape_text(one)) == one
    assert (escape_text(one) == escape_text(other)) == (one == other)
    assert "\0" not in escape_text(one)
    escape_text(one).encode("utf-8")


def test_a_trace_is_found_before_and_after_it_is_written(running, project):
    data = {"messages": [{"role": "user", "content": "caf\u00e9 \ud800\0"}]}
    digest = running.put_trace(data)
    assert running.trace(digest) == data
    running.append("e1", [JournalEntry("k", "rollout", {"trace": digest})])
    with project.open() as other:
        assert other.trace(digest) == data


def test_equal_traces_are_stored_once_and_compressed(running):
    data = {"text": "abc " * 5_000}
    digests = {running.put_trace(data) for _ in range(3)}
    running.append("e1", [JournalEntry("k", "rollout", 1)])
    assert {running.put_trace(data)} == digests
    running.append("e1", [JournalEntry("l", "rollout", 1)])
    with running._database.read() as connection:
        ((size, packed),) = connection.execute(select(BLOBS.c.size, BLOBS.c.packed)).all()
    assert len(packed) < size // 20
    assert len(zlib.decompress(packed)) == size


def test_a_trace_is_not_written_when_its_entry_is_refused(running, project):
    running.append("e1", [JournalEntry("k", "rollout", 1)])
    digest = running.put_trace({"a": 1})
    with pytest.raises(StoreError):
        running.append("e1", [JournalEntry("k", "rollout", 2)])
    with project.open() as other, pytest.raises(StoreError, match="no content"):
        other.trace(digest)
    running.append("e1", [JournalEntry("l", "rollout", 2)])
    with project.open() as other:
        assert other.trace(digest) == {"a": 1}


def test_an_unknown_trace_is_an_error(running):
    with pytest.raises(StoreError, match="no content"):
        running.trace("0" * 64)


def test_a_damaged_trace_is_noticed(running):
    digest = running.put_trace({"a": 1})
    running.append("e1", [JournalEntry("k", "rollout", 1)])
    with running._database.write() as connection:
        connection.execute(BLOBS.update().values(packed=zlib.compress(b'{"a":2}')))
    with pytest.raises(StoreError, match="damaged"):
        running.trace(digest)


def test_a_huge_trace_is_cut_and_says_so(running):
    chance = random.Random(0)
    data = {"messages": [{"role": "tool", "content": chance.randbytes(150_000).hex()} for _ in range(20)]}
    stored = running.trace(running.put_trace(data))
    assert stored["cut"].startswith("cut from 6,0")
    content = stored["trace"]["messages"][19]["content"]
    assert content.startswith(data["messages"][19]["content"][:1_000])
    assert content.endswith(data["messages"][19]["content"][-1_000:])
    assert "characters cut" in content


@given(JSON, st.integers(200, 2_000))
def test_a_trace_never_takes_more_than_the_cap(data, cap):
    text = fit(data, cap)
    assert len(text) <= cap
    if len(json.dumps(data, separators=(",", ":"))) <= cap:
        assert json.loads(text) == data


def test_a_trace_of_endless_lists_and_depth_is_bounded():
    deep: object = "bottom"
    for _ in range(200):
        deep = [deep, "x" * 10_000]
    for data in ([{"k": n} for n in range(200_000)], {str(n): n for n in range(200_000)}, deep):
        text = fit(data, TRACE_CAP)
        assert len(text) <= TRACE_CAP
        assert "cut" in json.loads(text)


def test_a_trace_nested_beyond_reason_is_refused_in_words(running):
    deep: object = 0
    for _ in range(200_000):
        deep = [deep]
    with pytest.raises(StoreError, match="nested too deeply"):
        running.put_trace(deep)
    while isinstance(deep, list):
        deep = deep.pop()

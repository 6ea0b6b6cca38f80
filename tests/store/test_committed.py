"""The committed ledgers: lines of JSON that merge like text, and openings that move between stores."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_skillevo.core.errors import ConfigError
from pytest_skillevo.store.committed import (
    EXPOSURE_FILE,
    OpeningRecord,
    Retirement,
    add_openings,
    add_retirements,
    missing_openings,
    read_openings,
    read_retirements,
)

records = st.builds(OpeningRecord, *[st.text(max_size=5)] * 5)


@given(st.lists(records, max_size=6), st.lists(records, max_size=6))
def test_adding_twice_adds_once_and_loses_nothing(tmp_path_factory, first, second):
    file = tmp_path_factory.mktemp("ledger") / EXPOSURE_FILE
    add_openings(file, first)
    add_openings(file, second)
    content = file.read_bytes() if file.exists() else b""
    assert add_openings(file, [*first, *second]) == 0
    assert (file.read_bytes() if file.exists() else b"") == content
    assert {one.key for one in read_openings(file)} == {one.key for one in [*first, *second]}
    assert missing_openings(file, [*first, *second]) == []


def test_both_sides_of_a_merge_can_be_kept(tmp_path):
    file = tmp_path / EXPOSURE_FILE
    one, two = OpeningRecord("t1", "s", "ex-1", "why", "k1"), OpeningRecord("t2", "s", "ex-2", "why", "k1")
    add_openings(file, [one])
    ours = file.read_text(encoding="utf-8")
    file.unlink()
    add_openings(file, [two])
    file.write_text(file.read_text(encoding="utf-8") + "\n" + ours + ours, encoding="utf-8")
    assert set(read_openings(file)) == {one, two}
    assert add_openings(file, [two]) == 0


def test_the_first_time_of_an_opening_counts(store):
    store.record_opening(["k1"], "ex-1", "s", "why")
    (known,) = store.opening_records()
    later = OpeningRecord("2999-01-01T00:00:00Z", "s", "ex-1", "why", "k1")
    store.enter_openings([later, OpeningRecord("2020-01-01T00:00:00Z", "s", "ex-0", "why", "k1")])
    assert [one.at for one in store.opening_records("s")] == ["2020-01-01T00:00:00Z", known.at]
    assert store.openings(["k1"]).count == 2
    assert store.opening_records("another") == ()


def test_a_retirement_is_by_skill_and_fingerprint(tmp_path):
    file = tmp_path / "retired.jsonl"
    line = Retirement("t", "s", "case", "k1", "nina", "")
    assert add_retirements(file, [line, Retirement("t2", "s", "renamed", "k1", "bo", "")]) == 1
    assert add_retirements(file, [Retirement("t", "other", "case", "k1", "nina", "")]) == 1
    assert read_retirements(file)[1] == line


def test_a_file_that_cannot_be_read_or_written_is_named(tmp_path):
    with pytest.raises(ConfigError, match="cannot be read"):
        read_openings(tmp_path)
    with pytest.raises(ConfigError, match="cannot be written"):
        add_openings(tmp_path / "no" / "folder", [OpeningRecord("t", "s", "e", "w", "k")])

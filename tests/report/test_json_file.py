"""The report file: strict JSON, nothing secret, nothing that harms whoever opens it, whole or not at all."""

from __future__ import annotations

import json
import unicodedata
from decimal import Decimal
from enum import StrEnum

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pytest_skillevo.core.errors import ConfigError
from pytest_skillevo.report.json_file import clean, write_report

ANY_TEXT = st.text(st.characters(codec=None), max_size=60)
ANY_JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | ANY_TEXT,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(ANY_TEXT, inner, max_size=4),
    max_leaves=20,
)


def test_the_file_is_utf_8_with_readable_letters_and_ends_with_a_line_feed(tmp_path):
    path = tmp_path / "deep" / "report.json"
    write_report(path, {"name": "Crème brûlée", "none": None})
    data = path.read_bytes()
    assert data.decode("utf-8") == '{\n  "name": "Crème brûlée",\n  "none": null\n}\n'


def test_control_characters_and_lone_surrogates_are_made_harmless(tmp_path):
    path = tmp_path / "report.json"
    write_report(path, {"text": "a\x1b[2J\x00\x9b\r\n\tb\ud800"})
    assert json.loads(path.read_text("utf-8")) == {"text": "a\\x1b[2J\\x00\\x9b\\x0d\n\tb\ufffd"}


def test_hidden_characters_stay_in_the_data_but_cannot_hide_in_the_file(tmp_path):
    path = tmp_path / "report.json"
    report = {"text": "bidi \u202e, zero\u200bwidth, tag \U000e0041"}
    write_report(path, report)
    text = path.read_text("utf-8")
    assert "\\u202e" in text
    assert "\\udb40\\udc41" in text
    assert json.loads(text) == report


@pytest.mark.parametrize("bad", [float("nan"), float("inf"), Decimal("NaN")])
def test_a_figure_that_is_no_number_is_refused_and_its_place_is_named(tmp_path, bad):
    path = tmp_path / "report.json"
    with pytest.raises(ValueError, match=r"report\.confirmation\.cases\[1\]\.before"):
        write_report(path, {"confirmation": {"cases": [{"before": 1.0}, {"before": bad}]}})
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("bad", [{1: "x"}, {"x": b"bytes"}, {"x": {1, 2}}, {"x": object()}])
def test_a_value_that_json_does_not_have_is_refused(bad):
    with pytest.raises(ValueError, match="report"):
        clean(bad)


def test_decimals_become_text_tuples_lists_and_enum_members_their_values():
    class Colour(StrEnum):
        red = "red-ish"

    cleaned = clean({"usd": Decimal("1E-7"), "pair": (1, 2.5), "colour": Colour.red, "yes": True})
    assert cleaned == {"usd": "0.0000001", "pair": [1, 2.5], "colour": "red-ish", "yes": True}
    assert type(cleaned["colour"]) is str


def test_every_string_is_redacted_before_anything_else_sees_it():
    seen = []

    def redact(text):
        seen.append(text)
        return text.replace("hunter2\x1b", "[REDACTED]")

    report = {"a": "hunter2\x1b", "b": ["x hunter2\x1b", {"c": "plain"}]}
    assert clean(report, redact) == {"a": "[REDACTED]", "b": ["x [REDACTED]", {"c": "plain"}]}
    assert seen == ["hunter2\x1b", "x hunter2\x1b", "plain"]


def test_cleaning_leaves_the_report_it_was_given_alone():
    report = {"lines": ["\x1b"]}
    clean(report)
    assert report == {"lines": ["\x1b"]}


def test_a_report_that_cannot_be_written_says_where_and_leaves_nothing_behind(tmp_path):
    blocker = tmp_path / "file"
    blocker.write_text("x", "utf-8")
    with pytest.raises(ConfigError, match="could not be written to"):
        write_report(blocker / "report.json", {"a": 1})
    folder = tmp_path / "folder.json"
    folder.mkdir()
    with pytest.raises(ConfigError, match=r"folder\.json"):
        write_report(folder, {"a": 1})
    assert sorted(path.name for path in tmp_path.iterdir()) == ["file", "folder.json"]


def test_a_refused_report_leaves_the_older_one_as_it_was(tmp_path):
    path = tmp_path / "report.json"
    write_report(path, {"a": 1})
    before = path.read_bytes()
    with pytest.raises(ValueError, match="nan"):
        write_report(path, {"a": float("nan")})
    assert path.read_bytes() == before


@settings(deadline=None)
@given(ANY_JSON)
def test_any_report_survives_the_file_and_is_harmless_in_it(tmp_path_factory, value):
    path = tmp_path_factory.mktemp("any") / "report.json"
    write_report(path, {"value": value})
    text = path.read_bytes().decode("utf-8")
    assert all(char == "\n" or char.isprintable() for char in text)
    parsed = json.loads(text)
    assert parsed == clean(parsed) == clean({"value": value})


@settings(deadline=None)
@given(ANY_TEXT)
def test_no_string_of_a_cleaned_report_holds_a_control_character(text):
    cleaned = clean({"text": text})["text"]
    assert all(char in "\n\t" or unicodedata.category(char) not in ("Cc", "Cs") for char in cleaned)

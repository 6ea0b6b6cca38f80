"""Foreign text: whatever a model writes, a reader sees it and nothing obeys it."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pytest_skillevo.report.text import clip, clip_start, columns, fold, no_command, one_line, visible, wrap

ANY_TEXT = st.text(st.characters(codec=None), max_size=300)


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("\x1b[31mred\x1b[0m", r"\x1b[31mred\x1b[0m"),
        ("over\rwritten", r"over\rwritten"),
        ("two\nlines\tand a tab", r"two\nlines\tand a tab"),
        ("reversed \u202e txt", r"reversed \u202e txt"),
        ("hidden\u200b\U000e0041", r"hidden\u200b\U000e0041"),
        ("half \ud800 of a pair", r"half \ud800 of a pair"),
        ("non-breaking\xa0blank", r"non-breaking\xa0blank"),
        ("Crème brûlée, 寿司", "Crème brûlée, 寿司"),
    ],
)
def test_a_character_that_cannot_be_seen_becomes_an_escape_that_can(text, shown):
    assert visible(text) == shown


def test_the_old_form_of_a_workflow_command_is_broken_wherever_it_stands():
    assert "##[" not in visible("harmless ##[add-mask]x and ##vso[task.setvariable]y")
    assert visible("## A heading [with a link]") == "## A heading [with a link]"


@pytest.mark.parametrize("line", ["::error::x", "   ::stop-commands::x", "\u3000::add-mask::x"])
def test_a_workflow_command_is_broken_even_when_it_is_indented(line):
    assert not no_command(line).lstrip().startswith("::")


def test_a_node_id_in_a_line_stays_copyable():
    line = "  suites/recipe/test_recipe.py::test_recipe[h1-07]"
    assert no_command(line) == line


def test_wide_characters_count_as_two_columns():
    assert columns("寿司 x") == 6
    assert clip("寿司寿司", 7) == "寿司..."


def test_clipping_keeps_the_end_of_a_case_and_the_start_of_other_text():
    assert clip("abcdefghij", 8) == "abcde..."
    assert clip_start("abcdefghij", 8) == "...fghij"
    assert clip("abcdefgh", 8) == clip_start("abcdefgh", 8) == "abcdefgh"


def test_a_long_word_is_broken_rather_than_left_to_the_terminal():
    assert wrap("x" * 12, 6, first="- ") == ["- xxxx", "  xxxx", "  xxxx"]


def test_wrapped_lines_hang_under_the_first_word():
    assert wrap("one two three four", 12, first="  why: ") == [
        "  why: one",
        "       two",
        "       three",
        "       four",
    ]


def test_empty_text_still_gives_the_line_it_belongs_to():
    assert wrap("", 20, first="  why:") == ["  why:"]


@settings(deadline=None)
@given(ANY_TEXT, st.integers(2, 40))
def test_folding_keeps_every_character_and_the_width(text, width):
    pieces = fold(text, width)
    assert "".join(pieces) == text
    assert all(columns(piece) <= width for piece in pieces)


def test_folding_breaks_after_a_blank_where_there_is_one():
    assert fold("keep what  succeeded", 12) == ["keep what  ", "succeeded"]


def test_a_megabyte_of_text_is_cut_and_says_so():
    shown = one_line(" " * 10 + "a b " * 250_000, 40)
    assert columns(shown) == 40
    assert shown.endswith("...")
    assert one_line(" " * 1_000_000, 40) == "..."


@settings(deadline=None)
@given(ANY_TEXT, st.integers(3, 60))
def test_one_line_is_printable_and_bounded_for_any_text(text, width):
    shown = one_line(text, width)
    assert shown.isprintable()
    assert len(shown) <= columns(shown) <= width


@settings(deadline=None)
@given(ANY_TEXT)
def test_making_text_visible_twice_changes_nothing_more(text):
    assert visible(visible(text)) == visible(text)


@settings(deadline=None)
@given(ANY_TEXT, st.integers(20, 80), st.text("- ", max_size=8))
def test_no_wrapped_line_passes_the_width_and_no_word_is_lost(text, width, first):
    shown = visible(text)
    lines = wrap(shown, width, first=first)
    assert all(columns(line) <= width for line in lines)
    assert "".join("".join(line[len(first) :] for line in lines).split()) == "".join(shown.split())

"""Copies of case texts."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from pytest_skillevo.core.gepa import Watch

PROMPT = (
    "Compile a cookbook of Italian and Moroccan dishes, with the number of ingredients for each of them, and write the "
    "result to the file recipe_cookbook.json before you finish."
)


def test_a_long_passage_is_a_copy_whatever_its_case_layout_and_punctuation():
    watch = Watch([PROMPT])
    copy = "Do this: COMPILE a cookbook\n- of italian, and Moroccan dishes; with the number of ingredients!"
    assert "60 or more characters" in (watch.complaint(copy) or "")


def test_twelve_short_words_are_a_copy():
    watch = Watch(["go to it as if it is on an ox or so we do"])
    assert "12 or more words" in (watch.complaint("to it as if it is on an ox or so we") or "")
    assert watch.complaint("to it as if it is on an ox or so") is None


def test_short_quotes_and_own_words_pass():
    watch = Watch([PROMPT])
    assert watch.complaint("Write recipe_cookbook.json before you finish, and count the ingredients.") is None
    assert watch.complaint("") is None
    assert Watch([]).complaint(PROMPT) is None


def test_what_the_parent_says_already_is_no_copy():
    assert Watch([PROMPT]).complaint(f"Rule. {PROMPT}", known=f"# Skill\n\n{PROMPT}") is None


def test_no_passage_runs_over_the_border_of_two_texts():
    half = len(PROMPT) // 2
    words = PROMPT.split()
    first, second = " ".join(words[:4]), " ".join(words[4:9])
    assert Watch([first, second]).complaint(f"{first} {second}") is None
    assert Watch([PROMPT[:half]]).complaint(PROMPT[:half]) is not None


def test_a_long_case_id_is_a_complaint_and_a_short_one_is_a_word():
    watch = Watch([], ["tests/test_pdf.py::test_it[a]", "a"])
    assert watch.complaint("As in tests/test_pdf.py::test_it[a], read.") == "it names a case"
    assert watch.complaint("a rule") is None


def test_a_complaint_never_quotes_the_case():
    complaint = Watch([PROMPT]).complaint(PROMPT) or ""
    assert not {"cookbook", "Italian", "dishes"} & set(complaint.split())


words = st.lists(st.sampled_from(["alpha", "be", "gamma", "a", "delta", "or"]), max_size=40).map(" ".join)


@given(words, words)
def test_it_finds_exactly_the_shared_runs_of_sixty_characters_or_twelve_words(case, text):
    parts = text.split()
    by_chars = any(text[i : i + 60] in f" {case} " for i in range(len(text) - 59))
    by_words = any(f" {' '.join(parts[i : i + 12])} " in f" {case} " for i in range(len(parts) - 11))
    assert (Watch([case]).complaint(text) is not None) == (by_chars or by_words)

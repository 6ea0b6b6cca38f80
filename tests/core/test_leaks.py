"""Sealed texts are recognised and never handed out."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from pytest_skillevo.core.leaks import RUN_WORDS, Seal

SECRET = "the caravan reaches the blue gate at noon and turns left behind the old granary wall"


def test_a_long_run_of_words_is_a_leak_whatever_its_case_and_white_space():
    seal = Seal([SECRET])
    assert seal.leak("Remember: " + SECRET.upper().replace(" ", "\n  ") + " !") is not None
    assert seal.leak("the caravan reaches the blue gate at noon") is None


def test_a_short_sealed_text_counts_whole():
    seal = Seal(["expected: forty-two lanterns", "yes"])
    assert seal.leak("write Expected:  forty-two LANTERNS always") is not None
    assert seal.leak("say yes") is None


def test_what_open_texts_say_as_well_is_no_leak():
    common = "look up every dish of the table with the lookup tools and save the result as one file"
    seal = Seal([f"{common} {SECRET}"], public=[common])
    assert seal.leak(common) is None
    assert seal.leak(SECRET) is not None


def test_a_list_copied_with_other_punctuation_is_a_leak():
    names = ["Bomaru Pot", "Kelda Tray", "Lunari Fold", "Tesavo Roast", "Wendo Broth", "Ilmar Bake", "Oska Stew"]
    assert Seal([", ".join(names)]).leak("\n".join(f"- {name}" for name in names)) is not None


def test_the_reason_does_not_quote_the_text():
    reason = Seal([SECRET]).leak(SECRET)
    assert reason is not None
    assert "caravan" not in reason


words = st.lists(st.sampled_from(["red", "green", "blue", "salt", "pepper", "thyme", "noon"]), max_size=40)


@given(words, words)
def test_exactly_the_shared_runs_are_leaks(sealed: list[str], text: list[str]):
    runs = {tuple(sealed[i : i + RUN_WORDS]) for i in range(len(sealed) - RUN_WORDS + 1)}
    shared = any(tuple(text[i : i + RUN_WORDS]) in runs for i in range(len(text) - RUN_WORDS + 1))
    if len(sealed) >= RUN_WORDS:
        assert (Seal([" ".join(sealed)]).leak(" ".join(text)) is not None) == shared

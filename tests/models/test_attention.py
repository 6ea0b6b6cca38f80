from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from pytest_skillevo.models.simulated.attention import FREE_LENGTH, distraction, lapse_probability
from pytest_skillevo.models.simulated.library import FINISH, PAGING
from pytest_skillevo.models.simulated.practices import Stance


def test_short_texts_cost_no_attention():
    assert distraction(["x" * FREE_LENGTH], 0) == 0.0


def test_length_counts_over_all_loaded_texts():
    assert distraction(["x" * 2000, "y" * 2000], 0) == distraction(["x" * 4000], 0) > 0.0


@given(st.integers(0, 50_000), st.integers(0, 5_000), st.integers(0, 10))
def test_more_text_and_more_contradictions_never_help(length, more, torn):
    assert distraction(["x" * length], torn) <= distraction(["x" * (length + more)], torn + 1) <= 0.6


def test_stating_helps_less_when_attention_is_spent_and_never_worse_than_silence():
    fresh = lapse_probability(PAGING, Stance.STATED, 0.0, documented=False)
    tired = lapse_probability(PAGING, Stance.STATED, 0.3, documented=False)
    assert fresh == PAGING.p1 < tired < PAGING.p0
    assert lapse_probability(FINISH, Stance.STATED, 0.9, documented=False) == FINISH.p0


def test_the_order_of_stances():
    probabilities = [
        lapse_probability(PAGING, held, 0.0, documented=False)
        for held in (Stance.STATED, Stance.TORN, Stance.SILENT, Stance.CONTRARY)
    ]
    assert probabilities == sorted(probabilities)


def test_the_reference_helps_with_what_it_documents_only():
    assert lapse_probability(PAGING, Stance.SILENT, 0.0, documented=True) == PAGING.p0 / 2
    assert lapse_probability(FINISH, Stance.SILENT, 0.0, documented=True) == FINISH.p0

"""The phrase bank says what it means: every rule states its practice, every harmful one asks for a lapse."""

from __future__ import annotations

import pytest

from pytest_skillevo.models.simulated import bank, edits
from pytest_skillevo.models.simulated.complaints import Complaint, read_complaints
from pytest_skillevo.models.simulated.language import read_sentence, split_sentences
from pytest_skillevo.models.simulated.practices import STATED

from .practices_under_test import PRACTICES, TERMS

FEEDBACK = """\
coverage: 3 of 4 requested dishes delivered; missing: Rustic Ab Pot, Cd Tray; extra: Ab Pot, Zz Bowl; duplicated: Ef Pan.
coverage: 3 of 3 requested dishes delivered; under an id that is no number: 3.
missing fields: category_dishes (4 of 4), category (1 of 4), cuisines_covered (in the summary).
wrong values: category of Gh Fold (the catalogue's category is expected); cuisine of Ij Tray (the name used by the task is expected); ingredient_count of Kl Pan (a whole number is expected); cuisine_dishes of Mn Pot (an object with count and top3 over the whole area is expected); hourly_forecast of Uv Pan (the figures of the summary block is expected); year of Yz Pan (the latest year common to all items is expected).
wrong values: gdp of Yz Pan (figures in single units is expected).
derived: difficulty_rating wrong for Kl Pan; cuisines_covered wrong in the summary.
faults: after meal_details timed out for Op Bowl, Cd Tray and Ef Pan were requested again; only the failed item needs a repeat.
faults: meal_by_area answered RATE_LIMITED for Op Bowl and was repeated at once; other calls must come first.
faults: meal_details keeps timing out for Wx Pot; other lookups hold what it would have told.
faults: the gap in Qr Pot was not reported with the documented sentinel.
paging: category_dishes of St Pot counts a truncated list (35 of 52 returned).
process: 2 calls came before what they need (meal_details).
redundant: 7 calls repeated an answer that was already there.
fabricated: 1 value is supported by no successful call: cuisine of Qr Pot.
finish: claim_done was never called."""  # noqa: E501

COMPLAINTS = {c.remedy: c for line in FEEDBACK.splitlines() for c in read_complaints(line)}


def says(text, practice):
    found = [practice.reads(read_sentence(sentence, terms=TERMS)) for sentence in split_sentences(text)]
    return [each for each in found if each]


def texts(phrases, complaint: Complaint):
    return [edits.filled(phrase, complaint) for phrase in phrases]


def test_the_feedback_of_a_family_raises_every_complaint_of_the_bank():
    assert set(COMPLAINTS) == set(bank.RULES) == set(bank.HARMFUL)


@pytest.mark.parametrize("remedy", bank.RULES)
def test_every_remedy_has_six_wordings_that_state_its_practice(remedy):
    complaint = COMPLAINTS[remedy]
    rules = texts(bank.RULES[remedy], complaint)
    assert len(set(rules)) >= 6
    for rule in rules:
        assert set(says(rule, complaint.practice)) == {STATED}, rule
        others = [(p.name, kind) for p in PRACTICES for kind in says(rule, p) if kind != STATED]
        assert others == [], rule


@pytest.mark.parametrize("remedy", bank.HARMFUL)
def test_every_harmful_phrase_asks_for_a_lapse_of_its_practice(remedy):
    complaint = COMPLAINTS[remedy]
    for rule in texts(bank.HARMFUL[remedy], complaint):
        found = says(rule, complaint.practice)
        assert found, rule
        assert STATED not in found, rule


def test_vague_advice_and_padding_match_no_practice():
    for text in (*bank.VAGUE, *bank.PADDING, *bank.VAGUE_DESCRIPTIONS):
        assert [p.name for p in PRACTICES if says(text, p)] == [], text


def test_descriptions_have_six_wordings_each():
    for phrases in (bank.DESCRIPTIONS, bank.VAGUE_DESCRIPTIONS, bank.WHEN_TO_USE):
        assert len(set(phrases)) >= 6

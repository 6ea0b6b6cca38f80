"""A family's own words: skills that speak of gadgets are read like skills that speak of items."""

from __future__ import annotations

import pytest

from pytest_skillevo.core.errors import ConfigError
from pytest_skillevo.models.simulated.language import read_sentence
from pytest_skillevo.models.simulated.library import RETRY, VERIFY
from pytest_skillevo.models.simulated.practices import STATED, Pattern, read_statements, scope_of
from pytest_skillevo.models.simulated.words import concepts
from pytest_skillevo.models.simulated.worker import read_order

TERMS = (("item", "gadget"), ("items", "gadgets"), ("artifact", "catalogue card"))


def test_a_sentence_is_read_by_the_words_of_the_family():
    sentence = "Check that every requested gadget is on the catalogue card."
    assert VERIFY.reads(read_sentence(sentence)) is None
    assert VERIFY.reads(read_sentence(sentence, terms=TERMS)) == STATED


def test_general_words_are_still_understood():
    for terms in ((), TERMS):
        assert RETRY.reads(read_sentence("Repeat only the failed item.", terms=terms)) == STATED


def test_phrases_with_a_general_word_get_the_familys_word_in_its_place():
    assert concepts(TERMS)["whole"].search("do all gadgets again")
    assert not concepts()["whole"].search("do all gadgets again")
    assert concepts((("item", "gadget"),))["itemtitle"].search("the gadget's name")


def test_statements_of_a_document_take_the_terms():
    document = "- Check that no requested gadget is missing.\n"
    assert read_statements(document, (VERIFY,)) == ()
    assert [found.says for found in read_statements(document, (VERIFY,), TERMS)] == [STATED]


def test_the_noun_before_a_proper_name_may_be_any():
    assert scope_of("For the gadget Bomaru Pot: retry.") == ("Bomaru Pot",)
    assert scope_of("When the gadget is Tesavo, page on.") == ("Tesavo",)


def test_a_pattern_over_an_unknown_concept_is_refused():
    with pytest.raises(KeyError, match="gizmo"):
        Pattern.parse("+gizmo")


def test_a_prompt_of_another_make_is_refused_in_words():
    with pytest.raises(ConfigError, match="needs the heading, the table, the example"):
        read_order("# Weather report: 3 cities x 3 lookups\n\nDo it.\n")

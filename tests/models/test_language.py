from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from pytest_skillevo.models.simulated.language import concept, normalise, read_sentence, read_sentences


def affirmed(sentence, word):
    read = read_sentence(sentence)
    hits = read.hits(concept(word), 0)
    assert len(hits) == 1, read.words
    return read.affirmed[hits[0]]


def test_one_concept_has_one_spelling():
    for text in ("timed out", "time-out", "times out", "Timeout"):
        assert normalise(text) == "timeout"
    assert normalise("rate-limited") == normalise("RATE_LIMITED") == "rate_limit"


def test_denial_holds_within_its_segment():
    sentence = "Retry the failed call, never the whole batch."
    assert affirmed(sentence, "retry")
    assert not affirmed(sentence, "batch")


def test_two_denials_cancel():
    assert affirmed("Never forget to call claim_done.", "claim_done")
    assert affirmed("Do not finish without calling claim_done.", "claim_done")
    assert affirmed("Never stop before claim_done was called.", "claim_done")


def test_and_before_a_verb_starts_a_new_order():
    sentence = "Do not guess and write the sentinel."
    assert not affirmed(sentence, "guess")
    assert affirmed(sentence, "sentinel")


def test_a_verdict_condemns_its_whole_clause():
    assert not affirmed("Asking again after an error is pointless.", "asking")
    assert affirmed("Guessing is wrong, so ask again.", "ask")


def test_a_limit_is_no_denial():
    assert affirmed("Never retry a call more than twice.", "retry")


def test_sections_on_when_to_use_are_left_out_with_their_subsections():
    document = "# A\n\nOne.\n\n## When to use\n\nTwo.\n\n### Not for\n\nThree.\n\n## Steps\n\n- Four.\n"
    assert [sentence.raw for sentence in read_sentences(document)] == ["One.", "Four."]


def test_frontmatter_is_no_method():
    assert [s.raw for s in read_sentences("---\nname: a\ndescription: b\n---\nDo c.\n")] == ["Do c."]


def test_a_heading_inside_a_fence_is_text():
    assert len(read_sentences("```\n# When to use\nkey\n```\n")) >= 1


@given(st.text(max_size=400))
def test_any_text_can_be_read(text):
    for sentence in read_sentences(text):
        assert len(sentence.starts) == len(sentence.affirmed) == len(sentence.clauses)
        assert len(sentence.words.split()) == len(sentence.starts)

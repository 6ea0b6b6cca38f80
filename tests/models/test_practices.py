from __future__ import annotations

import pytest

from pytest_skillevo.models.simulated import bank
from pytest_skillevo.models.simulated.language import read_sentence
from pytest_skillevo.models.simulated.practices import (
    STATED,
    Practice,
    Stance,
    patterns,
    read_statements,
    scope_of,
    stance,
)

from .paraphrases import NEAR_MISSES, PARAPHRASES
from .practices_under_test import BY_NAME, PRACTICES, TERMS

GENERIC = [name for name in BY_NAME if name not in ("fill a null from another answer",)]


def says(name, sentence):
    return BY_NAME[name].reads(read_sentence(sentence, terms=TERMS))


def held(document, name, prompt="# Recipe cookbook"):
    return stance(read_statements(document, PRACTICES, TERMS), BY_NAME[name], prompt)


def test_every_practice_has_at_least_eight_paraphrases():
    assert set(PARAPHRASES) == set(BY_NAME)
    assert all(len(set(texts)) >= 8 for texts in PARAPHRASES.values())


@pytest.mark.parametrize(("name", "sentence"), [(name, text) for name, texts in PARAPHRASES.items() for text in texts])
def test_a_paraphrase_states_its_practice_and_contradicts_no_other(name, sentence):
    assert says(name, sentence) == STATED
    assert [other for other in BY_NAME if says(other, sentence) not in (None, STATED)] == []


@pytest.mark.parametrize(("name", "sentence"), [(name, text) for name, texts in NEAR_MISSES.items() for text in texts])
def test_a_near_miss_says_nothing_of_the_practice(name, sentence):
    assert says(name, sentence) is None


def test_the_paraphrases_are_in_no_phrase_bank():
    phrases = {phrase for texts in (*bank.RULES.values(), *bank.HARMFUL.values()) for phrase in texts}
    assert not phrases & {text for texts in PARAPHRASES.values() for text in texts}


@pytest.mark.parametrize(
    ("name", "sentence", "kind"),
    [
        ("retry failed items only", "If a lookup fails, rerun the whole batch.", "batch"),
        ("retry failed items only", "Start over from the beginning after every error.", "batch"),
        ("retry failed items only", "Never retry a failed call.", "none"),
        ("do other work after a rate limit", "When throttled, repeat the call immediately.", "at once"),
        ("no data is final", "On NO_DATA guess a plausible value.", "guess"),
        ("no data is final", "Ask again until NO_DATA goes away.", "retry"),
        ("page to the total", "Report returned_count as the count.", "lapse"),
        ("check the resolved name", "Always take the first hit.", "lapse"),
        ("finish with claim_done", "Do not call claim_done.", "silent"),
        ("include category_dishes", "Leave category_dishes out.", "lapse"),
        ("include category_dishes", "category_dishes is optional.", "lapse"),
        ("difficulty_rating by rule", "Use the tool's estimate as the difficulty.", "lapse"),
        ("the task outranks the plan file", "Work from plan.json.", "lapse"),
    ],
)
def test_the_opposite_of_a_practice_is_read_as_the_lapse_that_it_asks_for(name, sentence, kind):
    assert says(name, sentence) == kind


@pytest.mark.parametrize(
    "sentence",
    [
        "Never rerun the whole batch.",
        "Rerunning the whole batch is a mistake.",
        "Repeat the failed item instead of the whole batch.",
        "Do not, under any circumstances, repeat the entire batch.",
    ],
)
def test_a_denied_batch_rerun_is_the_good_rule(sentence):
    assert says("retry failed items only", sentence) == STATED


def test_a_pitfall_list_names_what_not_to_do():
    document = "## Steps\n\n1. Look things up.\n\n## Pitfalls\n\n- Rerunning the whole batch after one timeout.\n"
    assert held(document, "retry failed items only") == (Stance.STATED, "")


def test_the_same_words_among_the_steps_are_an_order():
    document = "## Steps\n\n1. After a timeout keep rerunning the whole batch.\n"
    assert held(document, "retry failed items only") == (Stance.CONTRARY, "batch")


def test_text_outside_the_method_states_nothing():
    rule = "Retry only the failed item."
    document = f"---\nname: a\ndescription: {rule}\n---\n\n# A\n\n## When to use\n\n{rule}\n\n## Steps\n\n1. Work.\n"
    assert held(document, "retry failed items only") == (Stance.SILENT, "")
    assert held(document + f"2. {rule}\n", "retry failed items only") == (Stance.STATED, "")


def test_a_rule_may_run_over_several_lines():
    document = "## Steps\n\n1. When a lookup\n   times out, ask again for\n   that one item alone.\n"
    assert held(document, "retry failed items only") == (Stance.STATED, "")


def test_both_sides_stated_leave_the_agent_torn():
    document = "- Retry only the failed item.\n- If anything fails, rerun the whole batch.\n"
    assert held(document, "retry failed items only") == (Stance.TORN, "batch")


def test_a_rule_for_one_item_holds_only_for_tasks_that_name_it():
    document = "- For Bomaru Pot: add category_dishes.\n"
    assert held(document, "include category_dishes", "| 1 | Bomaru Pot |")[0] is Stance.STATED
    assert held(document, "include category_dishes", "| 1 | Tesavo Tray |")[0] is Stance.SILENT


@pytest.mark.parametrize(
    ("sentence", "names"),
    [
        ("For Bomaru Pot with Greens: retry.", ("Bomaru Pot with Greens",)),
        ("When the dish is Tesavo, page on.", ("Tesavo",)),
        ("For every dish retry only the failed one.", ()),
        ("For Easy dishes count again.", ()),
    ],
)
def test_proper_names_limit_a_sentence(sentence, names):
    assert scope_of(sentence) == names


def test_probabilities_out_of_range_are_refused():
    with pytest.raises(ValueError, match="out of range"):
        Practice("x", p0=0.2, p1=0.05, directive=patterns("+claim"))
    with pytest.raises(ValueError, match="no lapse of kind"):
        Practice("x", p0=0.5, p1=0.05, directive=patterns("+claim"), contrary={"strange": patterns("-claim")})

from __future__ import annotations

import pytest

from pytest_skillevo.models.simulated.complaints import read_complaints


def remedies(*lines):
    return [complaint.key for complaint in read_complaints("\n".join(lines))]


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("missing fields: category_dishes (4 of 4).", [("include", "category_dishes")]),
        ("missing fields: category (1 of 4).", [("merge", "")]),
        ("coverage: 2 of 3 requested dishes delivered; missing: A B.", [("verify", "")]),
        ("coverage: 3 of 3 requested dishes delivered; extra: C D.", [("task wins", "")]),
        ("coverage: 2 of 3 requested dishes delivered; missing: Rustic A B; extra: A B.", [("titles", "")]),
        ("coverage: 3 of 3 requested dishes delivered; spelled differently from the task: 1.", [("titles", "")]),
        ("coverage: 3 of 3 requested dishes delivered; under an id that is no number: 3.", [("numeric ids", "")]),
        ("faults: meal_details timed out for A and was never requested again.", [("retry", "")]),
        (
            "faults: meal_by_area answered NO_DATA for A and was requested 2 more times; that answer is final.",
            [("gap", "")],
        ),
        ("finish: no recipe_cookbook.json was written.", [("finish", "")]),
        ("something else: nobody knows.", []),
        ("", []),
    ],
)
def test_a_sentence_raises_the_complaint_that_its_remedy_answers(line, expected):
    assert remedies(line) == expected


def test_a_value_of_the_source_that_is_wrong_points_to_a_wrong_record():
    line = (
        "wrong values: category of A B (the catalogue's category is expected); "
        "category_dishes of A B (count and top3 over the whole category is expected)."
    )
    assert remedies(line) == [("ambiguity", "")]


def test_a_consequence_is_not_raised_beside_its_cause():
    extra = "coverage: 3 of 3 requested dishes delivered; extra: C D."
    assert remedies(extra, "derived: total_recipes wrong in the summary.") == [("task wins", "")]
    assert remedies("derived: total_recipes wrong in the summary.") == [("summary", "")]


def test_a_truncated_list_is_not_taken_for_a_wrong_order():
    wrong = "wrong values: category_dishes of A (count and top3 over the whole category is expected)."
    assert remedies(wrong, "paging: category_dishes of A counts a truncated list.") == [("paging", "")]
    assert remedies(wrong) == [("alphabetical", "category_dishes")]


def test_what_explains_the_cap_weighs_double():
    missing = "missing fields: category_dishes (4 of 4)."
    (plain,) = read_complaints(missing)
    (capped,) = read_complaints(missing + "\ncap: 0.79 because a deliverable value is missing.")
    assert (plain.weight, capped.weight) == (1, 2)

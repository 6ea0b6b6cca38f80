"""Merges of two candidates."""

from __future__ import annotations

from pytest_skillevo.core.gepa.merge import Merger, merged_texts, trial_cases
from pytest_skillevo.core.gepa.pool import Pool
from pytest_skillevo.core.records import Evaluation, Usage
from pytest_skillevo.core.skill import Skill

from .driver import answer_text, cases, search, seed_skill

WIDE = tuple(f"v-{n}" for n in range(6))


def edited(skill: Skill, **texts: str) -> Skill:
    for name, text in texts.items():
        skill = skill.with_component(name, text)
    return skill


def family(ancestor: list[float], first: list[float], second: list[float], **more: Skill) -> Pool:
    """A seed and two children, one with other steps, one with another pitfall."""
    pool, seed = Pool(WIDE), seed_skill(pitfalls=["Never guess."])
    children = {
        "left": more.get("left", edited(seed, steps="1. Read twice.")),
        "right": more.get("right", edited(seed, pitfalls="- Never guess.\n- Never stop.")),
    }
    pool.add(seed, dict(zip(WIDE, ancestor, strict=True)), iteration=0)
    for number, (name, row) in enumerate((("left", first), ("right", second)), 1):
        pool.add(children[name], dict(zip(WIDE, row, strict=True)), iteration=number, parent=0)
    return pool


LEFT, RIGHT, ZERO = [1.0, 1, 1, 0, 0, 0], [0.0, 0, 0, 1, 1, 1], [0.0] * 6


def find(pool: Pool, merger: Merger | None = None):
    return (merger or Merger(5)).find(pool, seed=1, iteration=3, known=lambda digest: False)


def test_two_children_that_improved_different_components_are_merged():
    merge = find(family(ZERO, LEFT, RIGHT))
    assert merge is not None
    assert merge.skill.components["steps"] == "1. Read twice."
    assert merge.skill.components["pitfalls"] == "- Never guess.\n- Never stop."
    assert (merge.left, merge.right, merge.taken) == (1, 2, ("pitfalls",))


def test_a_pair_is_tried_once():
    pool, merger = family(ZERO, LEFT, RIGHT), Merger(5)
    assert find(pool, merger) is not None
    assert find(pool, merger) is None


def test_an_ancestor_better_than_a_descendant_is_skipped():
    assert find(family([1.0, 1, 1, 1, 0, 0], LEFT, RIGHT)) is None


def test_a_parent_and_its_child_are_not_merged():
    pool = Pool(WIDE)
    pool.add(seed_skill(), dict(zip(WIDE, LEFT, strict=True)), iteration=0)
    pool.add(edited(seed_skill(), steps="1. Other."), dict(zip(WIDE, RIGHT, strict=True)), iteration=1, parent=0)
    assert find(pool) is None


def test_a_component_changed_on_both_sides_is_that_of_the_better_one():
    seed = seed_skill(pitfalls=["Never guess."])
    left = edited(seed, steps="1. Left.")
    right = edited(seed, steps="1. Right.", pitfalls="- Never guess.\n- Never stop.")
    pool = family(ZERO, [1.0, 1, 0, 0, 0, 0], RIGHT, left=left, right=right)
    texts = merged_texts(pool, 0, 1, 2, ("key",))
    assert texts["steps"] == "1. Right."
    assert texts["when_to_use"] == seed.components["when_to_use"]


def test_the_trial_takes_cases_where_each_side_is_better():
    pool = family(ZERO, LEFT, RIGHT)
    trial = trial_cases(pool, 1, 2, 7)
    assert len(trial) == len(set(trial)) == 5
    assert sum(case in trial for case in WIDE[:3]) >= 2
    assert sum(case in trial for case in WIDE[3:]) >= 2


def specialists(skill: Skill, request) -> float:
    """Steps decide one half of the cases, pitfalls the other."""
    even = int(request.case_id.split("-")[1]) % 2 == 0
    return 0.9 if ("good steps" in skill.text if even else "good pitfall" in skill.text) else 0.1


def reflect(request) -> str:
    if request.component == "steps":
        return answer_text("steps", "1. Take good steps.")
    if request.component == "pitfalls":
        return answer_text("pitfalls", "- Mind the good pitfall.")
    return answer_text(request.component, f"Nothing new {request.id}.")


def test_a_search_with_merges_joins_specialists_and_counts_the_merge_as_an_iteration():
    from pytest_skillevo.core.gepa import Strategy

    # Both children come from the seed, one component each.
    strategy = Strategy(
        select_parent=lambda pool, seed, iteration: 0,
        select_component=lambda skill, cursor, evidence: ("steps", "pitfalls")[cursor % 2],
        sample=lambda cases, size, seed, iteration, history: cases[:2],
    )
    result, log = search(
        specialists, reflect, dataset=cases(4, 6), iterations=3, merges=2, threshold=None, pace=0,
        engine={"strategy": strategy},
    )  # fmt: skip
    merged = result.pool[-1]
    assert merged.component == "merge"
    assert merged.mean == 0.9
    assert {merged.parent, merged.merged} == {entry.digest for entry in result.pool[1:3]}
    assert log.reflections == 2
    assert [event.iteration for event in result.events] == [0, 1, 2, 3]
    validated = [request.id for request in log.requests if request.id.startswith("search/it003")]
    assert len(validated) == len(set(validated)) == 6

    def priced(skill: Skill, request) -> Evaluation:
        both = "good steps" in skill.text and "good pitfall" in skill.text
        return Evaluation(specialists(skill, request), usage={"agent": Usage(200 if both else 100, 0)})

    held, _ = search(
        priced, reflect, dataset=cases(4, 6), iterations=3, merges=2, threshold=None, pace=0, max_cost_growth=1.5,
        engine={"strategy": strategy},
    )  # fmt: skip
    assert [entry.digest for entry in held.pool] == [entry.digest for entry in result.pool[:-1]]
    assert held.events[-1].verdict.startswith("too dear: its cost (tokens) is above 1.5 times")


def test_without_merges_nothing_is_merged():
    result, _ = search(specialists, reflect, dataset=cases(4, 6), iterations=6)
    assert all(event.component != "merge" for event in result.events)

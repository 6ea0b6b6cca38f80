"""Good edits of the simulated reflection model help the cook on average, harmful ones never do."""

from __future__ import annotations

import json
import statistics

import pytest

from pytest_skillevo.core.gepa.engine import Engine
from pytest_skillevo.core.gepa.prompt import Brief, reflection_messages
from pytest_skillevo.core.gepa.requests import ReflectionAnswer, RolloutAnswer
from pytest_skillevo.core.gepa.settings import SearchDataset, SearchSettings
from pytest_skillevo.core.records import Outcome, RolloutRequest
from pytest_skillevo.models.simulated import EditMix, SimulatedModel

SETTINGS = SearchSettings(seed=1, iterations=1, max_rollouts=None, max_tokens=None)


def edited(kitchen, skill, component, seed, mix):
    records = [(p.task, p.evaluation) for p in kitchen.plays(skill, seeds=(seed,), split="feedback", limit=3)]
    prompt = reflection_messages(Brief(skill, component, records, ()), SETTINGS, lambda text: text)
    answer = json.loads(SimulatedModel(mix=mix).complete(prompt, seed=seed).text)
    return skill.with_component(component, answer["text"])


def gains(kitchen, skill, mix, components):
    before = kitchen.mean(skill, split="validation")
    edits = [edited(kitchen, skill, component, seed, mix) for seed in range(6) for component in components]
    return [kitchen.mean(edit, split="validation") - before for edit in edits]


def test_good_edits_help_on_average_and_never_do_harm(kitchen, seed_skill):
    found = gains(kitchen, seed_skill, EditMix(1, 0, 0, 0, 0, 0), ("steps", "pitfalls"))
    assert statistics.mean(found) > 0.005
    assert min(found) > -0.01


def test_harmful_edits_help_nowhere(kitchen, seed_skill, good_skill):
    for skill in (seed_skill, good_skill):
        found = gains(kitchen, skill, EditMix(0, 0, 0, 0, 1, 0), ("steps", "pitfalls"))
        assert max(found) < 0.01
        assert statistics.mean(found) < 0


@pytest.mark.parametrize("kind", ["vague", "entity"])
def test_edits_without_a_general_rule_change_next_to_nothing(kitchen, seed_skill, kind):
    mix = EditMix(*[float(name == kind) for name in ("good", "vague", "entity", "bloated", "harmful", "invalid")])
    found = gains(kitchen, seed_skill, mix, ("steps",))
    assert abs(statistics.mean(found)) < 0.015


def search(kitchen, skill, root, mix, iterations):
    """A whole search with the real engine; returns the winner."""
    cases = {
        name: tuple(t.id for t in kitchen.tasks.values() if t.split == name) for name in ("feedback", "validation")
    }
    settings = SearchSettings(seed=root, iterations=iterations, max_rollouts=None)
    engine = Engine(skill, SearchDataset(**cases), settings)
    model = SimulatedModel(mix=mix)
    while not engine.finished:
        answers = []
        for request in engine.ask():
            if isinstance(request, RolloutRequest):
                played = kitchen.play(engine.skill(request.variant), request.case_id, request.seed)
                answers.append(RolloutAnswer(request.id, Outcome("scored", played.evaluation)))
            else:
                reply = model.complete(request.messages, seed=request.seed)
                answers.append(ReflectionAnswer(request.id, reply.text, reply.finish_reason, reply.usage))
        engine.tell(answers)
    return engine.skill(engine.result().winner)


def test_a_search_with_harmful_proposals_only_finds_nothing_better(kitchen, seed_skill):
    for root in (1, 2):
        winner = search(kitchen, seed_skill, root, EditMix(0, 0, 0, 0, 1, 0), 12)
        assert kitchen.mean(winner, split="holdout") <= kitchen.mean(seed_skill, split="holdout") + 0.005


def test_a_search_with_the_documented_mix_improves_the_seed_on_holdout(kitchen, seed_skill):
    before = kitchen.mean(seed_skill, split="holdout")
    after = [kitchen.mean(search(kitchen, seed_skill, root, None, 24), split="holdout") for root in (1, 2, 3)]
    assert statistics.mean(after) > before + 0.02

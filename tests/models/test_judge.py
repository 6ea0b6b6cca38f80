from __future__ import annotations

import json

from pytest_skillevo.models.simulated import SimulatedModel


def judged(answer, criteria, seed=1):
    content = f"<criteria>\n{json.dumps(criteria)}\n</criteria>\n<answer>\n{json.dumps(answer)}\n</answer>"
    return json.loads(SimulatedModel().complete([{"role": "user", "content": content}], seed=seed).text)


def test_a_criterion_is_met_when_its_words_occur():
    scores = [
        judged("The soup contains peanuts.", ["contains peanuts", "warns of alcohol"], n)["score"] for n in range(50)
    ]
    assert scores.count(0.5) > 40
    assert judged("x", [])["score"] == 0.0


def test_the_judge_errs_at_its_documented_rate():
    met = [judged("peanuts inside", ["peanuts inside"], seed)["criteria"][0]["met"] for seed in range(1000)]
    assert 0.95 <= sum(met) / 1000 <= 0.99

"""Four synthetic landscapes and one noisy proposer, for comparing search engines at equal rollouts.

A candidate has four text components with four genes each, whole numbers from 0 to 3, written as "levels 0 2 1 3".
A landscape gives each case a score for the sixteen genes and, as feedback, the genes that hold the case back. The
proposer reads that feedback and rewrites one component: half of its proposals mend one gene that the feedback names,
three in ten change one gene at random, and two in ten mend one and change another at random. Landscapes and proposer
know nothing of the engine that uses them. This file, with sizes and budget, was committed before the first comparison.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from pytest_skillevo.core.draws import draw, draw_int, pick, shuffled

#: In the order in which both engines go round.
COMPONENTS: Final = ("steps", "pitfalls", "when_to_use", "description")
GENES: Final = 4
LEVELS: Final = 4
FEEDBACK_CASES: Final = 30
VALIDATION_CASES: Final = 30
#: Rollouts of one search, the seed's validation among them; what an engine finds with more does not count.
ROLLOUTS: Final = 1200
MINIBATCH: Final = 3
#: Searches per landscape and engine at full scale; search number n runs in world n with the engine's seed n.
RUNS: Final = 30
#: Cases that no engine sees: the true score of a candidate is its expected mean over them.
TRUE_CASES: Final = 400

Genes = tuple[int, ...]
#: Component and place within it.
Place = tuple[str, int]
Scorer = Callable[[int, str, Genes], tuple[float, list[Place]]]

_PLACES: Final = tuple((component, gene) for component in COMPONENTS for gene in range(GENES))
_LISTS: Final = {"steps": "1. ", "pitfalls": "- "}


def written(component: str, levels: Sequence[int]) -> str:
    """The text of a component."""
    return f"{_LISTS.get(component, '')}levels {' '.join(map(str, levels))}"


def read(component: str, text: str) -> Genes:
    """The genes in the text of a component. Raises ValueError for any other text."""
    found = re.fullmatch(re.escape(_LISTS.get(component, "")) + r"levels((?: \d)+)", text.strip())
    levels = tuple(map(int, found[1].split())) if found else ()
    if len(levels) != GENES:
        raise ValueError(f"no levels of the component {component}: {text!r}")
    return levels


def genes_of(components: Mapping[str, str]) -> Genes:
    """All sixteen genes of a candidate."""
    return tuple(level for component in COMPONENTS for level in read(component, components[component]))


def seed_components() -> dict[str, str]:
    """The candidate that every search starts from: all genes 0."""
    return {component: written(component, (0,) * GENES) for component in COMPONENTS}


def _target(world: int) -> Genes:
    """The levels to be found; none is 0, so that the seed has nothing right."""
    return tuple(1 + draw_int(LEVELS - 1, world, "target", place) for place in range(len(_PLACES)))


def _smooth(world: int, case: str, genes: Genes) -> tuple[float, list[Place]]:
    """Graded: each case weighs six genes, and a gene counts by its nearness to the target."""
    target = _target(world)
    minded = shuffled(range(len(_PLACES)), world, case, "minded")[:6]
    weights = [0.2 + draw(world, case, "weight", place) for place in minded]
    near = [1 - abs(genes[place] - target[place]) / (LEVELS - 1) for place in minded]
    score = sum(w * n for w, n in zip(weights, near, strict=True)) / sum(weights)
    return score, [_PLACES[place] for place, n in zip(minded, near, strict=True) if n < 1]


def _pass_fail(world: int, case: str, genes: Genes) -> tuple[float, list[Place]]:
    """Pass or fail: a case needs one or two genes exactly right, so that many candidates tie."""
    target = _target(world)
    needed = shuffled(range(len(_PLACES)), world, case, "needed")[: 1 + draw_int(2, world, case, "how many")]
    wrong = [_PLACES[place] for place in needed if genes[place] != target[place]]
    return float(not wrong), wrong


def _deceptive(world: int, case: str, genes: Genes) -> tuple[float, list[Place]]:
    """Graded: pairs of genes in two components help together only; one alone helps two cases in five and harms three.

    On the average of many cases a single right gene is worse than none, so that progress leads through a valley.
    """
    target = _target(world)
    order = shuffled(range(len(_PLACES) // 2), world, "partners")
    pairs = list(zip(range(len(_PLACES) // 2), (place + len(_PLACES) // 2 for place in order), strict=True))
    kind = draw(world, case, "kind") < 0.4
    minded = shuffled(pairs, world, case, "minded")[:3]
    points, wrong = 0.0, []
    for pair in minded:
        right = [genes[place] == target[place] for place in pair]
        points += 1.0 if all(right) else 0.4 if not any(right) else (0.6 if kind else 0.2)
        wrong += [_PLACES[place] for place, good in zip(pair, right, strict=True) if not good]
    return points / len(minded), wrong


@dataclass(frozen=True, slots=True)
class Landscape:
    """A family of worlds; `world` numbers one of them."""

    name: str
    scorer: Scorer
    #: Whether a rollout is a coin flip with the score as its chance, anew at every call.
    noisy: bool = False

    def quality(self, world: int, case: str, genes: Genes) -> tuple[float, list[Place]]:
        """The expected score in [0, 1] and the genes that hold the case back."""
        return self.scorer(world, case, genes)

    def truth(self, world: int, genes: Genes) -> float:
        """The expected mean over cases that no engine sees."""
        return sum(self.quality(world, f"true-{n}", genes)[0] for n in range(TRUE_CASES)) / TRUE_CASES


LANDSCAPES: Final = (
    Landscape("smooth", _smooth),
    Landscape("pass/fail with ties", _pass_fail),
    Landscape("deceptive interaction", _deceptive),
    Landscape("noisy", _smooth, noisy=True),
)


class Evaluator:
    """Rollouts of one world. Counts them; noise depends on candidate, case and how often that pair was run before."""

    def __init__(self, landscape: Landscape, world: int) -> None:
        self._landscape = landscape
        self._world = world
        self._runs: dict[tuple[Genes, str], int] = {}
        self.rollouts = 0

    def run(self, components: Mapping[str, str], case: str) -> tuple[float, str]:
        """Score and feedback; the feedback is JSON, the places that hold the case back."""
        self.rollouts += 1
        genes = genes_of(components)
        score, wrong = self._landscape.quality(self._world, case, genes)
        if self._landscape.noisy:
            count = self._runs[genes, case] = self._runs.get((genes, case), 0) + 1
            score = float(draw(self._world, case, count, "noise", *genes) < score)
        return score, json.dumps([] if score >= 1 else wrong)


class Proposer:
    """The one proposer of both engines; its draws depend on the world, the run and the number of the proposal only."""

    def __init__(self, world: int, run: int) -> None:
        self._key = (world, run, "proposal")
        self._target = _target(world)
        self.proposals = 0

    def propose(self, component: str, text: str, feedback: Sequence[str]) -> str:
        """The new text of a component, from its text and the feedback of the minibatch's cases."""
        self.proposals += 1
        key = (*self._key, self.proposals)
        levels = list(read(component, text))
        named = sorted({gene for note in feedback for where, gene in json.loads(note) if where == component})
        chance = draw(*key, "kind")
        if named and (chance < 0.5 or chance >= 0.8):
            gene = pick(named, *key, "which")
            levels[gene] = self._target[COMPONENTS.index(component) * GENES + gene]
        if chance >= 0.5 or not named:
            gene = draw_int(GENES, *key, "any")
            levels[gene] = draw_int(LEVELS, *key, "level")
        return written(component, levels)

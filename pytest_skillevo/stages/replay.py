"""Operational replay: sequential tasks with shared skill state and the Reviewer on, in three groups.

`baseline` has no skill and no Reviewer, `evolution` starts from the seed skill, `optimized` from the candidate. The
groups of a round run the same tasks with the same seeds; which group goes first rotates (spec/suites.md 2.8, 3.11).
Every round of a group begins with the group's own skill, so all rounds and groups go forward together (chains.py).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from ..core.draws import draw_bits, shuffled
from ..core.protocols import ChatModel
from ..core.records import NO_USAGE, Case, Usage
from ..core.skill import Skill
from ..core.verdict import ReplayEvidence, ReplayPair
from .chains import Chain, run_chains
from .dataset import Dataset
from .plan import replay_tasks
from .progress import Progress
from .recorder import Recorder
from .settings import REPLAY_GROUPS, REPLAY_SEEDS

#: Easy levels come first; what the Reviewer learns there serves the later ones (spec/suites.md 3.11).
LADDER = ("e1", "e2", "e3", "m1", "m2", "h1")


@dataclass(slots=True)
class GroupTotals:
    """What one group did over all rounds. Token sums are None as soon as one part is unknown."""

    tasks: int = 0
    scores: list[float] = field(default_factory=list)
    passed: int = 0
    agent: Usage = NO_USAGE
    reviewer: Usage = NO_USAGE
    updates: int = 0
    loads: int = 0

    @classmethod
    def of(cls, chains: Sequence[Chain]) -> GroupTotals:
        """The totals of the chains of one group."""
        runs = [run for chain in chains for run in chain.runs]
        return cls(
            tasks=len(runs),
            scores=[run.score for run in runs if run.score is not None],
            passed=sum(run.passed is True for run in runs),
            agent=sum((chain.agent for chain in chains), NO_USAGE),
            reviewer=sum((chain.reviewer for chain in chains), NO_USAGE),
            updates=sum(run.updated for run in runs),
            loads=sum(run.loaded for run in runs),
        )


@dataclass(frozen=True, slots=True)
class Replayed:
    """The replay's evidence and the totals by group."""

    evidence: ReplayEvidence
    groups: dict[str, GroupTotals]
    root_seeds: tuple[int, ...]
    tasks_per_round: int


def run_replay(
    dataset: Dataset,
    before: Skill,
    after: Skill,
    seed: int,
    reviewer_model: ChatModel,
    recorder: Recorder,
    progress: Progress,
    left_out: Sequence[str] = (),
) -> Replayed:
    """Run all rounds. `left_out` are cases that skip themselves and so cannot be replayed."""
    cases = [case for case in dataset.cases if case.split == "holdout" and case.id not in set(left_out)]
    per_round = min(replay_tasks(dataset), len(cases))
    root_seeds = tuple(draw_bits(seed, "replay", number) % 1_000_000 for number in range(REPLAY_SEEDS))
    progress.stage("replay", total=len(REPLAY_GROUPS) * REPLAY_SEEDS * per_round)
    starts = {"baseline": Skill.absent(before.name), "evolution": before, "optimized": after}
    chains: list[Chain] = []
    for number, root_seed in enumerate(root_seeds):
        tasks = sample_tasks(cases, per_round, root_seed)
        order = [REPLAY_GROUPS[(number + place) % len(REPLAY_GROUPS)] for place in range(len(REPLAY_GROUPS))]
        progress.round(number + 1, REPLAY_SEEDS, groups=order, root_seed=root_seed)
        chains += [
            Chain("replay", number, group, root_seed, tasks, starts[group], reviewed=group != "baseline")
            for group in order
        ]
    run_chains(chains, reviewer_model, recorder, progress)
    of = {group: [chain for chain in chains if chain.group == group] for group in REPLAY_GROUPS}
    pairs = [
        ReplayPair(one.root_seed, case.id, case.family or "", old.score, new.score, old.tokens, new.tokens)
        for one, other in zip(of["evolution"], of["optimized"], strict=True)
        for case, old, new in zip(one.tasks, one.runs, other.runs, strict=True)
    ]
    evidence = ReplayEvidence(tuple(pairs), planned=REPLAY_SEEDS * per_round)
    return Replayed(evidence, {group: GroupTotals.of(chains) for group, chains in of.items()}, root_seeds, per_round)


def sample_tasks(cases: Sequence[Case], count: int, root_seed: int) -> list[Case]:
    """The tasks of one round: drawn by the root seed, spread over the levels, easy levels first."""
    by_level: dict[str, list[Case]] = {}
    for case in cases:
        by_level.setdefault(case.level or "", []).append(case)
    queues = [
        shuffled(sorted(group, key=_by_id), root_seed, "replay-tasks", level)
        for level, group in sorted(by_level.items())
    ]
    chosen: list[Case] = []
    while len(chosen) < count:
        for queue in queues:
            if queue and len(chosen) < count:
                chosen.append(queue.pop(0))
    return sorted(chosen, key=lambda case: (_rung(case), case.id))


def _by_id(case: Case) -> str:
    return case.id


def _rung(case: Case) -> tuple[int, str]:
    level = case.level or ""
    return (LADDER.index(level) if level in LADDER else len(LADDER)), level

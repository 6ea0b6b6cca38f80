"""The online experiment: feedback tasks in order, without a skill and with one that the Reviewer keeps changing.

`baseline` has no skill and no Reviewer, `evolution` starts each round from the active skill. Both groups of a round run
the same tasks with the same seeds; which goes first alternates. Nothing is published (spec/suites.md 2.8).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict, dataclass
from typing import Any

from ..core.canonical import digest_json
from ..core.draws import draw_bits
from ..core.errors import ConfigError
from ..core.records import Case
from ..core.skill import Skill
from ..store import Store
from .caps import deciding, stopping
from .chains import Chain, TaskRun, run_chains
from .experiment import Setting
from .packing import CASES
from .progress import Progress
from .recorder import Executor, Recorder
from .replay import LADDER, sample_tasks

GROUPS = ("baseline", "evolution")
ROUNDS = 3
#: Tasks of one round of one group: one of each level where the family has the usual six.
TASKS = len(LADDER)


@dataclass(frozen=True, slots=True)
class OnlineTask:
    """One task of one group in one round."""

    round: int
    root_seed: int
    group: str
    skill: str
    case: str
    family: str
    level: str
    run: TaskRun

    def to_json(self) -> dict[str, Any]:
        """JSON-able; `tokens` are end to end, the Reviewer's among them."""
        return {**asdict(self), "run": {**asdict(self.run), "objectives": dict(self.run.objectives)}}


def online_fingerprint(setting: Setting) -> str:
    """Digest of all that decides the figures."""
    plan = {"of": "online", "rounds": ROUNDS, "tasks": TASKS}
    return digest_json({**setting.identity, "settings": deciding(setting.settings), **plan})


def online_rollouts(setting: Setting) -> int:
    """How many rollouts the experiment of one skill makes."""
    return len(GROUPS) * ROUNDS * min(TASKS, len(setting.dataset.ids("feedback")))


def run_online(setting: Setting, store: Store, executor: Executor, progress: Progress) -> list[OnlineTask]:
    """All rounds of one skill; what the store's journal holds already is not run again. Raises ConfigError."""
    setting.dataset.require(("feedback",))
    if setting.settings.transfer is not None:
        raise ConfigError("--evolve-transfer belongs to a search (--evolve): leave it out here")
    evaluator, fingerprint = setting.evaluator(), online_fingerprint(setting)
    cases = [case for case in setting.dataset.cases if case.split == "feedback"]
    count = min(TASKS, len(cases))
    name = f"ex-online-{fingerprint[:12]}"
    known = next((one for one in store.experiments(setting.folder) if one.id == name), None)
    if known is None:
        about = {**setting.settings.to_json(), "identity": setting.identity, "kind": "online"}
        store.create_experiment(name, setting.folder, fingerprint, about)
    recorder = Recorder(store, name, executor, setting.redact, online_rollouts(setting), caps=setting.settings.caps)
    recorder.event(CASES, CASES, lambda: setting.dataset.listed(setting.redact))
    progress.stage("online", total=online_rollouts(setting))
    with stopping():
        told = list(_rounds(setting, cases, count, recorder, progress))
    if setting.evaluator() != evaluator:
        raise ConfigError("a file that decides scores, or the skill on disk, changed while the cases ran; start again")
    recorder.flush()
    if known is None or known.finished_at is None:
        store.finish_experiment(name, {"verdict": "measured"}, None)
    return told


def _rounds(
    setting: Setting, cases: list[Case], count: int, recorder: Recorder, progress: Progress
) -> Iterator[OnlineTask]:
    starts = {"baseline": Skill.absent(setting.seed_skill.name), "evolution": setting.seed_skill}
    chains: list[Chain] = []
    for number in range(ROUNDS):
        root_seed = draw_bits(setting.settings.seed, "online", number) % 1_000_000
        tasks = sample_tasks(cases, count, root_seed)
        order = GROUPS if number % 2 == 0 else GROUPS[::-1]
        progress.round(number + 1, ROUNDS, groups=order, root_seed=root_seed)
        chains += [
            Chain("online", number, group, root_seed, tasks, starts[group], reviewed=group != "baseline")
            for group in order
        ]
    run_chains(chains, setting.models["reviewer"], recorder, progress)
    for chain in chains:
        for case, run in zip(chain.tasks, chain.runs, strict=True):
            yield OnlineTask(
                chain.number + 1,
                chain.root_seed,
                chain.group,
                setting.dataset.skill,
                recorder.redact(case.id),
                case.family or "",
                case.level or "",
                run,
            )

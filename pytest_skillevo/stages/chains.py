"""Chains of tasks with shared skill state: one group in one round, one task after the other.

Chains know nothing of each other, so all of them take their next step together: their rollouts are one batch, and then
the Reviewers of those that have one are asked together. Inside a chain the order is strict: what the Reviewer learns
from one task serves the next.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from ..core.draws import seed_of
from ..core.protocols import ChatModel, Reply
from ..core.records import NO_USAGE, Case, Evaluation, Message, Outcome, RolloutRequest, Usage
from ..core.review.applying import Shelf, changes
from ..core.review.decision import SCHEMA, Rejection, ReviewDecision
from ..core.review.parsing import parse
from ..core.review.prompt import ReviewInput, ShownSkill, build_prompt
from ..core.review.reconcile import Known, reconcile
from ..core.revisions import Action
from ..core.sessions import TaskOutcome
from ..core.skill import Skill
from .progress import Progress
from .recorder import Question, Recorder


@dataclass(frozen=True, slots=True)
class TaskRun:
    """One task of one group: its score (None: did not run) and tokens (None: unmeasured).

    `loaded` says whether the agent loaded a skill, `updated` whether the Reviewer changed the skill after it.
    """

    score: float | None
    tokens: int | None
    reviewer_tokens: int | None = None
    passed: bool | None = None
    objectives: Mapping[str, float] = field(default_factory=dict)
    loaded: bool = False
    updated: bool = False


@dataclass(slots=True)
class Chain:
    """One group in one round; `skill` changes as the Reviewer learns, if there is one. `stage` begins its keys."""

    stage: str
    number: int
    group: str
    root_seed: int
    tasks: Sequence[Case]
    skill: Skill
    reviewed: bool
    runs: list[TaskRun] = field(default_factory=list)
    agent: Usage = NO_USAGE
    reviewer: Usage = NO_USAGE

    @property
    def key(self) -> str:
        """The key of the next task in the journal."""
        return f"{self.stage}/{self.number}/{self.group}/{len(self.runs):03d}"

    @property
    def seed(self) -> int:
        """The seed of the next task, the same in all groups of a round."""
        return seed_of(self.root_seed, "task", self.tasks[len(self.runs)].id)

    def ask(self) -> tuple[RolloutRequest, Skill]:
        """The next rollout; there must be one."""
        case = self.tasks[len(self.runs)]
        return RolloutRequest(self.key, case.id, self.skill.digest, self.seed, 0, "replay"), self.skill

    def tell(self, outcome: Outcome, reply: Reply | None, shown: Mapping[str, str]) -> None:
        """Take the answer to `ask`, with that of the Reviewer (None when it was not asked), who saw `shown`."""
        if outcome.evaluation is None:
            self.runs.append(TaskRun(None, None))
            return
        evaluation = outcome.evaluation
        used, reviewed, updated = evaluation.usage.get("agent", Usage()), NO_USAGE, False
        if reply is not None:
            reviewed = reply.usage
            revised = _revised(parse(reply.text, reply.finish_reason), self.skill, shown)
            if revised is not None:
                self.skill, updated = revised, True
        self.agent, self.reviewer = self.agent + used, self.reviewer + reviewed
        self.runs.append(
            TaskRun(
                evaluation.score,
                (used + reviewed).tokens,
                reviewed.tokens,
                evaluation.passed,
                evaluation.objectives,
                bool(skills_loaded(evaluation)),
                updated,
            )
        )


def run_chains(chains: Sequence[Chain], model: ChatModel, recorder: Recorder, progress: Progress) -> None:
    """Run all chains to their end, all at the same step; `model` is the Reviewer."""
    done = 0

    def count(outcome: Outcome) -> None:
        nonlocal done
        done += 1
        progress.rollouts(done, tokens=recorder.tokens)

    while going := [chain for chain in chains if len(chain.runs) < len(chain.tasks)]:
        outcomes = recorder.run([chain.ask() for chain in going], count)
        prompts = {
            index: build_prompt(_given(chain, outcome.evaluation), redact=recorder.redact)
            for index, (chain, outcome) in enumerate(zip(going, outcomes, strict=True))
            if chain.reviewed and outcome.evaluation is not None
        }
        questions = [_question(going[index], prompt.messages, model, recorder) for index, prompt in prompts.items()]
        replies = dict(zip(prompts, recorder.answers(questions), strict=True))
        for index, (chain, outcome) in enumerate(zip(going, outcomes, strict=True)):
            chain.tell(outcome, replies.get(index), prompts[index].shown if index in prompts else {})


def _given(chain: Chain, evaluation: Evaluation) -> ReviewInput:
    loaded, skill = set(skills_loaded(evaluation)), chain.skill
    shown = [ShownSkill.of(skill, loaded=skill.name in loaded)] if skill.exists else []
    return ReviewInput(conversation(evaluation), TaskOutcome.of(evaluation), shown, session=chain.key)


def _question(chain: Chain, messages: Sequence[Message], model: ChatModel, recorder: Recorder) -> Question:
    return recorder.question(
        f"{chain.key}/review", "reviewer", model, messages, seed=chain.seed, response_schema=SCHEMA
    )


def _revised(decision: ReviewDecision | Rejection, skill: Skill, shown: Mapping[str, str]) -> Skill | None:
    """The skill after a decision; None when it stays. A new skill counts only where there was none yet."""
    if isinstance(decision, Rejection):
        return None
    wanted = Action.UPDATE if skill.exists else Action.CREATE
    known = [Known(skill.name, "\n".join(skill.components.values()))] if skill.exists else []
    made, _ = changes(reconcile(decision, known)[0], Shelf([skill], shown))
    return next((change.after for change in made if change.action is wanted), None)


def skills_loaded(evaluation: Evaluation) -> list[str]:
    """Names of the skills that the agent loaded in one rollout."""
    loaded = (session.get("skills_loaded") for session in _sessions(evaluation))
    return [str(name) for names in loaded if isinstance(names, list) for name in names]


def _sessions(evaluation: Evaluation) -> list[dict[str, object]]:
    trace = evaluation.trace
    sessions = trace.get("sessions") if isinstance(trace, dict) else None
    return [session for session in sessions or [] if isinstance(session, dict)]


def conversation(evaluation: Evaluation) -> list[dict[str, object]]:
    """The messages of the agent's conversations in one rollout, in order."""
    found: list[dict[str, object]] = []
    for session in _sessions(evaluation):
        messages = session.get("messages")
        found += [message for message in messages if isinstance(message, dict)] if isinstance(messages, list) else []
    return found

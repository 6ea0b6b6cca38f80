"""The fixtures that skill cases use: skill, rollout, agent, recorded, workspace, judge, learning.

PYTEST_DONT_REWRITE: no assert here needs an explanation, and every pytest run loads this module.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from .agents.workspace import Workspace
    from .core.protocols import Agent, ChatModel, Reply, Tool
    from .core.records import AgentRun, Message
    from .core.rollout import Rollout
    from .core.skill import Skill
    from .online import Inbox


@pytest.fixture
def skill(request: pytest.FixtureRequest) -> Skill:
    """The skill version that this run of the case exercises.

    In a plain run it is the active skill (or the version named by `variants`); under --evolve the version on trial.
    """
    from .execution.current import current
    from .plain import plain_skill

    running = current(request.config)
    if running is not None:
        running.skill_used = True
        return running.skill
    try:
        return plain_skill(request.config, request.node, getattr(request, "param", None))
    except pytest.UsageError as error:
        # The sentence says it all; a traceback through this plugin would only hide it.
        return pytest.fail(str(error), pytrace=False)


@pytest.fixture
def rollout(request: pytest.FixtureRequest) -> Rollout:
    """The record of this run: `seed`, `record(...)`, `check(...)`, `usage(...)`."""
    from .execution.current import current
    from .plain import plain_rollout

    running = current(request.config)
    return running.rollout if running is not None else plain_rollout(request.node)


@pytest.fixture
def agent(rollout: Rollout, request: pytest.FixtureRequest) -> Agent:
    """The built-in agent on the model of the role `agent`; its usage and conversation go into the rollout.

    Override this fixture to evaluate an agent of your own.
    """
    from .chatmodels import model_for
    from .wiring import agent_for

    return RecordedAgent(agent_for(model_for(request, "agent", rollout)), rollout)


@pytest.fixture
def recorded(rollout: Rollout) -> Callable[[Agent], Agent]:
    """Wraps an agent of your own, so that its usage and conversations go into the rollout: `recorded(my_agent)`."""
    return lambda agent: RecordedAgent(agent, rollout)


@pytest.fixture
def workspace(rollout: Rollout, request: pytest.FixtureRequest) -> Iterator[Workspace]:
    """A fresh folder for this run. Whatever changes there without permission (`workspace.allow`) makes the score 0."""
    from .agents.workspace import Workspace
    from .guard import watch

    with Workspace() as fresh:
        watch(request.node, fresh, rollout)
        yield fresh


@pytest.fixture
def judge(rollout: Rollout, request: pytest.FixtureRequest) -> ChatModel:
    """The model of the role `judge`; what it uses goes into the rollout."""
    from .chatmodels import model_for

    return RecordedModel(model_for(request, "judge", rollout), rollout, "judge")


@pytest.fixture
def learning(request: pytest.FixtureRequest) -> Inbox:
    """Hands sessions to the learning service: `learning.enqueue(LearningJob(session, outcome))`.

    Without --evolve-learn nothing is kept, and the receipt says "off". Conversations of the `agent` fixture, and those
    given to `rollout.add_session`, are handed in by themselves when a feedback case ends.
    """
    from .online import Inbox
    from .plain import LEARNER

    return Inbox(request.config.pluginmanager.get_plugin(LEARNER), request.node.nodeid)


@contextmanager
def _noting_the_end(rollout: Rollout) -> Iterator[None]:
    """Keep the reason to stop the experiment, such as a budget used up: a test may swallow the exception."""
    from .core.errors import ExperimentInterrupted

    try:
        yield
    except ExperimentInterrupted as reason:
        rollout.interrupted = reason
        raise


class RecordedModel:
    """A chat model whose usage is noted in a rollout under one role."""

    def __init__(self, model: ChatModel, rollout: Rollout, role: str) -> None:
        self._model = model
        self._rollout = rollout
        self._role = role
        self.name, self.kind, self.priced = model.name, model.kind, model.priced

    def complete(self, messages: Sequence[Message], tools: Sequence[Mapping[str, Any]] = (), **settings: Any) -> Reply:
        """Answer; see core.protocols.ChatModel."""
        with _noting_the_end(self._rollout):
            reply = self._model.complete(messages, tools, **settings)
        self._rollout.add_usage(self._role, reply.usage)
        return reply


class RecordedAgent:
    """An agent whose usage and conversations are noted in a rollout."""

    def __init__(self, agent: Agent, rollout: Rollout) -> None:
        self._agent = agent
        self._rollout = rollout

    def run(self, prompt: str, *, tools: Sequence[Tool] = (), skills: Sequence[Skill] = (), seed: int = 0) -> AgentRun:
        """Run the agent; see core.protocols.Agent."""
        with _noting_the_end(self._rollout):
            run = self._agent.run(prompt, tools=tools, skills=skills, seed=seed)
        self._rollout.add_usage("agent", run.usage)
        self._rollout.add_session(session_record(prompt, run))
        return run


def session_record(prompt: str, run: AgentRun) -> dict[str, Any]:
    """The conversation of an agent run as JSON-able data."""
    return {
        "prompt": prompt,
        "answer": run.answer,
        "messages": list(run.messages),
        "turns": run.turns,
        "stop_reason": run.stop_reason,
        "skills_offered": list(run.skills_offered),
        "skills_loaded": list(run.skills_loaded),
    }

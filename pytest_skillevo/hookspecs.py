"""Hooks that other plugins and conftest files may implement.

PYTEST_DONT_REWRITE: no assert here needs an explanation, and every pytest run loads this module.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

import pytest

if TYPE_CHECKING:
    from collections.abc import Callable

    from .core.gates.records import Gate
    from .core.gepa import Brief
    from .core.protocols import Behaviour, ChatModel
    from .learning import LearningJob
    from .stages.events import ExperimentEvent


@pytest.hookspec(firstresult=True)
def pytest_skillevo_chat_model(name: str, role: str, config: pytest.Config) -> ChatModel | None:
    """Return the chat model for a name given to --evolve-model, or None to leave it to the built-in ones.

    With workers or --evolve-concurrency it may be called from several threads at once.
    """


@pytest.hookspec
def pytest_skillevo_behaviours(config: pytest.Config) -> list[Behaviour] | None:
    """Return behaviours that teach the simulated model to act as an agent in tasks of your own."""


@pytest.hookspec(firstresult=True)
def pytest_skillevo_policy(kind: str, name: str, config: pytest.Config) -> object | None:
    """Return the search policy for a name that is not built in, or None.

    `kind` is "parent", "sampler", "component", "acceptance" or "validation"; the protocols are in core.gepa
    (ParentSelector, BatchSampler, ComponentSelector, Acceptance, ValidationPolicy). A policy is a pure function of its
    arguments, or a resumed experiment ends in another way.
    """


@pytest.hookspec(firstresult=True)
def pytest_skillevo_proposer(name: str, config: pytest.Config) -> Callable[[Brief, int], str] | None:
    """Return the proposer for a name given to --evolve-proposer, or None.

    It is called as `propose(brief, seed)`, where the brief (core.gepa.Brief) has the parent skill, the component, the
    records of the minibatch and what was rejected before; it returns the component's whole new text, which passes the
    checks that a model's answer passes. Raise InfrastructureError when it cannot answer.
    """


@pytest.hookspec
def pytest_skillevo_event(event: ExperimentEvent, config: pytest.Config) -> None:
    """Be told what happens in an experiment, in order (stages.events.ExperimentEvent lists the kinds).

    Observers change nothing and harm nothing: each is called on its own with its own copy of the data, and one that
    raises is named at the end of the run. What a resumed run finds in its journal comes again, marked `replayed`.
    """


@pytest.hookspec(firstresult=True)
def pytest_skillevo_gate_spec(default: Gate | None, config: pytest.Config) -> Gate | None:
    """Return the gate that decides whether a candidate is a whole skill under a free name, or None to keep the default.

    `default` is the built-in gate (None when it is switched off) and may be wrapped; a gate has `version` and `judge`
    (core.gates.records.Gate). One that raises lets nothing pass.
    """


@pytest.hookspec(firstresult=True)
def pytest_skillevo_gate_safety(default: Gate | None, config: pytest.Config) -> Gate | None:
    """Return the gate that decides whether anything in it is dangerous, or None to keep the default.

    `default` is the built-in gate (None when it is switched off) and may be wrapped; a gate has `version` and `judge`
    (core.gates.records.Gate). One that raises lets nothing pass.
    """


@pytest.hookspec(firstresult=True)
def pytest_skillevo_gate_effectiveness(default: Gate | None, config: pytest.Config) -> Gate | None:
    """Return the gate that decides whether the evidence speaks for it, or None to keep the default.

    `default` is the built-in gate (None when it is switched off) and may be wrapped; a gate has `version` and `judge`
    (core.gates.records.Gate). One that raises lets nothing pass.
    """


@pytest.hookspec(firstresult=True)
def pytest_skillevo_gate_human(default: Gate | None, config: pytest.Config) -> Gate | None:
    """Return the gate that decides whether it waits for a person (not passed: it waits), or None to keep the default.

    `default` is the built-in gate (None when it is switched off) and may be wrapped; a gate has `version` and `judge`
    (core.gates.records.Gate). One that raises lets nothing pass.
    """


@pytest.hookspec(firstresult=True)
def pytest_skillevo_learning_job(
    item: pytest.Item, job: LearningJob, config: pytest.Config
) -> LearningJob | Literal[False] | None:
    """Return another job to learn from in place of this one, False to learn nothing from this run, or None.

    Called under --evolve-learn when a feedback case has run: `job` has its conversation and its score as outcome.
    """

"""GEPA: reflective evolution of one skill, as a pure ask/tell engine."""

from .answer import MAX_ANSWER_BYTES, Proposal, Rejection, parse_answer
from .budget import iteration_rollouts, least_rollouts
from .components import component_cycle
from .engine import Engine
from .requests import Answer, ReflectionAnswer, ReflectionFailed, ReflectionRequest, Request, RolloutAnswer
from .results import EventKind, PoolEntry, SearchEvent, SearchResult, StopReason
from .settings import SearchDataset, SearchSettings
from .strategy import Acceptance, BatchSampler, ComponentSelector, ParentSelector, Strategy
from .watch import Watch

__all__ = [
    "MAX_ANSWER_BYTES",
    "Acceptance",
    "Answer",
    "BatchSampler",
    "ComponentSelector",
    "Engine",
    "EventKind",
    "ParentSelector",
    "PoolEntry",
    "Proposal",
    "ReflectionAnswer",
    "ReflectionFailed",
    "ReflectionRequest",
    "Rejection",
    "Request",
    "RolloutAnswer",
    "SearchDataset",
    "SearchEvent",
    "SearchResult",
    "SearchSettings",
    "StopReason",
    "Strategy",
    "Watch",
    "component_cycle",
    "iteration_rollouts",
    "least_rollouts",
    "parse_answer",
]

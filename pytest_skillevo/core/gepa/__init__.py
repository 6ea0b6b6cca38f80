"""GEPA: reflective evolution of one skill, as a pure ask/tell engine."""

from .acceptance import Acceptance
from .answer import MAX_ANSWER_BYTES, Proposal, Rejection, parse_answer
from .budget import iteration_rollouts, least_rollouts
from .components import ComponentSelector, Evidence, check_frozen, component_cycle
from .engine import Engine
from .prompt import Attempt, Brief
from .requests import Answer, ReflectionAnswer, ReflectionFailed, ReflectionRequest, Request, RolloutAnswer
from .results import EventKind, PoolEntry, SearchEvent, SearchResult, StopReason
from .sampling import BatchSampler, History
from .selection import ParentSelector
from .settings import FRONTIERS, METHODS, PICKS, SearchDataset, SearchSettings
from .strategy import POLICIES, Strategy, named_strategy
from .validation import Race, ValidationPolicy
from .watch import Watch

__all__ = [
    "FRONTIERS",
    "MAX_ANSWER_BYTES",
    "METHODS",
    "PICKS",
    "POLICIES",
    "Acceptance",
    "Answer",
    "Attempt",
    "BatchSampler",
    "Brief",
    "ComponentSelector",
    "Engine",
    "EventKind",
    "Evidence",
    "History",
    "ParentSelector",
    "PoolEntry",
    "Proposal",
    "Race",
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
    "ValidationPolicy",
    "Watch",
    "check_frozen",
    "component_cycle",
    "iteration_rollouts",
    "least_rollouts",
    "named_strategy",
    "parse_answer",
]

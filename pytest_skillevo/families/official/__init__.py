"""The official score: a table-driven machine for the public benchmark's 21 evaluators (spec/suites.md 1.2 to 1.5).

It is a shape check, reproduced bit for bit, oddities and crashes included; `strict` is the score to optimise. An
artifact that broke the original ends in the status "evaluator_error", kept apart from an honest zero.
"""

from .entries import entry_score
from .machine import FAKE_PHRASES, PASS_CODE, PASS_PAPER, OfficialScore, has_fake_phrases, score_official
from .rules import Rules
from .tables import LEVELS, TaskRules, public_families, public_task
from .uniform import Check, UniformRules

__all__ = [
    "FAKE_PHRASES",
    "LEVELS",
    "PASS_CODE",
    "PASS_PAPER",
    "Check",
    "OfficialScore",
    "Rules",
    "TaskRules",
    "UniformRules",
    "entry_score",
    "has_fake_phrases",
    "public_families",
    "public_task",
    "score_official",
]

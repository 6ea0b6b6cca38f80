"""An agent that is a Python function: `solve(prompt, skills=..., tools=..., seed=...)`."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from ..core.errors import EvaluationError
from ..core.protocols import Tool
from ..core.records import AgentRun, Usage, check_usage
from ..core.skill import Skill


class FunctionAgent:
    """Wraps a function that answers with text, a mapping or an AgentRun.

    A mapping has `answer` and may have `messages` (OpenAI shape), `usage` (a Usage), `turns`, `stop_reason` and
    `skills_loaded`. The function should raise InfrastructureError when it cannot answer.
    """

    def __init__(self, function: Callable[..., str | Mapping[str, Any] | AgentRun]) -> None:
        self._function = function

    def run(self, prompt: str, *, tools: Sequence[Tool] = (), skills: Sequence[Skill] = (), seed: int = 0) -> AgentRun:
        """Call the function. Raises EvaluationError for an answer of another shape."""
        offered = tuple(skill for skill in skills if skill.exists)
        found = self._function(prompt, skills=offered, tools=tools, seed=seed)
        if isinstance(found, AgentRun):
            return found
        told: Mapping[str, Any] = {"answer": found} if isinstance(found, str) else found
        if not isinstance(told, Mapping) or not isinstance(told.get("answer"), str):
            shapes = "text, a mapping with the text 'answer', or an AgentRun"
            raise EvaluationError(f"the agent function must give {shapes}, not {found!r:.200}")
        usage = told.get("usage", Usage())
        check_usage("agent", usage)
        names = tuple(skill.name for skill in offered)
        messages = told.get("messages") or (
            {"role": "user", "content": prompt},
            {"role": "assistant", "content": told["answer"]},
        )
        return AgentRun(
            answer=told["answer"],
            messages=tuple(messages),
            tools=tools,
            usage=usage,
            turns=int(told.get("turns", 1)),
            stop_reason=str(told.get("stop_reason", "answered")),
            skills_offered=names,
            skills_loaded=tuple(told.get("skills_loaded", ())),
        )

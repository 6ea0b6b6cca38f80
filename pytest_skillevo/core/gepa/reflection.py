"""Reflection: from a brief to a request for the model, and from its answer to a child skill."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Final, NamedTuple

from ..draws import draw_int
from ..skill import Skill
from .answer import Rejection, parse_answer
from .fields import prepared
from .prompt import Brief, answer_schema, reflection_messages
from .proposal import Guard
from .requests import ReflectionAnswer, ReflectionRequest
from .settings import SearchSettings
from .watch import Watch

_RATIONALE_CHARS: Final = 4000
#: Seeds fit into 31 bits, so that every provider and every generator takes them.
SEEDS: Final = 1 << 31


class Child(NamedTuple):
    """A skill made by an answer, perhaps equal to one that is known already."""

    skill: Skill
    text: str
    rationale: str


class Reflector:
    """Writes reflection requests and reads their answers by the rules of the settings."""

    def __init__(
        self,
        settings: SearchSettings,
        *,
        redact: Callable[[str], str],
        leak_check: Callable[[str], str | None],
        watched: Iterable[str],
        case_ids: Iterable[str],
    ) -> None:
        self._settings = settings
        self._redact = redact
        self._guard = Guard(settings, redact, leak_check, Watch(watched, case_ids))

    def request(self, id: str, place: tuple[int, int], brief: Brief) -> ReflectionRequest:
        """The request for an iteration and part (`place`). Raises Rejection when the brief does not fit a prompt."""
        iteration, part = place
        return ReflectionRequest(
            id,
            reflection_messages(brief, self._settings, self._redact),
            answer_schema(brief.component),
            draw_int(SEEDS, self._settings.seed, iteration, "search-reflection", *([part] if part else [])),
            self._settings.reflection_tokens,
            brief.parent.digest,
            brief.component,
        )

    def child(self, parent: Skill, component: str, answer: ReflectionAnswer) -> Child:
        """The parent with the answer's text for the component. Raises Rejection, with the text if it could be read."""
        try:
            proposal = parse_answer(answer.text, answer.finish_reason, component, parent.components)
        except Rejection as rejection:
            raise self._clean(rejection.reason, rejection.text, rejection.rationale) from None
        try:
            skill = self._guard.child(parent, proposal)
        except Rejection as rejection:
            raise self._clean(rejection.reason, proposal.text, proposal.rationale) from None
        return Child(skill, self._redact(skill.components.get(component, "")), self._rationale(proposal.rationale))

    def _clean(self, reason: str, text: str, rationale: str) -> Rejection:
        return Rejection(self._redact(reason), self._redact(text), self._rationale(rationale))

    def _rationale(self, text: str) -> str:
        return prepared(text, _RATIONALE_CHARS, self._redact)

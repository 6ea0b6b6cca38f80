"""The Reviewer: asks a model once, lets it mend an answer that cannot be used, and gives up with a reason.

Anything with the method `review` can take its place, also one in another process (learning/isolation.py).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Final, Protocol

from ..errors import InfrastructureError
from ..gates.redaction import redact as redact_by_shape
from ..protocols import ChatModel, Reply
from ..records import NO_USAGE, Message, Usage
from .decision import SCHEMA, Rejection, ReviewDecision
from .parsing import parse_with_notes
from .prompt import Limits, ReviewInput, build_prompt
from .truncation import clip

#: Calls of the model in one review: the answer, and one chance to mend it.
TRIES: Final = 2
_REFUSED_TOOL: Final = "There are no tools in a review. Answer with the JSON object only."
_LONGEST_ECHO: Final = 4_000


@dataclass(frozen=True, slots=True)
class Review:
    """What came of one review."""

    #: None when there was nothing to review, or the Reviewer had nothing to say.
    decision: ReviewDecision | None
    usage: Usage = NO_USAGE
    #: Skills that the Reviewer saw in full: name -> digest.
    shown: Mapping[str, str] = field(default_factory=dict)
    #: What was refused on the way, or left out of the decision, in sentences.
    notes: tuple[str, ...] = ()
    #: Tools that the Reviewer tried to call.
    refused_calls: tuple[str, ...] = ()


class ReviewFailed(InfrastructureError):
    """No usable answer after all tries. What it cost is known all the same."""

    def __init__(self, reason: str, usage: Usage = NO_USAGE, refused_calls: tuple[str, ...] = ()) -> None:
        super().__init__(reason)
        self.usage = usage
        self.refused_calls = refused_calls


class Reviewing(Protocol):
    """Anything that reviews sessions. May raise anything; must not change what it is given."""

    def review(self, given: ReviewInput, *, seed: int) -> Review | None:
        """Look at one session and decide; None for nothing."""


class Reviewer:
    """The built-in Reviewer on a chat model. It offers the model no tools, and calls of any are refused and counted."""

    def __init__(
        self,
        model: ChatModel,
        *,
        redact: Callable[[str], str] = redact_by_shape,
        limits: Limits | None = None,
        tries: int = TRIES,
        max_tokens: int | None = None,
    ) -> None:
        self.model = model
        self._redact = redact
        self._limits = limits
        self._tries = max(1, tries)
        self._max_tokens = max_tokens

    def review(self, given: ReviewInput, *, seed: int) -> Review:
        """Review one session. Raises ReviewFailed, and whatever the model raises."""
        if not given.messages:
            return Review(None)
        prompt = build_prompt(given, redact=self._redact, limits=self._limits)
        messages: list[Message] = list(prompt.messages)
        usage = NO_USAGE
        notes: list[str] = []
        called: list[str] = []
        for last in (number == self._tries for number in range(1, self._tries + 1)):
            reply = self.model.complete(messages, seed=seed, response_schema=SCHEMA, max_tokens=self._max_tokens)
            usage = usage + reply.usage
            called += [call.name for call in reply.tool_calls]
            found = self._read(reply, salvage=last)
            if not isinstance(found, Rejection):
                decision, left_out = found
                return Review(decision, usage, prompt.shown, (*notes, *left_out), tuple(called))
            notes.append(found.reason)
            messages += self._asked_again(reply, found)
        raise ReviewFailed(f"no usable answer: {notes[-1]}", usage, tuple(called))

    def _read(self, reply: Reply, *, salvage: bool) -> tuple[ReviewDecision, tuple[str, ...]] | Rejection:
        if reply.tool_calls and not reply.text.strip():
            return Rejection(_REFUSED_TOOL)
        return parse_with_notes(reply.text, reply.finish_reason, salvage=salvage)

    def _asked_again(self, reply: Reply, why: Rejection) -> list[Message]:
        echo = clip(self._redact(reply.text), _LONGEST_ECHO)
        return [
            {"role": "assistant", "content": echo},
            {"role": "user", "content": f"This cannot be used: {why.reason}. Answer again with the JSON object only."},
        ]

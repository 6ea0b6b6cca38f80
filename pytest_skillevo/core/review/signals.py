"""What the unreviewed end of a session holds: counts, corrections, recovered errors, skills that the agent wrote.

The speaker and the open failures before the cursor count too: jobs are queued after every run, so that a correction is
normally the first message of its delta (spec/online-review.md 3, 10 #1, #4 to #6).
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import PurePosixPath
from typing import Any, Final

from ..records import Message
from ..sessions.records import START, Cursor, Event, Session, TaskOutcome
from .corrections import is_correction
from .failures import claims_success, is_failure

SKILL_FILE: Final = "skill.md"
#: The built-in agent's own tool for skills.
MANAGE_TOOL: Final = "skill_manage"

_WRITES: Final = re.compile(r"write|edit|patch|apply|create|replace|save", re.IGNORECASE)
_SHELLS: Final = re.compile(r"exec|shell|workspace|bash|terminal|command|(?:^|_)(?:sh|run|zsh)(?:_|$)", re.IGNORECASE)
_MUTATES: Final = re.compile(
    r"apply_patch|cat\s*<<|cat\s*>|\btee\s|>>?\s*\S*skill\.md|\bprintf\s|\becho\s|\bmkdir\s|\bcp\s|\bmv\s|\bsed\s+-i|\bpython\d?\s",
    re.IGNORECASE,
)


@dataclass(slots=True)
class Delta:
    """What happened after the cursor."""

    #: Everything that was said or called.
    events: tuple[Event, ...] = ()
    #: Behind the last event.
    latest: Cursor = START
    #: User and assistant messages with text.
    message_count: int = 0
    tool_calls: int = 0
    #: Assistant turns with at least one call.
    tool_turns: int = 0
    #: Ids of the events that each signal was seen in; empty for a signal that was not.
    corrections: list[str] = field(default_factory=list)
    recoveries: list[str] = field(default_factory=list)
    skill_writes: list[str] = field(default_factory=list)

    @property
    def transcript(self) -> tuple[Message, ...]:
        """The messages, in order."""
        return tuple(event.message for event in self.events)


def scan(session: Session, since: Cursor = START, outcome: TaskOutcome | None = None) -> Delta:
    """Look at what came after the cursor; what came before only tells who spoke last and what was still failing."""
    start = session.after(since)
    scanner = _Scanner(outcome)
    for event in session.events[:start]:
        scanner.see(event, counts=False)
    delta = scanner.delta
    for event in session.events[start:]:
        scanner.see(event, counts=True)
    scanner.end()
    delta.events = tuple(event for event in session.events[start:] if _says_anything(event.message))
    times = [event.at for event in session.events[start:] if event.at is not None]
    last = session.events[-1].id if start < len(session.events) else since.event
    delta.latest = Cursor(max(times, default=since.at), last)
    return delta


def text_of(message: Message) -> str:
    """The text of a message; of one in parts, its text parts."""
    content = message.get("content")
    if isinstance(content, list):
        parts = (part for part in content if isinstance(part, Mapping))
        return "\n".join(str(part["text"]) for part in parts if part.get("text"))
    return "" if content is None else str(content)


def calls_of(message: Message) -> Iterator[tuple[str, str, str]]:
    """Id, name and arguments of each tool call of a message."""
    for call in message.get("tool_calls") or ():
        function = call.get("function", call) if isinstance(call, Mapping) else {}
        yield str(call.get("id") or ""), str(function.get("name") or ""), str(function.get("arguments") or "")


def _says_anything(message: Message) -> bool:
    return bool(text_of(message) or message.get("name") or message.get("tool_calls") or message.get("role") == "tool")


class _Scanner:
    """Walks a session in order."""

    def __init__(self, outcome: TaskOutcome | None) -> None:
        self.delta = Delta()
        self._speaker = ""
        #: Tool -> the event of its failure that nothing has made good yet.
        self._failing: dict[str, str] = {}
        self._tools: dict[str, str] = {}
        #: Calls that would write a skill file, by call id -> event; taken back when their answer is a failure.
        self._writes: dict[str, str] = {}
        self._good = outcome.succeeded if outcome is not None else None

    def see(self, event: Event, *, counts: bool) -> None:
        message, role = event.message, event.message.get("role")
        text = text_of(message)
        if role == "tool":
            self._answer(event, text, counts)
        elif role == "user":
            if counts and self._speaker == "assistant" and is_correction(text):
                self.delta.corrections.append(event.id)
        elif role == "assistant":
            self._calls(event, counts)
            # Without anybody's verdict the agent's own word counts that it got there in another way.
            if counts and self._failing and self._good is None and claims_success(text):
                self._recovered(list(self._failing.values()))
                self._failing.clear()
        if role in ("user", "assistant") and text:
            self._speaker = str(role)
            self.delta.message_count += counts

    def end(self) -> None:
        """A passing outcome makes good what failed; a failing one means that nothing did."""
        if self._good is True and self._failing:
            self._recovered(list(self._failing.values()))
        elif self._good is False:
            self.delta.recoveries.clear()
        self.delta.skill_writes += self._writes.values()

    def _calls(self, event: Event, counts: bool) -> None:
        calls = list(calls_of(event.message))
        for id, name, arguments in calls:
            self._tools[id] = name
            if counts and (name == MANAGE_TOOL or _writes_skill(name, arguments)):
                self._writes[id or f"{event.id} {name}"] = event.id
        if counts:
            self.delta.tool_calls += len(calls)
            self.delta.tool_turns += bool(calls)

    def _answer(self, event: Event, text: str, counts: bool) -> None:
        id = str(event.message.get("tool_call_id") or "")
        tool = str(event.message.get("name") or self._tools.get(id) or "")
        if is_failure(text):
            self._failing[tool] = event.id
            self._writes.pop(id, None)
        elif tool in self._failing:
            failed = self._failing.pop(tool)
            if counts:
                self._recovered([failed])

    def _recovered(self, failed: Sequence[str]) -> None:
        self.delta.recoveries += failed


def _writes_skill(tool: str, arguments: str) -> bool:
    """Whether a call writes a skill file: by the path it is given, or by what its shell command does."""
    if SKILL_FILE not in arguments.lower():
        return False
    if _SHELLS.search(tool) and _MUTATES.search(arguments):
        return True
    return bool(_WRITES.search(tool)) and _names_skill_file(arguments)


def _names_skill_file(arguments: str) -> bool:
    try:
        value = json.loads(arguments)
    except (ValueError, RecursionError):
        return True  # a patch in plain text
    return any(PurePosixPath(text.replace("\\", "/")).name.lower() == SKILL_FILE for text in _texts(value))


def _texts(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, Mapping):
        for inner in value.values():
            yield from _texts(inner)
    elif isinstance(value, list):
        for inner in value:
            yield from _texts(inner)

"""Tools of a family: declared once as projections of the world, bound to one rollout by a Toolbox.

All answers are JSON text. A bad call is an error answer, never an exception (spec/suites.md 3.6).
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, TypeAlias, overload

from ..core.canonical import canonical_json, digest
from .faults import TIMEOUT_SECONDS, Fault
from .world import Record, World

Aspect: TypeAlias = tuple[str, str]
"""A piece of knowledge that an answer gives: (record id or group, what about it)."""

#: Error codes of the tools; the last three are never worth a repeat.
TIMEOUT: Final = "TIMEOUT"
RATE_LIMITED: Final = "RATE_LIMITED"
NO_DATA: Final = "NO_DATA"
NOT_FOUND: Final = "NOT_FOUND"
BAD_ARGUMENTS: Final = "BAD_ARGUMENTS"
NEEDS_PREREQUISITE: Final = "NEEDS_PREREQUISITE"
UNAVAILABLE: Final = "UNAVAILABLE"


@dataclass(frozen=True, slots=True)
class Answer:
    """What a tool says: the payload for the model, the aspects that it reveals, and the error code if it failed.

    `about` is the id of the record when the whole answer is about one.
    """

    payload: dict[str, Any]
    reveals: frozenset[Aspect] = frozenset()
    code: str | None = None
    about: str | None = None


def failed(code: str, sentence: str, **more: Any) -> Answer:
    """A failed answer."""
    return Answer({"success": False, "error": sentence, "code": code, **more}, code=code)


@dataclass(frozen=True, slots=True)
class Ask:
    """One checked call: the world, the arguments with defaults filled in, and the tools that this task offers."""

    world: World
    arguments: Mapping[str, Any]
    offered: frozenset[str]
    profile: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolSpec:
    """A tool as a projection of the world. `parameters` maps arguments to JSON schemas; a default makes one optional.

    `about` gives the arguments of the call that asks about one record, for the planner of faults and for the oracle.
    """

    name: str
    description: str
    parameters: Mapping[str, Mapping[str, Any]]
    answer: Callable[[Ask], Answer]
    about: Callable[[Record], Mapping[str, Any]]
    seconds: float = 1.0
    #: The arguments by which the source itself would ask, where it knows a record by several names.
    meant: Callable[[World, Mapping[str, Any]], Mapping[str, Any]] = lambda _, arguments: arguments
    #: Arguments that name something without deciding the answer: calls that differ only there are equal.
    labels: frozenset[str] = frozenset()

    @property
    def schema(self) -> dict[str, Any]:
        """JSON schema of the arguments object."""
        return object_schema(self.parameters)

    def canonical(self, arguments: Mapping[str, Any]) -> dict[str, Any]:
        """Arguments without labels, defaults filled in, text trimmed and case-folded: equal calls are equal here."""
        full = {name: schema["default"] for name, schema in self.parameters.items() if "default" in schema}
        full |= {name: _fold(value, self.parameters[name]) for name, value in arguments.items()}
        return {name: value for name, value in full.items() if name not in self.labels}


def object_schema(parameters: Mapping[str, Mapping[str, Any]]) -> dict[str, Any]:
    """JSON schema of an arguments object; what has no default is required."""
    return {
        "type": "object",
        "properties": {name: dict(schema) for name, schema in parameters.items()},
        "required": [name for name, schema in parameters.items() if "default" not in schema],
        "additionalProperties": False,
    }


def _fold(value: Any, schema: Mapping[str, Any]) -> Any:
    if isinstance(value, list):
        return [_fold(one, {"type": "string"}) for one in value]
    if schema["type"] == "number":
        return float(value)
    return value.strip().casefold() if isinstance(value, str) else value


#: Numbers beyond this are no sensible arguments, and larger ones do not fit a float.
_LARGEST: Final = 10**15


#: The types of JSON schema that an argument may have; an array holds texts.
ARGUMENT_TYPES: Final = ("boolean", "array", "string", "number", "integer")


def _is(kind: str, value: Any) -> bool:
    """Whether a JSON value has a type of JSON schema."""
    if kind == "boolean":
        return isinstance(value, bool)
    if kind == "array":
        return isinstance(value, list) and all(isinstance(one, str) for one in value)
    if kind == "string":
        return isinstance(value, str)
    types = (int, float) if kind == "number" else (int,)
    return isinstance(value, types) and not isinstance(value, bool) and -_LARGEST <= value <= _LARGEST


def argument_problem(parameters: Mapping[str, Mapping[str, Any]], arguments: Any) -> str | None:
    """What is wrong with the arguments of a call, as a sentence; None when nothing is."""
    if not isinstance(arguments, Mapping):
        return "The arguments must be a JSON object."
    for name in arguments:
        if name not in parameters:
            return f"Unknown argument {name!r}. Known: {', '.join(parameters) or 'none'}."
    for name, schema in parameters.items():
        if name not in arguments:
            if "default" not in schema:
                return f"The argument {name!r} is missing."
            continue
        value = arguments[name]
        kinds = [schema["type"]] if isinstance(schema["type"], str) else list(schema["type"])
        if not any(_is(kind, value) for kind in kinds):
            items = " of strings" if kinds == ["array"] else ""
            return f"The argument {name!r} must be of type {' or '.join(kinds)}{items}."
        if isinstance(value, int | float) and value < schema.get("minimum", value):
            return f"The argument {name!r} must be at least {schema['minimum']}."
    return None


def _as_given(arguments: Any) -> dict[str, Any]:
    """Refused arguments for the log: as they are when they are a JSON object, else their text, clipped."""
    try:
        canonical_json(arguments)
    except (TypeError, ValueError, RecursionError):
        return {"refused": repr(arguments)[:200]}
    return dict(arguments) if isinstance(arguments, Mapping) else {"refused": arguments}


@dataclass(slots=True)
class CallRecord:
    """One call in the log of a toolbox. `withheld` is what a time-out or rate limit kept back."""

    index: int
    tool: str
    arguments: dict[str, Any]
    attempt: int
    fault: str | None
    success: bool
    bytes: int
    digest: str
    code: str | None
    reveals: frozenset[Aspect]
    withheld: frozenset[Aspect]
    #: Whether the tool belongs to the family; workspace tools are free.
    lookup: bool

    @property
    def key(self) -> str:
        """Equal for equal calls."""
        return f"{self.tool} {canonical_json(self.arguments)}"

    def to_json(self) -> dict[str, Any]:
        """The log entry as a JSON object, without the answer."""
        return {
            "index": self.index,
            "tool": self.tool,
            "arguments": self.arguments,
            "attempt": self.attempt,
            "fault": self.fault,
            "success": self.success,
            "bytes": self.bytes,
            "digest": self.digest,
        }


@dataclass(frozen=True, slots=True)
class BoundTool:
    """One tool of one rollout, as agents see it (core/protocols.py: Tool)."""

    name: str
    description: str
    parameters: Mapping[str, Any]
    final: bool
    call: Callable[[str, Any], str] = field(repr=False)

    def __call__(self, arguments: Mapping[str, Any]) -> str:
        """The answer as JSON text."""
        return self.call(self.name, arguments)


@dataclass(frozen=True, slots=True)
class _Workspace:
    description: str
    parameters: Mapping[str, Mapping[str, Any]]
    answer: Callable[[Toolbox, Mapping[str, Any]], Answer]
    final: bool = False


class Toolbox(Sequence[BoundTool]):
    """The tools of one rollout with everything that they keep: call log, workspace files, virtual clock.

    `log` holds one CallRecord for each call, `files` the workspace (path -> text), `seconds` the virtual time spent;
    `done` says whether claim_done was called. Nothing sleeps.
    """

    def __init__(
        self,
        world: World,
        specs: Sequence[ToolSpec],
        plan: Sequence[Fault],
        files: Mapping[str, str],
        profile: str,
    ) -> None:
        self.log: list[CallRecord] = []
        self.files: dict[str, str] = dict(files)
        self.done = False
        self.seconds = 0.0
        self._world = world
        self._specs = {spec.name: spec for spec in specs}
        self._offered = frozenset(self._specs)
        self._profile = profile
        self._timed = {
            (fault.tool, canonical_json(fault.arguments)): fault for fault in plan if fault.arguments is not None
        }
        self._hidden = [fault for fault in plan if fault.kind == "M"]
        self._attempts: dict[str, int] = {}
        self._limited_at: dict[str, int] = {}
        self._tools = [BoundTool(spec.name, spec.description, spec.schema, False, self.call) for spec in specs] + [
            BoundTool(name, tool.description, object_schema(tool.parameters), tool.final, self.call)
            for name, tool in _WORKSPACE.items()
        ]

    @overload
    def __getitem__(self, index: int) -> BoundTool: ...
    @overload
    def __getitem__(self, index: slice) -> Sequence[BoundTool]: ...
    def __getitem__(self, index: int | slice) -> BoundTool | Sequence[BoundTool]:
        return self._tools[index]

    def __len__(self) -> int:
        return len(self._tools)

    def __iter__(self) -> Iterator[BoundTool]:
        return iter(self._tools)

    def call(self, tool: str, arguments: Any) -> str:
        """Call a tool by name and log it; any problem of the call is an error answer."""
        spec, workspace = self._specs.get(tool), _WORKSPACE.get(tool)
        if spec is not None:
            parameters = spec.parameters
        elif workspace is not None:
            parameters = workspace.parameters
        else:
            return self._log(tool, {}, failed(UNAVAILABLE, f"There is no tool {tool!r}."), lookup=False)
        problem = argument_problem(parameters, arguments)
        lookup = spec is not None
        if problem is not None:
            return self._log(tool, _as_given(arguments), failed(BAD_ARGUMENTS, problem), lookup=lookup)
        if self.done:
            return self._log(tool, dict(arguments), failed(UNAVAILABLE, "The task is closed."), lookup=lookup)
        if spec is not None:
            return self._look_up(spec, arguments)
        assert workspace is not None
        full = {name: schema["default"] for name, schema in parameters.items() if "default" in schema} | dict(arguments)
        return self._log(
            tool, {"path": full["path"]} if "path" in full else {}, workspace.answer(self, full), lookup=False
        )

    def _look_up(self, spec: ToolSpec, arguments: Mapping[str, Any]) -> str:
        canonical = spec.canonical(spec.meant(self._world, arguments))
        given = spec.canonical(arguments) | {
            name: value.strip() if isinstance(value, str) else value for name, value in arguments.items()
        }
        answer = spec.answer(Ask(self._world, given, self._offered, self._profile))
        self.seconds += spec.seconds
        fault = self._timed.get((spec.name, canonical_json(canonical)))
        broken = None if fault is None else self._broken(fault, f"{spec.name} {canonical_json(canonical)}")
        if broken is not None and fault is not None:
            return self._log(spec.name, canonical, broken, lookup=True, fault=fault.kind, withheld=answer.reveals)
        hidden = False
        for missing in self._hidden:
            if missing.tool == spec.name:
                answer, changed = hide(answer, missing.record, str(missing.parameters["field"]))
                hidden = hidden or changed
        kind = "G" if answer.code == NO_DATA else "M" if hidden else None
        return self._log(spec.name, canonical, answer, lookup=True, fault=kind)

    def _broken(self, fault: Fault, key: str) -> Answer | None:
        """The failure that a planned fault gives to this attempt, if it still does."""
        if fault.kind == "R":
            self.seconds += TIMEOUT_SECONDS
            return failed(TIMEOUT, f"The request timed out after {TIMEOUT_SECONDS:g} s.")
        if fault.kind == "T":
            if self._attempts.get(key, 0) >= fault.parameters["times"]:
                return None
            self.seconds += TIMEOUT_SECONDS
            return failed(TIMEOUT, f"The request timed out after {TIMEOUT_SECONDS:g} s.")
        first = self._limited_at.setdefault(key, len(self.log))
        others = sum(1 for entry in self.log[first:] if entry.key != key)
        left = int(fault.parameters["calls"]) - others
        if left <= 0:
            return None
        return failed(RATE_LIMITED, "Too many requests; come back after some other calls.", retry_after_calls=left)

    def _log(
        self,
        tool: str,
        arguments: dict[str, Any],
        answer: Answer,
        *,
        lookup: bool,
        fault: str | None = None,
        withheld: frozenset[Aspect] = frozenset(),
    ) -> str:
        text = json.dumps(answer.payload, ensure_ascii=False, separators=(",", ":"))
        raw = text.encode("utf-8", "surrogatepass")
        entry = CallRecord(
            len(self.log), tool, arguments, 0, fault, answer.code is None, len(raw), digest(raw)[:16], answer.code,
            answer.reveals, withheld, lookup,
        )  # fmt: skip
        self._attempts[entry.key] = entry.attempt = self._attempts.get(entry.key, 0) + 1
        self.log.append(entry)
        return text


def hide(answer: Answer, record: str, hidden: str) -> tuple[Answer, bool]:
    """The answer with one field of one record set to null, in its rows or in the answer about it; whether it was there.

    A field inside an object of the answer is written "object.field".
    """
    payload = dict(answer.payload)
    outer, _, inner = hidden.rpartition(".")
    if answer.about == record and outer in payload:
        payload[outer] = {**payload[outer], inner: None}
    elif answer.about == record and hidden in payload:
        payload[hidden] = None
    else:
        for name, rows in answer.payload.items():
            if isinstance(rows, list):
                payload[name] = [
                    row | {hidden: None} if isinstance(row, dict) and row.get("id") == record else row for row in rows
                ]
    if payload == answer.payload:
        return answer, False
    return Answer(payload, answer.reveals - {(record, inner)}, answer.code, answer.about), True


def _list_files(box: Toolbox, _: Mapping[str, Any]) -> Answer:
    return Answer({"success": True, "files": sorted(box.files)})


def _read_file(box: Toolbox, arguments: Mapping[str, Any]) -> Answer:
    path = _path(arguments["path"])
    if path not in box.files:
        return failed(NOT_FOUND, f"There is no file {path!r} in the workspace.")
    return Answer({"success": True, "path": path, "content": box.files[path]})


def _write_file(box: Toolbox, arguments: Mapping[str, Any]) -> Answer:
    path, content = _path(arguments["path"]), arguments["content"]
    if not path or ".." in path.split("/"):
        return failed(BAD_ARGUMENTS, "The path must name a file inside the workspace.")
    box.files[path] = content
    return Answer({"success": True, "path": path, "bytes": len(content.encode("utf-8", "surrogatepass"))})


def _claim_done(box: Toolbox, _: Mapping[str, Any]) -> Answer:
    box.done = True
    return Answer({"success": True, "message": "The task is closed."})


def _path(text: str) -> str:
    return text.strip().removeprefix("./").lstrip("/")


_WORKSPACE: Final[Mapping[str, _Workspace]] = {
    "list_files": _Workspace("List the files of the workspace.", {}, _list_files),
    "read_file": _Workspace("Read a text file of the workspace.", {"path": {"type": "string"}}, _read_file),
    "write_file": _Workspace(
        "Write a text file into the workspace; an older one is replaced.",
        {"path": {"type": "string"}, "content": {"type": "string"}},
        _write_file,
    ),
    "claim_done": _Workspace(
        "Say that the task is complete and close it.",
        {"summary": {"type": "string", "default": ""}},
        _claim_done,
        final=True,
    ),
}

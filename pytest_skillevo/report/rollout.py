"""One rollout as lines for a person: where points were lost, faults met, tool calls, the conversation.

Everything below the heading comes from models, tools and tests: it is made visible and bounded here.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from ..families.faults import FAULT_NAMES
from . import figures
from .text import columns, fold, one_line, visible, visible_lines, wrap

#: Without `full`: lines of one message, columns of one tool answer, tool calls of the table.
_MESSAGE: Final = 12
_ANSWER: Final = 3
_CALLS: Final = 60
_LABEL: Final = 9


def rollout_lines(record: Mapping[str, Any], width: int, *, full: bool = False) -> Iterator[str]:
    """The lines of a record as `skillevo rollouts show --json` gives it."""
    yield f"rollout {visible(record['id'])}"
    for label, text in _heading(record):
        yield from wrap(visible(text), width, first=f"  {label.ljust(_LABEL)}")
    if record["closed"]:
        yield ""
        yield from wrap(record["closed"], width)
        return
    if record["cut"]:
        yield from wrap(visible(str(record["cut"])), width, first="  trace    ")
    yield from _lost(record, width)
    yield from _section("feedback", _text(record["feedback"], width, None if full else 2 * _MESSAGE))
    yield from _section("faults met", _fault_lines(record["faults"], width))
    yield from _section(_calls_title(record), _call_lines(record, width, full))
    for number, session in enumerate(record["sessions"], 1):
        title = "conversation" if len(record["sessions"]) == 1 else f"conversation {number}"
        yield from _section(title + _session_note(session), _conversation(session, width, full))
    if record["recorded"] is not None:
        shown = json.dumps(record["recorded"], indent=2, ensure_ascii=False)
        yield from _section("recorded by the test", _text(shown, width, None if full else 2 * _MESSAGE))


def _heading(record: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    yield "case", f"{record['case']} ({record['split']})"
    if record["model"] is not None:
        simulated = " (this tests the machinery, not a language model)" if record["model"] == "simulated" else ""
        yield "model", f"{record['model']}{simulated}"
    yield "skill", f"{record['skill']} {record['variant']}, seed {record['seed']}"
    if record["status"] != "scored":
        yield record["status"], str(record.get("reason") or "no reason given")
        return
    passed = {True: ", passed", False: ", failed", None: ""}[record["passed"]]
    cached = " (answer of an earlier search)" if record["cached"] else ""
    yield "score", f"{figures.score(record['score'])}{passed}{cached}"
    for name, value in sorted((record.get("objectives") or {}).items()):
        if name in ("official", "strict"):
            yield name, figures.score(value)
    usage = record.get("usage")
    if not usage:
        yield "tokens", figures.count(record["tokens"])
    for role, used in (usage or {}).items():
        estimated = ", estimated" if used["estimated"] else ""
        counts = f"{figures.count(used['input_tokens'])} in, {figures.count(used['output_tokens'])} out{estimated}"
        yield "tokens", f"{role}: {counts}; {figures.money(used['usd'])}"


def _section(title: str, lines: Iterator[str] | Sequence[str]) -> Iterator[str]:
    """The lines under a title; nothing where there are none."""
    for number, line in enumerate(lines):
        if number == 0:
            yield ""
            yield title
        yield line


def _lost(record: Mapping[str, Any], width: int) -> Iterator[str]:
    lost = [one for one in record["lost"] if one["lost"] > 0]
    lines = [
        f"  {one['part'].ljust(_LABEL)} {one['points']:5.1f} of {one['of']:>2}   -{one['lost']:.1f}"
        for one in sorted(lost, key=lambda one: -one["lost"])
    ]
    for cap in record["caps"]:
        lines += wrap(one_line(cap["reason"], 200), width, first=f"  capped at {cap['limit']:.2f}: ")
    whole = sum(one["of"] for one in record["lost"])
    yield from _section(f"where the score was lost (points of {whole})", lines)


def _fault_lines(faults: Sequence[Mapping[str, Any]], width: int) -> Iterator[str]:
    for fault in faults:
        kind = FAULT_NAMES.get(str(fault.get("fault")), str(fault.get("fault")))
        what = f"{kind}: {_call(fault)}, attempt {fault['attempt']}"
        yield from wrap(one_line(what, 3 * width), width, first=f"  #{fault['index']:<4}")


def _calls_title(record: Mapping[str, Any]) -> str:
    failed = sum(1 for call in record["calls"] if not call["success"])
    total = len(record["calls"]) + record["calls_left_out"]
    return f"tool calls ({total}, {failed} failed)"


def _call_lines(record: Mapping[str, Any], width: int, full: bool) -> Iterator[str]:
    calls = record["calls"]
    shown = calls if full else calls[:_CALLS]
    longest = max((columns(one_line(_call(call), width)) for call in shown), default=0)
    for call in shown:
        tail = f"  {_result(call)}, {call['bytes']:,} bytes"
        head = f"  #{call['index']:<4}"
        room = max(width - columns(head) - columns(tail), 8)
        what = one_line(_call(call), room)
        yield head + what + " " * (min(room, longest) - columns(what)) + tail
    left = len(calls) - len(shown) + record["calls_left_out"]
    if left:
        yield f"  ... and {left} more"


def _call(call: Mapping[str, Any]) -> str:
    return f"{call['tool']}({_arguments(call.get('arguments'))})"


def _result(call: Mapping[str, Any]) -> str:
    kind = FAULT_NAMES.get(str(call.get("fault")), call.get("fault"))
    again = f", attempt {call['attempt']}" if call["attempt"] > 1 else ""
    return visible(("ok" if call["success"] else "failed") + (f", {kind}" if kind else "") + again)


def _arguments(arguments: Any) -> str:
    if not isinstance(arguments, Mapping):
        return str(arguments)
    return ", ".join(f"{name}={json.dumps(value, ensure_ascii=False)}" for name, value in arguments.items())


def _session_note(session: Mapping[str, Any]) -> str:
    notes = []
    if session.get("turns") is not None:
        notes.append(f"{session['turns']} turns")
    if session.get("stop_reason"):
        notes.append(f"ended: {session['stop_reason']}")
    loaded = session.get("skills_loaded")
    if isinstance(loaded, list):
        notes.append(f"skills loaded: {', '.join(map(str, loaded)) or 'none'}")
    return f" ({visible('; '.join(notes))})" if notes else ""


def _conversation(session: Mapping[str, Any], width: int, full: bool) -> Iterator[str]:
    messages = session.get("messages")
    for message in messages if isinstance(messages, list) else ():
        if not isinstance(message, Mapping):
            yield from _text(str(message), width, _ANSWER)
            continue
        role = str(message.get("role", "?"))
        if role == "tool":
            label = f"  <- {visible(str(message.get('name', 'tool')))}"
            text = _content(message.get("content"))
            yield from _text(text, width, None if full else _ANSWER, first=f"{label}: ")
            continue
        text = _content(message.get("content"))
        if text.strip() or not message.get("tool_calls"):
            yield f"  {visible(role)}:"
            yield from _text(text, width, None if full else _MESSAGE, first="    ")
        calls = message.get("tool_calls")
        for call in calls if isinstance(calls, list) else ():
            function = call.get("function") if isinstance(call, Mapping) else None
            function = function if isinstance(function, Mapping) else {}
            what = f"{function.get('name', '?')} {function.get('arguments', '')}"
            yield from _text(what, width, None if full else _ANSWER, first="  -> ")


def _content(content: Any) -> str:
    """Plain text, or the texts of a message in parts."""
    if content is None:
        return ""
    return content if isinstance(content, str) else json.dumps(content, ensure_ascii=False)


def _text(text: str, width: int, most: int | None, first: str = "  ") -> Iterator[str]:
    """The text in lines of at most `width`, at most `most` of them, and what was left out told."""
    if not text:
        return
    # Cut first, so that a megabyte of model text costs nothing.
    bound = len(text) if most is None else most * width
    indent = " " * min(columns(first), 6)
    lines: list[str] = []
    for line in visible_lines(text[:bound]).expandtabs(4).split("\n"):
        prefix = indent if lines else first
        head = fold(line, max(width - columns(prefix), 20))[0]
        rest = line[len(head) :]
        lines.append((prefix + head).rstrip())
        lines += [(indent + piece).rstrip() for piece in fold(rest, max(width - columns(indent), 20)) if rest]
    kept = lines if most is None else lines[:most]
    yield from kept
    if len(kept) < len(lines) or bound < len(text):
        yield f"{indent}[... {len(text):,} characters in all; --full shows them]"

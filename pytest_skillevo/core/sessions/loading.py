"""Sessions from files and data of any known format; what cannot be read is refused with the place."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any, Final

from ..canonical import digest, no_constant
from ..errors import ConfigError
from ..records import Message
from . import otel
from .formats import anthropic_messages, litellm_messages, openai_message
from .joining import Timed, extend
from .records import Event, Session, nanoseconds

#: Names of formats; "auto" looks at the data.
FORMATS: Final = ("auto", "openai", "anthropic", "litellm", "otel")
#: Bytes of a file that is read at once.
MAX_FILE: Final = 200_000_000


def load_file(path: Path, format: str = "auto") -> tuple[Session, ...]:
    """The sessions in a file: JSON, or JSONL with a message, a session or a span per line. Raises ConfigError."""
    try:
        if path.stat().st_size > MAX_FILE:
            raise ConfigError(f"{path}: more than {MAX_FILE:,} bytes; split it into several files")
        data = path.read_bytes()
        text = data.decode("utf-8-sig")
    except OSError as error:
        raise ConfigError(f"{path} cannot be read: {error}") from None
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise ConfigError(f"{path}:{line}: not UTF-8: {error.reason} (byte {data[error.start]:#04x})") from None
    if path.suffix.lower() in (".jsonl", ".ndjson"):
        return read_jsonl(text, format, where=str(path))
    try:
        parsed = _parsed(text)
    except ValueError as error:
        raise ConfigError(f"{path}: {error}") from None
    return read_session(parsed, format, where=str(path), id=path.stem)


def read_session(
    data: Any, format: str = "auto", *, where: str = "session", id: str = "", app: str = "", user: str = ""
) -> tuple[Session, ...]:
    """The sessions in data: one, each of a list of sessions, or with spans one per conversation. Raises ConfigError.

    Ids, app and user that the data names itself come before those given here.
    """
    _check(format)
    try:
        kind = _kind(data) if format == "auto" else format
        if kind == "otel":
            found = otel.conversations(data)
            if not found:
                raise ValueError("there is no message in it; spans have messages only where their content is recorded")
            return tuple(_session(one.id or id, one.messages, one.app or app, one.user or user) for one in found)
        if isinstance(data, list) and data and all(isinstance(one, Mapping) and "role" not in one for one in data):
            # Known by places, in the file and in the refusal.
            parts = (
                read_session(one, format, where=f"{where}[{n}]", id=id and f"{id}-{n}", app=app, user=user)
                for n, one in enumerate(data)
            )
            return _joined(session for part in parts for session in part)
        about = _About(data, id, app, user)
        return (_session(about.id, _READERS[kind](data), about.app, about.user),)
    except (ValueError, TypeError, KeyError, AttributeError) as error:
        raise ConfigError(f"{where}: {_sentence(error)}") from None


def read_jsonl(text: str, format: str = "auto", *, where: str = "sessions") -> tuple[Session, ...]:
    """The sessions of JSON lines; single messages and spans are put together by their session ids.

    Raises ConfigError with the number of the first line that cannot be read.
    """
    _check(format)
    sessions: list[Session] = []
    loose: dict[str, list[Timed]] = {}
    spans: list[Any] = []
    stem = Path(where).stem
    # Not splitlines: a text of JSON may hold other line ends, such as U+2028, as they are.
    for number, line in enumerate(text.split("\n"), 1):
        if not line.strip():
            continue
        try:
            data = _parsed(line)
            if format in ("auto", "otel") and otel.is_spans(data):
                otel.conversations(data)
                spans.append(data)
            elif isinstance(data, Mapping) and "role" in data and data.get("type") != "message":
                key = str(data.get("session_id") or "")
                message = _one_message(data, format)
                loose.setdefault(key, []).extend((one, nanoseconds(data.get("timestamp"))) for one in message)
            else:
                sessions += read_session(data, format, where="", id=f"{stem}-{number}")
        except (ValueError, TypeError, KeyError, AttributeError) as error:
            raise ConfigError(f"{where}:{number}: {_sentence(error)}") from None
        except ConfigError as error:
            raise ConfigError(f"{where}:{number}{error}") from None
    sessions += [_session(key or stem, messages, "", "") for key, messages in loose.items()]
    flat = [one for part in spans for one in (part if isinstance(part, list) else [part])]
    sessions += (_session(one.id, one.messages, one.app, one.user) for one in otel.conversations(flat))
    if not sessions:
        raise ConfigError(f"{where}: there is no message in it")
    return _joined(sessions)


def _joined(sessions: Iterable[Session]) -> tuple[Session, ...]:
    """Records of one session as one: a log has a line for each call, and most lines repeat what was before."""
    found: dict[tuple[str, str, str], list[Timed]] = {}
    for one in sessions:
        said = [(event.message, event.at) for event in one.events]
        extend(found.setdefault((one.id, one.app, one.user), []), said)
    return tuple(_session(id, said, app, user) for (id, app, user), said in found.items())


def _check(format: str) -> None:
    if format not in FORMATS:
        raise ConfigError(f"the format {format!r} is none of {', '.join(FORMATS)}")


def _parsed(text: str) -> Any:
    try:
        return json.loads(text, parse_constant=no_constant)
    except json.JSONDecodeError as error:
        raise ValueError(f"not valid JSON: {error.msg} at line {error.lineno}, column {error.colno}") from None
    except RecursionError:
        raise ValueError("nested too deeply") from None


def _sentence(error: Exception) -> str:
    return str(error) if isinstance(error, ValueError) else f"not a session of a known format ({error!r})"


def _kind(data: Any) -> str:
    if otel.is_spans(data):
        return "otel"
    if isinstance(data, list):
        return "anthropic" if _has_blocks(data) else "openai"
    if not isinstance(data, Mapping):
        raise ValueError("a session must be a list of messages or an object that holds one")
    if "choices" in data or "response" in data:
        return "litellm"
    if data.get("type") == "message" or "system" in data or _has_blocks(data.get("messages")):
        return "anthropic"
    if "messages" in data:
        return "openai"
    raise ValueError(f"nothing is known here; the formats are {', '.join(FORMATS[1:])}")


def _has_blocks(messages: Any) -> bool:
    """Whether messages use Anthropic's blocks for tools."""
    kinds = (
        block.get("type")
        for message in (messages if isinstance(messages, list) else ())
        if isinstance(message, Mapping) and isinstance(message.get("content"), list)
        for block in message["content"]
        if isinstance(block, Mapping)
    )
    return any(kind in ("tool_use", "tool_result", "thinking") for kind in kinds)


def _one_message(data: Mapping[str, Any], format: str) -> list[Message]:
    if format == "anthropic" or (format == "auto" and _has_blocks([data])):
        return list(anthropic_messages({"messages": [data]}))
    return [openai_message(data)]


def _openai(data: Any) -> list[Timed]:
    messages = data.get("messages") if isinstance(data, Mapping) else data
    if not isinstance(messages, list):
        raise ValueError("messages must be a list")
    return [(openai_message(one), nanoseconds(one.get("timestamp"))) for one in messages]


def _anthropic(data: Any) -> list[Timed]:
    whole = {"messages": data} if isinstance(data, list) else data
    return [(message, None) for message in anthropic_messages(whole)]


_READERS: Final[Mapping[str, Callable[[Any], list[Timed]]]] = {
    "openai": _openai,
    "anthropic": _anthropic,
    "litellm": lambda data: list(litellm_messages(data)),
}


class _About:
    """Whose session some data is."""

    def __init__(self, data: Any, id: str, app: str, user: str) -> None:
        given = data if isinstance(data, Mapping) else {}
        metadata = given.get("metadata")
        about = {**(metadata if isinstance(metadata, Mapping) else {}), **given}

        def first(*keys: str) -> str:
            return next((str(about[key]) for key in keys if isinstance(about.get(key), str) and about[key]), "")

        self.id = first("session_id", "conversation_id", "id") or id
        self.app = first("app", "app_name") or app
        self.user = first("user_id", "end_user", "user") or user


def _session(id: str, messages: list[Timed], app: str, user: str) -> Session:
    if not messages:
        raise ValueError("there is no message in it")
    events = tuple(Event(f"e{place}", at, message) for place, (message, at) in enumerate(messages))
    # Without an id the content is one: loading the same file twice must give the same session.
    name = id or "s-" + digest(json.dumps([message for message, _ in messages], sort_keys=True))[:16]
    return Session(name, events, app, user)

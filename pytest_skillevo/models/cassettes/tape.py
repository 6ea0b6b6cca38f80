"""One cassette file: YAML documents that are only ever added, so that a kill loses the last one at most.

Every message and every set of tools stands once, under its digest; an exchange names them in order:

    cassette: 1                 message: 8f14…            exchange: 5c20…
    case: tests/test_a.py::…    role: user                model: openai/gpt-4o
                                content: …                messages: [8f14…]
                                                          reply: …

Each document ends with a line of three dots. What stands after the last such line is what a kill left behind.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

import yaml

from ...core.canonical import digest_json
from ...core.errors import ConfigError
from ...core.files import atomic_write

FORMAT: Final = 1
_END: Final = b"\n...\n"
#: Where a message stands whose own fields have names that mean something here.
_FIELDS: Final = "fields"
_MARKS: Final = frozenset({"cassette", "message", "tools", "exchange", _FIELDS})
#: Line breaks of other alphabets, which YAML would turn into its own.
_ODD_BREAKS: Final = frozenset("\r\x85\u2028\u2029")
_Base: Any = getattr(yaml, "CSafeDumper", yaml.SafeDumper)
_Loader: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)


class _Dumper(_Base):  # type: ignore[misc]
    """Writes texts of several lines as blocks, so that they can be read and compared line by line."""

    def ignore_aliases(self, data: Any) -> bool:
        return True


def _text(dumper: Any, text: str) -> Any:
    style = '"' if _ODD_BREAKS & set(text) else "|" if "\n" in text else None
    return dumper.represent_scalar("tag:yaml.org,2002:str", text, style=style)


_Dumper.add_representer(str, _text)


@dataclass(frozen=True, slots=True)
class Exchange:
    """One request and its answer, as plain JSON without secrets. `key` is the digest of the request and its scene."""

    key: str
    #: How often the same request came before in the same rollout.
    nth: int
    model: str
    #: Digest of the skill on trial, "" when there was none.
    skill: str
    repeat: int
    parameters: Mapping[str, Any]
    messages: Sequence[Mapping[str, Any]]
    tools: Sequence[Any]
    reply: Mapping[str, Any]


@dataclass(slots=True)
class Tape:
    """What a cassette file holds. Of two exchanges with the same key and number the later one counts."""

    case: str
    exchanges: dict[tuple[str, int], Exchange] = field(default_factory=dict)
    #: Digests of the messages and tools that the file has.
    known: set[str] = field(default_factory=set)
    #: Whether something in the file counts no more.
    superseded: bool = False


def read(path: Path, case: str = "") -> Tape:
    """The tape in a file; an empty one when there is none. Raises ConfigError for a file that is no cassette."""
    tape = Tape(case)
    try:
        raw = path.read_bytes()
        text = raw[: _whole(raw)].decode("utf-8")
    except FileNotFoundError:
        return tape
    except (OSError, UnicodeDecodeError) as error:
        raise ConfigError(f"the cassette {path} cannot be read: {error}") from None
    parts: dict[str, Any] = {}
    try:
        for document in yaml.load_all(text, Loader=_Loader):
            _take(tape, parts, document)
    except yaml.YAMLError as error:
        raise ConfigError(f"the cassette {path} is no YAML: {' '.join(str(error).split())}") from None
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise ConfigError(
            f"the cassette {path} is damaged ({type(error).__name__}: {error}); restore it, or record it anew"
        ) from None
    return tape


def _whole(raw: bytes) -> int:
    """Where the last complete document ends."""
    found = raw.rfind(_END)
    return 0 if found < 0 else found + len(_END)


def _take(tape: Tape, parts: dict[str, Any], document: Mapping[str, Any]) -> None:
    if "cassette" in document:
        if document["cassette"] != FORMAT:
            raise ValueError(f"its format is {document['cassette']}, not {FORMAT}")
        tape.case = document["case"]
    elif "message" in document:
        fields = document.get(_FIELDS) or {key: value for key, value in document.items() if key != "message"}
        parts[document["message"]] = fields
        tape.known.add(document["message"])
    elif "tools" in document:
        parts[document["tools"]] = document["schemas"]
        tape.known.add(document["tools"])
    else:
        exchange = Exchange(
            key=document["exchange"],
            nth=document.get("nth", 0),
            model=document["model"],
            skill=document["skill"],
            repeat=document["repeat"],
            parameters=document["parameters"],
            messages=[parts[name] for name in document["messages"]],
            tools=parts[document["offered"]] if "offered" in document else [],
            reply=document["reply"],
        )
        tape.superseded = tape.superseded or (exchange.key, exchange.nth) in tape.exchanges
        tape.exchanges[exchange.key, exchange.nth] = exchange


def append(path: Path, tape: Tape, exchange: Exchange) -> None:
    """Add an exchange at the end of the file, and to the tape. The caller holds the lock of the folder."""
    documents = [] if path.exists() else [_head(tape.case)]
    documents += _documents(exchange, tape.known)
    _drop_torn_end(path)
    with path.open("ab") as file:
        file.write(_written(documents))
    tape.superseded = tape.superseded or (exchange.key, exchange.nth) in tape.exchanges
    tape.exchanges[exchange.key, exchange.nth] = exchange


def compact(path: Path) -> None:
    """Write a file anew without what counts no more. The caller holds the lock of the folder."""
    tape = read(path)
    if not tape.superseded:
        return
    known: set[str] = set()
    documents = [_head(tape.case)]
    for exchange in tape.exchanges.values():
        documents += _documents(exchange, known)
    atomic_write(path, _written(documents))


def _head(case: str) -> dict[str, Any]:
    return {"cassette": FORMAT, "case": case}


def _documents(exchange: Exchange, known: set[str]) -> list[dict[str, Any]]:
    """The documents of an exchange; messages and tools that are known are not written again."""
    documents: list[dict[str, Any]] = []
    names = []
    for message in exchange.messages:
        names.append(name := digest_json(message)[:16])
        if name not in known:
            known.add(name)
            odd = not _MARKS.isdisjoint(message)
            documents.append({"message": name, **({_FIELDS: dict(message)} if odd else message)})
    offered: dict[str, Any] = {}
    if exchange.tools:
        offered["offered"] = name = digest_json(exchange.tools)[:16]
        if name not in known:
            known.add(name)
            documents.append({"tools": name, "schemas": list(exchange.tools)})
    number = {"nth": exchange.nth} if exchange.nth else {}
    documents.append(
        {
            "exchange": exchange.key,
            **number,
            "model": exchange.model,
            "skill": exchange.skill,
            "repeat": exchange.repeat,
            "parameters": dict(exchange.parameters),
            **offered,
            "messages": names,
            "reply": dict(exchange.reply),
        }
    )
    return documents


def _written(documents: Iterable[Mapping[str, Any]]) -> bytes:
    return b"".join(
        yaml.dump(
            dict(document),
            Dumper=_Dumper,
            allow_unicode=True,
            sort_keys=False,
            width=10**9,
            explicit_start=True,
            explicit_end=True,
        ).encode("utf-8")
        for document in documents
    )


def _drop_torn_end(path: Path) -> None:
    """Cut off what a killed process left behind the last whole document."""
    if not path.exists():
        return
    with path.open("r+b") as file:
        size = file.seek(0, os.SEEK_END)
        file.seek(max(0, size - len(_END)))
        if file.read() == _END:
            return
        file.seek(0)
        file.truncate(_whole(file.read()))

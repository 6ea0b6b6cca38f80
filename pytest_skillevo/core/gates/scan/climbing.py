"""Paths that climb out of the folder they start in, where a tool is told to write, read or unpack there."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from .hits import Hit

#: Two or more steps up.
_CLIMB: Final = re.compile(r"(?:\.\.[\\/]{1,2}){1,40}\.\.(?![\w.])[\\/]{0,2}[\w.$~@\\/*-]{0,80}")
#: Steps up in an encoding that no honest path has.
_ENCODED: Final = re.compile(
    r"(?:(?:%2e|%252e|\.){2}(?:%2f|%5c|%252f|%255c|%c0%af)|(?:%2e|%252e){2}/){2,40}[\w.%/-]{0,80}|(?:\.{4}(?://"
    r"|\\\\)){2,40}[\w./\\-]{0,80}",
    re.I,
)
_ENTITY: Final = re.compile(
    r"<!ENTITY\s[^>\n]{0,80}\bSYSTEM\s{1,4}[\"'](?:file:|/etc/|php:)"
    r"|<xi:include\b[^>\n]{0,60}\bhref=[\"'](?:file:|/etc/|\.\./\.\./)",
    re.I,
)
_UP: Final = re.compile(r"\.\.")
_SENSITIVE: Final = re.compile(
    r"(?:etc[\\/](?:passwd|shadow|sudoers|cron|hosts|ssh|ld\.so|profile|init|systemd)|\.ssh\b|\.aws\b|\.gnupg\b"
    r"|\.bash(?:rc|_profile)"
    r"|\.profile\b|\.zshrc|authorized_keys|crontab|win(?:dows|nt)[\\/]|system32|proc[\\/]|root[\\/]|boot\.ini"
    r"|\.git[\\/]hooks)",
    re.I,
)
_WRITES: Final = (
    r"write|save|store|cop(?:y|ies)|cp|mv|move|scp|rsync|extract|unpack|unzip|untar|tar|download|export|append|create"
    r"|put"
    r"|upload|place|dump|overwrite|edit|modify|change|delete|remove|rm|unlink|touch|mkdir|tee|rename|patch|drop|output"
)
_READS: Final = (
    r"read|open|load|get|fetch|view|show|cat|less|head|tail|list|print|include|import_file|send|serve|attach|display"
)
_TOOL: Final = re.compile(
    rf"(?:(?<![A-Za-z])(?P<write>{_WRITES})(?:s|es|d|ed|ing|_\w{{1,20}}|[A-Z]\w{{1,20}})?"
    rf"|(?<![A-Za-z])(?P<read>{_READS})(?:s|es|d|ing|_\w{{1,20}}|[A-Z]\w{{1,20}})?"
    r"|(?P<call>extractall|writeFile\w{0,40}|write_text|write_bytes|str_replace|open)\("
    r"|(?P<redirect>>{1,2})|(?P<option>\s-[oCd]|--(?:output|directory|dest|target|prefix)))(?![A-Za-z])",
    re.I,
)
_FOREIGN: Final = re.compile(
    r"schreib\w{0,3}|speicher\w{0,3}|kopier\w{0,3}|lösch\w{0,3}|écri\w{1,4}|enregistr\w{1,3}|copie\w{0,2}"
    r"|supprim\w{1,3}|guarda\w{0,2}"
    r"|escrib\w{1,3}|copia\w{0,2}|borra\w{0,2}|salve\w{0,2}|grave\w{0,2}|escrev\w{1,3}|salva\w{0,2}|scriv\w{1,3}"
    r"|schrijf|bewaar|zapisz|skopiuj"
    r"|запиши\w{0,2}|сохрани\w{0,2}|скопируй\w{0,2}|удали\w{0,2}|写入|保存|复制|删除|写到|寫入|書き込|コピー|저장|쓰기|복사",
    re.I,
)
_FOREIGN_AFTER: Final = re.compile(
    r"[^\n.。]{0,40}(?:書き込|保存|コピー|削除|저장|쓰|복사|삭제|kaydet|yaz|speicher|schreib|写入|保存)"
)
_MODULE: Final = re.compile(
    r"\b(?:import|from|require|include|extends|@import|use|source|link|see)\b[^\n]{0,40}\Z|\b(?:href"
    r"|src)\s?=[^\n]{0,20}\Z",
    re.I,
)
_LINK: Final = re.compile(r"\]\(\s{0,2}\Z")
_FIELD: Final = re.compile(
    r"\\?[\"']?(?:path|file|file_?name|file_?path|target|dest(?:ination)?|output(?:_path|_file)?|dir(?:ectory)?"
    r"|location)\\?[\"']?"
    r"\s{0,2}[:=]\s{0,2}\\?[\"']?\Z|<(?:path|file|file_?name|target|dest(?:ination)?|output|location)>\s{0,4}\Z"
    r"|<(?:entry|file|member|item|resource|asset|output|target)\b[^>\n]{0,60}\b(?:name|path|dest|target|file|src"
    r"|location)=[\"']\Z",
    re.I,
)
_TOOL_CALL: Final = re.compile(
    r"<(?:tool|invoke|content|arguments?|parameter)\b|[\"'](?:tool|tool_name|content|contents|arguments|args|action"
    r"|command|input|text|data|function)\\?[\"']\s{0,2}:"
)
_INTO: Final = re.compile(
    r"\b(?:to|into|in|at|as|under|nach|unter|vers|dans|sous|en|a|al|em|para|in|naar|do|в|на)\s{1,3}[`\"'(]{0,3}\Z"
    r"|(?:到|至|に)\s{0,2}[`\"'(]{0,3}\Z"
)
_COMMAND_START: Final = re.compile(r"[^`;|&\n\s][^`;|&\n]*\Z|\Z")
_WINDOW: Final = 60


def climbing_paths(text: str) -> Iterator[Hit]:
    """Places where a path with two or more steps up is the object of a tool or a tool-like verb."""
    for match in _ENTITY.finditer(text):
        yield Hit("path_traversal:file_entity", "reads a file through an XML entity", *match.span())
    for match in _ENCODED.finditer(text):
        yield Hit("path_traversal:encoded", "climbs out of its folder by an encoded path", *match.span())
    for match in _CLIMB.finditer(text):
        low = max(0, match.start() - _WINDOW)
        low = text.rfind("\n", low, match.start()) + 1 or low
        start = _tool(text[low : match.start()], match[0], text[match.end() : match.end() + _WINDOW])
        if start is None and _FIELD.search(text, low, match.start()):
            around = text[max(0, match.start() - 400) : match.end() + 400]
            steps = len(_UP.findall(match[0]))
            start = (
                match.start() - low if steps > 2 or _TOOL_CALL.search(around) or _SENSITIVE.search(match[0]) else None
            )
        if start is not None:
            yield Hit(
                "path_traversal:climbing", "writes or reads outside its folder", low + start, match.end(), order=True
            )


def _tool(before: str, path: str, after: str) -> int | None:
    """Where in `before` the verb stands that makes this path a danger; None when nothing does."""
    steps = len(_UP.findall(path))
    if _LINK.search(before) or (_MODULE.search(before) and not _SENSITIVE.search(path)):
        return None
    verb = _last(_TOOL, before)
    foreign = _last(_FOREIGN, before)
    if _SENSITIVE.search(path):
        found = verb or foreign
        return found.start() if found else len(before)
    if foreign is not None or _FOREIGN_AFTER.match(after):
        return foreign.start() if foreign else len(before)
    if verb is None:
        return None
    if verb["option"]:
        return _COMMAND_START.search(before).start() if steps > 2 else None  # type: ignore[union-attr]
    if verb["read"]:
        return verb.start() if steps > 2 else None
    if verb["write"]:
        source = verb["write"].lower() in ("cp", "copy", "mv", "move", "scp", "rsync", "copies")
        if (
            source
            and not _INTO.search(before)
            and steps < 4
            and _followed(after)
            and not _preceded(before[verb.end() :])
        ):
            return None
    return verb.start()


def _last(pattern: re.Pattern[str], text: str) -> re.Match[str] | None:
    found = None
    for found in pattern.finditer(text):  # noqa: B007  (the last one counts)
        pass
    return found


def _followed(after: str) -> bool:
    """Whether a destination follows, so that the path is only what is copied."""
    return re.match(r"[\"'`]?\s{1,3}(?:to\b|into\b|[\w./~\"'$-])", after) is not None


def _preceded(between: str) -> bool:
    """Whether something to copy stands between the command and the path."""
    return any(not word.startswith("-") for word in between.split())

"""The Safety gate: nothing that destroys, opens or betrays goes into a skill (spec/online-revisions.md 3.4 and 19)."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Final, NamedTuple

from ..errors import ConfigError
from ..revisions import Action
from ..skill import Skill
from .records import Candidate, Finding, GateVerdict, Severity, verdict_of
from .redaction import redact
from .scan.climbing import climbing_paths
from .scan.context import excused
from .scan.credentials import credentials
from .scan.deletion import deletions
from .scan.downloads import downloads
from .scan.files import credential_files, searched_credentials
from .scan.folding import decoded, folded
from .scan.hidden import hidden_characters
from .scan.hits import Hit
from .scan.leaks import leaks
from .scan.machine import machine
from .scan.orders import orders
from .scan.passages import Passage, passages
from .scan.programs import programs
from .scan.remote import remote_shells
from .scan.shell import commands
from .scan.takeover import takeover

MAIN_FILE: Final = "SKILL.md"
CATEGORIES: Final = ("secret", "dangerous_shell", "credential_file", "path_traversal", "hidden_unicode", "instruction")

_RULES: Final = 2
#: Findings of one file; a text that holds more is refused all the same, and nobody reads on.
_MOST: Final = 50
#: Mentions whose context is judged, in one file. It bounds the time that a hostile text can cost.
_MOST_READ: Final = 500
_EXCERPT: Final = 60


@dataclass(frozen=True, slots=True)
class SafetyGate:
    """Scans name, SKILL.md and all supporting files. What a text only warns of is told as a warning and passes.

    `allow`: codes ("dangerous_shell:setuid") or categories ("path_traversal") that are only warned about. Raises
    ConfigError for an unknown category, as a typing error must not look like a permission.
    """

    allow: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        for code in self.allow:
            if code.partition(":")[0] not in CATEGORIES:
                raise ConfigError(f"the safety gate knows no '{code}': name one of {', '.join(CATEGORIES)}, or a code")

    @property
    def version(self) -> str:
        """The version of the rules with the settings."""
        return f"{_RULES} (allow {', '.join(sorted(self.allow)) or 'nothing'})"

    def judge(self, candidate: Candidate) -> GateVerdict:
        """The verdict with all places that were found, at most 50 of each file."""
        if candidate.skill is None or candidate.action is Action.DELETE:
            return verdict_of("safety", self.version, ())
        found = (*scan_text(candidate.name, "name"), *scan_skill(candidate.skill))
        return verdict_of("safety", self.version, tuple(self._allowed(finding) for finding in found))

    def _allowed(self, finding: Finding) -> Finding:
        if finding.code in self.allow or finding.code.partition(":")[0] in self.allow:
            return Finding("safety", finding.code, f"{finding.message} (allowed)", finding.where, Severity.WARNING)
        return finding


def scan_skill(skill: Skill) -> Iterator[Finding]:
    """The findings of SKILL.md and of every supporting file, names of files included."""
    yield from scan_text(skill.text, MAIN_FILE)
    for path, data in skill.files.items():
        yield from scan_text(path, f"{path} (its name)")
        yield from scan_file(path, data)


def scan_file(path: str, data: bytes) -> Iterator[Finding]:
    """The findings of a file. Of a binary one only its credentials, as anything else would be chance."""
    if b"\0" in data:
        yield from _findings(path, _marked(data.decode("latin-1"), credentials))
        return
    # Bytes of another encoding are no reason to look away from the rest.
    yield from scan_text(data.decode("utf-8", "replace"), path)


def scan_text(text: str, path: str = MAIN_FILE) -> Iterator[Finding]:
    """The findings of a text; `path` tells how to read it and stands in the findings. Time is linear in the text."""
    yield from _findings(path, _places(text, path))


class _Place(NamedTuple):
    """A hit, its line, the words that were found ("" when they must not be repeated), and the passage around it."""

    hit: Hit
    line: int
    words: str = ""
    passage: Passage | None = None


def _places(text: str, path: str) -> Iterator[_Place]:
    yield from _marked(text, hidden_characters)
    plain = folded(text)
    yield from _marked(plain, credentials)
    for passage in passages(plain, path):
        for hit in _dangers(passage.text):
            yield _Place(hit, passage.line_at(hit.start), passage.text[hit.start : hit.end], passage)
    for line, inner in decoded(plain):
        for hit in _dangers(inner):
            yield _Place(hit, line, f"Base64 of {inner[hit.start : hit.end]}")


def _marked(text: str, find: Callable[[str], Iterator[Hit]]) -> Iterator[_Place]:
    """What is found in a whole text and has no excuse."""
    line, position = 1, 0
    for hit in sorted(find(text), key=lambda hit: hit.start):
        line += text.count("\n", position, hit.start)
        position = hit.start
        yield _Place(hit, line)


def _dangers(text: str) -> Iterator[Hit]:
    """Everything that a text may name without being dangerous."""
    found = commands(text)
    yield from deletions(text, found)
    yield from downloads(text, found)
    yield from machine(text, found)
    yield from leaks(text, found)
    yield from remote_shells(text)
    yield from takeover(text)
    yield from credential_files(text)
    yield from searched_credentials(text)
    yield from programs(text)
    yield from climbing_paths(text)
    yield from orders(text)


def _findings(path: str, places: Iterable[_Place]) -> Iterator[Finding]:
    """One finding for each rule and line. After the last that counts nothing more is read; warnings end nothing."""
    seen: dict[tuple[str, int], Severity] = {}
    read = 0
    for hit, line, words, passage in places:
        key, where = (hit.code, line), f"{path}:{line}"
        if seen.get(key) is Severity.ERROR:
            continue
        read += passage is not None
        if passage is None or not excused(passage, hit):
            seen[key] = Severity.ERROR
            yield _finding(hit, where, _quoted(words))
        elif key not in seen:
            seen[key] = Severity.WARNING
            yield _finding(hit, where, f"{_quoted(words)} is named, its context warns of it", Severity.WARNING)
        if read == _MOST_READ:
            yield Finding("safety", "too_many_mentions", "names more dangers than are judged: split the file", where)
        if read == _MOST_READ or sum(one is Severity.ERROR for one in seen.values()) == _MOST:
            return


def _finding(hit: Hit, where: str, words: str, severity: Severity = Severity.ERROR) -> Finding:
    return Finding("safety", hit.code, f"{hit.message}: {words}" if words else hit.message, where, severity)


def _quoted(words: str) -> str:
    """Foreign text as it can be shown: without credentials, on one line, escaped and cut."""
    if not words:
        return ""
    line = " ".join(redact(words).split())
    cut = line if len(line) <= _EXCERPT else line[: _EXCERPT - 1] + "…"
    return ascii(cut) if not cut.isprintable() else f"'{cut}'"

"""Reading the YAML frontmatter: every scalar as text, with the place of each top-level value, and nothing clever.

Anchors and aliases are refused, so that no document can blow up; duplicate keys are errors; nesting and size are
bounded. An unquoted ": " inside a plain value is read as text, as the client guide of the format allows
(spec/ecosystem.md 3.2).
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache, lru_cache
from itertools import accumulate
from typing import TYPE_CHECKING, Any, Final, TypeAlias

from ..errors import SkillError
from .markdown import is_blank, split_lines

if TYPE_CHECKING:
    import yaml

#: Characters of frontmatter. PyYAML needs about a second for this much, and real frontmatter has some hundred.
MAX_FRONTMATTER: Final = 64 * 1024
MAX_DEPTH: Final = 20
#: Texts whose reading is remembered: most edits of a skill leave its frontmatter alone, and reading it costs most.
REMEMBERED: Final = 32

#: A node of PyYAML, whose stubs lack what its nodes carry.
Node: TypeAlias = Any
Value: TypeAlias = "str | tuple[Any, ...]"
_KEY_LINE: Final = re.compile(
    r"(?P<lead>[ ]*(?:- +)*)(?P<key>[^\s:#\"'\[\]{}|>&*!%@`,?-][^\s:]*):(?=[ \t]|\Z)(?P<rest>.*)", re.S
)
#: Keys of skills start in lower case; "Note: ..." below a rule is prose.
_LIKE_A_KEY: Final = re.compile(r"[a-z][\w-]*:\s")
_LOOSE_COLON: Final = re.compile(r":(?=[ \t]|\Z)")
_MASKS: Final = range(0xE000, 0xF8FF)


@dataclass(frozen=True, slots=True)
class Entry:
    """One top-level key. `start` and `end` bound the value in the YAML text, without trailing space or line end."""

    key: str
    #: 0-based line of the key within the YAML text.
    line: int
    #: Where the key starts in its line.
    column: int
    start: int
    end: int
    #: The scalar's text; for a list or mapping a tuple of its parts.
    value: Value
    #: None for plain, else one of ' " | >; "" for a list or mapping.
    style: str | None
    #: Whether an unquoted ": " in it had to be read as text.
    loose: bool
    #: Whether a comment follows on the value's last line.
    comment: bool


@dataclass(frozen=True, slots=True)
class Fields:
    """The top-level mapping. `end` is where a flow mapping's closing brace stands, -1 for block style or no mapping."""

    entries: tuple[Entry, ...]
    end: int

    def get(self, key: str) -> Entry | None:
        """The entry of that key, if there is one."""
        return next((entry for entry in self.entries if entry.key == key), None)


@dataclass(frozen=True, slots=True)
class Fences:
    """Where the frontmatter stands in the lines of a document, by 0-based line index of its two fences."""

    open: int
    close: int


def find_fences(lines: Sequence[str], where: str) -> tuple[Fences | None, int | None]:
    """The frontmatter fences, and the line of a `---` at the top that is no fence because nothing closes it.

    Only the first pair counts, and only at the top: after blank lines and HTML comments. Raises SkillError when what
    follows an unclosed `---` is clearly meant as frontmatter.
    """
    start = _top(lines)
    if start is None:
        return None, None
    for i in range(start + 1, len(lines)):
        if _is_fence(lines[i]):
            return Fences(start, i), None
    below = (line for line in lines[start + 1 :] if not is_blank(line) and line[0] != "#")
    if _LIKE_A_KEY.match(next(below, "")):
        raise SkillError(
            f"{where}:{start + 1}: the frontmatter that starts here has no end: add a line '---' below its last key"
        )
    return None, start


def _top(lines: Sequence[str]) -> int | None:
    comment = False
    for i, line in enumerate(lines):
        text = line.strip(" \t\r\n")
        if not comment and text.startswith("<!--"):
            comment, text = True, text[4:]
        if comment:
            _, closed, rest = text.partition("-->")
            comment = not closed
            if rest.strip(" \t"):
                return None
        elif text:
            return i if _is_fence(line) else None
    return None


def _is_fence(line: str) -> bool:
    return line.rstrip(" \t\r\n") == "---"


def read_fields(source: str, where: str, first_line: int, *, lenient: bool = True) -> Fields:
    """The top-level entries of YAML text whose first line is line `first_line` of the file `where`.

    Raises SkillError with file and line for broken YAML, duplicate keys, anchors, or anything but a mapping.
    With `lenient`, unquoted colons are read as text.
    """
    if len(source) > MAX_FRONTMATTER:
        raise SkillError(f"{where}:{first_line}: the frontmatter is longer than {MAX_FRONTMATTER} characters")
    import yaml

    try:
        try:
            return _compose(source, "")
        except yaml.scanner.ScannerError as error:
            mask = next((chr(code) for code in _MASKS if chr(code) not in source), "")
            if not lenient or "mapping values are not allowed" not in str(error.problem) or not mask:
                raise
            return _compose(_masked(source, mask), mask)
    except (ValueError, OverflowError) as error:  # an escape beyond U+10FFFF
        raise SkillError(f"{where}:{first_line}: the frontmatter is not valid YAML: {error}") from error
    except yaml.YAMLError as error:
        at, problem = _problem(error)
        line = first_line + _line_of(_line_starts(source), at)
        raise SkillError(f"{where}:{line}: the frontmatter {problem}") from error


@lru_cache(maxsize=REMEMBERED)
def _compose(source: str, mask: str) -> Fields:
    loader = _loader()(source)
    try:
        root = loader.get_single_node()
    finally:
        loader.dispose()
    if root is None:
        return Fields((), -1)
    if root.id != "mapping":
        raise _refusal("must be a mapping of keys to values, such as 'name: my-skill'", root.start_mark)
    starts = _line_starts(source)
    entries = tuple(_entry(source, starts, key, value, mask) for key, value in _pairs(root))
    return Fields(entries, root.end_mark.index - 1 if root.flow_style else -1)


def _entry(source: str, starts: Sequence[int], key: Node, value: Node, mask: str) -> Entry:
    start = value.start_mark.index
    end = max(start, len(source[: _end(value)].rstrip(" \t\r\n")))
    scalar = value.id == "scalar"
    return Entry(
        key=key.value,
        line=_line_of(starts, key.start_mark.index),
        column=key.start_mark.column,
        start=start,
        end=end,
        value=_value(value, mask),
        style=(value.style or None) if scalar else "",
        loose=bool(mask) and _is_loose(value, mask),
        comment=split_lines(source[end : end + 80] + "\n")[0].lstrip(" \t").startswith("#"),
    )


def _end(node: Node) -> int:
    """Where a node really ends: the end mark of a block collection lies beyond the comments that follow it."""
    if node.id == "scalar" or node.flow_style or not node.value:
        return int(node.end_mark.index)
    last = node.value[-1]
    return _end(last[1] if node.id == "mapping" else last)


def _value(node: Node, mask: str) -> Value:
    if node.id == "scalar":
        return _scalar(node, mask)
    if node.id == "sequence":
        return ("sequence", *(_value(item, mask) for item in node.value))
    return ("mapping", *((_value(key, mask), _value(value, mask)) for key, value in _pairs(node)))


def _scalar(node: Node, mask: str) -> str:
    text = str(node.value).replace(mask, ":") if mask else str(node.value)
    if not text.isascii() and any("\ud800" <= char <= "\udfff" for char in text):
        try:  # JSON writes characters beyond U+FFFF as two escapes
            text = text.encode("utf-16", "surrogatepass").decode("utf-16")
        except UnicodeDecodeError:
            raise _refusal("has an escape for half a character", node.start_mark) from None
    return text


def _is_loose(node: Node, mask: str) -> bool:
    """Whether a plain scalar in the node needed the mask; in quotes and blocks a colon is text anyway."""
    if node.id == "scalar":
        return not node.style and mask in node.value
    parts = (value for _, value in node.value) if node.id == "mapping" else node.value
    return any(_is_loose(part, mask) for part in parts)


def _pairs(node: Node) -> Iterator[tuple[Node, Node]]:
    """The pairs of a mapping node; refuses keys that are no text or occur twice."""
    seen: set[str] = set()
    for key, value in node.value:
        if key.id != "scalar":
            raise _refusal("has a key that is not text", key.start_mark)
        if key.value in seen:
            raise _refusal(f"has the key '{key.value}' twice: keep one of them", key.start_mark)
        seen.add(key.value)
        yield key, value


@cache
def _loader() -> Any:
    """The loader class, made on first use so that PyYAML is imported only then."""
    import yaml

    class Loader(yaml.SafeLoader):
        depth = 0

        def compose_node(self, parent: Node, index: Any) -> Any:
            event: Any = self.peek_event()  # type: ignore[no-untyped-call]
            if isinstance(event, yaml.AliasEvent) or getattr(event, "anchor", None) is not None:
                raise _refusal("uses a YAML anchor or alias ('&' or '*'): put the value in quotes", event.start_mark)
            if self.depth >= MAX_DEPTH:
                raise _refusal(f"is nested more than {MAX_DEPTH} levels deep", event.start_mark)
            self.depth += 1
            try:
                return super().compose_node(parent, index)
            finally:
                self.depth -= 1

    return Loader


def _refusal(problem: str, mark: yaml.Mark) -> yaml.MarkedYAMLError:
    import yaml

    return yaml.MarkedYAMLError(None, None, problem, mark, note="refused")


def _problem(error: yaml.YAMLError) -> tuple[int, str]:
    """Where in the text, and the rest of a sentence that starts with "the frontmatter"."""
    import yaml

    if isinstance(error, yaml.reader.ReaderError):
        return error.position, f"holds the character U+{error.character:04X}, which YAML does not allow"
    if not isinstance(error, yaml.MarkedYAMLError):
        return 0, f"is not valid YAML: {error}"
    problem = error.problem or "cannot be read"
    mark = error.problem_mark or error.context_mark
    if "unexpected end of stream" in problem and error.context_mark is not None:
        mark, problem = error.context_mark, "a quote that starts here is never closed"
    at = 0 if mark is None else mark.index
    if error.note == "refused":
        return at, problem
    if "cannot start any token" in problem or "expected alphabetic or numeric" in problem:
        problem += ": put the value in quotes"
    if "mapping values are not allowed" in problem:
        problem += ": put a value that contains ': ' in quotes"
    return at, f"is not valid YAML: {problem}"


def _line_starts(source: str) -> list[int]:
    return [0, *accumulate(len(line) for line in split_lines(source))]


def _line_of(starts: Sequence[int], index: int) -> int:
    return bisect_right(starts, index) - 1


def _masked(source: str, mask: str) -> str:
    """The text with a stand-in of the same length for each colon that can only be meant as text.

    Those are the ones after the first on a `key: value` line whose value is no flow collection, and all on its
    deeper continuation lines.
    """
    lines: list[str] = []
    inside = -1
    for line in split_lines(source):
        bare = line.rstrip("\r\n")
        end = line[len(bare) :]
        indent = len(bare) - len(bare.lstrip(" "))
        match = _KEY_LINE.match(bare)
        value = match["rest"].strip(" \t") if match else ""
        if inside >= 0 and (indent > inside or is_blank(bare)):
            bare = _LOOSE_COLON.sub(mask, bare)
        elif match and value and value[0] not in "[{#":
            inside = len(match["lead"])
            bare = bare[: match.start("rest")] + _LOOSE_COLON.sub(mask, match["rest"])
        else:
            inside = -1
        lines.append(bare + end)
    return "".join(lines)

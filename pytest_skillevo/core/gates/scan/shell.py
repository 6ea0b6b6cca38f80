"""Commands in a text: words, and what stands between them. Works on scripts, code spans and prose alike.

Nothing is parsed strictly, as commands come in quotes, JSON lists and sentences: a stretch of words without an
operator between them is a run, and each word of it may be a command. Time is linear in the text.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence, Set
from dataclasses import dataclass
from itertools import pairwise
from typing import Final, NamedTuple

# Scripts without spaces between words; their characters end a shell word, while those of other scripts belong to it.
_SPACELESS: Final = "\u3000-\u303f\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af\uff00-\uff60"
#: A substitution that is only a value, such as $(whoami); what fetches or decodes is looked into.
_VALUE: Final = r"\$\((?!curl|wget|fetch|echo|printf|base64|cat|env|xxd|printenv)[\w ./$-]{1,40}\)"
_TOKEN: Final = re.compile(
    rf"(?P<op>\|[|&]?|&&|;|\n|`|(?!{_VALUE})\$\(|<\(|[()]|&(?![>&\d]))"
    r"|(?P<redirect>(?:\d|&)?>>?&?|<<?<?)"
    rf"|(?P<word>(?:\$\{{[^}}\s]{{0,80}}\}}|{_VALUE}|(?!:\\?[\"']|\$\()[^\s`;|&<>(),\[\]{_SPACELESS}])+)"
)
_LITERAL_END: Final = re.compile(r"(?:\\[nrt])+\Z")
_QUOTES: Final = re.compile(r"\\?[\"']")
_DRIVE: Final = re.compile(r"[A-Za-z]:")
_SENTENCE_END: Final = re.compile(r"[^\W_][\"'*)]{0,4}[.!?:][\"'*)]{0,4}\Z")
_CLOSING: Final = ".!?:\"'*)"
_VARIABLE: Final = re.compile(r"\$(?:\{(\w{1,30})\}|(\w{1,30}))")
#: A variable with a value of last resort.
_DEFAULT: Final = re.compile(r"\$\{\w{1,30}:?[-=]([^{}\s]{1,40})\}")
_ASSIGNED: Final = re.compile(r"([A-Za-z_]\w{0,29})=([\w./~*-]{1,40})")
#: A name with a backslash before single letters, which a shell takes out.
_SPLIT: Final = re.compile(r"\\?[a-z](?:\\?[a-z]){1,9}")
#: No command is longer; it bounds what other rules do with one word.
_LONGEST: Final = 300
#: What may stand before the command proper.
_PREFIX: Final = frozenset(
    {
        *("sudo", "doas", "env", "nohup", "time", "nice", "ionice", "command", "exec", "builtin", "xargs"),
        *("then", "do", "else", "busybox", "toybox", "&", "$", "#", ">", "%"),
    }
)
#: Their options that take the next word.
_WITH_VALUE: Final = frozenset({"-u", "-g", "-n", "-I", "-P", "-L"})


class Word(NamedTuple):
    """A word without its quotes and the punctuation around it, and where it stands."""

    text: str
    #: The word as the name of a command: /usr/bin/rm, \\rm and RM.EXE are rm.
    name: str
    start: int
    end: int
    #: A full stop or another sign that ends a sentence follows it.
    closing: bool


@dataclass(frozen=True, slots=True)
class Run:
    """Words without an operator between them, and the operator before them ("" at the beginning)."""

    before: str
    words: tuple[Word, ...]

    @property
    def command(self) -> tuple[Word, ...]:
        """The words from the command on, without sudo, env, options of these, and variables set for it."""
        words = self.words
        i = 0
        while i < len(words) and (words[i].name in _PREFIX or "=" in words[i].text):
            prefixed = words[i].name in ("sudo", "doas", "env", "xargs", "nice", "nohup")
            i += 1
            while prefixed and i < len(words) and words[i].text.startswith("-"):
                i += 2 if words[i].text in _WITH_VALUE else 1
        return words[i:]


@dataclass(frozen=True, slots=True)
class Commands:
    """The runs of a text in order, and the names of all their words, to tell quickly that nothing is of interest."""

    runs: tuple[Run, ...]
    names: frozenset[str]

    def calls(self, names: Set[str], window: int = 24) -> Iterator[tuple[Word, Sequence[Word]]]:
        """Each word that is one of these commands, with the words after it in its run, at most `window` of them.

        A sentence ends the words. A name among the arguments of the same command is an argument, so that the time stays
        linear.
        """
        if self.names.isdisjoint(names):
            return
        for run in self.runs:
            skip = 0
            for i, word in enumerate(run.words):
                if i >= skip and word.name in names:
                    skip = i + window
                    yield word, _sentence(run.words[i + 1 : i + 1 + window])


def commands(text: str) -> Commands:
    """Read a text. A line ends a run, but not inside a code span; redirections are words."""
    found: list[Run] = []
    words: list[Word] = []
    names: set[str] = set()
    before = ""
    span = False
    known: dict[str, str] = {}
    for match in _TOKEN.finditer(text):
        operator = match["op"]
        if operator is None:
            word = _word(match, known)
            if word.text:
                if len(words) == 3 and words[0].name == "for" and words[2].name == "in":
                    known[words[1].text] = word.text
                words.append(word)
                names.add(word.name)
        elif operator != "\n" or not span:
            if words or operator != "\n":
                found.append(Run(before, tuple(words)))
                words, before = [], operator
            span = span != (operator == "`")
    found.append(Run(before, tuple(words)))
    return Commands(tuple(found), frozenset(names))


def _word(match: re.Match[str], known: dict[str, str]) -> Word:
    """The word of a token. Short values that the text gave to variables stand in for them from there on."""
    raw = text = match[0][:_LONGEST]
    if ":-" in text or ":=" in text:
        text = _DEFAULT.sub(r"\1", text)
    if known and "$" in text:
        text = _VARIABLE.sub(lambda found: known.get(found[1] or found[2], found[0]), text)
    if match.lastgroup == "word":
        text = _LITERAL_END.sub("", _QUOTES.sub("", text)).rstrip(",!\u2026")
        if "/" not in text:
            text = text.rstrip("?")
        if not text.endswith("/**"):
            text = text.removesuffix("**")
        if not text.strip("{}"):
            text = ""
        elif "${" not in text:
            text = text.lstrip("{").rstrip("}")
        if not _DRIVE.fullmatch(text):
            text = text.rstrip(":")
        if text.strip(".") and not text.endswith("/.."):
            text = text.rstrip(".")
    if assigned := _ASSIGNED.fullmatch(text):
        known[assigned[1]] = assigned[2]
    if _SPLIT.fullmatch(text):
        text = text.replace("\\", "")
    # An alias or variable may hold the command: x='rm -rf'.
    name = text.rpartition("=")[2].lstrip("\\*_").replace("\\", "/").rpartition("/")[2].lower().removesuffix(".exe")
    return Word(text, name, match.start(), match.end(), raw[-1] in _CLOSING and bool(_SENTENCE_END.search(raw)))


def _sentence(words: Sequence[Word]) -> Sequence[Word]:
    """The words up to the end of the sentence, where a capital letter begins another one."""
    for i, (word, following) in enumerate(pairwise(words), 1):
        if word.closing and following.text[:1].isupper():
            return words[:i]
    return words


def span_of(word: Word, rest: Sequence[Word]) -> tuple[int, int]:
    """From the command to the last of these words."""
    return word.start, rest[-1].end if rest else word.end

"""Reading the language of methods: sentences, segments and what is said in the negative.

A skill is read sentence by sentence. A sentence is cut into segments at commas and connectives, and each segment is
either affirmed or denied: "retry the failed call, never the whole batch" affirms the first part and denies the second.
Two denials cancel each other ("never forget to call claim_done").
"""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass
from functools import lru_cache


def word_set(text: str) -> frozenset[str]:
    """The words of a text parted by blanks."""
    return frozenset(text.split())


_REWRITES = tuple(
    (re.compile(pattern), replacement)
    for pattern, replacement in (
        (r"[‘’]", "'"),
        (r"\bcan(?:no|')t\b|\bcan not\b", "can not"),
        (r"\bwon't\b", "will not"),
        (r"n't\b", " not"),
        (r"\btim(?:e|es|ed|ing)[ -]?outs?\b|\btimeouts?\b", "timeout"),
        (r"\bno[ -]data\b", "no_data"),
        # What a source does not have is a state of affairs, not a denial of what the sentence asks for.
        (r"\b(?:does|do|did) not (?:have|exist|hold|offer|contain|know|supply)\b(?! to)", "no_data"),
        (
            r"\b(?:has|have|having|holds?|offers?|gives?|knows?) no (?!need|reason|effect|match|hit|result)(?=\w)",
            "no_data ",
        ),
        (r"\b(?:is|are) no (?=values?\b|data\b|record|entr|such)", "no_data "),
        (r"\bno (?:such )?(?:value|record)\b|\bnot available\b|\bnothing on record\b", "no_data"),
        (r"\brate[ _-]limit(?:s|ed|ing|er)?\b", "rate_limit"),
        (r"\bnot[ -]found\b", "not_found"),
        (r"\bre-(?=[a-z])", "re"),
        (r"\b(?:not|no) (?:more|later|longer) than\b", "at most"),
        (r"\bnot only\b|\bwhether or not\b|\bno exceptions?\b|\bno matter\b|\bwithout (?:fail|exception)\b", " "),
        (r"\bif (?:it is |they are |there is |so )?not(?= *[,:;])", "otherwise"),
        (r"\b(?:as opposed to|in place of|in preference to)\b", "instead of"),
        (r"\b(?:leave|leaves|leaving|left)(?: (?:it|them|any|one))? out\b", "omit"),
        (r"\bwithout (.+?) (?:is|are) (?:incomplete|invalid|worthless|wrong|not complete)", r"must have \1"),
        (r"\b(?:leave|leaves|leaving) ((?:[\w.]+ ){1,5}?)out\b", r"omit \1"),
        (r",? ?\bunder any circumstances?\b,?", ""),
        (r"\bunder no circumstances?\b,?", "never"),
        (r"\bfail(?:s|ing)? to\b", "omit to"),
        # "never more than twice" sets a limit, it forbids nothing: the two cancel like any two denials.
        (r"\bmore (?:often )?than (?:once|twice|times|(?:\w+) (?:times|retries|attempts))\b", "omit"),
    )
)

_TOKEN = re.compile(r"[a-z0-9_]+(?:\.[a-z]+\b)*|[,;:()—–]|(?<= )-(?= )")
_PUNCTUATION = frozenset(",;:()—–-")

_DENIALS = re.compile(
    r"never|not|no|nor|neither|avoid\w*|refrain\w*|beware|resist|forget\w*|omit\w*|skip\w*|neglect\w*|overlook\w*"
    r"|optional|ignor\w*|disregard\w*"
)
#: Words that condemn the whole clause in which they stand: "asking again after that is pointless".
_VERDICTS = re.compile(
    r"mistakes?|wrong|wrongly|wasteful|wastes?|wasting|forbid\w*|prohibit\w*|pointless|useless|needless\w*|unnecessary"
    r"|harmful|traps?|pitfalls?"
)
#: Words that open a new, affirmed segment.
_OPENERS = word_set(
    "but because since while whereas then if when whenever once after where which otherwise so until unless before "
    "except even though although no"
)
#: Verbs after which "and" starts a new order: "do not guess and write the sentinel".
_ORDERS = word_set(
    "write report use record put set continue go move call mark keep give retry repeat compare ask fetch read check "
    "verify take accept request finish end note store insert leave never no not do avoid"
)

_LIST_ITEM = re.compile(r"^\s*(?:[-*+•]|\d{1,3}[.)])\s+")
_HEADING = re.compile(r"^\s{0,3}(#{1,6})\s+(.*?)\s*#*\s*$")
_FENCE = re.compile(r"^\s{0,3}(```|~~~)")
_SENTENCE_END = re.compile(r"(?<![eE]\.g)(?<![iI]\.e)(?<!etc)(?<=[.!?])[\"')*`]*\s+(?=\S)")
_WHEN = re.compile(r"when (?:to|not to) (?:use|load|apply)|use (?:it |this )?when|triggers?$|scope$|applicability")
_BAD_LIST = re.compile(r"pitfall|mistake|anti.?pattern|avoid|trap|gotcha|do not|don.t")


@dataclass(frozen=True, slots=True)
class Sentence:
    """One sentence: as written, as normalised words joined by blanks, and for each word whether it is affirmed.

    `clauses` gives each word the number of its clause; clauses are parted by punctuation only.
    """

    raw: str
    words: str
    starts: tuple[int, ...]
    affirmed: tuple[bool, ...]
    clauses: tuple[int, ...]
    #: The words of the families at hand (words.py: Terms), by which patterns read the sentence.
    terms: tuple[tuple[str, str], ...] = ()

    def hits(self, concept: re.Pattern[str], sign: int) -> list[int]:
        """Word positions at which the concept occurs; sign +1 affirmed only, -1 denied only, 0 either."""
        found = []
        for match in concept.finditer(self.words):
            position = self.starts.index(match.start())
            if sign == 0 or self.affirmed[position] == (sign > 0):
                found.append(position)
        return found


def concept(words: str) -> re.Pattern[str]:
    """A concept from alternatives parted by "|"; a star means any ending ("retr*"), blanks make a phrase."""
    alternatives = (re.escape(word.strip()).replace(r"\*", r"\w*").replace(r"\ ", " ") for word in words.split("|"))
    return re.compile(r"(?<!\S)(?:" + "|".join(alternatives) + r")(?!\S)")


def normalise(text: str) -> str:
    """Lower case with one spelling for what has many ("timed out", "RATE-LIMITED", "don't")."""
    text = text.lower()
    for pattern, replacement in _REWRITES:
        text = pattern.sub(replacement, text)
    return text


def read_sentence(raw: str, *, listed_as_bad: bool = False, terms: tuple[tuple[str, str], ...] = ()) -> Sentence:
    """Cut one sentence into words and mark which are affirmed.

    In a list of mistakes, an entry that begins with a gerund and denies nothing names what not to do.
    """
    words: list[str] = []
    affirmed: list[bool] = []
    clauses: list[int] = []
    segments = _segments(_TOKEN.findall(normalise(raw)))
    condemned = {clause for clause, verdicts in _verdicts(segments).items() if verdicts % 2 == 1}
    for segment in segments:
        denied = sum(1 for word in segment.words if _DENIALS.fullmatch(word)) % 2 == 1
        denied = denied != (segment.clause in condemned)
        if segment.opener in ("instead of", "rather than", "better than"):
            denied = not denied
        elif segment.opener == "without":
            denied = denied != (not affirmed or affirmed[-1])
        words += segment.words
        affirmed += [not denied] * len(segment.words)
        clauses += [segment.clause] * len(segment.words)
    if listed_as_bad and words and words[0].endswith("ing") and all(affirmed):
        affirmed = [False] * len(words)
    starts, at = [], 0
    for word in words:
        starts.append(at)
        at += len(word) + 1
    return Sentence(raw, " ".join(words), tuple(starts), tuple(affirmed), tuple(clauses), terms)


@dataclass(slots=True)
class _Segment:
    """Words of one clause that are affirmed or denied together; `opener` is "" unless a connective opened it."""

    opener: str
    clause: int
    words: list[str]


def _verdicts(segments: list[_Segment]) -> Counter[int]:
    """How many verdicts each clause holds; two of them cancel."""
    return Counter(segment.clause for segment in segments for word in segment.words if _VERDICTS.fullmatch(word))


def _segments(tokens: list[str]) -> list[_Segment]:
    """Segments in order; opening words stay in their segment, punctuation parts clauses."""
    segments = [_Segment("", 0, [])]
    for place, token in enumerate(tokens):
        after = tokens[place + 1] if place + 1 < len(tokens) else ""
        clause = segments[-1].clause
        if token in _PUNCTUATION:
            segments.append(_Segment("", clause + 1, []))
        elif (token, after) in (("instead", "of"), ("rather", "than"), ("better", "than")):
            segments.append(_Segment(f"{token} {after}", clause, [token]))
        elif token == "without" or token in _OPENERS or (token == "and" and after in _ORDERS):
            segments.append(_Segment(token, clause, [token]))
        else:
            segments[-1].words.append(token)
    return [segment for segment in segments if segment.words]


@lru_cache(maxsize=256)
def read_sentences(document: str, terms: tuple[tuple[str, str], ...] = ()) -> tuple[Sentence, ...]:
    """The sentences of a skill that speak of the method: body, steps and pitfalls.

    Left out are the frontmatter and every section that says when to use the skill. Lines of a paragraph are joined;
    a list item, a heading and a fenced line each stand alone.
    """
    sentences: list[Sentence] = []
    for block, listed_as_bad in _blocks(_without_frontmatter(document)):
        for raw in _SENTENCE_END.split(block):
            if sentence := raw.strip():
                sentences.append(read_sentence(sentence, listed_as_bad=listed_as_bad, terms=terms))
    return tuple(sentences)


def split_sentences(text: str) -> list[str]:
    """The sentences of one paragraph as written."""
    return [part for part in _SENTENCE_END.split(text.strip()) if part]


def _without_frontmatter(document: str) -> str:
    lines = document.lstrip("\ufeff").splitlines()
    start = next((i for i, line in enumerate(lines) if line.strip()), 0)
    if lines and lines[start].rstrip() == "---":
        for end in range(start + 1, len(lines)):
            if lines[end].rstrip() == "---":
                return "\n".join(lines[end + 1 :])
    return document


def _blocks(body: str) -> list[tuple[str, bool]]:
    """Paragraphs, list items, headings and fenced lines, each with whether it stands in a list of mistakes."""
    blocks: list[tuple[str, bool]] = []
    level_left_out, listed_as_bad, fenced, joinable = 0, False, False, False
    for line in body.splitlines():
        heading = None if fenced else _HEADING.match(line)
        if heading:
            level, title = len(heading[1]), heading[2].lower()
            if level_left_out and level > level_left_out:
                continue
            level_left_out = level if _WHEN.search(title) else 0
            listed_as_bad = bool(_BAD_LIST.search(title))
            joinable = False
            continue
        if _FENCE.match(line):
            fenced, joinable = not fenced, False
        elif level_left_out:
            continue
        elif not line.strip():
            joinable = False
        elif fenced or _LIST_ITEM.match(line) or not joinable:
            blocks.append((_LIST_ITEM.sub("", line).strip(), listed_as_bad))
            joinable = not fenced
        else:
            blocks[-1] = (f"{blocks[-1][0]} {line.strip()}", listed_as_bad)
    return blocks

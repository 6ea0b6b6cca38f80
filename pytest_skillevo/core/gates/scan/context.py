"""Whether a text warns of a danger that it names, or orders it.

The rule. A danger in a text is excused when its own sentence forbids it ("never run ...", "... instead of ..."), or
when the sentence, the paragraph or item that announces it, the head of its table or a heading says that it is bad, and
nothing orders it: no verb such as "run" stands before it. A command that stands for itself (on a line of its own, as a
whole list item, in a code block) is there to be run; it is excused only by what announces it, by a comment that marks
it as a bad example, or by a list or check in the code that keeps it out. "Never forget to ..." forbids nothing, and a
warning that is taken back ("not dangerous", "ignore the warning") is none. Credentials and hidden characters are what
they are and never excused.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final

from . import signals
from .hits import Hit
from .passages import Passage

_NEVER_EXCUSED: Final = ("secret:", "hidden_unicode:")
#: How far around a hit is looked, in characters; it bounds the time.
_REACH: Final = 300
_PROMPT: Final = re.compile(r"(?:[$#>%]|\b(?:sudo|doas)\b|(?<!\w)-\w+)")
_SUDO: Final = re.compile(r"\b(?:sudo|doas)(?:\s+-\S+)*\s+\Z")
_CLAUSE: Final = re.compile("[,;，；、]")
_DEFINED: Final = re.compile(r"\ndef \w+")
_SAID: Final = re.compile(r'"[^"\n]{0,300}"')
#: Another entry, which says nothing of this one.
_RIGHT_AFTER: Final = re.compile(r"[,;{}].*", re.S)
_OPENS: Final = re.compile(r"[\[({:=]\s*(?:#.*)?$|^\s*[\"']?[\w-]+[\"']?\s*:\s*$")


def excused(passage: Passage, hit: Hit) -> bool:
    """Whether the passage only warns of what it names. Looks at a bounded stretch of text around the hit."""
    if hit.code.startswith(_NEVER_EXCUSED):
        return False
    if passage.kind == "code":
        return _excused_in_code(passage, hit)
    low, high = _sentence(passage, hit)
    text = passage.text
    before = _SUDO.sub("", text[low : hit.start])
    said, after, following = text[hit.start : hit.end], text[hit.end : high], text[hit.end : hit.end + _REACH]
    return _Mention(hit, before, said, after, passage.kind == "row", passage.quoted, following).excused(passage)


def _sentence(passage: Passage, hit: Hit) -> tuple[int, int]:
    """Where the sentence around the hit begins and ends; in a table row, the whole row."""
    text = passage.text
    low, high = max(0, hit.start - _REACH), min(len(text), hit.end + _REACH)
    if passage.kind != "row":
        for match in signals.SENTENCE_END.finditer(text, low, hit.start):
            low = match.end()
        stop = signals.SENTENCE_END.search(text, hit.end, high)
        high = stop.start() if stop else high
    return low, high


@dataclass(frozen=True, slots=True)
class _Mention:
    """A hit in prose, with the words before and after it in its sentence."""

    hit: Hit
    before: str
    said: str
    after: str
    #: Cells of a table row stand one a line; the whole row is the sentence, but an order stands in its cell.
    in_row: bool = False
    #: It stands in a block quotation, where it is what somebody else says.
    quoted: bool = False
    #: What follows the hit, the next sentences included.
    following: str = ""

    def excused(self, passage: Passage) -> bool:
        if self.forbidden() or self._forbidden_elsewhere():
            return True
        whole = f"{self.before}{self.said}{self.after}"
        if passage.kind == "item" and self._in_forbidden_list(passage):
            return True
        if signals.REMINDS.search(whole) or signals.FINE.search(_SAID.sub("", whole)) or self._ordered():
            return False
        if self._shown(passage):
            return _announces(passage.lead) or any(_announces(title) for title in passage.headings[-1:])
        start, end = self.hit.start, self.hit.end
        rest = f"{passage.text[max(0, start - _REACH) : start]} {passage.text[end : end + _REACH]}"
        if signals.QUOTED.search(self.before) and signals.FORBIDS_ELSEWHERE.search(rest) and not _english(rest):
            return True
        if self._quoted_order() and signals.NOT_FOLLOWED.search(rest) and not _english(rest):
            return True
        if (
            signals.BAD.search(signals.PRAISE.sub(" ", rest))
            or signals.BAD_ELSEWHERE.search(rest)
            or self._told_about()
        ):
            return True
        around = " ".join((passage.lead[-_REACH:], *passage.headings[-2:]))
        return signals.LISTED.search(around) is not None or signals.BAD_ELSEWHERE.search(around) is not None

    def forbidden(self) -> bool:
        """Whether the words before forbid it; the verb may be the first word of what was found."""
        if signals.FORBIDS_ANY.match(self.before) or signals.FORBIDS_IT.search(self.before):
            return True
        if signals.FORBIDS_AFTER.search(self.after):
            return True
        joined = self.before + self.said
        found = None
        for match in signals.FORBIDS.finditer(joined):
            # "never forget to run it" forbids to forget; "never ignore the rules" forbids what was found.
            reminds = signals.REMINDS.match(joined, match.start()) and match.end() <= len(self.before)
            turned = signals.TURNED.search(joined, 0, match.start())
            if match.start() < len(self.before) and not reminds and not turned:
                found = match
        return found is not None and not signals.BUT.search(joined[found.end() : len(self.before)])

    def _forbidden_elsewhere(self) -> bool:
        """The same in other languages, where the prohibition may come last; it must stand in the same clause."""
        whole = f"{self.before}{self.said}{self.after}"
        if _english(whole) or signals.REMINDS.search(whole):
            return False
        inside = "" if self.hit.code.startswith("instruction:") else self.said
        behind = _CLAUSE.split(self.after)[0] if self.hit.order else self.after
        clause = f"{_CLAUSE.split(self.before)[-1]}{inside}{behind}"
        clause = signals.HUSH.sub(" ", clause)
        return signals.FORBIDS_ELSEWHERE.search(clause) is not None

    def _ordered(self) -> bool:
        """Whether the agent is told to do it."""
        if signals.ORDER_AFTER.match(self.after) or signals.RUN_IT.match(self.following):
            return True
        before = self.before.rpartition("\n")[2] if self.in_row else self.before
        if self.quoted or before.count('"') % 2:
            return False
        patterns = (signals.ORDER, signals.ORDER_BY_PURPOSE, signals.ORDER_ELSEWHERE, signals.OFFERED)
        if any(pattern.search(before) for pattern in patterns):
            return True
        if self.hit.order:
            starts = signals.CLAUSE_START.search(before) and not signals.QUOTE_OPEN.search(before)
            return bool(starts) and not signals.NO_IMPERATIVE.match(self.said)
        return False

    def _quoted_order(self) -> bool:
        """Whether it is an order to the agent that stands in quotation marks."""
        return self.hit.code.startswith("instruction:") and signals.QUOTED.search(self.before) is not None

    def _in_forbidden_list(self, passage: Passage) -> bool:
        """Whether the list forbids what its items say, be they orders or not."""
        if _announces(passage.lead):
            return True
        return not passage.lead and any(signals.FORBIDDEN_LIST.search(title) for title in passage.headings[-1:])

    def _told_about(self) -> bool:
        """Whether it is what somebody else asks for, or what is explained."""
        explained = signals.EXPLAINED.search(self.before) and signals.EXPLAINS.match(self.after)
        met = signals.IF.search(self.before) and signals.MET.match(self.after)
        return bool(explained or met or signals.REPORTED.search(self.before) or signals.ASKED.match(self.before))

    def _shown(self, passage: Passage) -> bool:
        """Whether it stands for itself: nothing else in its sentence, or on a line of its own."""
        if not re.sub(r"[\W_]+", "", self.before + self.after):
            return True
        text, start = passage.text, self.hit.start
        low = text.rfind("\n", max(0, start - _REACH), start) + 1
        if passage.kind != "prose" or (not low and start > _REACH) or "\n" not in text[: start + _REACH]:
            return False
        return not _PROMPT.sub("", text[low:start]).strip()


def _english(text: str) -> bool:
    """Whether the text has English words enough to be read by the rules for English alone."""
    return len(signals.ENGLISH.findall(text[:_REACH])) >= 2


def _announces(lead: str) -> bool:
    """Whether the last sentence of a lead-in says that what follows is bad, without an exception to it."""
    last = lead[-_REACH:].rstrip()
    ends = [match.end() for match in signals.SENTENCE_END.finditer(last) if match.end() < len(last)]
    last = last[ends[-1] :] if ends else last
    if signals.REMINDS.search(last) or signals.FINE.search(last):
        return False
    if signals.UNLESS.search(last) and last.endswith(":"):
        return False
    if signals.FORBIDS.search(last):
        return True
    if signals.LISTED.search(last):
        return not signals.LEADS_TO_RUN.search(last)
    if _english(last):
        return False
    ordered = signals.ORDER_ELSEWHERE.search(last.rstrip(":"))
    return not ordered and bool(signals.FORBIDS_ELSEWHERE.search(last) or signals.BAD_ELSEWHERE.search(last))


def _excused_in_code(passage: Passage, hit: Hit) -> bool:
    text = passage.text
    start = text.rfind("\n", max(0, hit.start - _REACH), hit.start) + 1
    end = text.find("\n", hit.end, hit.end + _REACH)
    before, after = text[start : hit.start], text[hit.end : end if end >= 0 else hit.end + _REACH]
    above = text[max(0, start - _REACH) : start]
    comments = _comments_above(above)
    comment = signals.COMMENT.search(before)
    if comment is not None:
        said = text[hit.start : hit.end]
        if _Mention(hit, f"{comments} {comment['text']}", said, after).excused(passage):
            return True
    if before.startswith("-") and "\n+" in text:  # the line that a patch takes out
        return True
    if signals.LABEL.match(above.rstrip("\n").rpartition("\n")[2]):
        return True
    # A run of words goes on into the comment behind it.
    trailing = signals.COMMENT.search(text[hit.start : hit.end] + after)
    if signals.MARKED.search(comments) or (trailing is not None and signals.MARKED.search(trailing["text"])):
        return True
    if signals.OUTPUT.match(before) or (end >= 0 and signals.OUTPUT.match(text, end + 1)):
        return True
    if signals.CALLED.search(before):
        return False
    if _announces(passage.lead):
        return True
    heading = " ".join(passage.headings[-1:])
    if _announces(heading) and not signals.LEADS_TO_RUN.search(passage.lead) and (hit.order or not passage.lead):
        return True
    said = text[hit.start : hit.end]
    if _Mention(hit, re.split(r"[;|&]", before)[-1], said, "").forbidden():
        return True
    if signals.RULE_FIELD.match(before) and signals.RULE.search(text[max(0, start - 200) : hit.end + 200]):
        return True
    listed = re.search(r"[\"'/`(]|^\s*-\s", before + text[hit.start : hit.end]) is not None
    return listed and any(
        signals.GUARD.search(part)
        for part in (before, _RIGHT_AFTER.sub("", after), _opening(above), _test(text, hit.end))
    )


def _test(text: str, position: int) -> str:
    """The name of the test whose parameters the hit is among, which follows them."""
    match = _DEFINED.search(text, position, position + _REACH)
    opened = text.rfind("parametrize", max(0, position - _REACH), position)
    return match[0] if match and opened >= 0 else ""


def _comments_above(above: str) -> str:
    """The comment lines right above, without anything between."""
    found: list[str] = []
    for line in reversed(above.rstrip("\n").split("\n")[-4:]):
        match = signals.COMMENT.match(line.lstrip())
        if match is None:
            break
        found.insert(0, match["text"])
    return " ".join(found)


def _opening(above: str) -> str:
    """The line above that opens the list or block in which the hit stands."""
    lines = above.rstrip("\n").split("\n")[-30:]
    return next((line for line in reversed(lines) if _OPENS.search(line)), "")

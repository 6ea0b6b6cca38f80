"""Passages of case texts that a proposal must not copy: a skill that quotes its cases has learnt them by heart."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from ..leaks import RUN_WORDS, words_of

#: A shared run of so many characters is a copy, like one of RUN_WORDS words.
RUN_CHARS: Final = 60
#: A case id shorter than this may be an ordinary word.
SHORTEST_ID: Final = 8

# Any run of RUN_CHARS characters holds a whole block that starts at a multiple of this: a few searches find all runs.
_BLOCK: Final = RUN_CHARS // 2


def plain_words(text: str) -> str:
    """The words with single spaces between them."""
    return " ".join(words_of(text))


class Watch:
    """Knows the texts of cases, and tells whether a text copies one of them."""

    def __init__(self, texts: Iterable[str], case_ids: Iterable[str] = ()) -> None:
        # A line end separates the texts: no run crosses it.
        self._texts = "\n".join(f" {words} " for words in dict.fromkeys(map(plain_words, texts)) if words)
        self._ids = tuple(case_id for case_id in case_ids if len(case_id) >= SHORTEST_ID)

    def complaint(self, text: str, known: str = "") -> str | None:
        """Why the text may not pass, None if it may. What `known` (the parent skill) already says is no copy.

        The sentence never quotes the case, because it may be shown to the reflection model.
        """
        if any(case_id in text and case_id not in known for case_id in self._ids):
            return "it names a case"
        if not self._texts:
            return None
        words, known_words = plain_words(text), f" {plain_words(known)} "
        if self._shares_characters(words, known_words):
            return f"it repeats {RUN_CHARS} or more characters of a case word for word"
        if self._shares_words(words.split(), known_words):
            return f"it repeats {RUN_WORDS} or more words of a case"
        return None

    def _shares_characters(self, words: str, known: str) -> bool:
        for block in range(0, len(words) - _BLOCK + 1, _BLOCK):
            if words[block : block + _BLOCK] not in self._texts:
                continue
            for start in range(max(0, block - _BLOCK), min(block + 1, len(words) - RUN_CHARS + 1)):
                run = words[start : start + RUN_CHARS]
                if run in self._texts and run not in known:
                    return True
        return False

    def _shares_words(self, words: list[str], known: str) -> bool:
        """Runs of short words; longer ones are found by their characters."""
        for start in range(len(words) - RUN_WORDS + 1):
            run = " ".join(words[start : start + RUN_WORDS])
            if len(run) < RUN_CHARS and f" {run} " in self._texts and f" {run} " not in known:
                return True
        return False

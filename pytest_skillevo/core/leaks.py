"""Text that must not travel: long word runs of holdout cases, looked for in skills and prompts.

Only runs that occur nowhere in the open texts count, because cases of one family share their boilerplate.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

#: A run of this many words is hardly written twice by chance.
RUN_WORDS = 12
#: A watched text shorter than a run counts whole from this many characters on.
SHORTEST_TEXT = 20


def words_of(text: str) -> list[str]:
    """The words of a text: layout, punctuation and case do not hide a copy."""
    return re.findall(r"\w+", text.casefold())


def runs(words: list[str]) -> Iterator[str]:
    """Every run of RUN_WORDS words; a shorter text is one run when it is long enough in characters."""
    if len(words) < RUN_WORDS:
        whole = " ".join(words)
        if len(whole) >= SHORTEST_TEXT:
            yield whole
        return
    for start in range(len(words) - RUN_WORDS + 1):
        yield " ".join(words[start : start + RUN_WORDS])


class Seal:
    """Knows the sealed texts without handing them out: it only answers whether a text holds some of them."""

    def __init__(self, sealed: Iterable[str], public: Iterable[str] = ()) -> None:
        known = {run for text in public for run in runs(words_of(text))}
        found = {run for text in sealed for run in runs(words_of(text))} - known
        self._runs = frozenset(run for run in found if run.count(" ") == RUN_WORDS - 1)
        self._short = tuple(sorted(run for run in found if run.count(" ") < RUN_WORDS - 1))

    def leak(self, text: str) -> str | None:
        """Why the text may not pass, None when it holds nothing sealed."""
        words = words_of(text)
        if not self._runs.isdisjoint(runs(words)):
            return f"it repeats {RUN_WORDS} words in a row of a holdout case"
        whole = f" {' '.join(words)} "
        if any(f" {short} " in whole for short in self._short):
            return "it holds a text of a holdout case"
        return None

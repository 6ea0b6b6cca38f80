"""What people see while an experiment runs: a live line on a terminal, one line per event elsewhere.

It listens through the Progress protocol of the stages.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Final, TypeAlias

from ..stages.progress import Progress
from . import figures
from .text import clip, clip_start, columns, no_command, one_line, visible

WIDTH: Final = 80
#: Seconds between two drawings of the live line.
REDRAW: Final = 0.1
#: Seconds between two status lines where nothing is rewritten (a CI log).
STATUS: Final = 30.0
#: Retries told one by one in a stage; a provider that limits its rate can cause hundreds.
TOLD_RETRIES: Final = 3
#: The estimate of the time left waits for this many seconds and this share of the work.
ESTIMATE_AFTER: Final = (2.0, 0.02)

_LABEL: Final = 14

#: Rank, text and short text of a part of the status line.
_Part: TypeAlias = tuple[int, str, str]


class ProgressLines(Progress):
    """The `Progress` that prints.

    `write` gets raw text. `live` says whether the output is a terminal whose last line may be rewritten; if not, only
    whole lines are written, and the status at most every `STATUS` seconds. `clock` gives seconds and never goes back.
    """

    def __init__(
        self, write: Callable[[str], None], clock: Callable[[], float], *, live: bool, width: int = WIDTH
    ) -> None:
        self._write = write
        self._clock = clock
        self._live = live
        self._width = max(width, 40) - 1
        self._stage = ""
        self._total: int | None = None
        self._begun = clock()
        self._drawn = 0
        self._last = float("-inf") if live else self._begun
        self._parts: list[_Part] = []
        self._share = 0.0
        self._retries = 0
        #: Rollouts when the stage began to count; None before its first figure.
        self._first: int | None = None

    def stage(self, name: str, *, total: int | None = None) -> None:
        """See Progress."""
        self._end_stage()
        self._stage, self._total, self._retries = one_line(name, _LABEL - 1), total, 0
        self._begun, self._first = self._clock(), None
        self._last = float("-inf") if self._live else self._begun
        if not self._live:
            self._line(
                _label(self._stage) + ("begins" if total is None else f"begins: {figures.some(total, 'rollout')}")
            )

    def search(
        self,
        *,
        iteration: int,
        iterations: int,
        pool: int,
        best: float | None,
        seed_score: float | None,
        rollouts: int,
        budget: int | None,
        tokens: int | None,
        spent: float = 0.0,
    ) -> None:
        """See Progress."""
        gain = "" if best is None or seed_score is None else f" ({figures.change(best - seed_score)})"
        # Whatever is used up first ends the search.
        done = max(_share(iteration, iterations), _share(rollouts, budget), spent)
        used = f"rollouts {rollouts:,}" + ("" if budget is None else f"/{budget:,}")
        gained = f"best {figures.score(best)}{gain}"
        # (rank, text, short text): on a narrow line the short texts are taken, then the highest rank goes first.
        parts = [
            (0, f"iteration {iteration}/{iterations}", f"{iteration}/{iterations}"),
            (5, f"pool {pool}", f"pool {pool}"),
            (1, gained, gained),
            (2, used, used),
            (4, f"tokens {figures.compact(tokens)}", f"tokens {figures.compact(tokens)}"),
            (6, *self._rate(rollouts)),
        ]
        self._show(parts, done)

    def proposal(
        self,
        *,
        iteration: int,
        component: str | None,
        parent: str,
        verdict: str,
        minibatch_parent: float | None = None,
        minibatch_child: float | None = None,
        validation: float | None = None,
    ) -> None:
        """See Progress."""
        name = "-" if component is None else one_line(component, 24)
        parts = [f"{iteration:3}  {name:<12} from {one_line(parent, 12)}"]
        if minibatch_parent is not None and minibatch_child is not None:
            parts.append(f"minibatch {figures.score(minibatch_parent)} -> {figures.score(minibatch_child)}")
        parts.append(one_line(verdict, 60))
        if validation is not None:
            parts.append(f"validation {figures.score(validation)}")
        line = "   ".join(parts)
        self._line(line if columns(line) <= self._width else "  ".join(parts))

    def rollouts(self, done: int, *, tokens: int | None = None) -> None:
        """See Progress."""
        of = "" if self._total is None else f"/{self._total:,}"
        used, spent = f"rollouts {done:,}{of}", f"tokens {figures.compact(tokens)}"
        self._show([(0, used, used), (4, spent, spent), (6, *self._rate(done))], _share(done, self._total))

    def critical(self, case: str, *, repeats: int) -> None:
        """See Progress."""
        text = f"{figures.some(repeats, 'fresh pair')} for "
        self._line(_label("critical") + text + self._case(case, _LABEL + len(text)))

    def round(self, number: int, rounds: int, *, groups: Sequence[str], root_seed: int) -> None:
        """See Progress."""
        self._line(
            _label(self._stage or "replay")
            + f"round {number}/{rounds}   root seed {root_seed}   {one_line(', '.join(groups), 40)}"
        )

    def retry(self, case: str, *, attempt: int, attempts: int, reason: str) -> None:
        """See Progress."""
        self._retries += 1
        if self._retries > TOLD_RETRIES:
            return
        text = f"{attempt} of {attempts}, no score: "
        self._line(_label("retry") + text + self._case(case, _LABEL + len(text)))
        self._line(_label("") + one_line(reason, self._width - _LABEL))
        if self._retries == TOLD_RETRIES:
            self._line(_label("") + "further retries are only counted")

    def finish(self) -> None:
        """See Progress."""
        self._end_stage()

    def _case(self, case: str, used: int) -> str:
        return clip_start(visible(case), max(self._width - used, 12))

    def _end_stage(self) -> None:
        """Keep the last status of a stage as a line of its own."""
        if self._parts:
            last, self._parts = self._fit(self._parts), []
            self._line(last)

    def _show(self, parts: list[_Part], share: float) -> None:
        retried = f"retried {self._retries}" if self._retries else ""
        self._parts = [*parts, (7, retried, retried)]
        self._share = share
        now = self._clock()
        if now - self._last < (REDRAW if self._live else STATUS):
            return
        self._last = now
        if self._live:
            self._draw(self._status())
        else:
            self._line(self._status())
            self._parts = []

    def _status(self) -> str:
        return self._fit([*self._parts, (3, *self._left(self._share))])

    def _fit(self, parts: list[_Part]) -> str:
        kept = [part for part in parts if part[1]]
        line = _label(self._stage) + "   ".join(text for _, text, _ in kept)
        while columns(line) > self._width:
            line = f"{self._stage}  " + "  ".join(text for _, _, text in kept)
            if len(kept) == 1:
                return clip(line, self._width)
            kept.remove(max(kept))
        return line

    def _rate(self, rollouts: int) -> tuple[str, str]:
        """Rollouts per second of this stage, or per minute when that says more."""
        if self._first is None:
            self._first = rollouts
        elapsed, done = self._clock() - self._begun, rollouts - self._first
        if elapsed < ESTIMATE_AFTER[0] or done <= 0:
            return "", ""
        rate = done / elapsed
        text = f"{rate:.1f}/s" if rate >= 1 else f"{rate * 60:.1f}/min"
        return text, text

    def _left(self, share: float) -> tuple[str, str]:
        elapsed = self._clock() - self._begun
        if elapsed < ESTIMATE_AFTER[0] or share < ESTIMATE_AFTER[1]:
            return "", ""
        left = figures.duration(elapsed * (1 - min(share, 1.0)) / share)
        return f"left about {left}", f"left {left}"

    def _line(self, text: str) -> None:
        """A line that stays; the live line is moved below it."""
        shown = clip(no_command(text), self._width)
        if not self._live:
            self._write(shown + "\n")
            return
        self._draw(shown)
        self._write("\n")
        self._drawn = 0
        if self._parts:
            self._draw(self._status())

    def _draw(self, text: str) -> None:
        # Blanks instead of an erase sequence: they work on every terminal.
        self._write("\r" + text + " " * max(0, self._drawn - columns(text)))
        self._drawn = columns(text)


def _label(name: str) -> str:
    return name.ljust(_LABEL)


def _share(done: int, total: int | None) -> float:
    return done / total if total else 0.0

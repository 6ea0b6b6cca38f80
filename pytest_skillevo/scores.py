"""What the cases of a plain run scored: properties of each report, and the means in its last lines."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from statistics import fmean

import pytest

from .core.errors import EvaluationError
from .core.records import SPLITS, Case
from .core.rollout import Rollout

_SKILL, _SPLIT, _SCORE = (f"skillevo.{name}" for name in ("skill", "split", "score"))


def note_score(item: pytest.Item, case: Case, rollout: Rollout, failure: str | None) -> None:
    """Put skill, split and score of a finished run among the item's properties; of a holdout case no score.

    Properties reach the controller of workers and the JUnit file. What is an error and no score adds none.
    """
    version = getattr(item, "callspec", None) and item.callspec.params.get("skill")  # type: ignore[attr-defined]
    name = f"{case.skill} ({version})" if isinstance(version, str) else case.skill
    found = {_SKILL: name, _SPLIT: case.split}
    try:
        score = rollout.evaluation(failure).score
    except EvaluationError:
        return
    if case.split != "holdout":
        found[_SCORE] = f"{score:.6g}"
    item.user_properties[:] = [one for one in item.user_properties if one[0] not in found]  # of a run that is repeated
    item.user_properties.extend(found.items())


@dataclass(slots=True)
class _Scores:
    """Of one skill: scores by split, and how the holdout cases ended."""

    by_split: defaultdict[str, list[float]] = field(default_factory=lambda: defaultdict(list))
    holdout: Counter[bool] = field(default_factory=Counter)

    def parts(self) -> Iterator[str]:
        for split in SPLITS:
            if scores := self.by_split[split]:
                yield f"{split} {fmean(scores):.2f} ({len(scores)})"
        if self.holdout:
            yield f"holdout {self.holdout[True]} of {self.holdout.total()} passed"


def score_lines(reports: Iterable[pytest.TestReport], model: str) -> list[str]:
    """The mean score of every skill and split, and how many holdout cases passed; nothing without a skill case."""
    skills: defaultdict[str, _Scores] = defaultdict(_Scores)
    for report in reports:
        found = dict(report.user_properties) if report.when == "call" else {}
        if _SCORE in found:
            skills[str(found[_SKILL])].by_split[str(found[_SPLIT])].append(float(str(found[_SCORE])))
        elif _SKILL in found:
            skills[str(found[_SKILL])].holdout[report.passed] += 1
    width = max(map(len, skills), default=0)
    lines = [f"  {name:<{width}}   {'   '.join(found.parts())}" for name, found in sorted(skills.items())]
    return [f"skillevo: mean scores (model {model})", *lines] if lines else []

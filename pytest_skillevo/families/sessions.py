"""Cases from sessions that went wrong: `session_cases("learned_cases.json")` in a test file (docs/learning.md).

A case is a prompt and texts that the answer must or must not hold. It has no tools of its own: where the task needs
some, the suite's test gives them to the agent.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

from ..core.errors import ConfigError
from ..core.records import AgentRun, Evaluation, Task

FORMAT: Final = "skillevo-session-cases-1"


def session_cases(file: str, *, start: Path | None = None) -> list[Any]:
    """The cases in a file beside the calling test file, as pytest params with the split feedback.

    Raises ConfigError for a file that holds none.
    """
    import pytest  # only here, as in registry.py

    where = (start if start is not None else Path(sys._getframe(1).f_code.co_filename).parent) / file
    return [
        pytest.param(task, id=task.id, marks=[pytest.mark.split("feedback")])
        for task in (_task(entry) for entry in read_cases(where))
    ]


def read_cases(file: Path) -> list[dict[str, Any]]:
    """The entries of a file of cases, checked. Raises ConfigError."""
    try:
        data = json.loads(file.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError, ValueError) as error:
        raise ConfigError(f"{file} cannot be read: {error}") from None
    entries = data.get("cases") if isinstance(data, Mapping) and data.get("format") == FORMAT else None
    if not isinstance(entries, list):
        raise ConfigError(f"{file} is no file of session cases (format {FORMAT})")
    for number, entry in enumerate(entries, 1):
        texts = ("id", "prompt")
        lists = ("must_contain", "must_not_contain")
        fits = isinstance(entry, dict) and all(isinstance(entry.get(key), str) and entry[key] for key in texts)
        fits = fits and all(isinstance(entry.get(key), list) for key in lists)
        if not fits or not any(entry[key] for key in lists):
            raise ConfigError(f"{file}: case {number} needs id, prompt, and a text that the answer must (not) contain")
    return entries


def _task(entry: Mapping[str, Any]) -> Task:
    wanted = [str(text) for text in entry["must_contain"]]
    unwanted = [str(text) for text in entry["must_not_contain"]]

    def grade(run: AgentRun) -> Evaluation:
        answer = run.answer.casefold()
        missing = [f"the answer lacks {text!r}" for text in wanted if text.casefold() not in answer]
        found = [f"the answer contains {text!r}" for text in unwanted if text.casefold() in answer]
        wrong = missing + found
        return Evaluation(1 - len(wrong) / (len(wanted) + len(unwanted)), not wrong, "\n".join(wrong))

    content = {"prompt": entry["prompt"], "must_contain": wanted, "must_not_contain": unwanted}
    return Task(entry["id"], entry["prompt"], tuple, grade, content, split="feedback", watched=tuple(wanted))

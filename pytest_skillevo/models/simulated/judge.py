"""The judge: decides for each criterion whether an answer meets it, and errs with a known rate.

Prompt: a user message with <criteria> a JSON array of texts </criteria> and <answer> a JSON string </answer>, in which
"<" is written \\u003c. Reply: {"score": share of criteria met, "criteria": [{"criterion", "met", "reason"}]}.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Final

from ...core.canonical import digest
from ...core.draws import draw
from ...core.protocols import Reply
from ...core.records import NO_USAGE, Message
from .attention import VERSION
from .loading import stems
from .prompts import json_section, last_user, section

#: A criterion is met when the answer has this share of its word stems.
ENOUGH: Final = 0.6
#: Chance that the judge turns a verdict round.
ERROR: Final = 0.03


def recognises(messages: Sequence[Message]) -> bool:
    """Whether this is an answer to judge."""
    text = last_user(messages)
    return section(text, "criteria") is not None and section(text, "answer") is not None


def reply(messages: Sequence[Message], *, seed: int) -> Reply:
    """The verdict as JSON."""
    text = last_user(messages)
    answer = stems(json_section(text, "answer", ""))
    verdicts = []
    for criterion in map(str, json_section(text, "criteria", [])):
        wanted = stems(criterion)
        share = len(wanted & answer) / len(wanted) if wanted else 0.0
        met = (share >= ENOUGH) != (draw(VERSION, seed, digest(text), "judge", criterion) < ERROR)
        verdicts.append({"criterion": criterion, "met": met, "reason": f"{share:.0%} of its words occur in the answer"})
    score = sum(verdict["met"] is True for verdict in verdicts) / len(verdicts) if verdicts else 0.0
    return Reply(json.dumps({"score": score, "criteria": verdicts}, ensure_ascii=False), (), "stop", NO_USAGE)

"""What controller and workers say to each other: one JSON text a message, as bytes.

execnet carries builtin types only and ends the session on a lone surrogate (spec/execution.md 4, payload); JSON in
UTF-8 with surrogates passed through carries everything, and ten times faster.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import replace
from typing import Any, TypeAlias

from ..core.records import Outcome, RolloutRequest
from .cleaning import CleanOutcome

Message: TypeAlias = dict[str, Any]

#: Kinds of messages from the controller: the experiment it is about; the skill of a digest; run this rollout.
BEGIN, SKILL, RUN = "begin", "skill", "run"
#: Kinds from a worker: what it has collected; a further attempt; an outcome; a reason to end everything; a remark.
HELLO, RETRY, OUTCOME, STOP, NOTICE = "hello", "retry", "outcome", "stop", "notice"


def encode(kind: str, **fields: Any) -> bytes:
    """The bytes of one message."""
    return json.dumps({"kind": kind, **fields}, ensure_ascii=False).encode("utf-8", "surrogatepass")


def decode(data: bytes) -> Message:
    """The message of these bytes."""
    message: Message = json.loads(data.decode("utf-8", "surrogatepass"))
    return message


def request_to_json(request: RolloutRequest) -> dict[str, Any]:
    """A JSON object."""
    return request._asdict()


def request_from_json(data: Mapping[str, Any]) -> RolloutRequest:
    """The inverse of request_to_json."""
    return RolloutRequest(**data)


def outcome_to_json(outcome: CleanOutcome) -> dict[str, Any]:
    """A JSON object with the trace."""
    trace = None if outcome.evaluation is None else outcome.evaluation.trace
    return {"outcome": outcome.to_json(), "trace": trace}


def outcome_from_json(data: Mapping[str, Any]) -> CleanOutcome:
    """The inverse of outcome_to_json; it was cleaned before it was sent."""
    outcome = Outcome.from_json(data["outcome"])
    if outcome.evaluation is not None:
        outcome = replace(outcome, evaluation=replace(outcome.evaluation, trace=data["trace"]))
    return CleanOutcome(outcome)

"""What an exception of LiteLLM means: try again, give up for now, wrong usage, or a matter of the task itself."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from enum import StrEnum
from typing import Any, Final

#: Parameters without which a call still means the same.
OPTIONAL: Final = ("seed", "temperature", "response_format")
_LONGEST: Final = 300
_CONTEXT: Final = re.compile(
    r"context[ _](length|window)|maximum context|prompt is too long|too many (input )?tokens", re.I
)
_POLICY: Final = re.compile(r"content[_ ]policy|content[_ ]filter|safety system", re.I)
_PREFIX: Final = re.compile(r"^(litellm\.)?\w+(Error|Timeout): |^\w+Exception - ")


class Kind(StrEnum):
    """What follows from a failure."""

    PASSING = "passing"  # an outage, a rate limit, a broken answer: try again
    LASTING = "lasting"  # out of credit: trying again now does not help, later it may
    REFUSED = "refused"  # key, model or request are wrong
    PARAMETER = "parameter"  # a parameter that can be left out
    TOO_LONG = "too-long"  # the conversation does not fit into the model
    FILTERED = "filtered"  # the provider will not answer this content


@dataclass(frozen=True, slots=True)
class Failure:
    """One failed attempt, in words for a person. `wait` is what the provider asks for, in seconds."""

    kind: Kind
    text: str
    status: int | None = None
    wait: float | None = None
    parameter: str | None = None


def failure_of(error: BaseException, now: datetime | None = None) -> Failure:
    """What an exception means, by HTTP status, code and class name: classes move between versions."""
    status = _status(error)
    body = getattr(error, "body", None)
    details: Mapping[str, Any] = body if isinstance(body, Mapping) else {}
    code = str(details.get("code") or "")
    text = _words(error)
    name = type(error).__name__

    def failure(kind: Kind, **more: Any) -> Failure:
        return Failure(kind, text, status, **more)

    if (warning := _warning(error)) is not None:
        why = "a warning of LiteLLM about itself was made an error; soften -W error or filterwarnings for it"
        return Failure(Kind.REFUSED, f"{why}: {_words(warning)}")
    if name == "ContextWindowExceededError" or code == "context_length_exceeded":
        return failure(Kind.TOO_LONG)
    if name in ("ContentPolicyViolationError", "RejectedRequestError") or code == "content_policy_violation":
        return failure(Kind.FILTERED)
    if status == 429:
        out_of_credit = code == "insufficient_quota" or "exceeded your current quota" in text
        return failure(Kind.LASTING) if out_of_credit else failure(Kind.PASSING, wait=_retry_after(error, now))
    if status == 402:
        return failure(Kind.LASTING)
    if status in (400, 422):
        parameter = _parameter(details, text)
        if parameter is not None:
            return failure(Kind.PARAMETER, parameter=parameter)
        if _CONTEXT.search(text):
            return failure(Kind.TOO_LONG)
        return failure(Kind.FILTERED if _POLICY.search(text) else Kind.REFUSED)
    if status is not None and 400 <= status < 500 and status not in (408, 409, 425):
        return failure(Kind.REFUSED)
    return failure(Kind.PASSING, wait=_retry_after(error, now))


def _warning(error: BaseException) -> Warning | None:
    """The warning behind an error: no further attempt would change it."""
    link: BaseException | None = error
    for _ in range(8):
        if link is None or isinstance(link, Warning):
            return link
        link = link.__cause__ or link.__context__
    return None


def _status(error: BaseException) -> int | None:
    status = getattr(error, "status_code", None)
    return status if isinstance(status, int) else None


def _parameter(details: Mapping[str, Any], text: str) -> str | None:
    """The optional parameter that a provider refuses, by its name in the error or in its message."""
    named = str(details.get("param") or "").split(".")[0]
    if named:
        return named if named in OPTIONAL else None
    quoted = re.search(r"['\"`](" + "|".join(OPTIONAL) + r")['\"`]", text)
    refuses = re.search(r"unsupported|not support|unrecognized|unknown|extra inputs|not permitted", text, re.I)
    return quoted[1] if quoted and refuses else None


def _words(error: BaseException) -> str:
    """The provider's sentence on one line, without LiteLLM's class names in front."""
    text = " ".join(str(error).split())
    while (shorter := _PREFIX.sub("", text)) != text:
        text = shorter
    text = text.split(" Traceback ", 1)[0] or type(error).__name__
    return text if len(text) <= _LONGEST else text[:_LONGEST] + "..."


def _retry_after(error: BaseException, now: datetime | None) -> float | None:
    """Seconds until the provider wants to be asked again; None when it does not say, or says nonsense."""
    headers = getattr(getattr(error, "response", None), "headers", None) or {}
    value = headers.get("retry-after-ms")
    factor = 0.001
    if value is None:
        value, factor = headers.get("retry-after"), 1.0
    if value is None:
        return None
    try:
        seconds = float(value) * factor
    except ValueError:
        try:
            seconds = (parsedate_to_datetime(value) - (now or datetime.now(UTC))).total_seconds()
        except (ValueError, TypeError):
            return None
    return max(0.0, seconds) if seconds == seconds and seconds != float("inf") else None

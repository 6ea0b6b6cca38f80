"""Redaction: credentials are taken out of every text that leaves for a model, a record or a report.

Best effort by shape, and exact for values that the caller knows (secrets of the environment). Redacting twice equals
redacting once, because two passes are the normal path. Shapes: spec/gepa.md 1.10 and spec/online-review.md 8, with
their probed gaps mended. Every pattern starts at a fixed word or at the start of a run, so that time is linear in the
text also when the text is hostile.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Mapping
from functools import cache
from typing import Final
from urllib.parse import quote

#: What stands where a credential stood.
MARK: Final = "[REDACTED]"
#: Values of environment variables shorter than this are not searched for: they would hit ordinary words.
SHORTEST_VALUE: Final = 8

_FLAGS: Final = re.ASCII | re.IGNORECASE

# A keyword must close at a word boundary (max_tokens, TOKEN_LIMIT and secret_note are harmless), but a suffix that
# only names a variety of the credential does not hide it (password_hash, API_KEY_V2).
_SENSITIVE: Final = re.compile(
    r"(?:token|secret|password|passwd|credentials?"
    r"|(?:api|access|private|secret|signing|encryption|auth|account|service|license)[_-]?key)"
    r"(?:_?(?:v?[0-9]++|hash|value|key|id|prod|production|dev|test|staging|live|old|new|base64|b64))*+"
    r"(?![A-Za-z0-9_])",
    _FLAGS,
)

# Word characters before a key would make it part of something longer, such as a hash or a longer name.
_START: Final = r"(?<![A-Za-z0-9_-])"
_VENDOR_KEYS: Final = re.compile(
    _START
    + "(?:"
    + "|".join(
        (
            r"(?:AKIA|ASIA|AROA|AIDA|ABIA|ACCA)[A-Z0-9]{16}(?![A-Za-z0-9])",  # AWS key ids
            r"gh[opsur]_[A-Za-z0-9]{20,}",  # GitHub: personal, OAuth, server, user and refresh tokens
            r"github_pat_[A-Za-z0-9_]{20,}",  # GitHub fine-grained
            r"sk-(?=[A-Za-z_-]*[0-9])[A-Za-z0-9_-]{8,}",  # OpenAI, Anthropic and others of that shape
            r"sk-[A-Za-z0-9_-]{24,}",
            r"xox[abceoprs]-[A-Za-z0-9-]{8,}",  # Slack
            r"xapp-[A-Za-z0-9-]{8,}",
            r"AIza[A-Za-z0-9_-]{30,}",  # Google API key, access token, client secret
            r"ya29\.[A-Za-z0-9_-]{16,}",
            r"GOCSPX-[A-Za-z0-9_-]{16,}",
            r"gl(?:pat|ptt|dt|rt|cbt|ft|soat|agent|imt|oas|ffct)-[A-Za-z0-9_.-]{16,}",  # GitLab
            r"hf_[A-Za-z0-9]{20,}",  # Hugging Face
            r"[rs]k_(?:live|test)_[A-Za-z0-9]{10,}",  # Stripe
            r"npm_[A-Za-z0-9]{30,}",
            r"pypi-[A-Za-z0-9_-]{40,}",
            r"(?:gsk|xai)[_-][A-Za-z0-9]{20,}",  # Groq, xAI
            r"SG\.[A-Za-z0-9_-]{16,}\.[A-Za-z0-9_-]{16,}",  # SendGrid
            r"eyJ[A-Za-z0-9_-]*(?:\.[A-Za-z0-9_-]+){2,4}",  # JSON web tokens
        )
    )
    + ")"
)
_SLACK_HOOK: Final = re.compile(r"(hooks\.slack\.com/(?:services|workflows)/)[A-Za-z0-9_/-]{8,}")
# A block that was cut off before its end is a key all the same.
_PRIVATE_KEY: Final = re.compile(
    r"-----BEGIN [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----.*?"
    r"(?:-----END [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----|\Z)",
    re.DOTALL,
)
_URL_PASSWORD: Final = re.compile(r"(://[^\s/:@\"']{0,200}:)(?!\[REDACTED\]@)[^\s/@\"']{1,500}@")
_BEARER: Final = re.compile(r"\b(bearer\s+)[A-Za-z0-9._~+/-]{12,}=*", _FLAGS)

# Quotes may be escaped, as in JSON inside JSON.
_QUOTE: Final = r"\\{0,8}[\"']"
_AUTHORIZATION: Final = re.compile(
    rf"{_START}(?:proxy-)?authorization(?:{_QUOTE})?[ \t]*[:=][ \t]*(?:{_QUOTE})?"
    r"(?:(?:bearer|basic|digest|token|apikey|negotiate|aws4-hmac-sha256)[ \t]+)?",
    _FLAGS,
)
_SCHEME_ONLY: Final = re.compile(r"(?:bearer|basic|digest|token)\b", _FLAGS)
_HEADER_VALUE: Final = re.compile(r"(?:\[REDACTED\]|[^\s,;\"'\\}\]])+")

# The name and its sign only: the value is not consumed, so that in "config: password: x" the second name is seen.
_PAIR: Final = re.compile(
    r"(?<![A-Za-z0-9_-])(?P<name>[A-Za-z_-][A-Za-z0-9_-]*)"
    rf"(?:(?:{_QUOTE})?(?:(?P<assign>\s{{0,40}}=\s{{0,40}})|[ \t]{{0,40}}:[ \t]{{0,40}})"
    r"|(?P<flag>[ \t]{1,40}))",
    re.ASCII,
)
_QUOTED: Final = re.compile(
    r"\\{1,8}[\"'](?P<escaped>[^\"'\\\n]*)\\{1,8}[\"']"
    r"|\"(?P<double>(?:[^\"\\\n]|\\.)*)\"|'(?P<single>(?:[^'\\\n]|\\.)*)'"
)
_PLACEHOLDER: Final = r"<[a-z _-]{1,40}>"
_ASSIGNED_RUN: Final = re.compile(rf"(?:\[REDACTED\]|{_PLACEHOLDER}|[^\s,;])+")
_COLON_RUN: Final = re.compile(rf"(?:\[REDACTED\]|{_PLACEHOLDER}|[^\s,}}\]])+")
# Not a secret but a place for one: an environment variable, a placeholder, a literal that says there is none.
_NO_SECRET: Final = re.compile(
    r"\$\{?[A-Z_][A-Z0-9_]*\}?|\$\{\{|<[a-z _-]{1,40}>|(?:null|none|true|false)|\[REDACTED\]", re.ASCII
)


def is_sensitive(name: str) -> bool:
    """Whether a value under this name is taken for a credential: DOCK_API_KEY, accessToken, password_hash."""
    return _SENSITIVE.search(name) is not None


def secret_values(environ: Mapping[str, str]) -> tuple[str, ...]:
    """The values of secret-looking variables, to be searched for exactly; short and purely numeric ones left out."""
    return tuple(
        value
        for name, value in sorted(environ.items())
        if is_sensitive(name) and len(value.strip()) >= SHORTEST_VALUE and not value.strip().isdigit()
    )


def redactor(values: Iterable[str] = ()) -> Callable[[str], str]:
    """A redaction that also knows these exact values (see secret_values)."""
    known = tuple(values)
    return lambda text: redact(text, known)


def redact(text: str, values: Iterable[str] = ()) -> str:
    """The text with credentials replaced by MARK; quotes, delimiters and harmless names stay as they are."""
    if not text.strip():
        return text
    for value in _spellings(tuple(values)):
        text = text.replace(value, MARK)
    text = _PRIVATE_KEY.sub(MARK, text)
    text = _URL_PASSWORD.sub(rf"\g<1>{MARK}@", text)
    text = _SLACK_HOOK.sub(rf"\g<1>{MARK}", text)
    text = _VENDOR_KEYS.sub(MARK, text)
    text = _redact_headers(text)
    text = _BEARER.sub(rf"\g<1>{MARK}", text)
    return _redact_pairs(text)


@cache
def _spellings(values: tuple[str, ...]) -> tuple[str, ...]:
    """Each value as it is, as JSON text and as part of a URL; longest first, so that no value hides a longer one."""
    found = {
        spelling
        for value in values
        if value.strip()
        for spelling in (value, value.strip(), json.dumps(value)[1:-1], quote(value, safe="", errors="replace"))
    }
    return tuple(sorted(found, key=lambda spelling: (-len(spelling), spelling)))


def _redact_headers(text: str) -> str:
    """Authorization headers and fields: the scheme word stays, what follows goes."""
    parts: list[str] = []
    done = 0
    for match in _AUTHORIZATION.finditer(text):
        if match.start() < done:
            continue
        value = _HEADER_VALUE.match(text, match.end())
        if value is None or _SCHEME_ONLY.fullmatch(value[0]):
            continue
        parts += (text[done : value.start()], MARK)
        done = value.end()
    return "".join(parts) + text[done:]


def _redact_pairs(text: str) -> str:
    """`name=value`, `name: value` and `--name value` for sensitive names."""
    parts: list[str] = []
    done = 0
    for match in _PAIR.finditer(text):
        name = match["name"]
        if match.start() < done or not is_sensitive(name) or (match["flag"] and not name.startswith("--")):
            continue
        found = _value(text, match.end(), _ASSIGNED_RUN if match["assign"] or match["flag"] else _COLON_RUN)
        if found is not None:
            start, end = found
            parts += (text[done:start], MARK)
            done = end
    return "".join(parts) + text[done:]


def _value(text: str, start: int, run: re.Pattern[str]) -> tuple[int, int] | None:
    """Where the secret part of a value starts and ends; None when there is nothing to hide."""
    found = _QUOTED.match(text, start)
    if found is not None:
        start, end = next(found.span(name) for name in ("escaped", "double", "single") if found[name] is not None)
    else:
        found = run.match(text, start)
        if found is None:
            return None
        start, end = found.span()
    return None if start == end or _NO_SECRET.fullmatch(text, start, end) else (start, end)

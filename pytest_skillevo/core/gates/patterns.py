"""What credentials look like: the one home of these shapes, for redaction and for the safety gate.

Every pattern starts at a fixed word or at the start of a run, so that time is linear in the text also when the text is
hostile. Shapes: spec/online-review.md 8, spec/online-revisions.md 3.4 and spec/gepa.md 1.10, with their probed gaps
mended, and the prefixes that providers document for their keys.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from functools import lru_cache
from typing import Final, NamedTuple

#: What stands where a credential stood.
MARK: Final = "[REDACTED]"

FLAGS: Final = re.ASCII | re.IGNORECASE

# A keyword must close at a word boundary (max_tokens, TOKEN_LIMIT and secret_note are harmless), but a suffix that
# only names a variety of the credential does not hide it (password_hash, API_KEY_V2).
SENSITIVE: Final = re.compile(
    r"(?:token|secret|password|passwd|credentials?"
    r"|(?:api|access|private|secret|signing|encryption|auth|account|service|license)[_-]?key)"
    r"(?:_?(?:v?[0-9]++|hash|value|key|id|prod|production|dev|test|staging|live|old|new|base64|b64))*+"
    r"(?![A-Za-z0-9_])",
    FLAGS,
)
#: The same for names, in lower case.
SENSITIVE_WORDS: Final = ("token", "secret", "passw", "credential", "key")

# Word characters before a key would make it part of something longer, such as a hash or a longer name.
_START: Final = r"(?<![A-Za-z0-9_-])"

#: Name of a kind of key -> its shape. The names are the second half of the safety gate's codes.
VENDOR_SHAPES: Final[Mapping[str, str]] = {
    "aws_access_key_id": r"(?:AKIA|ASIA|AROA|AIDA|ABIA|ACCA)[A-Z0-9]{16}(?![A-Za-z0-9])",
    "github_token": r"gh[opsur]_[A-Za-z0-9]{20,}",  # personal, OAuth, server, user and refresh tokens
    "github_fine_grained": r"github_pat_[A-Za-z0-9_]{20,}",
    "anthropic_key": r"sk-ant-[A-Za-z0-9_-]{8,}",
    "openai_key": r"sk-(?:(?=[A-Za-z_-]*[0-9])[A-Za-z0-9_-]{8,}|[A-Za-z0-9_-]{24,})",  # and others of that shape
    "slack_token": r"(?:xox[abceoprs]|xapp)-[A-Za-z0-9-]{8,}",
    "google_key": r"(?:AIza[A-Za-z0-9_-]{30,}|ya29\.[A-Za-z0-9_-]{16,}|GOCSPX-[A-Za-z0-9_-]{16,})",
    "gitlab_token": r"gl(?:pat|ptt|dt|rt|cbt|ft|soat|agent|imt|oas|ffct)-[A-Za-z0-9_.-]{16,}",
    "hugging_face_token": r"hf_[A-Za-z0-9]{20,}",
    "stripe_key": r"(?:[rs]k_(?:live|test)|whsec)_[A-Za-z0-9]{10,}",
    "npm_token": r"npm_[A-Za-z0-9]{30,}",
    "pypi_token": r"pypi-[A-Za-z0-9_-]{40,}",
    "groq_or_xai_key": r"(?:gsk|xai)[_-][A-Za-z0-9]{20,}",
    "sendgrid_key": r"SG\.[A-Za-z0-9_-]{16,}\.[A-Za-z0-9_-]{16,}",
    "digitalocean_token": r"do[opr]_v1_[a-f0-9]{40,}",
    "databricks_token": r"dapi[a-f0-9]{32}(?![A-Za-z0-9])",
    "shopify_token": r"shp(?:at|ca|pa|ss)_[A-Fa-f0-9]{32}(?![A-Za-z0-9])",
    "atlassian_token": r"ATATT3[A-Za-z0-9_=-]{40,}",
    "airtable_token": r"pat[A-Za-z0-9]{14}\.[a-f0-9]{40,}",
    "notion_token": r"ntn_[A-Za-z0-9]{40,}",
    "linear_key": r"lin_(?:api|oauth)_[A-Za-z0-9]{30,}",
    "replicate_token": r"r8_[A-Za-z0-9]{30,}",
    "perplexity_key": r"pplx-[A-Za-z0-9]{32,}",
    "vault_token": r"hv[sbr]\.[A-Za-z0-9_-]{20,}",
    "telegram_token": r"[0-9]{8,10}:AA[A-Za-z0-9_-]{32,}",
    "age_key": r"AGE-SECRET-KEY-1[A-Z0-9]{40,}",
    "jwt": r"eyJ[A-Za-z0-9_-]*(?:\.[A-Za-z0-9_-]+){2,4}",
}
#: No key of these shapes is without one of these texts: what to look for first, because it is cheap.
VENDOR_WORDS: Final = (
    *("AKIA", "ASIA", "AROA", "AIDA", "ABIA", "ACCA", "gho_", "ghp_", "ghs_", "ghu_", "ghr_", "github_pat_", "sk-"),
    *("xox", "xapp-", "AIza", "ya29.", "GOCSPX-", "glpat-", "glptt-", "gldt-", "glrt-", "glcbt-", "glft-", "glsoat-"),
    *("glagent-", "glimt-", "gloas-", "glffct-", "hf_", "k_live_", "k_test_", "whsec_", "npm_", "pypi-", "gsk", "xai"),
    *("SG.", "_v1_", "dapi", "shp", "ATATT3", "pat", "ntn_", "lin_", "r8_", "pplx-", "hvs.", "hvb.", "hvr.", ":AA"),
    *("AGE-SECRET-KEY-1", "eyJ"),
)
#: The name of the group that matched is the kind of key.
VENDOR_KEYS: Final = re.compile(
    _START + "(?:" + "|".join(f"(?P<{name}>{shape})" for name, shape in VENDOR_SHAPES.items()) + ")"
)
SLACK_HOOK: Final = re.compile(r"(hooks\.slack\.com/(?:services|workflows)/)([A-Za-z0-9_/-]{8,})")
# A block that was cut off before its end is a key all the same.
PRIVATE_KEY: Final = re.compile(
    r"-----BEGIN [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----(?P<body>.*?)"
    r"(?:-----END [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----|\Z)",
    re.DOTALL,
)
URL_PASSWORD: Final = re.compile(r"(://[^\s/:@\"']{0,200}:)(?!\[REDACTED\]@)([^\s/@\"']{1,500})@")
BEARER: Final = re.compile(r"\b(bearer\s+)([A-Za-z0-9._~+/-]{12,}=*)", FLAGS)

# Quotes may be escaped, as in JSON inside JSON.
_QUOTE: Final = r"\\{0,8}[\"']"
_AUTHORIZATION: Final = re.compile(
    rf"{_START}(?:proxy-)?authorization(?:{_QUOTE})?[ \t]*[:=][ \t]*(?:{_QUOTE})?"
    r"(?:(?:bearer|basic|digest|token|apikey|negotiate|aws4-hmac-sha256)[ \t]+)?",
    FLAGS,
)
_SCHEME_ONLY: Final = re.compile(r"(?:bearer|basic|digest|token)\b", FLAGS)
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
NO_SECRET: Final = re.compile(
    r"\$\{?[A-Z_][A-Z0-9_]*\}?|\$\{\{|<[a-z _-]{1,40}>|(?:null|none|true|false)|\[REDACTED\]", re.ASCII
)


class Pair(NamedTuple):
    """A sensitive name and where its value starts and ends in the text, without quotes."""

    name: str
    start: int
    end: int
    quoted: bool


@lru_cache(maxsize=4096)
def is_sensitive(name: str) -> bool:
    """Whether a value under this name is taken for a credential: DOCK_API_KEY, accessToken, password_hash."""
    return SENSITIVE.search(name) is not None


def header_values(text: str) -> Iterator[tuple[int, int]]:
    """Where the values of Authorization headers and fields stand, without the scheme word."""
    done = 0
    for match in _AUTHORIZATION.finditer(text):
        if match.start() < done:
            continue
        value = _HEADER_VALUE.match(text, match.end())
        if value is None or _SCHEME_ONLY.fullmatch(value[0]):
            continue
        yield value.span()
        done = value.end()


def pairs(text: str) -> Iterator[Pair]:
    """The sensitive ones among `name=value`, `name: value` and `--name value`, first to last, never overlapping."""
    done = 0
    for match in _PAIR.finditer(text):
        name = match["name"]
        if match.start() < done or not is_sensitive(name) or (match["flag"] and not name.startswith("--")):
            continue
        found = _value(text, match.end(), _ASSIGNED_RUN if match["assign"] or match["flag"] else _COLON_RUN)
        if found is not None:
            start, end, quoted = found
            yield Pair(name, start, end, quoted)
            done = end


def _value(text: str, start: int, run: re.Pattern[str]) -> tuple[int, int, bool] | None:
    """Where the secret part of a value starts and ends; None when there is nothing to hide."""
    found = _QUOTED.match(text, start)
    quoted = found is not None
    if found is not None:
        start, end = next(found.span(name) for name in ("escaped", "double", "single") if found[name] is not None)
    else:
        found = run.match(text, start)
        if found is None:
            return None
        start, end = found.span()
    return None if start == end or NO_SECRET.fullmatch(text, start, end) else (start, end, quoted)

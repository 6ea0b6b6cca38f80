"""Credentials that stand in a text: the shapes of patterns.py, without what only holds the place of one."""

from __future__ import annotations

import base64
import re
from collections.abc import Iterator
from typing import Final

from ..patterns import BEARER, PRIVATE_KEY, SLACK_HOOK, URL_PASSWORD, VENDOR_KEYS, header_values, pairs
from .hits import Hit

#: A named value of this length is a credential whatever it looks like, a shorter one if it looks random.
_LONG: Final = 20
_SHORT: Final = 8
_KEY_TEXT: Final = re.compile(r"[A-Za-z0-9_\-./+=~:]{20,}")
_HOLDS_PLACE: Final = re.compile(
    r"example|placeholder|change[-_]?me|your|replace|redacted|insert|xxx|\.\.\.|…|<|>|\*\*\*|\$\{|\{\{|\$\(|%\("
    r"|\{[a-z_]+\}|todo|\bfill"
    r"|#####|_here\b|not-?a-?real|dummy",
    re.I,
)
#: What stands in examples of passwords; none of these opens a door.
_SAMPLE_WORD: Final = re.compile(
    r"(?:my|the|super|very|some|new|old|a|db|app|local|test)?[-_.]?(?:pass(?:w(?:or)?d|phrase)?|passw0rd|p@ssw0rd"
    r"|secret|test|admin|root|user|postgres"
    r"|mysql|redis|guest|demo|local|dev|foo|bar|baz|abc|token|key|hunter|default|qwerty|letmein|welcome|sample|fake"
    r"|mock|s3cr3t|secure|strong|value|string)+[-_.]?"
    r"(?:word|key|token|value)?[0-9!@#$%_.-]{0,8}",
    re.I,
)
_PART: Final = re.compile(r"[A-Z]?[a-z]*|[A-Z]+|v?[0-9]{1,4}|[a-z]+[0-9]{0,2}")
_REFERENCE: Final = re.compile(
    r"[A-Za-z_]\w{0,40}(?:\.\w{1,40}|\[|\()|[A-Z][A-Z0-9]*(?:_[A-Z0-9]+)+\Z|[@%$]|/[a-z]|\./|~/|https?:|\|\||\bvault:"
)
_TYPED: Final = re.compile(
    r"(?:\bredis-cli\b[^\n]{0,40}\s-a\s{1,8}|\b(?:set|config)\s{1,8}\S{0,40}(?:secret|token|password"
    r"|_key)\w{0,20}\s{1,8}|\bsshpass\s{1,8}-p\s{0,8}|\s-u\s{1,8}[\"']?[\w.@-]{1,40}:"
    r"|\bConvertTo-SecureString\s{1,4}(?:-(?:String|AsPlainText|Force)\s{1,4}){0,3}(?=[\"'])"
    r"|\b(?:PSCredential|NetworkCredential|HTTPBasicAuth|PasswordAuthentication|auth\s{0,2}=)\s{0,2}"
    r"\(\s{0,2}[\"'][^\"'\n]{1,60}[\"']\s{0,2},\s{0,2}(?=[\"'])"
    r"|\blogin\s{1,8}\S{1,60}\s{1,8}password\s{1,8}|\bmysql\b[^\n]{0,60}\s-p(?=\S)"
    r"|(?:\b|_)(?:passphrase|pwd|pass|passcode|passwort|kennwort|contraseña|senha|пароль|密码|口令|şifre"
    r"|parola)[\"']?\s{0,4}[:=：]\s{0,4}"
    r"|\b(?:pass(?:word|wort|code|phrase)|kennwort|contraseña|mot de passe|senha"
    r"|пароль)[^\n:=]{1,40}[:=]\s{0,3}(?=[`\"'])"
    r"|\b(?:password|passphrase|passcode|token|secret|api key|access key)\s{1,4}(?:is\s{1,4}"
    r"|of\s{1,4})?(?=[`\"']))[`\"']?(?P<value>[^\s\"'`@,;]{6,80})",
    re.I,
)
_KEYS: Final = re.compile(
    r"\b(?P<name>[A-Z][A-Z0-9_]{1,40}_(?:KEY|PAT|AUTH))[\"']?\s{0,4}[:=]\s{0,4}[\"']?(?P<value>[^\s\"'`@,;]{24,200})"
)
_PUBLIC_KEYS: Final = re.compile(r"PUBLIC|PRIMARY|FOREIGN|SORT|CACHE|PARTITION|IDEMPOTENCY")
#: Public samples, known to everybody from the documentation of those who made them.
_PUBLIC: Final = ("SflKxwRJSMeKKF2QT4fwpMeJf36POk6yJV_adQssw5c", "eyJzdWIiOiIxMjM0NTY3ODkw", "wJalrXUtnFEMI/K7MDENG")
_BODY: Final = re.compile(r"(?:\s|\\n|\\r)*(?:[A-Za-z-]{1,20}:[^\n]{0,80}\n\s{0,8})*[A-Za-z0-9+/=]{16,}")
_LINE: Final = 200
_ALONE: Final = re.compile(r"[\s\"'`]*\Z")


def credentials(text: str) -> Iterator[Hit]:
    """Credentials of every kind; each place is reported once, under its most telling name."""
    taken: list[tuple[int, int]] = []
    for kind, start, end in (*_keys(text), *_urls(text), *_headers(text), *_named(text), *_typed(text)):
        if not any(start < other_end and other_start < end for other_start, other_end in taken[-64:]):
            taken.append((start, end))
            yield Hit(f"secret:{kind}", f"holds a credential ({kind.replace('_', ' ')})", start, end)


def holds_place(value: str) -> bool:
    """Whether a value only stands where a credential would: an example, a mask, a template."""
    bare = value.strip("\"'` ")
    masked = re.sub(r"[xX*.#_0-]", "", bare)
    return len(masked) <= len(bare) // 4 or _HOLDS_PLACE.search(bare) is not None or any(one in bare for one in _PUBLIC)


def _keys(text: str) -> Iterator[tuple[str, int, int]]:
    for match in PRIVATE_KEY.finditer(text):
        head_end = match.start("body")
        low = max(0, match.start() - _LINE)
        line = text[text.rfind("\n", low, match.start()) + 1 or low : match.start()]
        end = text.find("\n", head_end, head_end + _LINE)
        rest = text[head_end : end if end >= 0 else min(match.end(), head_end + _LINE)]
        alone = not re.sub(r"[\w-]{0,40}\s{0,4}[:=]\s{0,4}[|>]?-?", "", line).strip(" \t\"'`") and _ALONE.match(rest)
        body = match["body"]
        if (_BODY.match(body) and not _HOLDS_PLACE.search(body[:200])) or (
            alone and not _HOLDS_PLACE.search(body[:80])
        ):
            yield "private_key_block", match.start(), min(match.end(), head_end + 4000)
    for match in VENDOR_KEYS.finditer(text):
        kind = match.lastgroup or ""
        if (
            not holds_place(match[0].partition("-" if "-" in match[0] else "_")[2] or match[0])
            and not holds_place(match[0])
            and (kind != "jwt" or _is_token(match[0]))
        ):
            yield kind, match.start(), match.end()
    for match in SLACK_HOOK.finditer(text):
        if not holds_place(match[2]) and re.search(r"[A-Za-z0-9]{16,}", match[2]):
            yield "slack_webhook", match.start(), match.end()


def _is_token(text: str) -> bool:
    parts = text.split(".")
    return all(len(part) >= 8 for part in parts[:2]) and len(parts[-1]) >= 12


def _urls(text: str) -> Iterator[tuple[str, int, int]]:
    for match in URL_PASSWORD.finditer(text):
        if _random(match[2], 6):
            yield "url_password", match.start(2), match.end(2)


def _headers(text: str) -> Iterator[tuple[str, int, int]]:
    for start, end in header_values(text):
        end = start + len(text[start:end].rstrip("`).:"))
        value = text[start:end]
        if text[max(0, start - 20) : start].rstrip().lower().endswith("basic"):
            if (
                len(value) >= 8
                and not holds_place(_decoded(value))
                and not _SAMPLE_WORD.fullmatch(_decoded(value).partition(":")[2])
            ):
                yield "authorization_header", start, end
        elif _literal(value):
            yield "authorization_header", start, end
    for match in BEARER.finditer(text):
        if _literal(match[2]) and any(char.isdigit() for char in match[2]):
            yield "bearer_token", match.start(2), match.end(2)


def _decoded(value: str) -> str:
    try:
        return base64.b64decode(value, validate=True).decode()
    except ValueError:
        return value


def _named(text: str) -> Iterator[tuple[str, int, int]]:
    for name, start, end, quoted in pairs(text):
        value = text[start:end].rstrip("`'\"):.")
        if not quoted and _REFERENCE.match(value):
            continue
        secretish = "password" in name.lower() or "passwd" in name.lower()
        if (_literal(value) and not secretish) or _random(value, 6 if secretish and quoted else _SHORT):
            kind = "password" if secretish else "aws_secret_key" if "aws" in name.lower() else "generic_api_key"
            yield kind, start, start + len(value)


def _typed(text: str) -> Iterator[tuple[str, int, int]]:
    """Passwords where a command or a login file takes them."""
    for match in _TYPED.finditer(text):
        if _random(match["value"].rstrip("'\"`"), 6):
            yield "password", *match.span("value")
    for match in _KEYS.finditer(text):
        if _random(match["value"], 24) and not _PUBLIC_KEYS.search(match["name"]):
            yield "generic_api_key", *match.span("value")


def _literal(value: str) -> bool:
    """A long run of key characters that holds no place and is no name of something."""
    return _KEY_TEXT.fullmatch(value) is not None and not holds_place(value) and not _is_name(value)


def _random(value: str, least: int) -> bool:
    """Letters and digits mixed, as a person or a machine makes up a secret, and not a well-known sample."""
    return (
        len(value) >= least
        and " " not in value
        and any(char.isdigit() for char in value)
        and any(char.isalpha() for char in value)
        and len(set(value)) >= 5
        and not holds_place(value)
        and not _is_name(value)
        and not _SAMPLE_WORD.fullmatch(value)
        and not _REFERENCE.match(value)
    )


def _is_name(value: str) -> bool:
    """Words and small numbers with signs between them: db-password-v2, path/to/token, GITHUB_TOKEN."""
    parts = [part for part in re.split(r"[-_/.:@~=+]+", value) if part]
    return len(parts) > 1 and all(_PART.fullmatch(part) for part in parts)

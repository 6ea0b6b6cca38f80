"""Commands and calls that carry the environment or a credential away."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from .hits import Hit
from .shell import Commands, Run

_CODE: Final = "instruction:exfiltrate"
_MESSAGE: Final = "sends credentials or private data away"
_SOURCES: Final = frozenset({"env", "printenv", "set", "export", "declare", "history"})
_SINKS: Final = frozenset(
    {"curl", "wget", "nc", "ncat", "netcat", "socat", "mail", "mailx", "sendmail", "telnet", "http", "xh"}
)
#: Between the environment and the network it may only be packed.
_PACKERS: Final = frozenset(
    {"base64", "gzip", "xxd", "tr", "sort", "grep", "jq", "openssl", "bzip2", "xz", "sed", "awk", "head", "tee", "rev"}
)
#: Variables that belong to one vendor, and the name that its hosts carry.
_OWNERS: Final = {
    "AWS_SECRET_ACCESS_KEY": "amazonaws", "AWS_SESSION_TOKEN": "amazonaws", "GITHUB_TOKEN": "github", "GH_TOKEN": "github",
    "OPENAI_API_KEY": "openai", "ANTHROPIC_API_KEY": "anthropic", "NPM_TOKEN": "npm", "HF_TOKEN": "huggingface",
    "SLACK_BOT_TOKEN": "slack", "STRIPE_SECRET_KEY": "stripe", "SSH_PRIVATE_KEY": "\0", "DATABASE_URL": "\0", "DB_PASSWORD": "\0",
}  # fmt: skip
_VARIABLE: Final = re.compile(
    rf"\$\{{?(?P<name>{'|'.join(_OWNERS)})\b|os\.environ\[[\"'](?P<other>{'|'.join(_OWNERS)})[\"']\]"
)
_HOST: Final = re.compile(r"https?://(?P<host>[^\s/\"'?]{1,120})")
_CALL: Final = re.compile(
    r"\b(?:requests\.(?:post|put|get|request)|httpx\.\w+|urlopen|urllib\.request|fetch|axios(?:\.\w+)?|http\.request|session\.post)\s{0,2}\("
    r"[^\n]{0,200}?(?:os\.environ(?!\s{0,2}[\[.])|os\.environ\.copy|process\.env(?![.\[])|dict\(os\.environ)"
)
_LOOPED: Final = re.compile(
    r"\bin\s+(?:\$\(|`)(?:env|printenv)\b[^\n]{0,160}\b(?:curl|wget|nc|nslookup|dig|ping|host)\b"
)
_SUBSTITUTED: Final = re.compile(
    r"\b(?:curl|wget|nc|nslookup|dig|host|ping)\b[^\n]{0,200}?(?:\$\(|`)\s{0,2}(?:env|printenv|set|cat\s{1,3}(?:~|/|\$HOME|\.env)\S{0,60})\b"
)


def leaks(text: str, found: Commands) -> Iterator[Hit]:
    """Everything of this module."""
    start = -1
    for run in found.runs if not found.names.isdisjoint(_SINKS) else ():
        command = run.command
        if run.before not in ("|", "|&"):
            start = -1
        elif start >= 0 and command and command[0].name in _SINKS:
            yield Hit(_CODE, _MESSAGE, start, run.words[-1].end)
            start = -1
        elif command and command[0].name not in _PACKERS:
            start = -1
        if start < 0 and run.before != "|" and (source := _dumps(run)) is not None:
            start = source
    for pattern in (_CALL, _SUBSTITUTED, _LOOPED):
        for match in pattern.finditer(text):
            yield Hit(_CODE, _MESSAGE, *match.span())
    for match in _VARIABLE.finditer(text):
        yield from _foreign(text, match)


def _dumps(run: Run) -> int | None:
    """Where a command stands that prints the whole environment; it comes last in its run, so prose may precede it."""
    words = run.words
    if words and words[-1].name in _SOURCES:
        return words[-1].start
    return words[0].start if words and words[0].name in ("printenv", "history") else None


def _foreign(text: str, match: re.Match[str]) -> Iterator[Hit]:
    """A vendor's credential in the address or body of a request to somebody else."""
    low = max(text.rfind("\n", 0, match.start()) + 1, match.start() - 200)
    end = text.find("\n", match.end(), match.end() + 200)
    line = text[low : end if end >= 0 else match.end() + 200]
    host = _HOST.search(line)
    owner = _OWNERS[match["name"] or match["other"]]
    before = text[low : match.start()]
    carries = re.search(r"[?&][\w.-]{1,40}=$|(?:\s-d|--data(?:-\w+)?|data=|json=)[^\n]{0,80}$", before)
    if host and carries and owner not in host["host"] and "localhost" not in host["host"]:
        yield Hit(_CODE, _MESSAGE, low, match.end())

"""Commands and calls that carry the environment or a credential away."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Final

from .hits import Hit
from .shell import Commands, Run, Word

_CODE: Final = "instruction:exfiltrate"
_MESSAGE: Final = "sends credentials or private data away"
_SOURCES: Final = frozenset({"env", "printenv", "set", "export", "declare", "history"})
_DUMPERS: Final = frozenset(
    {"tar", "zip", "mysqldump", "pg_dump", "pg_dumpall", "mongodump", "gpg", "history", "sqlite3", "git"}
)
_SINKS: Final = frozenset(
    {"curl", "wget", "nc", "ncat", "netcat", "socat", "mail", "mailx", "sendmail", "telnet", "http", "xh"}
)
#: Between the environment and the network it may only be packed.
_PACKERS: Final = frozenset(
    {
        "base64",
        "base32",
        "fold",
        "cut",
        "split",
        "paste",
        "gzip",
        "xxd",
        "tr",
        "sort",
        "uniq",
        "grep",
        "jq",
        "openssl",
        "bzip2",
        "xz",
        "sed",
        "awk",
        "head",
        "tee",
        "rev",
    }
)
#: Variables that belong to one vendor, and the name that its hosts carry.
_OWNERS: Final = {
    "AWS_SECRET_ACCESS_KEY": "amazonaws",
    "AWS_SESSION_TOKEN": "amazonaws",
    "GITHUB_TOKEN": "github",
    "GH_TOKEN": "github",
    "OPENAI_API_KEY": "openai",
    "ANTHROPIC_API_KEY": "anthropic",
    "NPM_TOKEN": "npm",
    "HF_TOKEN": "huggingface",
    "SLACK_BOT_TOKEN": "slack",
    "STRIPE_SECRET_KEY": "stripe",
    "SSH_PRIVATE_KEY": "\0",
    "DATABASE_URL": "\0",
    "DB_PASSWORD": "\0",
}
_VARIABLE: Final = re.compile(
    rf"\$\{{?(?P<name>{'|'.join(_OWNERS)})\b|os\.environ\[[\"'](?P<other>{'|'.join(_OWNERS)})[\"']\]"
)
_HOST: Final = re.compile(r"https?://(?P<host>[^\s/\"'?]{1,120})")
_CALL: Final = re.compile(
    r"\b(?:requests\.(?:post|put|get|request)|httpx\.\w{1,40}|urlopen|urllib\.request|fetch|axios(?:\.\w{1,40})?"
    r"|http\.request|session\.post)\s{0,2}\("
    r"[^\n]{0,200}?(?:os\.environ(?!\s{0,2}[\[.])|os\.environ\.copy|process\.env(?![.\[])|dict\(os\.environ)"
)
_ENVIRONMENT: Final = (
    r"(?:dict\(os\.environ\)|os\.environ\.(?:copy|items)\(\)|json\.dumps\(dict\(os\.environ|process\.env(?![.\[\w])"
    r"|\b(?:Get-ChildItem|gci|dir|ls)\s{1,8}env:|GetEnvironmentVariables"
    r"|\bENV\.to_h\b|os\.Environ\(\))"
)
_POSTS: Final = (
    r"(?:requests\.(?:post|put)|httpx\.(?:post|put)|urlopen|urllib\.request|\bfetch\(|axios\.post"
    r"|Invoke-(?:RestMethod|WebRequest)|\birm\b|\biwr\b|http\.client"
    r"|Net::HTTP|\.src\s{0,8}=\s{0,8}[\"'`]https?:|sendBeacon\(|http\.Post|UploadString|UploadData|sendall\()"
)
_NEARBY: Final = re.compile(rf"{_ENVIRONMENT}[\s\S]{{0,300}}?{_POSTS}|{_POSTS}[\s\S]{{0,300}}?{_ENVIRONMENT}", re.I)
#: What a person copied, sees or types, near a request that takes it along.
_WATCHED: Final = re.compile(
    rf"(?:pyperclip\.paste|ImageGrab\.grab|pyautogui\.screenshot|browser_cookie3|keyring\.get_password|pynput"
    rf"|keyboard\.(?:on_press|hook)|cv2\.VideoCapture"
    rf"|navigator\.clipboard\.read|document\.cookie)[\s\S]{{0,500}}?{_POSTS}",
    re.I,
)
#: A value as a part of a host name.
_LOOKUP: Final = re.compile(
    r"\b(?:dig|nslookup|host|ping|curl|wget)\b[^\n]{0,120}?(?:\$\([^()\n]{1,80}\)|`[^`\n]{1,80}`|\$\{?(?:data|d|enc"
    r"|encoded|b64|chunk|secret|payload|key|token|env|line|part)\}?)"
    r"\.(?:[\w-]{1,40}\.)*[a-z]{2,12}\b"
)
#: An image whose address takes private text along when it is shown.
_IMAGE: Final = re.compile(
    r"!\[[^\]\n]{0,60}\]\(https?://[^)\s]{0,120}[?&/][\w-]{0,20}=?(?:\{|<|\$|%7B|\[)[\w .-]{0,30}"
    r"(?:conversation|history|secret|token|data|prompt|context|key|env|base64|encoded|message|chat|password)",
    re.I,
)
#: All secrets of a workflow at once, or one of them as the body of a request.
_WORKFLOW: Final = re.compile(
    r"\btoJSON\(\s{0,8}secrets\s{0,8}\)|\bcurl\b[^\n]{0,160}(?:-d|--data\S{0,12}"
    r"|-F)\s{0,8}[\"'][^\"'\n]{0,80}\$\{\{\s{0,8}secrets\.",
    re.I,
)
#: Whole folders of a home that are walked through and posted.
_WALKED: Final = re.compile(
    rf"(?:(?:Path\.home\(\)|expanduser\([\"']~[^)\n]{{0,40}}\)\)?)[^\n]{{0,40}}\.(?:rglob|glob|iterdir)\("
    rf"|\bos\.walk\(\s{{0,8}}(?:os\.path\.expanduser|Path\.home|[\"'](?:/home|/Users|~|/[\"']))"
    rf"|\bglob\.i?glob\([^\n]{{0,60}}(?:\.pem|\.env|\.key|id_|wallet|\.kdbx))[\s\S]{{0,500}}?(?:{_POSTS}|ftplib"
    rf"|paramiko|smtplib|storbinary)",
    re.I,
)
#: A place for text in the query of an image, which is fetched when it is shown.
_PIXEL: Final = re.compile(
    r"!\[[^\]\n]{0,60}\]\(https?://[^)\s]{0,120}[?&]\w{1,20}=(?:\{|<|\$|%7B|\[|(?=[A-Z_]{4}))(?!\w{0,3}(?:owner|repo"
    r"|branch|version|label|colou?r|name|size|id|width|height|style)\b)"
)
_LOOPED: Final = re.compile(
    r"(?:\bin\s{1,8}(?:\$\(|`)(?:env|printenv)\b|\b(?:env|printenv)\s{0,4}\|[^\n]{0,120}\bwhile\b[^\n]{0,30}\bread\b)"
    r"[^\n]{0,160}(?:\n[^\n]{0,120}){0,2}?\b(?:curl|wget|nc|nslookup|dig|ping|host)\s"
)
_SUBSTITUTED: Final = re.compile(
    r"\b(?:curl|wget|nc|nslookup|dig|host|ping)\b[^\n]{0,200}?(?:\$\(|`)\s{0,2}(?:env|printenv|set|cat\s{1,3}(?:~|/"
    r"|\$HOME|\.env)\S{0,60})\b"
)

_LINE: Final = 200


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
    for pattern in (_CALL, _SUBSTITUTED, _LOOPED, _NEARBY, _LOOKUP, _IMAGE, _WORKFLOW, _WALKED, _PIXEL, _WATCHED):
        for match in pattern.finditer(text):
            yield Hit(_CODE, _MESSAGE, *match.span())
    for match in _VARIABLE.finditer(text):
        yield from _foreign(text, match)


def _dumps(run: Run) -> int | None:
    """Where a command stands that prints the whole environment; it comes last in its run, so prose may precede it."""
    words = run.words
    if words and words[-1].name in _SOURCES:
        return words[-1].start
    command = run.command
    if command and (command[0].name in ("printenv", "history") or (command[0].name in _DUMPERS and _streams(command))):
        return command[0].start
    return None


def _streams(command: Sequence[Word]) -> bool:
    """Whether an archive or dump goes to the next command: to "-" or, as dumps do, to nowhere else."""
    name, options = command[0].name, [word.text for word in command[1:4]]
    if name == "git":
        return " ".join(options).startswith(("bundle", "archive", "log -p", "log --patch"))
    if name == "tar" and options and not options[0].startswith("--") and "f" not in options[0]:
        return True
    return name not in ("tar", "zip") or "-" in options


def _foreign(text: str, match: re.Match[str]) -> Iterator[Hit]:
    """A vendor's credential in the address or body of a request to somebody else."""
    low = max(0, match.start() - _LINE)
    low = text.rfind("\n", low, match.start()) + 1 or low
    end = text.find("\n", match.end(), match.end() + _LINE)
    line = text[low : end if end >= 0 else match.end() + _LINE]
    host = _HOST.search(line)
    owner = _OWNERS[match["name"] or match["other"]]
    before = text[low : match.start()]
    carries = re.search(r"[?&][\w.-]{1,40}=$|(?:\s-d|--data(?:-\w{1,40})?|data=|json=)[^\n]{0,80}$", before)
    if host and carries and owner not in host["host"] and "localhost" not in host["host"]:
        yield Hit(_CODE, _MESSAGE, low, match.end())

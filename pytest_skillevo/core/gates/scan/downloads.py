"""Code that is fetched or decoded and run at once, so that nobody can have read it."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Final

from .hits import Hit
from .shell import Commands, Run, Word

_FETCH: Final = frozenset(
    {
        *("curl", "wget", "fetch", "aria2c", "lynx", "nc", "ncat", "netcat", "dig", "http", "xh", "wget2", "curl2"),
        *("iwr", "irm", "invoke-webrequest", "invoke-restmethod", "downloadstring"),
    }
)
#: Those of them that save a file, and what they take it from.
_SAVERS: Final = frozenset({"curl", "wget", "wget2", "aria2c", "iwr", "invoke-webrequest"})
_ADDRESS: Final = re.compile(r"://|[\w-]\.[a-z]{2,10}/")
_DECODE: Final = frozenset(
    {"base64", "base32", "openssl", "xxd", "rev", "tr", "gunzip", "zcat", "gzip", "uudecode", "printf", "echo"}
)
_SHELLS: Final = frozenset(
    {
        *("sh", "bash", "zsh", "ksh", "dash", "ash", "fish", "csh", "tcsh", "pwsh", "powershell", "cmd"),
        *("iex", "invoke-expression", "eval", "source", "."),
    }
)
_LANGUAGES: Final = re.compile(r"(?:python|pypy|perl|ruby|php|lua)[0-9.]*|node|nodejs|deno|bun")
_ESCAPED: Final = re.compile(r"(?:\\x[0-9a-fA-F]{2}|\\[0-7]{3}){2}")
_OWN_CODE: Final = re.compile(r"-[A-Za-z]*[mceEnprl]")
_OPTION: Final = re.compile(r"[-<+].*")
_CHECKED: Final = re.compile(
    r"sha\d*sum|shasum|md5sum|gpg|cosign|minisign|sigstore|\b(?:less|more|bat|vim|diff|verif\w{0,40}|inspect\w{0,40}"
    r"|review\w{0,40}"
    r"|read(?:ing)?|checksum\w{0,40}|signature)\b|[Cc]heck (?:it|the)",
    re.I,
)
_SHADY: Final = re.compile(
    r"/(?:tmp|var/tmp|dev/shm)/|%TEMP%|\$env:TEMP|\$TMPDIR|http://|https?://\d{1,8}\.\d{1,8}", re.I
)
#: Calls that fetch something, in several languages.
FROM_NET: Final = (
    r"(?:requests\.get|urlopen|urllib|httpx\.|fetch\(|axios|https?[\"']?\)?\.get|URI\.open|open-uri|LWP::|curl_exec"
    r"|file_get_contents\(.?https?:|downloadstring|webclient|\biwr\b|\birm\b|invoke-webrequest|invoke-restmethod)"
)
#: Calls that make a text out of a coded one.
DECODED: Final = (
    r"(?:b64decode|atob\(|base64_decode|from_base64|frombase64string|fromCharCode|fromhex|unhexlify|zlib\.decompress"
    r"|marshal\.loads|codecs\.decode|decodebase64|Base64\.decode|decode_base64|gzinflate|gzuncompress|str_rot13"
    r"|hex2bin|\bpack\("
    r"|Buffer\.from\([^)]{0,200}(?:base64|hex)|map\(chr|chr\(\w{1,4}\)|\bchr\(\d)"
)
_RUNS: Final = (
    r"\b(?:exec|eval|execfile|os\.system|os\.popen|subprocess\.\w{1,40}|child_process\.\w{1,40}|execSync|new Function"
    r"|vm\.run\w{1,40}|instance_eval|iex|invoke-expression|system|Function)\s{0,8}[\(&\s]"
)
_PROGRAMS: Final = (
    (re.compile(rf"{_RUNS}[^\n]{{0,160}}?{FROM_NET}", re.I), "piped_download"),
    (re.compile(rf"{FROM_NET}[^\n]{{0,160}}?\b(?:eval|exec|new Function|vm\.run\w{{1,40}})\(", re.I), "piped_download"),
    (re.compile(rf"{FROM_NET}[\s\S]{{0,300}}?\b(?:eval|new Function|vm\.run\w{{1,40}})\(", re.I), "piped_download"),
    (re.compile(rf"{FROM_NET}[^\n|]{{0,160}}\|\s{{0,8}}(?:iex|invoke-expression)\b", re.I), "piped_download"),
    (
        re.compile(
            r"\b(?:mshta\s{1,8}[\"']?https?:|certutil\b[^\n]{0,40}-urlcache|regsvr32\b[^\n]{0,60}/i:\s{0,8}http)", re.I
        ),
        "piped_download",
    ),
    (re.compile(rf"{_RUNS}[^\n]{{0,80}}?{DECODED}", re.I), "hidden_command"),
    (
        re.compile(
            r"\bp(?:ower|w)sh(?:ell)?(?:\.exe)?\b[^\n]{0,80}\s-e(?:nc|ncodedcommand|c)?\s{1,8}[A-Za-z0-9+/=]{16,}", re.I
        ),
        "hidden_command",
    ),
)
_DISGUISES: Final = re.compile(
    r"__class__[^\n]{0,60}__subclasses__\(\)|__builtins__[^\n]{0,60}[\"']\w{1,6}[\"']\s{0,8}\+\s{0,8}[\"']|[\"'](?:ex|ev|sys|sub"
    r"|o)[\"']\s{0,8}\+\s{0,8}[\"'](?:ec|al|tem|process|s)[\"']"
    r"|\.then\(\s{0,8}(?:eval|Function)\b|__import__\(\s{0,8}[\"'](?:os|subprocess|pty)[\"']\s{0,8}\)\s{0,8}\."
    r"|getattr\(\s{0,8}(?:os|subprocess|__import__\([^)]{0,40}\))\s{0,8},\s{0,8}[\"'](?:sys|pop|exec|spawn|call|run)"
    r"|\[scriptblock\]::Create|\bcertutil\b[^\n]{0,20}-decode(?:hex)?\b"
    r"|-join\s{0,8}\(?\s{0,8}\[char\[\]\]|\b(?P<v>\w{1,20})=\$\([^)\n]{0,200}(?:base64\s{1,8}(?:-d|-D|--decode)"
    r"|xxd\s{1,8}-r|\brev)[^)\n]{0,20}\)\s{0,8}[;&\n]+\s{0,8}(?:eval\s{1,8}|(?:ba)?sh -c\s{1,8})?[\"']?\$\{?(?P=v)\b"
    r"|\beval\s{1,8}[\"']?(?:\$\{?\w{1,20}\}?){2,}|\$\(\s{0,8}(?:printf|echo)\b[^)\n]{0,40}?(?:\\{1,2}(?:x[0-9a-f]{2}"
    r"|[0-7]{3})){3}"
    r"|(?:\[char\]\s{0,2}(?:0x)?[0-9a-f]{2,3}\s{0,2}\+\s{0,2}){3}|\$'(?:\\x[0-9a-f]{2}){3}",
    re.I,
)
_MESSAGES: Final = {
    "piped_download": "runs what it downloads, unread",
    "hidden_command": "runs a command that is hidden in an encoded text",
}


def downloads(text: str, found: Commands) -> Iterator[Hit]:
    """Downloads and decoded texts that go straight to an interpreter."""
    if not found.names.isdisjoint(_FETCH | _DECODE):
        yield from _pipelines(found.runs)
        yield from _saved(text, found.runs)
    for match in _DISGUISES.finditer(text):
        yield run_unread("hidden_command", *match.span())
    for pattern, code in _PROGRAMS:
        for match in pattern.finditer(text):
            yield run_unread(code, match.start(), match.end())


def run_unread(code: str, start: int, end: int) -> Hit:
    """The hit of something that runs before anybody can have read it."""
    return Hit(f"dangerous_shell:{code}", _MESSAGES[code], start, end)


def _pipelines(found: Sequence[Run]) -> Iterator[Hit]:
    """`fetch | shell`, `shell <(fetch)`, `shell -c "$(fetch)"`; a decoder counts as a fetch of hidden text."""
    code, start = "", 0
    waiting: Word | None = None
    opened: Word | None = None
    for run in found:
        if run.before not in ("|", "|&"):
            code = ""
            opened = waiting if run.before in ("$(", "<(", "`") else None
        if code and (_interprets(run.command) or _root_shell(run.words)):
            yield run_unread(code, start, run.words[-1].end)
            code = ""
        if fetched := _fetches(run):
            code, start = fetched
            if opened is not None:
                yield run_unread(code, opened.start, run.words[-1].end)
        waiting = _open_interpreter(run)


def _fetches(run: Run) -> tuple[str, int] | None:
    """The kind of hit that this run leads to when an interpreter follows, and where its command stands."""
    for i, word in enumerate(run.words):
        if word.name in _FETCH and i + 1 < len(run.words):
            return "piped_download", word.start
        options = [one.text for one in run.words[i + 1 : i + 6]]
        if word.name in _DECODE and _decodes(word.name, options):
            return "hidden_command", word.start
    return None


def _decodes(name: str, options: Sequence[str]) -> bool:
    """Whether a command makes another text of what it is given. Plain text to a shell is no disguise."""
    if name in ("printf", "echo"):
        return any(_ESCAPED.search(one) for one in options)
    if name in ("base64", "base32", "openssl", "gzip"):
        return any(one in ("-d", "-D", "--decode", "-di", "-dc", "-cd") for one in options)
    return name != "xxd" or any(one.startswith("-r") for one in options)


def _interprets(command: Sequence[Word]) -> bool:
    """Whether this command runs what it is piped. Words of a sentence may follow it."""
    if not command:
        return False
    name, first = command[0].name, command[1].text if len(command) > 1 else ""
    if name in _SHELLS or command[0].text.startswith(("$SHELL", "${SHELL", "$0")):
        return not _script(first) or any(one.text == "-s" for one in command[1:4])
    return _LANGUAGES.fullmatch(name) is not None and not _OWN_CODE.match(first) and not _script(first)


def _root_shell(words: Sequence[Word]) -> bool:
    """`sudo -s`, `sudo -i` and `su`, which are shells."""
    names = [word.text for word in words[:3]]
    return names[:1] == ["su"] or (
        names[:1] == ["sudo"] and any(one in ("-s", "-i", "--shell", "--login") for one in names)
    )


def _script(argument: str) -> bool:
    """Whether an argument names a file, which is then what is run."""
    return not argument.startswith("-") and argument != "/dev/stdin" and ("." in argument[1:] or "/" in argument)


def _open_interpreter(run: Run) -> Word | None:
    """The interpreter at the end of a run that waits for what comes in `$(...)`, `<(...)` or a code span."""
    for word in reversed(run.words[-4:]):
        if word.name in _SHELLS or _LANGUAGES.fullmatch(word.name):
            return word
        if not _OPTION.fullmatch(word.text) and word.text != "/dev/stdin":
            return None
    return None


def _saved(text: str, found: Sequence[Run]) -> Iterator[Hit]:
    """A script that is downloaded and that the next commands run without a look at it; of a program only a shady one."""
    for i, run in enumerate(found):
        word = next((one for one in run.words if one.name in _SAVERS), None)
        if word is None or not _ADDRESS.search(text, word.start, run.words[-1].end):
            continue
        shady = _SHADY.search(text, word.start, run.words[-1].end) is not None
        names = {one.name for one in run.words if len(one.name) > 1 and not one.text.startswith("-")} - _FETCH
        for later in found[i + 1 : i + 7]:
            if later.words and _CHECKED.search(text, run.words[-1].end, later.words[-1].end):
                break
            command = later.command
            runs = command[0].name in _SHELLS or (shady and _is_interpreter(command[0])) if command else False
            if command and (command[0].name in names or (runs and _any(command[1:3], names))):
                yield run_unread("piped_download", word.start, later.words[-1].end)
                break


def _is_interpreter(word: Word) -> bool:
    return word.name in _SHELLS or _LANGUAGES.fullmatch(word.name) is not None


def _any(words: Sequence[Word], names: set[str]) -> bool:
    return any(word.name in names for word in words)

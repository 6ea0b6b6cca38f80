"""Shells that somebody far away can type into, in the languages in which they are usually written."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from .hits import Hit
from .wording import either

_SHELL: Final = r"[\"']?(?:/usr)?(?:/bin/)?(?:ba|z|k|da)?sh\b"
_NETCAT: Final = r"\b(?:nc|ncat|netcat)\b[^\n|]{0,80}\s"
_LINES: Final = (
    r"\b(?:ba|z|k)?sh -i[^\n]{0,60}/dev/(?:tcp|udp)/",
    r"/dev/(?:tcp|udp)/[^\n]{1,80}0[<>]&\d",
    r"\bexec \d{1,8}<>\s{0,8}/dev/(?:tcp|udp)/(?!localhost|127\.)[^\n]{1,120}(?:\n[^\n]{0,60})?(?:while|sh\b"
    r"|eval)",
    rf"{_NETCAT}(?:-[a-z]{{0,4}}[ec]|--exec|--sh-exec)\s{{0,4}}{_SHELL}",
    rf"{_NETCAT}-[a-z]{{0,4}}e (?:cmd|powershell)",
    r"\bmkfifo\b[^\n]{0,160}\|\s{0,4}(?:nc|ncat|netcat|openssl|telnet)\b",
    rf"\bsocat\b[^\n]{{0,120}}\bexec:{_SHELL}",
    r"\bsocat\b[^\n]{0,120}\b(?:system|exec):[\"']?(?:cmd|powershell|/bin)",
    r"/inet/(?:tcp|udp)/\d{1,8}/(?!localhost|127\.)",
    r"\b(?:telnet|openssl s_client|nc|ncat)\b[^\n|]{0,120}\|\s{0,8}(?:/bin/)?(?:ba|z)?sh\b[^\n]{0,40}(?:\|"
    r"|>\s{0,8}/tmp)",
    r"\b(?:ba|z)?sh 0?<[^|\n]{0,60}\|\s{0,8}(?:nc|ncat|netcat|telnet)\b",
    r"\bmsfvenom\b[^\n]{0,120}reverse|\bztcp \S{1,120} \d{1,8}",
)
#: A connection to another machine, and a shell or copied streams near it.
_CONNECTS: Final = (
    r"\bsocket\.socket\(|\bs(?:ock)?\.connect\(\(|\bnet\.(?:connect|Socket|createConnection)\(|\bnet\.Dial\("
    r"|\bTCPSocket\.(?:new|open)|\bfsockopen\("
    r"|\bIO::Socket|\bsocket\((?:AF_INET|S\s{0,8},|PF_INET)|\bTcpClient\(|\bnew Socket\(|\bTcpStream::connect"
    r"|\buse Socket;|require\([\"']socket[\"']\)"
)
_SHELLS: Final = (
    r"[\"'`](?:/usr)?/bin/(?:ba|z|da|k)?sh\b|[\"'](?:ba|z)?sh[\"'](?=\s{0,8}[,\])])|[\"']cmd(?:\.exe)?[\"']"
    r"|[\"']powershell|\bpty\.spawn|\bos\.dup2|\bdup2\(|\bexec\s{0,8}\(?[\"'{]\s{0,8}/bin"
    r"|\biex\b|\bpowershell\b|\bio\.popen|/bin/sh -i|\bspawn\([\"'](?:/bin/)?(?:ba)?sh"
)
_NEAR: Final = 700
_CONNECTION: Final = either(_CONNECTS)
_SHELL_NEAR: Final = either(_SHELLS)
_LINE: Final = either(*_LINES)


def remote_shells(text: str) -> Iterator[Hit]:
    """Everything of this module."""
    for match in _LINE.finditer(text):
        yield _hit(match.start(), match.end())
    done = 0
    for match in _CONNECTION.finditer(text):
        if match.start() < done:
            continue
        near = _SHELL_NEAR.search(text, max(done, match.start() - _NEAR), match.end() + _NEAR)
        if near is not None:
            done = max(match.end(), near.end())
            yield _hit(min(match.start(), near.start()), done)


def _hit(start: int, end: int) -> Hit:
    return Hit("dangerous_shell:remote_shell", "opens a shell to another machine", start, end)

"""Programs that run what they fetched or decoded some lines before, under a name of their own."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from .downloads import DECODED, FROM_NET, run_unread
from .hits import Hit

#: A name that gets what came from the net or out of a code.
_TAKES: Final = re.compile(
    rf"(?:^|[;{{\n(,]|\b(?:const|let|var"
    rf"|my)\s)\s{{0,8}}\$?(?P<name>[A-Za-z_]\w{{0,30}})\s{{0,8}}:?=\s{{0,8}}(?:await\s{{1,8}})?[^\n=][^\n]{{0,160}}?(?:(?P<net>{FROM_NET})|{DECODED})",
    re.I | re.M,
)
#: A file that is fetched, and where it is put.
_SAVES: Final = re.compile(
    r"\b(?:urlretrieve|DownloadFile|downloadFile)\(\s{0,8}[^,\n]{1,160},\s{0,8}(?P<file>[\"'][^\"'\n]{1,80}[\"']"
    r"|\w{1,30})",
    re.I,
)
_CALLS: Final = (
    r"\b(?:exec|eval|execfile|os\.system|os\.popen|execSync|new Function|Function|vm\.run\w{1,20}|runInNewContext|iex"
    r"|Invoke-Expression|system|compile)\s{0,8}[\( ]"
)
_STARTS: Final = (
    r"\b(?:os\.system|os\.popen|subprocess\.\w{1,20}|Popen|execSync|execFile\w{0,8}|spawn\w{0,8}|exec|Start-Process"
    r"|os\.chmod|chmod|startfile)\s{0,8}\(?"
)
_FAR: Final = 800


def programs(text: str) -> Iterator[Hit]:
    """Everything of this module."""
    for match in _TAKES.finditer(text):
        used = re.compile(rf"{_CALLS}[^\n]{{0,60}}?(?<![\w.])\$?{re.escape(match['name'])}(?!\w)")
        found = used.search(text, match.end(), match.end() + _FAR)
        if found is not None:
            yield run_unread("piped_download" if match["net"] else "hidden_command", match.start("name"), found.end())
    for match in _SAVES.finditer(text):
        file = re.escape(match["file"].strip("\"'"))
        used = re.compile(rf"{_STARTS}[^\n]{{0,80}}?{file}")
        found = used.search(text, match.end(), match.end() + _FAR)
        if found is not None:
            yield run_unread("piped_download", match.start(), found.end())

"""Commands that break or open a machine: raw disk writes, fork bombs, permissions for everybody."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise
from typing import Final

from .deletion import target
from .hits import Hit
from .shell import Commands, Word, span_of
from .wording import either

_MESSAGES: Final = {
    "disk_write": "writes over a disk",
    "fork_bomb": "starts processes without end",
    "open_permissions": "gives everybody write access, or takes all access away",
    "setuid": "lets everybody run a program as its owner",
    "system_file_write": "writes over a file that decides who may log in",
}

_DEVICE: Final = re.compile(
    r"/dev/(?:sd[a-z]{1,2}\d*|hd[a-z]\d*|x?vd[a-z]\d*|nvme\d{1,8}(?:n\d{1,8}(?:p\d{1,8})?)?"
    r"|mmcblk\d{1,8}(?:p\d{1,8})?|r?disk\d{1,8}(?:s\d{1,8})?"
    r"|mapper/.+|md\d{1,8}|dm-\d{1,8}|mtd(?:block)?\d{1,8}|k?mem|port|disk/by-.+|(?:sd|hd|nvme|vd)[a-z0-9]{0,6}[?*]+)"
    r"|//\./physicaldrive\d{1,8}|/proc/sysrq-trigger",
    re.I,
)
#: A device that stands for the reader's own.
_SAMPLE: Final = re.compile(r"/dev/(?:sdx\d?|nvmeXnY?|(?:r?disk)N|.*[<>{}].*)", re.I)
_LOGIN_FILE: Final = re.compile(r"/etc/(?:passwd|g?shadow|sudoers(?:\.d/.*)?|ld\.so\.preload|pam\.d/.*)")
#: Command -> what its words must hold for it to write; "" for nothing more than a device.
_WRITERS: Final = {
    "mke2fs": "",
    "mkswap": "",
    "blkdiscard": "",
    "shred": "",
    "wipefs": r"-a|--all|-af|-fa|-o",
    "sgdisk": r"-Z|--zap-all|-o|--clear|-z",
    "parted": r"mklabel|mktable|mkpart|rm",
    "sfdisk": r"--delete|--wipe.*",
    "hdparm": r"--security-erase.*|--trim-.*",
    "nvme": r"format|sanitize",
    "cryptsetup": r"luksFormat|erase|luksErase",
    "fdisk": r"<.*",
    "mdadm": r"--zero-superblock",
    "pvremove": "",
    "nwipe": "",
    "scrub": "",
    "badblocks": r"-w|-[a-z]*w[a-z]*",
    "diskutil": r"(?i:eraseDisk|eraseVolume|zeroDisk|secureErase|randomDisk|partitionDisk)",
}
_WHOLE_DISK: Final = re.compile(r"disk\d{1,8}")
#: What no change of owner or mode may go through as a whole.
_SYSTEM: Final = re.compile(r"/(?:\*|(?:etc|usr|s?bin|lib\w{0,3}|boot|dev|var|home|root)(?:/\*?)?)?")
#: Modes: everybody may write, nobody may do anything, everybody runs it as its owner.
_EVERYBODY_OCTAL: Final = re.compile(r"0?[0-7]{2}[2367]|0?o?0?[0-7]{2}[2367]")
_NOBODY: Final = re.compile(r"0{3,4}|a?-[rwx]{2,3}|ugo-[rwx]+|a=")
_EVERYBODY: Final = re.compile(r"[ugo]*[oa][ugoa]*[+=][rwxXst]*w[rwxXst]*")
_SETUID: Final = re.compile(r"[4-7][0-7]{3}|0[4-7][0-7]{3}|(?:u|a|uo|ug|ugo)?\+[rwx]*s[rwx]*")

_S: Final = r"\s{0,4}"
#: What is no command of its own, or a program in another language than the shell's.
_PATTERNS: Final[Mapping[str, tuple[str, ...]]] = {
    "fork_bomb": (
        rf"(?P<f>[:\w.-]{{1,30}}){_S}\({_S}\){_S}\{{{_S}(?P=f){_S}\|{_S}(?P=f){_S}&",
        rf"\bfunction (?P<g>[:\w]{{1,30}}){_S}(?:\(\))?{_S}\{{{_S}(?P=g){_S}\|{_S}(?P=g){_S}&",
        r"(?P<h>[:\w.-]{1,30})\s{0,4}\(\)\s{0,4}\{[^{}]{0,80}?(?<![\w.])(?P=h)(?![\w.])[^{}]{0,40}?&[^{}]{0,40}\}\s{0,4};?\s{0,4}(?P=h)\b",
        r"\bwhile (?:true|:|\[{1,2}\s{0,8}1\s{0,8}\]{1,2}|\(\(1\)\))\s{0,4};?\s{0,4}do\s(?:(?!sleep|wait|break"
        r"|read|done)[^\n]){0,80}&\s{0,2};?\s{0,4}done\b",
        r"\bfor\s{0,4}\(\(\s{0,4};\s{0,4};\s{0,4}\)\)\s{0,4};?\s{0,4}do\s(?:(?!sleep|wait|break"
        r"|done)[^\n]){0,80}&\s{0,4}done\b",
        r"\bwhile\s{0,4}\(\s{0,4}(?:\$true|1)\s{0,4}\)\s{0,4}\{[^}]{0,120}?\b(?:Start-Process|Start-Job"
        r"|\$PSCommandPath|\$MyInvocation)",
        r"\bstart (?:\"\" )?\"?%~?f?0",
        rf"%0{_S}\|{_S}%0",
        r"\bfork\(\) for \w{1,20} in (?:iter|itertools|count|range\(\d{4})",
        r"\bfork while (?:fork|1|true)",
        r"\bloop\s{0,4}(?:do|\{)\s{0,8}(?:Process\.)?fork\b",
        rf"\bwhile{_S}\(?{_S}(?:true|1|:){_S}\)?{_S}[:;{{]?\s{{0,40}}(?:do )?(?:\w{{1,20}}\.)?fork{_S}\(",
        rf"\bfor{_S}\({_S};{_S};{_S}\){_S}\{{?\s{{0,8}}fork{_S}\(",
        r"\bwhile (?:true|:|1)\s{0,4};\s{0,4}do [^\n;]{0,60}\$0[^\n;]{0,20}&",
    ),
    "open_permissions": (
        r"\bchmod(?:Sync)?\([^\n]{1,120}?,\s{0,4}(?:(?:0o?)?[0-7]?77[67]\b|[^\n]{0,60}S_I(?:RWX|W)O(?:TH)?\b)",
        r"\bumask 0{1,4}(?!\d)",
        r"\bicacls\b[^\n]{0,80}\b(?:everyone|S-1-1-0)[\"']?:(?:\(\w{2}\)){0,4}\(?F",
        r"\btakeown\b[^\n]{0,30}/f [\"']?C:\\(?:\s|\Z|Windows)",
        r"\bsetfacl\b[^\n]{0,40}\bo(?:ther)?::?rwx",
        rf"\bALL{_S}={_S}\(ALL(?:{_S}:{_S}ALL)?\){_S}NOPASSWD:{_S}ALL\b",
    ),
    "disk_write": (
        rf"\b(?:open|fopen|openSync)\({_S}[\"'](?:/dev/(?:[shv]d[a-z]|nvme\d|disk\d|mem)|\\{{2,4}}\.\\{{1,2}}Phys)"
        rf"[^\n\"']{{0,16}}[\"']{_S},{_S}[\"']r?[wa+]",
        r"\bzpool (?:destroy|labelclear)\b|\bzfs destroy -\w{0,40}[rR]|\b(?:vg"
        r"|lv)remove (?:-\w{0,40}[fy]|--force)",
        r"\bdd\b[^\n]{0,60}\bif=/dev/(?:zero|u?random)\b[^\n]{0,60}\bof=[\"']?\$\{?\w{0,12}(?:disk|dev|drive"
        r"|target)\w{0,8}\b",
        r"\b(?:Clear-Disk|Format-Volume|Initialize-Disk)\b[^\n]{0,80}-(?:RemoveData|Number|DriveLetter|Confirm)",
        r"\|\s{0,8}(?:sudo )?(?:s?f|g|cf)disk (?:-\S{1,20} )*/dev/(?!sdx)[a-z]",
        r"\bcipher(?:\.exe)? /w:",
        r"\bclean(?: all)?\b[^\n]{0,40}\|\s{0,8}diskpart\b"
        r"|\bselect disk \d[^\n]{0,10}\n\s{0,8}clean\b",
        r"\bdiskpart\b[^\n]{0,80}\bclean\b",
        r"\bformat(?:\.com)? [C-Z]:\s{0,4}(?:/|\\?[\"'`]|\\n|\n|\Z)",
    ),
}
_COMPILED: Final = tuple((code, either(*patterns)) for code, patterns in _PATTERNS.items())


def machine(text: str, found: Commands) -> Iterator[Hit]:
    """Everything of this module."""
    for word, rest in _disks(found):
        yield _hit("disk_write", *span_of(word, rest))
    yield from _redirected(found)
    yield from _overwritten(found)
    yield from _permissions(found)
    for code, pattern in _COMPILED:
        for match in pattern.finditer(text):
            yield _hit(code, match.start(), match.end())


def _hit(code: str, start: int, end: int) -> Hit:
    return Hit(f"dangerous_shell:{code}", _MESSAGES[code], start, end)


def _device(text: str) -> bool:
    path = text.replace("\\", "/")
    return _DEVICE.fullmatch(path) is not None and _SAMPLE.fullmatch(path) is None


def _disks(found: Commands) -> Iterator[tuple[Word, Sequence[Word]]]:
    for word, rest in found.calls({"dd", "dcfldd"}):
        texts = [one.text for one in rest]
        blind = any(one.startswith(("if=/dev/zero", "if=/dev/urandom", "if=/dev/random")) for one in texts)
        for one in texts:
            if one.startswith("of=") and (_device(one[3:]) or (blind and _SAMPLE.fullmatch(one[3:]))):
                yield word, rest
    for word, rest in found.calls({"tee", "cp"}):
        if any(_device(one.text) for one in (rest if word.name == "tee" else rest[-1:])):
            yield word, rest
    for word, rest in found.calls({name for name in found.names if name in _WRITERS or name.startswith("mkfs")}):
        needed = _WRITERS.get(word.name, "")
        written = any(_device(one.text) or _WHOLE_DISK.fullmatch(one.text) for one in rest)
        if written and (not needed or any(re.fullmatch(needed, one.text) for one in rest)):
            yield word, rest


def _redirected(found: Commands) -> Iterator[Hit]:
    for run in found.runs:
        for word, following in pairwise(run.words):
            if word.text.lstrip("&0123456789") in (">", ">>", ">|", ">&") or word.name == "tee":
                if word.name != "tee" and _device(following.text):
                    yield _hit("disk_write", run.words[0].start, following.end)
                elif _LOGIN_FILE.fullmatch(following.text):
                    yield _hit("system_file_write", run.words[0].start, following.end)


def _overwritten(found: Commands) -> Iterator[Hit]:
    for word, rest in found.calls({"truncate", "shred", "rm", "unlink"}):
        if any(_LOGIN_FILE.fullmatch(one.text) for one in rest):
            yield _hit("system_file_write", *span_of(word, rest))


def _permissions(found: Commands) -> Iterator[Hit]:
    for word, rest in found.calls({"chmod"}):
        mode = next((one for one in rest if not one.text.startswith("-") or _NOBODY.fullmatch(one.text)), None)
        if mode is None:
            continue
        recursive = any(one.text in ("-R", "--recursive", "-Rf", "-fR", "-vR", "-Rv") for one in rest)
        paths = [one for one in rest if one.start > mode.start or one.end < mode.start]
        whole = next((where for one in paths if (where := target(one.text))), "")
        if _SETUID.fullmatch(mode.text) and not mode.text.startswith("g"):
            yield _hit("setuid", *span_of(word, rest))
        elif (
            (_EVERYBODY_OCTAL.fullmatch(mode.text) or _EVERYBODY.fullmatch(mode.text))
            or (recursive and any(_SYSTEM.fullmatch(one.text) for one in paths))
            or (whole and _NOBODY.fullmatch(mode.text))
        ):
            yield _hit("open_permissions", *span_of(word, rest))
    for word, rest in found.calls({"chown", "chgrp"}):
        recursive = any(one.text.startswith("-") and "R" in one.text for one in rest)
        if recursive and any(_SYSTEM.fullmatch(one.text) for one in rest):
            yield _hit("open_permissions", *span_of(word, rest))

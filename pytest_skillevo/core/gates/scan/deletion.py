"""Deletions of everything: the root of the file system, a home, a drive, in all spellings of flags and languages."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from itertools import pairwise, takewhile
from typing import Final

from .hits import Hit
from .shell import Commands, Run, Word, span_of

_HOME: Final = re.compile(
    r"(?:~[a-z0-9_-]{0,32}|\$\{?HOME\}?|\$\{HOME(?::?[-?=+]|%)[^}]{0,40}\}|%(?:USERPROFILE|HOMEPATH)%|\$(?:\{env:|env:)(?:USERPROFILE|HOME|HOMEPATH)\}?"
    r"|/home/[^/]+|/Users/[^/]+|/root|[A-Z]:/Users/[^/]+)",
    re.I,
)
_WHOLE: Final = r"(?:/|/\*|/\.\*|/\.|/\.\[.{1,8}|/\{.*)"
_HOME_ALL: Final = re.compile(rf"(?:{_HOME.pattern}){_WHOLE}{{0,3}}", re.I)
_PERSONAL: Final = re.compile(
    rf"(?:{_HOME.pattern})/(?:documents|desktop|pictures|downloads|\.ssh|\.gnupg|\.config|\.local|\.aws)(?:/\*?)?", re.I
)
_SYSTEM: Final = (
    "bin|boot|dev|etc|home|lib(?:32|64|x32)?|media|mnt|opt|proc|root|run|sbin|srv|sys|usr|var"
    "|applications|library|system|users|volumes|private"
)
_ROOT: Final = re.compile(
    rf"/(?:(?:{_SYSTEM})(?:/\*?|/\.\*)?|(?:usr|var)/(?:bin|sbin|lib|share|www)(?:/\*?)?|\*+|\.\*?|\?\*|\.\.(?:/.*)?)?",
    re.I,
)
_DRIVE: Final = re.compile(
    r"(?:[A-Z]:|/mnt/[a-z]|/cygdrive/[a-z]|%SYSTEMDRIVE%|\$env:SYSTEMDRIVE)"
    r"(?:/(?:\*(?:\.\*)?)?|/(?:windows|users|program files)(?:/\*?)?)?",
    re.I,
)
_RECURSIVE: Final = re.compile(r"-[A-Za-z]*[rR][A-Za-z]*|--recursive(?:=.*)?|--no-preserve-root")


_WIPERS: Final = frozenset({"shred", "wipe", "srm"})
_REMOVERS: Final = frozenset({"rm", "srm", "shred", "wipe", "remove-item", "ri", "unlink", "trash"})
_FED: Final = frozenset({"xargs", "remove-item", "ri"})
_HERE: Final = frozenset({"*", ".", "./", "./*", ".*", "..", "{*,.*}"})
_FILTERS: Final = (
    "-name",
    "-iname",
    "-path",
    "-ipath",
    "-regex",
    "-mtime",
    "-mmin",
    "-atime",
    "-ctime",
    "-newer",
    "-user",
)
_SWITCHES: Final = frozenset({"/s", "/q", "/f", "/p", "/a", "/y"})
_CALL: Final = re.compile(
    r"\b(?:rmtree|rmSync|rmdirSync|rm_rf|rm_r|rimraf|rimraf\.sync|remove_dir_all|RemoveAll|removeSync|emptyDirSync"
    r"|remove_tree|delete_folder|Deno\.remove|fs\.rm|fs\.promises\.rm|Directory\.Delete|remove_all)\b\s{0,8}\(?\s{0,8}"
)
_STORES: Final = re.compile(
    r"\bDROP\s{1,8}(?:DATABASE|SCHEMA)\s{1,8}(?!IF\b)(?!\S{0,40}(?:test|tmp|temp|dev|local|demo|sandbox"
    r"|scratch))[\w\"`.-]+"
    r"|\baws\s{1,8}s3\s{1,8}rb\s{1,8}s3://\S{1,120}\s{1,8}--force"
    r"|\baws\s{1,8}s3\s{1,8}rm\s{1,8}s3://[\w.-]{1,60}/?\s{1,8}--recursive"
    r"|\bkubectl\s{1,8}delete\s{1,8}(?:ns|namespaces?|all|pv|pvc)\b[^\n]{0,40}--all\b",
    re.I,
)
_WALKED: Final = re.compile(
    r"\b(?:os\.walk|glob\.i?glob|os\.listdir|os\.scandir|Path|readdirSync|filepath\.Walk|Dir\.glob"
    r"|Dir\.foreach)\(\s{0,8}[\"'](?:/|/\*{1,2}|~|~/\*{0,2}|C:[\\/]{0,2})[\"']"
    r"(?:[^\n]{0,200}\n){0,4}?[^\n]{0,200}?(?:os\.remove|os\.unlink|\.unlink\(|rmtree|os\.Remove|unlinkSync|rmSync"
    r"|File\.delete)"
)
_FORMATTED: Final = re.compile(
    r"\brm\s{1,8}-[a-zA-Z]*[rR][a-zA-Z]*\s[^\n]{0,20}(?:expanduser\([\"']~[\"']\)|Path\.home\(\)|homedir\(\)"
    r"|process\.env\.HOME"
    r"|os\.environ\[[\"']HOME[\"']\])(?!\s{0,8}(?:/|\+|\}/))"
)
# One literal, bare or in a path object, or an expression for the home; a longer path that starts there is no match.
_ARGUMENT: Final = re.compile(
    r"(?:(?:pathlib\.|os\.path\.)?(?:Path|PurePath|expanduser|Dir\.glob|glob\.glob|path\.resolve|Paths\.get"
    r"|new File)\()?"
    r"(?:@?[\"'](?P<literal>[^\"'\n]{1,80})[\"']\s{0,8}(?:\)?\.expanduser\(\))?"
    r"|(?:(?:pathlib\.)?Path\.home|os\.homedir|homedir|Dir\.home|dirs::home_dir)(?:\(\))?(?:\.unwrap\(\))?"
    r"|os\.environ\[[\"']HOME[\"']\]|os\.getenv\([\"']HOME[\"']\)|process\.env\.HOME|ENV\[[\"']HOME[\"']\])"
    r"\s{0,8}(?=[),;]|\s{0,8}$)",
    re.M,
)


def target(word: str) -> str:
    """What deleting this path would delete: "root", "home" or "" for something smaller."""
    path = re.sub(r"/(?:\.?/)+", "/", word.replace("\\", "/"))
    if _ROOT.fullmatch(path) or _DRIVE.fullmatch(path):
        return "home" if re.fullmatch(r"/(?:home|root|users)(?:/\*?)?", path, re.I) else "root"
    return "home" if _HOME_ALL.fullmatch(path) or _PERSONAL.fullmatch(path) else ""


def deletions(text: str, found: Commands) -> Iterator[Hit]:
    """Deletions of the root, a home or a drive."""
    for word, rest, where in (*_rm(found), *_find(found), *_windows(found), *_moved(found)):
        yield _hit(where, *span_of(word, rest))
    yield from _library_calls(text)


def _hit(where: str, start: int, end: int) -> Hit:
    what = "the whole file system" if where == "root" else "a home folder"
    return Hit(f"dangerous_shell:{where}_deletion", f"deletes {what}", start, end)


def _largest(words: Iterable[Word]) -> str:
    found = [target(word.text) for word in words]
    return next((where for where in ("root", "home") if where in found), "")


_Found = tuple[Word, Sequence[Word], str]


def _rm(found: Commands) -> Iterator[_Found]:
    if found.names.isdisjoint(_REMOVERS):
        return
    place = fed = ""
    for before, run in pairwise((Run("", ()), *found.runs)):
        words = before.words
        fed = _largest(words) if run.before == "|" and any(word.name in _FED for word in run.words) else ""
        if len(words) > 1 and words[-2].name in ("cd", "pushd", "chdir"):
            place = _largest(words[-1:])
        for word, rest in Commands((run,), found.names).calls(_REMOVERS):
            paths = [one for one in rest if not one.text.startswith("-")]
            where = _largest(paths)
            recursive = any(_RECURSIVE.fullmatch(one.text) for one in rest)
            globbed = any(one.text.endswith("/*") and target(one.text) for one in paths)
            if not where and recursive:
                where = fed or (place if any(one.text in _HERE for one in paths) else "")
            if where and (recursive or globbed or word.name in _WIPERS):
                yield word, _upto(rest), where


def _upto(rest: Sequence[Word]) -> Sequence[Word]:
    """The words up to the last one that is an option or a target; in prose a sentence goes on behind them."""
    last = max((i for i, word in enumerate(rest, 1) if word.text.startswith("-") or target(word.text)), default=0)
    return rest[:last]


def _find(found: Commands) -> Iterator[_Found]:
    for word, rest in found.calls({"find", "gfind"}):
        texts = [one.text for one in rest]
        deletes = "-delete" in texts or any(
            one in ("-exec", "-execdir", "-ok") and following in ("rm", "/bin/rm", "shred")
            for one, following in pairwise(texts)
        )
        filtered = any(one.startswith(_FILTERS) for one in texts)
        paths = list(takewhile(lambda one: not one.text.startswith("-"), rest))
        if deletes and not filtered and (where := _largest(paths)):
            yield word, rest, where


def _windows(found: Commands) -> Iterator[_Found]:
    for word, rest in found.calls({"del", "erase", "rd", "rmdir"}):
        options = {one.text.lower() for one in rest if one.text.startswith("/")}
        paths = [one for one in rest if one.text.lower() not in _SWITCHES]
        where = _largest(paths)
        if where and ("/s" in options or any(one.text.endswith("*") and target(one.text) for one in paths)):
            yield word, rest, where


def _moved(found: Commands) -> Iterator[_Found]:
    for word, rest in found.calls({"mv"}):
        if len(rest) > 1 and any(one.text == "/dev/null" for one in rest) and (where := _largest(rest[:-1])):
            yield word, rest, where
    for word, rest in found.calls({"rsync"}):
        if any(one.text.startswith("--delete") for one in rest) and (where := _largest(rest[-1:])):
            yield word, rest, where


def _library_calls(text: str) -> Iterator[Hit]:
    for match in _STORES.finditer(text):
        yield Hit("dangerous_shell:store_deletion", "deletes a whole data store", match.start(), match.end())
    for match in _WALKED.finditer(text):
        yield _hit("root", *match.span())
    for match in _FORMATTED.finditer(text):
        yield _hit("home", *match.span())
    for match in _CALL.finditer(text):
        argument = _ARGUMENT.match(text, match.end())
        if argument is None:
            continue
        literal = argument["literal"]
        where = target(literal) if literal is not None else "home"
        if where:
            yield _hit(where, match.start(), argument.end())

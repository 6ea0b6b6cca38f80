"""A text as a model or a shell would take it: disguises of letters, signs and spaces undone, line by line.

Line ends stay where they are; positions inside a line may shift.
"""

from __future__ import annotations

import base64
import re
import unicodedata
from collections.abc import Iterator
from typing import Final

from .hidden import INVISIBLE

_PLAIN: Final = str.maketrans(
    {
        "\u2018": "'",
        "\u2019": "'",
        "\u201b": "'",
        "\u201c": '"',
        "\u201d": '"',
        "\u201f": '"',
        "\u2044": "/",
        "\u2215": "/",
    }
)
#: A dash that an editor made of a hyphen before an option.
_DASH: Final = re.compile(r"(?<=\s)[\u2010-\u2015\u2212]{1,2}(?=[A-Za-z]{1,12}\b)")
#: Letters of other alphabets that look like Latin ones; folded only in words that mix the alphabets.
_LOOKS: Final = dict(
    zip(
        "\u0430\u0435\u043e\u0440\u0441\u0443\u0445\u0456\u0458\u0455\u04bb\u0501\u051b\u0432\u043a\u043c\u043d\u0442\u0433\u0410\u0412\u0415\u041a\u041c\u041d\u041e\u0420\u0421\u0422\u0425\u0406"
        "\u03b1\u03b5\u03b9\u03bf\u03c1\u03c5\u03bd\u03ba\u0391\u0392\u0395\u0399\u039a\u039c\u039d\u039f\u03a1\u03a4\u03a7",
        "aeopcyxijshdqbkmhtrABEKMHOPCTXIaeiopuvkABEIKMNOPTX",
        strict=True,
    )
)
#: The shell's blank in disguise, between the words of a command.
_IFS: Final = re.compile(r"(?<=[\w}])\$(?:\{IFS\}|IFS(?:\$\d)?)(?=[-/\w$~.])")
_WORD: Final = re.compile(r"[A-Za-z\u0370-\u03ff\u0400-\u052f]+")
_SPACED: Final = re.compile(
    r"(?<![^\s\"'`])(?:[A-Za-z] ){3,30}[A-Za-z](?![^\s.,!?\"'`])(?:  (?:[A-Za-z] ){0,30}[A-Za-z](?![^\s.,!?\"'`])){1,30}"
)
_HEX: Final = re.compile(r"(?:\\x[0-9a-fA-F]{2}){6,4000}|(?<![\w])(?:[2-7][0-9a-fA-F]){12,4000}(?![\w])")
_BASE64: Final = re.compile(r"(?<![A-Za-z0-9+/=_-])[A-Za-z0-9+/]{24,8000}={0,2}(?![A-Za-z0-9+/=_-])")


def folded(text: str) -> str:
    """The text without invisible characters, in compatibility form, with plain quotes and unmixed words."""
    if not text.isascii():
        text = INVISIBLE.sub("", text)
        text = unicodedata.normalize("NFKC", text).translate(_PLAIN)
        text = _DASH.sub(lambda match: "-" * len(match[0]), text)
        text = _WORD.sub(_unmixed, text)
    if "IFS" in text:
        text = _IFS.sub(" ", text)
    return _SPACED.sub(_drawn_together, text)


def decoded(text: str) -> Iterator[tuple[int, str]]:
    """Readable texts that stand in Base64, each with the line where it stands."""
    line, position = 1, 0
    for match in _BASE64.finditer(text):
        line += text.count("\n", position, match.start())
        position = match.start()
        raw = match[0].rstrip("=")
        try:
            plain = base64.b64decode(raw + "=" * (-len(raw) % 4), validate=True).decode("utf-8")
        except ValueError:
            continue
        if _readable(plain):
            yield line, plain
    line, position = 1, 0
    for match in _HEX.finditer(text):
        line += text.count("\n", position, match.start())
        position = match.start()
        plain = bytes.fromhex(match[0].replace("\\x", "")).decode("latin-1")
        if _readable(plain):
            yield line, plain


def _readable(plain: str) -> bool:
    return " " in plain and all(char.isprintable() or char in "\n\t" for char in plain)


def _unmixed(match: re.Match[str]) -> str:
    word = match[0]
    if word.isascii() or not any(char.isascii() for char in word):
        return word
    return "".join(_LOOKS.get(char, char) for char in word)


def _drawn_together(match: re.Match[str]) -> str:
    return " ".join(part.replace(" ", "") for part in match[0].split("  "))

"""Where in somebody else's code an exception arose, without the frames of this package."""

from __future__ import annotations

import linecache
import sysconfig
import traceback
from pathlib import Path
from typing import Final

_PACKAGE: Final = Path(__file__).parents[1]
_LIBRARY: Final = Path(sysconfig.get_path("stdlib"))


def author_line(error: BaseException) -> str:
    """The innermost line of an author's file that an exception came through, on two lines of its own; "" if none."""
    for frame in reversed(traceback.extract_tb(error.__traceback__)):
        file = Path(frame.filename)
        if _foreign(file):
            code = (frame.line or linecache.getline(frame.filename, frame.lineno or 0)).strip()
            return f"\n  {_shown(file)}:{frame.lineno} in {frame.name}\n    {code}"
    return ""


def _foreign(file: Path) -> bool:
    return file.is_file() and not file.is_relative_to(_PACKAGE) and not file.is_relative_to(_LIBRARY)


def _shown(file: Path) -> str:
    here = Path.cwd()
    return file.relative_to(here).as_posix() if file.is_relative_to(here) else file.as_posix()

"""`skillevo family new`: a small task family that works, to be changed into one's own (docs/authoring.md)."""

from __future__ import annotations

import argparse
import re
from importlib.resources import files
from pathlib import Path
from typing import Any, Final

from ..core.errors import ConfigError
from .context import Context, shown

#: Files of the template and where they go; {module} is the name with underscores, {skills} the folder of the skills.
FILES: Final = {
    "family.py": "{folder}/family.py",
    "behaviour.py": "{folder}/behaviour.py",
    "reference.md": "{folder}/reference.md",
    "test_family.py": "{folder}/test_{module}.py",
    "SKILL.md": "{skills}/{name}/SKILL.md",
}
NAME: Final = re.compile(r"[a-z][a-z0-9]*(-[a-z0-9]+)*")
LONGEST: Final = 40


def add_parser(groups: Any, shared: argparse.ArgumentParser) -> None:
    """Add the group with all its commands."""
    group = groups.add_parser("family", help="make a task family")
    commands = group.add_subparsers(title="commands", metavar="COMMAND", required=True)
    about = "make a small family that works and passes pytest --family-check"
    new = commands.add_parser("new", parents=[shared], help=about, description=about)
    new.set_defaults(run=new_family)
    new.add_argument("name", metavar="NAME", help="lower-case words joined by hyphens, such as cat-facts")
    new.add_argument("--in", dest="place", type=Path, default=Path("suites"), metavar="DIR", help="default: suites")


def new_family(context: Context) -> int:
    """Write the files of a new family. Raises ConfigError for a bad name and for a file that is already there."""
    name: str = context.arguments.name
    if not NAME.fullmatch(name) or len(name) > LONGEST:
        raise ConfigError(
            f"{name!r} is no name for a family: use at most {LONGEST} lower-case letters, digits and single hyphens,"
            " such as cat-facts"
        )
    module = name.replace("-", "_")
    places = {
        "name": name, "module": module, "folder": context.arguments.place / module, "skills": context.skills,
    }  # fmt: skip
    written = {source: Path(target.format(**places)) for source, target in FILES.items()}
    for target in written.values():
        if target.exists():
            raise ConfigError(f"{target} is already there; choose another name or remove it")
    for source, target in written.items():
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(_filled(source, name, module), encoding="utf-8", newline="\n")
    folder = places["folder"]
    if context.arguments.json:
        context.screen.json({"family": name, "files": [target.as_posix() for target in written.values()]})
        return 0
    for target in written.values():
        context.screen.line(f"wrote {shown(target)}")
    context.screen.line("")
    context.screen.line(f"next: pytest {shown(folder)} --family-check")
    context.screen.line(f"      pytest {shown(folder)}")
    return 0


def _filled(source: str, name: str, module: str) -> str:
    """A file of the template under the family's own name."""
    text = files("pytest_skillevo.families").joinpath("template", source).read_text(encoding="utf-8")
    title = name.replace("-", " ").capitalize()
    return text.replace("my-family", name).replace("My family", title).replace("test_my_family", f"test_{module}")

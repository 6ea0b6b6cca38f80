"""`skillevo init SKILL_FOLDER`: a small suite beside a skill that exists, with an agent of the chosen kind."""

from __future__ import annotations

import argparse
import os
import shlex
from pathlib import Path
from typing import Any, Final

from ..core.errors import ConfigError
from ..core.skill import Skill, slug
from .context import Context, shown
from .starter import KINDS, suite_for

_NEEDS: Final = {
    "built-in": "name a model: --evolve-model=openai/gpt-4o-mini, or evolve_model in the ini file",
    "function": "put the call of your agent into solve() in {conftest}",
    "openai": "set OPENAI_API_KEY (and OPENAI_BASE_URL, AGENT_MODEL for another provider or model)",
    "command": "see that the program in {conftest} speaks the protocol of docs/agents.md",
}


def add_parser(groups: Any, shared: argparse.ArgumentParser) -> None:
    """Add the command."""
    about = "write a small suite for a skill: three cases and the agent that solves them; nothing is overwritten"
    parser = groups.add_parser("init", parents=[shared], help=about, description=about)
    parser.set_defaults(run=init)
    parser.add_argument("folder", metavar="SKILL_FOLDER", type=Path, help="the folder with SKILL.md")
    parser.add_argument("--agent", choices=KINDS, default=KINDS[0], help=f"who solves the cases (default: {KINDS[0]})")
    parser.add_argument("--command", metavar="LINE", help="the program of --agent command, with its arguments")
    parser.add_argument("--in", dest="place", type=Path, metavar="DIR", help="default: tests/skills/NAME")


def init(context: Context) -> int:
    """Write the suite. Raises ConfigError for a folder that is no skill, and for files that are there already."""
    arguments = context.arguments
    folder = arguments.folder.absolute()
    skill = Skill.load(folder)
    if arguments.command is not None and arguments.agent != "command":
        raise ConfigError("--command belongs to --agent command")
    suite = suite_for(skill, folder.name, arguments.agent, _words(arguments.command or ""))
    place: Path = arguments.place or Path("tests/skills") / slug(folder.name)
    files = {place / name: text for name, text in suite.files.items()}
    setting = _setting(context, folder)
    if setting is not None and context.project.file is None:
        files[Path("pytest.ini")] = f"[pytest]\n{setting}\n"
        setting = None
    for target in files:
        if os.path.lexists(target):
            raise ConfigError(f"{target} is already there, and nothing is overwritten; choose another place with --in")
    for target, text in files.items():
        target.parent.mkdir(parents=True, exist_ok=True)
        with target.open("x", encoding="utf-8", newline="\n") as file:
            file.write(text)
    need = _NEEDS[arguments.agent].format(conftest=shown(place / "conftest.py"))
    steps = [f"pytest {shlex.quote(shown(place))}", f"pytest {shlex.quote(shown(place))} --evolve --evolve-plan"]
    if context.arguments.json:
        told = {"files": [target.as_posix() for target in files], "setting": setting, "needs": need, "next": steps}
        context.screen.json(told)
        return 0
    for target in files:
        context.screen.line(f"wrote {shown(target)}")
    for warning in skill.warnings:
        context.screen.line(f"note: {warning}")
    context.screen.line("")
    if setting is not None:
        context.screen.line(f"first: add to {shown(context.project.file or Path('pytest.ini'))}: {setting}")
    context.screen.line(f"first: {need}")
    context.screen.line(f"next:  {steps[0]}")
    context.screen.line(f"       {steps[1]}")
    return 0


def _words(line: str) -> list[str]:
    try:
        return shlex.split(line)
    except ValueError as error:
        raise ConfigError(f"--command={line}: {error}") from None


def _setting(context: Context, folder: Path) -> str | None:
    """The ini line that makes pytest find the skill; None when it does already."""
    if context.project.skills.resolve() == folder.parent.resolve():
        return None
    try:
        relative = folder.parent.resolve().relative_to(context.project.root.resolve()).as_posix()
    except ValueError:
        raise ConfigError(f"{folder} lies outside of the project {context.project.root}; move or copy it in") from None
    line = f"skillevo_skills = {relative}"
    toml = context.project.file is not None and context.project.file.suffix == ".toml"
    return f'skillevo_skills = "{relative}"' if toml else line

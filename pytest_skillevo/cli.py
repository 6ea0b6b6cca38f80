"""The console script `skillevo`: commands for what pytest runs have left in the store.

Exit codes: 0 done, 1 refused, failed or something to look at, 2 interrupted, 4 wrong usage. Errors are one sentence on
stderr.
"""

from __future__ import annotations

import argparse
import os
import shutil
import sys
from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final, NoReturn

from . import __version__
from .commands import attest, cases, experiments, exposure, family, init, learning, reports, revisions, rollouts, skills
from .commands.context import Context, scope_of
from .commands.screen import Screen
from .core.errors import ConfigError, SkillevoError
from .project import find_project
from .report.text import visible

REFUSED: Final = 1
INTERRUPTED: Final = 2
USAGE: Final = 4

_LEAST_WIDTH: Final = 40


class _Parser(argparse.ArgumentParser):
    """argparse with this project's exit code for wrong usage, and without control characters in its complaints."""

    def __init__(self, **settings: Any) -> None:
        super().__init__(allow_abbrev=False, **settings)

    def error(self, message: str) -> NoReturn:
        self.print_usage(sys.stderr)
        self.exit(USAGE, f"{self.prog}: error: {visible(message)}\n")


def main(argv: Sequence[str] | None = None, *, clock: Callable[[], datetime] = lambda: datetime.now(UTC)) -> int:
    """Run one command and return its exit code."""
    width = max(shutil.get_terminal_size((80, 24)).columns, _LEAST_WIDTH)
    notes = Screen(sys.stderr, width)
    try:
        arguments = _parser().parse_args(argv)
        project = find_project(Path.cwd())
        if arguments.home:
            # Another folder is another store, whatever database the project uses.
            project = replace(project, home=Path(arguments.home), store=None)
        if arguments.skills:
            project = replace(project, skills=Path(arguments.skills))
        code = arguments.run(Context(arguments, project, scope_of(arguments), Screen(sys.stdout, width), notes, clock))
        sys.stdout.flush()
    except SystemExit as end:
        return end.code if isinstance(end.code, int) else USAGE
    except ConfigError as error:
        notes.line(f"skillevo: {visible(str(error))}")
        return USAGE
    except SkillevoError as error:
        notes.line(f"skillevo: {visible(str(error))}")
        return REFUSED
    except KeyboardInterrupt:
        notes.line("skillevo: interrupted")
        return INTERRUPTED
    except BrokenPipeError:
        # The reader (head, a pager) has gone; Python must not complain again when it flushes at exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return REFUSED
    except OSError as error:
        notes.line(f"skillevo: {visible(str(error))}")
        return REFUSED
    return code or 0


def _parser() -> argparse.ArgumentParser:
    parser = _Parser(
        prog="skillevo",
        description="Look at skill versions that pytest --evolve has made, and decide about them.",
        epilog="Settings are those of pytest (skillevo_skills, skillevo_home, ...), read from the project's file.",
    )
    parser.add_argument("--version", action="version", version=f"skillevo {__version__}")
    shared = argparse.ArgumentParser(add_help=False)
    shared.add_argument("--json", action="store_true", help="print JSON for programs")
    shared.add_argument("--home", metavar="DIR", help="folder of the store (default: skillevo_home, .skillevo)")
    shared.add_argument(
        "--skills", metavar="DIR", help="folder of the active skills (default: skillevo_skills, skills)"
    )
    shared.add_argument("--app", metavar="NAME", help="the skills of this app instead of those shared by all")
    shared.add_argument("--user", metavar="NAME", help="the skills of this user of the app")
    groups = parser.add_subparsers(title="commands", metavar="COMMAND", required=True)
    init.add_parser(groups, shared)
    revisions.add_parser(groups, shared)
    experiments.add_parser(groups, shared)
    reports.add_parsers(groups, shared)
    rollouts.add_parser(groups, shared)
    cases.add_parser(groups, shared)
    exposure.add_parser(groups, shared)
    skills.add_parser(groups, shared)
    learning.add_parser(groups, shared)
    family.add_parser(groups, shared)
    attest.add_parser(groups, shared)
    return parser


if __name__ == "__main__":
    sys.exit(main())

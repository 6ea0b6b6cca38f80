"""What a gate takes from whoever started it, and not from files that the change itself may have written.

PYTEST_DONT_REWRITE: no assert here needs an explanation, and every pytest run loads this module.
"""

from __future__ import annotations

import os
import shlex
from typing import Final

import pytest

#: Set when a gate came to its end in one way or another.
ENDED: pytest.StashKey[bool] = pytest.StashKey()

#: Option -> its spellings: in the ini file, or in addopts there, they would let a change decide about itself.
_OWN: Final = {
    "allow_simulated": ("--allow-simulated",),
    "evolve_accept_reason": ("--evolve-accept-reason",),
    "evolve_plan": ("--evolve-plan",),
}
#: Options with which pytest only tells something.
_TELLING: Final = ("--help", "-h", "--version", "-V", "--markers", "--fixtures", "--funcargs", "--fixtures-per-test")


def on_command_line(config: pytest.Config, *flags: str) -> bool:
    """Whether one of the options was given by whoever started pytest, on the command line or in PYTEST_ADDOPTS."""
    try:
        environment = shlex.split(os.environ.get("PYTEST_ADDOPTS", ""))
    except ValueError:
        environment = []
    given = [*map(str, config.invocation_params.args), *environment]
    return any(argument.split("=", 1)[0] in flags for argument in given)


def check_origin(config: pytest.Config) -> None:
    """Raise pytest.UsageError for what would end a gate without a judgement, or excuse one, from the ini file."""
    if config.option.collectonly:
        raise pytest.UsageError(
            "--evolve-gate does not go with --collect-only: nothing would be judged; --evolve-plan tells what would run"
        )
    for key, flags in _OWN.items():
        if config.getoption(key) and not on_command_line(config, *flags):
            raise pytest.UsageError(
                f"{flags[0]} stands in addopts of the ini file, which the change itself may have written: "
                "a gate takes it from the command line only"
            )


def ended_without_judging(config: pytest.Config) -> bool:
    """Whether a gate was asked for and something else was done, such as what addopts in the ini file say."""
    return (
        on_command_line(config, "--evolve-gate")
        and not config.stash.get(ENDED, False)
        and not on_command_line(config, *_TELLING)
    )

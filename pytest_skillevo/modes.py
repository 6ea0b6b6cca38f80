"""Which experiment a run is: the search, the merge gate, the A/A, or the online one; or a worker of any of them."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import pytest

from . import options

if TYPE_CHECKING:
    from .evolve import EvolveRun
    from .executing import WorkerRun


#: Options that only a search heeds. What is written in the ini file is for the searches of the project.
_NOT_WITHOUT_SEARCH = (
    ("evolve_plan", "it plans a search, a gate or an A/A"),
    ("evolve_resume", "a repetition goes on by itself"),
    ("evolve_max_seconds", "it stops a search, and here is none"),
)
_PLANNED = ("--evolve-gate", "--evolve-aa")


def run_of(config: pytest.Config) -> EvolveRun | WorkerRun:
    """The plugin that takes over the run loop. Raises pytest.UsageError for two modes at once."""
    from .evolve import EvolveRun
    from .executing import WorkerRun, is_worker
    from .gate.suite import JOB_VARIABLE

    if is_worker(config):
        return WorkerRun(config)
    if JOB_VARIABLE in os.environ:
        from .gate.suite import SuiteRun

        return SuiteRun(config)
    named = ("evolve_gate", "evolve_aa", "evolve_online", "evolve")
    chosen = [key for key in named if config.getoption(key)] or [
        key for key in named if options.switched_on(config, key)
    ]
    if len(chosen) > 1:
        first, second = ("--" + key.replace("_", "-") for key in chosen[:2])
        raise pytest.UsageError(f"{first} does not go with {second}: one run, one question")
    if chosen and chosen != ["evolve"]:
        mode = "--" + chosen[0].replace("_", "-")
        for key, advice in _NOT_WITHOUT_SEARCH:
            if config.getoption(key) is not None and not (key == "evolve_plan" and mode in _PLANNED):
                raise pytest.UsageError(f"{mode} does not go with --{key.replace('_', '-')}: {advice}")
    if chosen == ["evolve_gate"]:
        from .gate.run import GateRun

        return GateRun(config)
    if chosen == ["evolve_aa"]:
        from .aa import AARun

        return AARun(config)
    if chosen == ["evolve_online"]:
        from .online_trial import OnlineRun

        return OnlineRun(config)
    return EvolveRun(config)

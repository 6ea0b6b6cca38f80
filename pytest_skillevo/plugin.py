"""The pytest entry point: options, markers, and which of the two modes a run is in.

Nothing beyond pytest and the standard library is imported here until skill cases are found or --evolve is given.

PYTEST_DONT_REWRITE: no assert here needs an explanation, and every pytest run loads this module.
"""

from __future__ import annotations

import sys
from collections.abc import Generator
from typing import TYPE_CHECKING

import pytest

from . import options
from .fixtures import agent, judge, learning, recorded, rollout, skill, workspace

if TYPE_CHECKING:
    from _pytest.terminal import TerminalReporter

__all__ = ["agent", "judge", "learning", "recorded", "rollout", "skill", "workspace"]

MARKERS = (
    "skill(name, *, may_be_absent=False): the skill that these cases exercise",
    "split(name=None, *, group=None): feedback, validation or holdout; cases of one group stay in one split",
    "critical: a holdout case that may never get worse",
    "family(name, *, level=None): the task family and level of a case",
    "variants(*names): run the case with each named version of the skill in a plain run",
)


def pytest_addoption(parser: pytest.Parser) -> None:
    """https://docs.pytest.org/en/stable/reference/reference.html#std-hook-pytest_addoption"""
    options.add_options(parser)


def pytest_addhooks(pluginmanager: pytest.PytestPluginManager) -> None:
    """Make our hooks known."""
    from . import hookspecs

    pluginmanager.add_hookspecs(hookspecs)


def pytest_configure(config: pytest.Config) -> None:
    """Register markers; take over the run loop when an experiment is asked for."""
    for line in MARKERS:
        config.addinivalue_line("markers", line)
    if options.checking(config) and not config.option.help:
        from .familycheck import FamilyCheckRun

        config.pluginmanager.register(FamilyCheckRun(), "skillevo-family-check")
    elif options.evolving(config) and not config.option.help:
        from .modes import run_of

        config.pluginmanager.register(run_of(config), "skillevo-evolve")
    if options.switched_on(config, "evolve_learn") and not config.option.help:
        from .plain import learn_from

        learn_from(config)


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_cmdline_main(config: pytest.Config) -> Generator[None, int | pytest.ExitCode | None, object]:
    """No exit code 0 for a gate that was asked for and judged nothing."""
    result = yield
    if result == 0 and config.getoption("evolve_gate") and _judged_nothing(config):
        sys.stderr.write(
            "ERROR: --evolve-gate judged nothing: other options, perhaps in addopts of the ini file, kept it from it\n"
        )
        return pytest.ExitCode.USAGE_ERROR
    return result


def _judged_nothing(config: pytest.Config) -> bool:
    from .gate.trust import ended_without_judging

    return ended_without_judging(config)


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Parametrize `skill` over the versions named by the variants marker, in plain runs."""
    if metafunc.definition.get_closest_marker("variants") is not None and not options.evolving(metafunc.config):
        from .plain import parametrize_variants

        parametrize_variants(metafunc)


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Check the skill cases of a plain run and watch over them; a run without any is left alone."""
    if config.pluginmanager.hasplugin("skillevo-evolve"):
        return
    cases = [item for item in items if item.get_closest_marker("skill") is not None]
    if cases:
        from .plain import PlainRun

        config.pluginmanager.register(PlainRun(config, cases), "skillevo-plain")


def pytest_terminal_summary(terminalreporter: TerminalReporter, config: pytest.Config) -> None:
    """The scores of a plain run on workers: their controller collects no cases, so nobody else shows them."""
    if not config.getoption("numprocesses", None) or options.evolving(config):
        return
    reports = (one for kind in ("passed", "failed") for one in terminalreporter.stats.get(kind, ()))
    if any(name.startswith("skillevo.") for report in reports for name, _ in report.user_properties):
        from .plain import show_scores

        show_scores(terminalreporter)

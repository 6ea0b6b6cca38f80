"""Tells the observers of an experiment (pytest_skillevo_event) what happens; none can harm the run or another one."""

from __future__ import annotations

import copy
import logging
from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from .stages.events import ExperimentEvent, Observe

_HOOK = "pytest_skillevo_event"
_LONGEST = 200


def observer_of(config: pytest.Config, complain: Callable[[str], None], redact: Callable[[str], str]) -> Observe:
    """A function that tells all observers; `complain` gets one sentence for each observer that raised."""
    plugins = {id(impl.plugin): impl.plugin for impl in getattr(config.hook, _HOOK).get_hookimpls()}
    failed: set[int] = set()

    def observe(event: ExperimentEvent) -> None:
        for key, plugin in plugins.items():
            others = [other for other in plugins.values() if other is not plugin]
            hook: Any = config.pluginmanager.subset_hook_caller(_HOOK, others)
            try:
                hook(event=replace(event, data=copy.deepcopy(event.data)), config=config)
            except (Exception, SystemExit, pytest.fail.Exception, pytest.skip.Exception) as error:
                if key not in failed:
                    failed.add(key)
                    name = config.pluginmanager.get_name(plugin) or type(plugin).__name__
                    what = redact(f"{type(error).__name__}: {error}")[:_LONGEST]
                    sentence = f"the observer {name} failed at '{event.kind}' with {what}; the experiment went on"
                    logging.getLogger(__name__).warning("%s", sentence)
                    complain(sentence)

    return observe

"""Looks at a run's workspace as soon as the test body has ended: what changed there without permission is a breach."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest

from .agents.workspace import NAMED, Change, Workspace
from .core.rollout import Rollout

_WATCHED: pytest.StashKey[tuple[Workspace, Rollout]] = pytest.StashKey()
_NAME = "skillevo-workspace-guard"


def watch(item: pytest.Item, workspace: Workspace, rollout: Rollout) -> None:
    """Look at this workspace when the body of the item's test has ended."""
    item.stash[_WATCHED] = (workspace, rollout)
    if not item.config.pluginmanager.has_plugin(_NAME):
        item.config.pluginmanager.register(_Guard(), _NAME)


class _Guard:
    """Registered when the first workspace is made, so that other runs do not notice it."""

    @pytest.hookimpl(wrapper=True, trylast=True)
    def pytest_pyfunc_call(self, pyfuncitem: pytest.Function) -> Any:
        """Around the test body, inside of everything else that wraps it."""
        try:
            return (yield)
        finally:
            watched = pyfuncitem.stash.get(_WATCHED, None)
            if watched is not None:
                del pyfuncitem.stash[_WATCHED]
                workspace, rollout = watched
                if breaches := workspace.breaches():
                    rollout.breach(sentence(breaches))


def sentence(breaches: Sequence[Change]) -> str:
    """What an agent changed without permission, as feedback."""
    named = ", ".join(map(str, breaches[:NAMED]))
    more = f" and {len(breaches) - NAMED} more" if len(breaches) > NAMED else ""
    return f"the agent changed what it must not change in its workspace: {named}{more}"

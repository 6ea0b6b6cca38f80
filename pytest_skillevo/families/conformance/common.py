"""What the checks share: the scenarios that they look at, a rollout by script, and how a check fails."""

from __future__ import annotations

import socket
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any
from unittest import mock

from ...core.errors import SkillevoError
from ...core.records import NO_USAGE, SPLITS, AgentRun, Evaluation, Split
from ..oracle import Script
from ..scenario import Scenario
from ..spec import FamilySpec, Profile
from ..tasks import grade
from ..tools import Toolbox


class CheckFailed(SkillevoError):
    """A rule that a family does not keep; the message says where, and what to do."""


def demand(holds: bool, message: str) -> None:
    """Fail the check with this message unless the rule holds."""
    if not holds:
        raise CheckFailed(message)


def scenarios_of(
    spec: FamilySpec,
    draws: int,
    *,
    profile: Profile = "lean",
    splits: Sequence[Split] = SPLITS,
    faults: bool = True,
) -> Iterator[Scenario]:
    """All levels in the first `draws` worlds of each split."""
    for split in splits:
        for draw in range(draws):
            for level in spec.levels:
                yield Scenario(spec, level, split, draw, profile, faults)


def where(scenario: Scenario) -> str:
    """A scenario for a message."""
    twin = "" if scenario.faults else ", without faults"
    return f"{scenario.level}, {scenario.split}, draw {scenario.draw}, payload {scenario.profile}{twin}"


def played(scenario: Scenario, script: Script) -> tuple[Toolbox, Evaluation]:
    """The toolbox and the evaluation after a script; a script may raise in the middle."""
    box = scenario.open()
    try:
        script(scenario, box, scenario.prompt)
    except RuntimeError as error:
        if "scripted agent crashed" not in str(error):
            raise
    return box, graded(scenario, box)


def graded(scenario: Scenario, box: Toolbox) -> Evaluation:
    """The evaluation of what is in a toolbox."""
    return grade(scenario, AgentRun("", (), box, NO_USAGE, 1, "finished"))


@contextmanager
def sealed() -> Iterator[None]:
    """No socket opens and nothing sleeps in here."""

    def refused(*_: Any, **__: Any) -> Any:
        raise CheckFailed(
            "a tool opened a socket or slept. Answers come from the world alone; time is virtual (ToolSpec.seconds)."
        )

    with mock.patch.object(socket, "socket", refused), mock.patch.object(time, "sleep", refused):
        yield

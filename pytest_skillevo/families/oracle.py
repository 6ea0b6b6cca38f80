"""Scripted agents that prove a family: the oracle must reach 1.0 in both scores, every adversary stays under its cap.

They know the hidden truth, so their results are synthetic: tests of the suite, never evidence about models
(spec/suites.md 3.10). Each satisfies the Agent protocol and works directly on the task's Toolbox.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from ..core.records import NO_USAGE, AgentRun
from .scenario import Scenario
from .spec import Call
from .tools import RATE_LIMITED, TIMEOUT, Toolbox

#: How often the looper repeats its call before its budget stops it.
LOOPS: Final = 60
#: How often the batch rerunner runs its batch at most.
BATCHES: Final = 6

Script = Callable[[Scenario, Toolbox, str], None]
"""What a scripted agent does: (scenario, toolbox, prompt)."""


@dataclass(frozen=True, slots=True)
class ScriptedAgent:
    """An agent that follows a script for one scenario. `run` wants the scenario's own Toolbox as `tools`."""

    scenario: Scenario
    script: Script

    def run(self, prompt: str, *, tools: Sequence[Any] = (), skills: Sequence[Any] = (), seed: int = 0) -> AgentRun:
        """Follow the script to its end; a crashing script raises what it raises."""
        if not isinstance(tools, Toolbox):
            raise TypeError(f"a scripted agent works on a Toolbox, not on {type(tools).__name__}")
        self.script(self.scenario, tools, prompt)
        reason = "finished" if tools.done else "answered"
        names = tuple(skill.name for skill in skills)
        return AgentRun("", (), tools, NO_USAGE, len(tools.log), reason, names, ())


def run_script(scenario: Scenario, script: Script) -> AgentRun:
    """Run a script on a fresh toolbox of its scenario."""
    return ScriptedAgent(scenario, script).run(scenario.prompt, tools=scenario.open())


def ask(box: Toolbox, call: Call) -> Mapping[str, Any]:
    """Make one call and read its answer."""
    answer: dict[str, Any] = json.loads(box.call(call[0], call[1]))
    return answer


def look_up(scenario: Scenario, box: Toolbox) -> None:
    """Make the calls of the family's route once each; after a transient fault, that call only, as soon as it may be.

    A route that is broken for good is left to the route's other calls.
    """
    broken = [(fault.tool, fault.arguments) for fault in scenario.plan if fault.kind == "R"]
    for call in scenario.spec.route(scenario):
        if (call[0], scenario.spec.tools[call[0]].canonical(call[1])) in broken:
            continue
        answer = ask(box, call)
        while answer.get("code") in (TIMEOUT, RATE_LIMITED):
            for _ in range(answer.get("retry_after_calls", 0)):
                ask(box, ("list_files", {}))
            answer = ask(box, call)


def deliver(scenario: Scenario, box: Toolbox, artifact: Any, *, claim: bool = True) -> None:
    """Write the artifact and, if wanted, claim that the task is done."""
    ask(box, ("write_file", {"path": scenario.spec.contract.file, "content": json.dumps(artifact)}))
    if claim:
        ask(box, ("claim_done", {}))


def oracle(scenario: Scenario, box: Toolbox, prompt: str) -> None:
    """The minimal legal calls and the truth."""
    look_up(scenario, box)
    deliver(scenario, box, scenario.artifact())


def nop(scenario: Scenario, box: Toolbox, prompt: str) -> None:
    """Claims to be done at once."""
    ask(box, ("claim_done", {}))


def fabricator(scenario: Scenario, box: Toolbox, prompt: str) -> None:
    """Delivers without looking anything up; by luck, all of it is right."""
    deliver(scenario, box, scenario.artifact())


def copier(scenario: Scenario, box: Toolbox, prompt: str) -> None:
    """Delivers the example of the prompt."""
    lines = [line for line in prompt.splitlines() if line.startswith('{"' + scenario.spec.contract.list_key)]
    deliver(scenario, box, json.loads(lines[0]) if lines else {})


def partial(kept: int) -> Script:
    """Works honestly and delivers only the first `kept` entries."""

    def script(scenario: Scenario, box: Toolbox, prompt: str) -> None:
        look_up(scenario, box)
        artifact = scenario.artifact()
        key = scenario.spec.contract.list_key
        deliver(scenario, box, artifact | {key: artifact[key][:kept]})

    return script


def duplicator(scenario: Scenario, box: Toolbox, prompt: str) -> None:
    """Delivers the first entry as often as there should be entries."""
    look_up(scenario, box)
    artifact = scenario.artifact()
    key = scenario.spec.contract.list_key
    deliver(scenario, box, artifact | {key: artifact[key][:1] * len(artifact[key])})


def looper(scenario: Scenario, box: Toolbox, prompt: str) -> None:
    """Repeats one call until its budget ends, and delivers nothing."""
    for _ in range(LOOPS):
        ask(box, scenario.spec.route(scenario)[0])


def crasher(scenario: Scenario, box: Toolbox, prompt: str) -> None:
    """Raises in the middle of its work."""
    ask(box, scenario.spec.route(scenario)[0])
    raise RuntimeError("the scripted agent crashed")


def no_claim(scenario: Scenario, box: Toolbox, prompt: str) -> None:
    """Does everything but claim that it is done."""
    look_up(scenario, box)
    deliver(scenario, box, scenario.artifact(), claim=False)


def batch_rerunner(scenario: Scenario, box: Toolbox, prompt: str) -> None:
    """Runs the whole batch again as long as any call of it failed, and gives up at last."""
    route = scenario.spec.route(scenario)
    for _ in range(BATCHES):
        if all([ask(box, call).get("success") for call in route]):  # noqa: C419 - every call of the batch is made
            break
    deliver(scenario, box, scenario.artifact())


def _always(cap: float) -> Callable[[Scenario], float]:
    return lambda scenario: cap


def _when_faulty(cap: float) -> Callable[[Scenario], float]:
    """The cap holds where the plan has a transient fault; without one there is nothing to rerun."""
    return lambda scenario: cap if any(fault.kind in "TL" for fault in scenario.plan) else 1.0


#: Adversary -> script and the highest strict score that it may reach in a scenario.
ADVERSARIES: Final[Mapping[str, tuple[Script, Callable[[Scenario], float]]]] = {
    "nop": (nop, _always(0.0)),
    "fabricator": (fabricator, _always(0.49)),
    "copier": (copier, _always(0.49)),
    "partial": (partial(1), _always(0.79)),
    "duplicator": (duplicator, _always(0.79)),
    "looper": (looper, _always(0.0)),
    "crasher": (crasher, _always(0.0)),
    "no_claim": (no_claim, _always(0.89)),
    "batch_rerunner": (batch_rerunner, _when_faulty(0.89)),
}

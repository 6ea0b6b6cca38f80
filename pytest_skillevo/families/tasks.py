"""From a hidden scenario to the Task that a test gets: prompt, fresh tools, and a grader with both scores."""

from __future__ import annotations

from typing import Any, Final

from ..core.errors import EvaluationError
from ..core.records import AgentRun, Evaluation, Task
from .expected import expected_ids, official_rules
from .feedback import feedback_text
from .official import score_official
from .scenario import Scenario
from .spec import Policy
from .strict import score_strict
from .tools import Toolbox

#: How much of a rollout goes into the trace.
TRACE_CALLS: Final = 60
TRACE_ARTIFACT: Final = 4000


def make_task(scenario: Scenario, policy: Policy = "by_world") -> Task:
    """The task of a scenario. Cheap: worlds are built once per draw, texts on demand.

    Another policy of splits than the usual one is recorded in the content.
    """
    spec = scenario.spec
    critical = scenario.split == "holdout" and (scenario.level, scenario.draw) in spec.critical
    return Task(
        id=scenario.slug,
        prompt=scenario.prompt,
        open_tools=scenario.open,
        grader=lambda run: grade(scenario, run),
        content=content(scenario) | ({} if policy == "by_world" else {"policy": policy}),
        family=spec.name,
        level=scenario.level,
        split=scenario.split,
        critical=critical,
        watched=watched(scenario),
    )


def content(scenario: Scenario) -> dict[str, Any]:
    """What decides the case: family version, world, level, plan of faults, payload profile, prompt."""
    return {
        "family": scenario.spec.name,
        "version": scenario.spec.version,
        "level": scenario.level,
        "split": scenario.split,
        "draw": scenario.draw,
        "profile": scenario.profile,
        "faults": [fault.to_json() for fault in scenario.plan],
        "world": scenario.world.digest,
        "prompt": scenario.prompt,
    }


def watched(scenario: Scenario) -> tuple[str, ...]:
    """Texts that have no business in a skill: titles and names of the entities, and every name list that is a truth."""
    texts = [*scenario.titles.values(), *(record["name"] for record in scenario.records)]
    for values in scenario.truth.values():
        for value in values.values():
            for part in value.values() if isinstance(value, dict) else ():
                if isinstance(part, list):
                    texts.append(", ".join(part))
    return tuple(dict.fromkeys(texts))


def grade(scenario: Scenario, run: AgentRun) -> Evaluation:
    """Both scores of one run. Raises EvaluationError when the run did not use the case's tools."""
    box = run.tools
    if not isinstance(box, Toolbox):
        raise EvaluationError(
            f"{scenario.spec.name} {scenario.slug}: grade(run) reads the call log from run.tools, which must be what"
            f" case.tools gave, not {type(box).__name__}"
        )
    strict = score_strict(scenario, box)
    rules = official_rules(scenario)
    text = box.files.get(scenario.spec.contract.file)
    official = score_official(rules, text, expected_ids(rules, scenario))
    return Evaluation(
        score=strict.score,
        passed=strict.passed,
        feedback=feedback_text(scenario, strict, box),
        objectives={
            "official": official.quality,
            "strict": strict.score,
            "passed70": float(official.passed70),
            "passed90": float(official.passed90),
            "calls": float(strict.process.calls),
            "failed_calls": float(strict.process.failures),
            "redundant_calls": float(strict.process.redundant),
            "virtual_seconds": box.seconds,
        },
        trace={
            "task": scenario.slug,
            "family": scenario.spec.name,
            "version": scenario.spec.version,
            "profile": scenario.profile,
            "official_status": official.status,
            "parts": {name: round(points, 4) for name, points in strict.parts.items()},
            "caps": [{"limit": limit, "reason": reason} for limit, reason in strict.caps],
            "artifact": None if text is None else text[:TRACE_ARTIFACT],
            "faults_met": [entry.to_json() for entry in box.log if entry.fault is not None][:TRACE_CALLS],
            "calls": [entry.to_json() for entry in box.log[:TRACE_CALLS]],
            "calls_left_out": max(0, len(box.log) - TRACE_CALLS),
            "closed": box.done,
        },
    )

"""A driver of the engine in memory, and a small world in which rules in a skill's text decide its scores."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from pytest_skillevo.core.canonical import canonical_json
from pytest_skillevo.core.draws import draw, draw_int, pick, shuffled
from pytest_skillevo.core.gepa import (
    Answer,
    Engine,
    ReflectionAnswer,
    ReflectionFailed,
    ReflectionRequest,
    Request,
    RolloutAnswer,
    SearchDataset,
    SearchResult,
    SearchSettings,
)
from pytest_skillevo.core.records import Evaluation, Outcome, RolloutRequest, Usage
from pytest_skillevo.core.skill import Skill, SkillSpec

Evaluator = Callable[[Skill, RolloutRequest], float | Evaluation | Outcome]
Reflector = Callable[[ReflectionRequest], str | ReflectionAnswer | ReflectionFailed]

REFLECTION_USAGE = Usage(100, 20)


@dataclass
class Log:
    """What passed between a driver and an engine."""

    #: Every batch as canonical JSON, in order.
    batches: list[str] = field(default_factory=list)
    requests: list[Request] = field(default_factory=list)
    answers: dict[str, Answer] = field(default_factory=dict)
    #: Calls that were really made, not replayed.
    rollouts: int = 0
    reflections: int = 0

    def minibatches(self) -> list[list[str]]:
        """The case ids of every parent minibatch."""
        batches: dict[str, list[str]] = {}
        for request in self.requests:
            if isinstance(request, RolloutRequest) and request.phase == "feedback-parent":
                batches.setdefault(request.id.rsplit("/", 2)[0], []).append(request.case_id)
        return list(batches.values())

    def prompts(self) -> list[str]:
        """The user messages of all reflections."""
        return [r.messages[1]["content"] for r in self.requests if isinstance(r, ReflectionRequest)]


def drive(
    engine: Engine,
    evaluate: Evaluator,
    reflect: Reflector,
    *,
    recorded: Mapping[str, Answer] | None = None,
    before_batch: Callable[[Engine, Log], None] = lambda engine, log: None,
    order: int | None = None,
) -> Log:
    """Run the engine to its end. Recorded answers are told again; `order` shuffles the answers of every batch."""
    log = Log()
    while not engine.finished:
        before_batch(engine, log)
        batch = engine.ask()
        if not batch:
            break
        log.batches.append(canonical_json([plain(request) for request in batch]))
        log.requests += batch
        answers = [
            (recorded or {}).get(request.id) or _answer(engine, request, evaluate, reflect, log) for request in batch
        ]
        log.answers |= {answer.request_id: answer for answer in answers}
        engine.tell(answers if order is None else shuffled(answers, order, len(log.batches)))
    return log


def _answer(engine: Engine, request: Request, evaluate: Evaluator, reflect: Reflector, log: Log) -> Answer:
    if isinstance(request, RolloutRequest):
        log.rollouts += 1
        return RolloutAnswer(request.id, outcome(evaluate(engine.skill(request.variant), request)))
    log.reflections += 1
    said = reflect(request)
    return ReflectionAnswer(request.id, said, "stop", REFLECTION_USAGE) if isinstance(said, str) else said


def outcome(value: float | Evaluation | Outcome) -> Outcome:
    if isinstance(value, Outcome):
        return value
    return Outcome("scored", value if isinstance(value, Evaluation) else Evaluation(value))


def plain(request: Request) -> dict[str, Any]:
    fields = request._asdict() if isinstance(request, RolloutRequest) else dataclasses.asdict(request)
    return {"kind": type(request).__name__, **fields}


def answer_text(component: str, text: str, rationale: str = "because") -> str:
    return json.dumps({"component": component, "text": text, "rationale": rationale})


def cases(feedback: int, validation: int) -> SearchDataset:
    return SearchDataset(tuple(f"f-{i}" for i in range(feedback)), tuple(f"v-{i}" for i in range(validation)))


def seed_skill(steps: Sequence[str] = ("Open the file.", "Find the table."), pitfalls: Sequence[str] = ()) -> Skill:
    spec = SkillSpec(
        "pdf-tables",
        "Extract tables from PDF files.",
        "When a task needs tabular data out of a PDF.",
        tuple(steps),
        tuple(pitfalls),
    )
    return Skill.create(spec)


def section(prompt: str, tag: str) -> Any:
    """The JSON between the tags of a prompt."""
    return json.loads(prompt.partition(f"<{tag}>\n")[2].partition(f"\n</{tag}>")[0])


def current_text(request: ReflectionRequest) -> str:
    """The component under edit, as a reflection model reads it."""
    return section(request.messages[1]["content"], "skill")["components"][request.component]


def appended(request: ReflectionRequest, line: str) -> str:
    """A well-formed answer that adds one line to the component."""
    old = current_text(request)
    if request.component == "steps":
        line = f"{len(old.splitlines()) + 1}. {line}"
    elif request.component == "pitfalls":
        line = f"- {line}"
    return answer_text(request.component, f"{old}\n{line}" if old else line)


def always_better(request: ReflectionRequest) -> str:
    """Every proposal is new and, for `by_length`, better than its parent."""
    return appended(request, f"Check number {int(request.id.split('/')[1].removeprefix('it'))}.")


def by_length(skill: Skill, request: RolloutRequest) -> float:
    """Longer is better, and never perfect."""
    return len(skill.text) / (len(skill.text) + 5000)


class RandomWorld:
    """Scores and answers drawn by key: any digest has its own scores, and answers are good, bad or broken."""

    def __init__(self, key: int, *, binary: bool = False) -> None:
        self.key = key
        self.binary = binary

    def evaluate(self, skill: Skill, request: RolloutRequest) -> Evaluation:
        value = draw(self.key, "score", skill.digest, request.case_id, request.seed)
        score = float(value > 0.5) if self.binary else round(value, 1) * 0.9
        trace = {"output": f"answer {value:.3f}", "calls": [{"tool": "read", "ok": value > 0.3}]}
        return Evaluation(score, score > 0.6, f"missing: {value:.2f}", trace=trace, usage={"agent": Usage(10, 5)})

    def reflect(self, request: ReflectionRequest) -> str | ReflectionAnswer:
        kind = pick(("new", "new", "new", "old", "same", "broken", "long", "cut"), self.key, "kind", request.id)
        if kind == "new":
            return appended(request, f"Mind point {draw_int(10**6, self.key, 'point', request.id)}.")
        if kind == "old":
            return appended(request, f"Mind point {draw_int(3, self.key, 'point', request.id)}.")
        if kind == "same":
            return answer_text(request.component, current_text(request))
        if kind == "long":
            return appended(request, "word " * 3000)
        if kind == "cut":
            return ReflectionAnswer(request.id, '{"component": "st', "length", REFLECTION_USAGE)
        return "{not json"


def search(
    evaluate: Evaluator = by_length,
    reflect: Reflector = always_better,
    *,
    skill: Skill | None = None,
    dataset: SearchDataset | None = None,
    recorded: Mapping[str, Answer] | None = None,
    order: int | None = None,
    engine: Mapping[str, Any] | None = None,
    **settings: Any,
) -> tuple[SearchResult, Log]:
    """A whole search in one call; `engine` holds further arguments of the engine."""
    machine = Engine(skill or seed_skill(), dataset or cases(6, 4), SearchSettings(**settings), **(engine or {}))
    log = drive(machine, evaluate, reflect, recorded=recorded, order=order)
    return machine.result(), log

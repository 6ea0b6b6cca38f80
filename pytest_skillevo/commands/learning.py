"""`skillevo learn`: what online learning is at, and the hand on its switches."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from ..report.text import clip, one_line, visible, wrap
from .context import Context
from .screen import ago, table

if TYPE_CHECKING:
    from ..store import Store
    from ..store.learning_records import Job

_STATUSES: Final = ("queued", "running", "carried", "done", "parked")
_WHAT: Final = ("learning", "publication")


def add_parser(groups: Any, shared: argparse.ArgumentParser) -> None:
    """Add the group with all its commands."""
    group = groups.add_parser("learn", help="online learning: status, jobs, pause, resume, retry, add, run")
    commands = group.add_subparsers(title="commands", metavar="COMMAND", required=True)

    def command(name: str, run: Callable[[Context], int | None], help: str) -> argparse.ArgumentParser:
        parser: argparse.ArgumentParser = commands.add_parser(name, parents=[shared], help=help, description=help)
        parser.set_defaults(run=run)
        return parser

    command("status", status, "the queue, the stages, latencies, and tasks before and after each published version")
    jobs = command("jobs", list_jobs, "list the newest jobs")
    jobs.add_argument("--status", choices=_STATUSES, help="only those")
    jobs.add_argument("--limit", type=_count, default=20, metavar="N")
    command("show", show, "what became of one job, step by step").add_argument("job", type=_count, metavar="JOB")
    for name, run, help in (
        ("pause", pause, "stop learning, or only publication: what is learned waits for a person then"),
        ("resume", resume, "end a pause"),
    ):
        command(name, run, help).add_argument("what", nargs="?", choices=_WHAT, default="learning")
    again = command("retry", retry, "queue parked jobs again")
    again.add_argument("job", nargs="?", type=_count, metavar="JOB", help="default: all of them")
    add = command("add", add_sessions, "hand in sessions from a file: OpenAI, Anthropic, LiteLLM, OpenTelemetry, JSONL")
    add.add_argument("file", type=Path, metavar="FILE")
    add.add_argument("--format", default="auto", help="auto, openai, anthropic, litellm or otel")
    add.add_argument("--outcome", default="", metavar="STATUS", help="success, partial, fail or agent_error")
    add.add_argument("--score", type=float, metavar="0..1")
    add.add_argument("--notes", default="", metavar="TEXT", help="what was wrong")
    add.add_argument("--kind", default="", metavar="NAME", help="tasks that can be compared have one kind")
    add.add_argument("--actor", metavar="NAME", help="who says how the task ended")
    work = command("run", run_jobs, "do the jobs that are due, in this process")
    work.add_argument("--model", default="simulated", metavar="NAME", help="model of the Reviewer")
    work.add_argument("--timeout", type=float, default=60.0, metavar="SECONDS", help="for one review")


def status(context: Context) -> None:
    """`skillevo learn status`"""
    from ..learning.metrics import STAGES
    from ..learning.metrics import status as figures

    with context.store() as store:
        told = figures(store)
    screen = context.screen
    if context.arguments.json:
        screen.json(told)
        return
    paused = ", ".join(told["paused"])
    screen.line(f"learning: {paused} paused" if paused else "learning: on")
    screen.line("jobs      " + ", ".join(f"{count} {name}" for name, count in told["jobs"].items()))
    screen.line("stages    " + ", ".join(f"{told['stages'][stage]} {stage}" for stage in STAGES))
    others = {name: count for name, count in told["counts"].items() if name not in told["stages"] and count}
    if others:
        text = ", ".join(f"{count:,} {name.replace('_', ' ')}" for name, count in others.items())
        screen.lines(wrap(text, screen.width, first="counts    ", rest="          "))
    whole = told["latency"]["total"]
    if whole["median"] is not None:
        screen.line(f"latency   median {whole['median']} s, 95 % {whole['p95']} s, longest {whole['max']} s")
    for effect in told["effects"]:
        screen.line()
        screen.lines(_effect(effect))


def list_jobs(context: Context) -> None:
    """`skillevo learn jobs`"""
    from ..store.learning_records import JobStatus

    wanted = context.arguments.status
    with context.store() as store:
        jobs = store.learning.jobs(JobStatus(wanted) if wanted else None, context.arguments.limit)
    if context.arguments.json:
        context.screen.json([job.to_json() for job in jobs])
        return
    if not jobs:
        context.screen.line("no jobs")
        return
    now = context.clock()
    rows = [
        (
            str(job.seq),
            job.status.value,
            ago(job.created_at, now),
            one_line(job.session_id, 40),
            one_line(_end(job), 200),
        )
        for job in jobs
    ]
    lines = table([("job", "status", "since", "session", "what became of it"), *rows])
    context.screen.lines([clip(line, context.screen.width) for line in lines])


def show(context: Context) -> None:
    """`skillevo learn show JOB`"""
    with context.store() as store:
        job = store.learning.job(context.arguments.job)
    if context.arguments.json:
        context.screen.json(job.to_json() | {"events": _events(job)})
        return
    screen = context.screen
    screen.line(visible(f"job {job.seq}: session {one_line(job.session_id, 60)}, {job.status.value}"))
    result: Mapping[str, Any] = job.result or {}
    facts = {
        "attempts": str(job.attempts),
        "error": job.error or "",
        "outcome": _outcome(job),
        "policy": str(result.get("policy", {}).get("explanation", "")),
        "ended": str(result.get("ended", "")),
        "reason": str(result.get("reason", "")),
        "events": "pruned" if job.session is None else str(len(_events(job))),
    }
    for label, text in facts.items():
        if text:
            screen.lines(wrap(one_line(text, 2_000), screen.width, first=f"  {label.ljust(10)}", rest=" " * 12))
    for line in _steps(result):
        screen.lines(wrap(visible(line), screen.width, first="  - ", rest="    "))


def pause(context: Context) -> None:
    """`skillevo learn pause`"""
    from ..store.learning_records import Pause

    with context.store(make=True) as store:
        store.learning.pause(Pause(context.arguments.what))
    _done(context, f"{context.arguments.what} is paused; skillevo learn resume {context.arguments.what} ends it")


def resume(context: Context) -> None:
    """`skillevo learn resume`"""
    from ..store.learning_records import Pause

    with context.store() as store:
        store.learning.resume(Pause(context.arguments.what))
    _done(context, f"{context.arguments.what} goes on")


def retry(context: Context) -> None:
    """`skillevo learn retry`"""
    with context.store() as store:
        count = store.learning.retry(context.arguments.job)
    _done(context, f"{count} parked job{'s' * (count != 1)} queued again")


def add_sessions(context: Context) -> int:
    """`skillevo learn add FILE`: exit code 1 when a session was not taken in."""
    import os

    from ..core.gates.redaction import redactor, secret_values
    from ..core.sessions import TaskOutcome, load_file
    from ..learning import LearningJob

    arguments = context.arguments
    outcome = None
    if arguments.outcome or arguments.score is not None or arguments.notes:
        outcome = TaskOutcome(arguments.outcome, arguments.score, arguments.notes, context.actor)
    sessions = load_file(arguments.file, arguments.format)
    redact = redactor(secret_values(os.environ))
    with context.store(make=True) as store:
        inbox = _service(context, store)
        receipts = [inbox.enqueue(LearningJob(session, outcome, context.scope, arguments.kind)) for session in sessions]
        inbox.close(drain=False)
    if context.arguments.json:
        context.screen.json([{"status": one.status, "job": one.job, "error": one.error} for one in receipts])
    for session, receipt in zip(sessions, receipts, strict=True):
        if not context.arguments.json:
            job = "" if receipt.job is None else f" (job {receipt.job})"
            end = f": {receipt.error}" if receipt.error else ""
            context.screen.line(
                visible(f"{one_line(redact(session.id), 60)}: {receipt.status.replace('_', ' ')}{job}{end}")
            )
    return int(any(receipt.status in ("failed", "refused") for receipt in receipts))


def run_jobs(context: Context) -> int:
    """`skillevo learn run`: exit code 1 when a job ended in an error."""
    from ..store.learning_records import JobStatus

    with context.store() as store:
        before = store.learning.counts()
        service = _service(context, store)
        done = service.drain()
        service.close(drain=False)
        after = store.learning.counts()
        waiting = store.learning.depths()
    failed = after.get("parked", 0) - before.get("parked", 0)
    text = f"{done} attempts, {failed} jobs parked, {waiting[JobStatus.QUEUED]} still wait"
    _done(context, text)
    return int(failed > 0)


def _service(context: Context, store: Store) -> Any:
    import os

    from ..core.gates.redaction import redactor, secret_values
    from ..core.review.reviewer import Reviewer
    from ..learning import LearningService, Settings
    from ..models.registry import resolve_model

    redact = redactor(secret_values(os.environ))
    model = resolve_model(getattr(context.arguments, "model", "simulated"))
    timeout = getattr(context.arguments, "timeout", 60.0)
    return LearningService(store, Reviewer(model, redact=redact), Settings(timeout=timeout), redact=redact)


def _done(context: Context, sentence: str) -> None:
    if context.arguments.json:
        context.screen.json({"done": sentence})
    else:
        context.screen.line(sentence)


def _effect(effect: Mapping[str, Any]) -> list[str]:
    def figure(name: str, form: str) -> str:
        parts = [effect[name][when] for when in ("before", "after")]
        shown = ["unknown" if part["mean"] is None else format(part["mean"], form) for part in parts]
        return f"{shown[0]} -> {shown[1]} ({parts[0]['count']} and {parts[1]['count']} tasks)"

    return [
        visible(f"{effect['skill']} {effect['revision']}, before its publication and when loaded"),
        f"  score   {figure('score', '.3f')}",
        f"  tokens  {figure('tokens', ',.0f')}",
    ]


def _end(job: Job) -> str:
    if job.error and job.status.value in ("parked", "queued"):
        return job.error
    result = job.result or {}
    made = [f"{one['skill']} ({one['status'].replace('_', ' ')})" for one in result.get("revisions", ())]
    return ", ".join(made) or str(result.get("reason") or result.get("ended") or "")


def _outcome(job: Job) -> str:
    if job.outcome is None:
        return ""
    score = "" if job.outcome.score is None else f", score {job.outcome.score:.2f}"
    return f"{job.outcome.status or 'unknown'}{score}"


def _events(job: Job) -> list[dict[str, Any]]:
    """The events of the job itself, without those kept for context."""
    if job.session is None:
        return []
    return [event.to_json() for event in job.session.events[job.session.after(job.since) :]]


def _steps(result: Mapping[str, Any]) -> Sequence[str]:
    notes = [str(note) for note in result.get("notes", ())]
    steps = [f"{one['original']}: {_words(one['kind'])}: {one['reason']}" for one in result.get("reconciled", ())]
    refused = [f"{one['name']}: refused: {one['reason']}" for one in result.get("refused", ())]
    made = [f"{one['skill']}: {one['revision']} is {_words(one['status'])}" for one in result.get("revisions", ())]
    return [*notes, *steps, *refused, *made]


def _words(name: str) -> str:
    return name.replace("_", " ")


def _count(text: str) -> int:
    if not text.isdecimal() or int(text) < 1:
        raise argparse.ArgumentTypeError("a whole number of at least 1")
    return int(text)

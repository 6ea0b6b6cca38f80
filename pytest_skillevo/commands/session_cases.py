"""`skillevo cases from-session`: a session that went wrong becomes a feedback case of a suite."""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from ..core.canonical import digest_json
from ..core.errors import ConfigError
from ..core.files import atomic_write
from ..families.sessions import FORMAT, read_cases
from .context import Context, shown

if TYPE_CHECKING:
    from ..store.learning_records import Job

_FILE: Final = "learned_cases.json"
_TEST: Final = "test_learned.py"
_BODY: Final = '''\
"""Cases that came from sessions which went wrong."""

from __future__ import annotations

import pytest

from pytest_skillevo import Skill, Task, session_cases
from pytest_skillevo.core.protocols import Agent
from pytest_skillevo.core.rollout import Rollout

pytestmark = pytest.mark.skill({skill})


@pytest.mark.parametrize("case", session_cases("{file}"))
def test_learned(skill: Skill, case: Task, agent: Agent, rollout: Rollout) -> None:
    """One prompt of a session, answered with the skill under test."""
    run = agent.run(case.prompt, tools=case.tools, skills=[skill], seed=rollout.seed)
    rollout.record(case.grade(run))
'''


def add_command(commands: Any, shared: argparse.ArgumentParser) -> None:
    """Add the command to the group `cases`."""
    help = "add the first prompt of a learning job's session to a suite, as a feedback case"
    parser = commands.add_parser("from-session", parents=[shared], help=help, description=help)
    parser.set_defaults(run=from_session)
    parser.add_argument("job", type=int, metavar="JOB", help="number of the learning job (skillevo learn jobs)")
    parser.add_argument("--suite", type=Path, required=True, metavar="DIR", help="folder of the suite")
    parser.add_argument("--skill", required=True, metavar="NAME", help="the skill that the case exercises")
    parser.add_argument("--must-contain", action="append", default=[], metavar="TEXT", help="may be repeated")
    parser.add_argument("--must-not-contain", action="append", default=[], metavar="TEXT", help="may be repeated")


def from_session(context: Context) -> None:
    """`skillevo cases from-session JOB`"""
    arguments = context.arguments
    if not (arguments.must_contain or arguments.must_not_contain):
        raise ConfigError("say what a right answer has: --must-contain TEXT or --must-not-contain TEXT")
    suite: Path = arguments.suite
    if not suite.is_dir():
        raise ConfigError(f"there is no folder {suite}")
    with context.store() as store:
        job = store.learning.job(arguments.job)
    entry = _entry(job, arguments)
    file, test = suite / _FILE, suite / _TEST
    entries = read_cases(file) if file.exists() else []
    if any(one["id"] == entry["id"] for one in entries):
        raise ConfigError(f"{file} has the case {entry['id']} already")
    _check_skill(test, arguments.skill)
    data = {"format": FORMAT, "cases": [*entries, entry]}
    atomic_write(file, (json.dumps(data, indent=2, ensure_ascii=False) + "\n").encode("utf-8"))
    made = not test.exists()
    if made:
        body = _BODY.format(skill=json.dumps(arguments.skill), file=_FILE)
        atomic_write(test, body.encode("utf-8"))
    if context.arguments.json:
        context.screen.json({"case": entry["id"], "file": str(file), "test": str(test), "test_made": made})
        return
    context.screen.line(f"case {entry['id']} added to {shown(file)}")
    if made:
        context.screen.line(f"{shown(test)} was made; run it: pytest {shown(suite)}")


def _entry(job: Job, arguments: argparse.Namespace) -> dict[str, Any]:
    if job.session is None:
        raise ConfigError(f"the events of job {job.seq} were pruned; take a newer one")
    messages = [event.message for event in job.session.events]
    prompt = next((str(one.get("content") or "") for one in messages if one.get("role") == "user"), "")
    if not prompt.strip():
        raise ConfigError(f"session {job.session_id} has no prompt of a user")
    checks = {"must_contain": arguments.must_contain, "must_not_contain": arguments.must_not_contain}
    outcome = None if job.outcome is None else {"status": job.outcome.status, "score": job.outcome.score}
    about = {"session": job.session_id, "job": job.seq, "outcome": outcome}
    return {"id": f"session-{digest_json([prompt, checks])[:8]}", "prompt": prompt, **checks, "from": about}


def _check_skill(test: Path, skill: str) -> None:
    """Raise ConfigError when the suite's cases exercise another skill: one file, one skill."""
    if test.exists() and json.dumps(skill) not in test.read_text(encoding="utf-8"):
        raise ConfigError(f"{test} exercises another skill than {skill!r}; give another --suite")

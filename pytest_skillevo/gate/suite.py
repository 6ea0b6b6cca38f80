"""Judging changed skills by the cases of one pytest session: this one, or one in the reference's own tree.

The reference's tests run in a process of their own, started in the tree that the reference was laid out in. What it is
to judge and what it found travel as JSON files; its progress comes on its output.
"""

from __future__ import annotations

import ast
import json
import os
import subprocess
import sys
import time
from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import pytest

from .. import options
from ..collection import build_cases, config_folder, skill_items
from ..core.errors import ConfigError, ExperimentInterrupted, InfrastructureError
from ..core.gates.redaction import redactor, secret_values
from ..core.merge import CaseMark
from ..core.skill import Skill
from ..core.verdict import PairedCase
from ..core.versions import Change
from ..evolve import EvolveRun, natural
from ..report.text import no_command
from ..stages.trial_plan import PlannedTrial, planned_from
from .plan import check_rollouts, planned, total_of
from .trust import ENDED

if TYPE_CHECKING:
    from ..stages.trial import Trial

#: Names the file that tells a session of the reference's tests what to judge.
JOB_VARIABLE: Final = "SKILLEVO_GATE_JOB"
#: Begins a line of progress that the session passes on.
_PROGRESS: Final = "skillevo|"
#: Last lines of a failed session that are shown.
_TAIL: Final = 12
#: Options that write files or belong to the gate as a whole: not for the session of the reference's tests.
_NOT_PASSED_ON: Final = (
    "--junitxml",
    "--junit-xml",
    "--report-log",
    "--html",
    "--cov",
    "--evolve-report",
    "--evolve-evidence",
    "--evolve-accept-reason",
    "--basetemp",
)
#: The same for options that take no value.
_FLAGS_NOT_PASSED_ON: Final = ("--lf", "--last-failed", "--ff", "--failed-first", "--nf", "--new-first")


@dataclass(frozen=True, slots=True)
class Judged:
    """What the cases of one session say about one changed skill, as plain data: see `Tried` and `report/schema`."""

    name: str
    report: dict[str, Any]
    pairs: tuple[PairedCase, ...]
    reruns: Mapping[str, PairedCase]
    left_out: tuple[str, ...]
    openings: int
    rules: Mapping[str, Any]
    #: Why the new version may not be judged by these cases: it holds some of their text; empty when it holds none.
    leak: str

    def to_json(self) -> dict[str, Any]:
        """Plain JSON; `judged_from` is the inverse."""
        return {
            "name": self.name,
            "report": self.report,
            "pairs": [pair.to_json() for pair in self.pairs],
            "reruns": {case: pair.to_json() for case, pair in self.reruns.items()},
            "left_out": list(self.left_out),
            "openings": self.openings,
            "rules": dict(self.rules),
            "leak": self.leak,
        }


def judged_from(data: Mapping[str, Any]) -> Judged:
    """The inverse of `Judged.to_json`."""
    return Judged(
        data["name"],
        data["report"],
        tuple(PairedCase.from_json(pair) for pair in data["pairs"]),
        {case: PairedCase.from_json(pair) for case, pair in data["reruns"].items()},
        tuple(data["left_out"]),
        data["openings"],
        data["rules"],
        data["leak"],
    )


@dataclass(frozen=True, slots=True)
class Findings:
    """What one session says: about each skill that it has holdout cases for, and which cases it has."""

    judged: tuple[Judged, ...]
    cases: tuple[CaseMark, ...]
    #: Why the session's cases are not the whole dataset; empty when nothing speaks against it.
    narrowed: str = ""
    #: What would run, or has run, for each skill in `judged`.
    planned: tuple[PlannedTrial, ...] = ()


@dataclass(frozen=True, slots=True)
class Output:
    """Where progress goes: raw text; whether its last line may be rewritten; columns."""

    write: Callable[[str], None]
    live: bool
    width: int


def case_marks(session: pytest.Session) -> list[CaseMark]:
    """All cases of the session."""
    return [
        CaseMark(one.case.id, one.case.skill, one.case.split, one.case.critical, one.case.content)
        for one in build_cases(skill_items(session.items))
    ]


def command_of(config: pytest.Config) -> str:
    """The command line of this run, for the record."""
    return " ".join(["pytest", *map(str, config.invocation_params.args)])


def judge_here(
    session: pytest.Session,
    changes: Sequence[Change],
    narrowed: str,
    command: str,
    output: Output,
) -> Findings:
    """Run the holdout cases of this session on both versions of every changed skill that it has such cases for.

    With --evolve-plan nothing is run, and the findings say what would be.
    """
    from .. import wiring
    from ..report.progress import ProgressLines
    from ..stages.dataset import holdout_seal

    trials = list(_trials(session, changes, narrowed, command))
    plans = tuple(planned(session.config, trial, change.name, change.kind) for change, trial, _ in trials)
    check_rollouts(session.config, total_of(plans))
    found = []
    for change, trial, items in [] if session.config.getoption("evolve_plan") else trials:
        progress = ProgressLines(output.write, time.monotonic, live=output.live, width=output.width)
        try:
            tried = wiring.run_trial(session, trial, items, progress)
        finally:
            progress.finish()
        found.append(
            Judged(
                change.name,
                tried.report,
                tried.measured.holdout,
                tried.measured.reruns,
                tried.measured.left_out,
                tried.openings,
                trial.setting.settings.rules.to_json(),
                holdout_seal(trial.setting.dataset, change.before).leak(change.after.text) or "",
            )
        )
    hidden = [why for change in changes if (why := unselected(session, change.was))]
    why = "; ".join([narrowed, *hidden] if narrowed else hidden)
    return Findings(tuple(found), tuple(case_marks(session)), why, plans)


def _trials(
    session: pytest.Session, changes: Sequence[Change], narrowed: str, command: str
) -> Iterator[tuple[Change, Trial, list[pytest.Item]]]:
    """The comparison of every changed skill that has holdout cases here, with the items that it runs."""
    from .. import wiring
    from ..stages.dataset import Dataset
    from ..stages.trial import Trial

    marked = sorted(build_cases(skill_items(session.items)), key=lambda one: natural(one.case.id))
    for change in changes:
        mine = [one for one in marked if one.case.skill == change.was]
        if not any(one.case.split == "holdout" for one in mine):
            continue
        dataset = Dataset(change.was, tuple(one.case for one in mine), narrowed or None, 0)
        setting = wiring.setting_for(session, dataset, change.before, mine, command)
        setting = replace(setting, settings=goal_of_gate(session.config, setting.settings))
        items = [one.item for one in mine]
        yield change, Trial(setting, change.after, "gate", wiring.roles_used(items)), items


def goal_of_gate(config: pytest.Config, settings: Any) -> Any:
    """The settings with the gate's own default goal: a harmless change may pass."""
    return settings if options.is_given(config, "evolve_goal") else replace(settings, goal="no-worse")


class SuiteRun(EvolveRun):
    """The session of the reference's tests: judges what the job file names and writes down what it found."""

    def _experiment(self, session: pytest.Session) -> None:
        path = Path(os.environ[JOB_VARIABLE])
        job = json.loads(path.read_text(encoding="utf-8"))
        changes = [
            Change(
                one["name"],
                one["kind"],
                _skill(one["was"], one["before"]),
                _skill(one["name"], one["after"]),
                one["was"],
            )
            for one in job["changes"]
        ]
        narrowed = self._partial(session) or ""
        try:
            found = judge_here(session, changes, narrowed, job["command"], Output(_tell, *job["screen"]))
        except (ExperimentInterrupted, InfrastructureError) as error:
            Path(job["answer"]).write_text(json.dumps({"stopped": str(error)}), encoding="utf-8")
            raise
        answer = {
            "judged": [each.to_json() for each in found.judged],
            "cases": [case.to_json() for case in found.cases],
            "narrowed": found.narrowed,
            "planned": [plan.to_json() for plan in found.planned],
        }
        Path(job["answer"]).write_text(json.dumps(answer), encoding="utf-8")
        self._exit = 0
        self._config.stash[ENDED] = True


def _skill(name: str, folder: str | None) -> Skill:
    return Skill.absent(name) if folder is None else Skill.load(Path(folder))


def _tell(text: str) -> None:
    sys.__stdout__.write(f"\n{_PROGRESS}{json.dumps(text)}\n")  # type: ignore[union-attr]
    sys.__stdout__.flush()  # type: ignore[union-attr]


def _heard(line: str) -> str:
    """What a line of progress writes. The tests may have printed such a line themselves: it gives no commands."""
    try:
        text = json.loads(line.removeprefix(_PROGRESS))
    except (ValueError, RecursionError):
        return ""
    if not isinstance(text, str):
        return ""
    shown = "".join(char for char in text if char.isprintable() or char in "\r\n")
    return "\n".join(map(no_command, shown.split("\n")))


def judge_there(
    config: pytest.Config, tree: Path, top: Path, changes: Sequence[Change], temp: Path, output: Output
) -> Findings:
    """Run the tests of the tree on both versions of every changed skill, in a process of their own.

    `top` is the folder of the working tree that `tree` is the earlier version of. Raises ConfigError when the session
    does not come to its end, and ExperimentInterrupted when it stopped in a way that can go on.
    """
    from ..collection import home_folder

    job, answer = temp / "job.json", temp / "answer.json"
    listed = []
    for number, change in enumerate(changes):
        entry: dict[str, Any] = {"name": change.name, "kind": change.kind, "was": change.was}
        for side, skill, name in (("before", change.before, change.was), ("after", change.after, change.name)):
            folder = temp / "versions" / f"{number}-{side}" / name
            if skill.exists:
                skill.write(folder)
            entry[side] = str(folder) if skill.exists else None
        listed.append(entry)
    screen = [output.live, output.width]
    told = {"changes": listed, "answer": str(answer), "command": command_of(config), "screen": screen}
    job.write_text(json.dumps(told), encoding="utf-8")
    start = tree / _below(config.invocation_params.dir, top)
    command = [
        sys.executable,
        # What `python -m pytest` adds to the path, the `pytest` command does not.
        *([] if Path(sys.argv[0]).name == "__main__.py" else ["-P"]),
        *("-m", "pytest", "-p", "no:cacheprovider", "-o", f"skillevo_home={home_folder(config).absolute()}"),
        *_arguments(config, top, tree, start),
        *_cassettes(config),
    ]
    environment = {**os.environ, JOB_VARIABLE: str(job), "PYTHONDONTWRITEBYTECODE": "1"}
    tail = _session(command, start if start.is_dir() else tree, environment, output.write)
    if not answer.is_file():
        redact = redactor(secret_values(os.environ))  # whatever the tests printed may be among them
        raise ConfigError("the reference's tests could not be run to their end:\n" + redact("\n".join(tail)))
    data = json.loads(answer.read_text(encoding="utf-8"))
    if "stopped" in data:
        raise ExperimentInterrupted(data["stopped"])
    return Findings(
        tuple(judged_from(one) for one in data["judged"]),
        tuple(CaseMark(**case) for case in data["cases"]),
        data["narrowed"],
        tuple(planned_from(one) for one in data["planned"]),
    )


def _session(
    command: Sequence[str], folder: Path, environment: Mapping[str, str], write: Callable[[str], None]
) -> list[str]:
    """Run it, pass its progress on, and give the last other lines."""
    tail: deque[str] = deque(maxlen=_TAIL)
    with subprocess.Popen(
        command, cwd=folder, env=environment, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT
    ) as process:
        assert process.stdout is not None
        try:
            for raw in process.stdout:
                line = raw.decode("utf-8", "replace").rstrip()
                if line.startswith(_PROGRESS):
                    write(_heard(line))
                elif line:
                    tail.append(line[:400])
        except BaseException:
            process.terminate()
            raise
    return list(tail)


def _cassettes(config: pytest.Config) -> tuple[str, ...]:
    """The working tree's cassettes: those of the reference know no answer to the new skill, and its tree is removed."""
    if options.value_of(config, "evolve_cassettes") == "off":
        return ()
    folder = config_folder(config) / str(config.getini("skillevo_cassettes"))
    return ("-o", f"skillevo_cassettes={folder.absolute()}")


def _below(path: Path, top: Path) -> Path:
    try:
        return path.resolve().relative_to(top)
    except ValueError:
        return Path()


def _arguments(config: pytest.Config, top: Path, tree: Path, start: Path) -> Iterator[str]:
    """The command line of this run for the tree: paths moved into it, without what the reference does not have."""
    given = [str(argument) for argument in config.invocation_params.args]
    skip = False
    for argument in given:
        if skip:
            skip = False
            continue
        if argument.split("=", 1)[0] in _NOT_PASSED_ON:
            skip = "=" not in argument
            continue
        if argument in _FLAGS_NOT_PASSED_ON:
            continue
        moved = argument.replace(str(top), str(tree))
        if argument in config.args and not (start / moved.split("::", 1)[0]).exists():
            continue
        yield moved


def unselected(session: pytest.Session, skill: str) -> str:
    """Why the session may miss cases of a skill: test modules that name it in a marker and were not collected."""
    config = session.config
    roots = [config.rootpath / path for path in config.getini("testpaths")] or [config.rootpath]
    known = {item.path.resolve() for item in session.items}
    candidates = {path for root in roots for pattern in config.getini("python_files") for path in root.rglob(pattern)}
    found = []
    for path in sorted(candidates):
        inside = path.relative_to(config.rootpath).parts if path.is_relative_to(config.rootpath) else path.parts
        skipped = any(part.startswith(".") or part in _NOT_SEARCHED for part in inside)
        if not skipped and path.resolve() not in known and _marks(path, skill):
            found.append("/".join(inside))
    return f"{', '.join(found[:3])} has cases of {skill} and was not collected" if found else ""


def _marks(path: Path, skill: str) -> bool:
    """Whether the module's code, not a text in it, calls `skill(NAME)` of anything with the skill's name."""
    try:
        source = path.read_text(encoding="utf-8")
        tree = ast.parse(source) if skill in source else None
    except (OSError, ValueError, SyntaxError):
        return False
    calls = (node for node in ast.walk(tree) if isinstance(node, ast.Call)) if tree is not None else ()
    return any(
        isinstance(call.func, ast.Attribute)
        and call.func.attr == "skill"
        and any(isinstance(value, ast.Constant) and value.value == skill for value in _values(call))
        for call in calls
    )


def _values(call: ast.Call) -> list[ast.expr]:
    return [*call.args[:1], *(keyword.value for keyword in call.keywords if keyword.arg == "name")]


_NOT_SEARCHED: Final = frozenset({"node_modules", "venv", "build", "dist", "__pycache__"})

"""A command-line agent: one JSON request on its standard input, events as JSON lines on its standard output.

Every run gets a home and a working folder of its own, so that no installed skill and no setting of the user leaks into
an arm, and nothing of the environment but what is named (docs/agents.md).
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

from ..core.errors import ConfigError, EvaluationError, InfrastructureError
from ..core.gates.redaction import redactor, secret_values
from ..core.protocols import Tool
from ..core.records import AgentRun
from ..core.skill import Skill
from .events import Heard
from .process import ChildProcess, TooLong
from .workspace import Workspace, same, scan

PROTOCOL: Final = 1
#: What a program needs to run at all, and what tells nothing about a person.
_KEPT: Final = ("PATH", "LANG", "LC_ALL", "LC_CTYPE", "TZ", "SYSTEMROOT", "COMSPEC", "PATHEXT", "WINDIR")


class CommandAgent:
    """Runs a program for each task.

    `argv` is the program and its arguments; no shell is involved. `environment` names variables that it may see, such
    as the key of its provider. `skills_folder` is where skills are put below the working folder, such as
    ".claude/skills"; it is read-only in the sense that a change of it is an error. With `must_tell` an agent that has
    not told which skill it read is an error. `workspace` gives the working folder; without it each run gets an empty
    one.
    """

    def __init__(
        self,
        argv: Sequence[str],
        *,
        environment: Sequence[str] = (),
        seconds: float = 600.0,
        most_bytes: int = 20_000_000,
        skills_folder: str = "skills",
        must_tell: bool = False,
        workspace: Workspace | None = None,
    ) -> None:
        if isinstance(argv, str) or not argv or not all(isinstance(part, str) for part in argv):
            raise ConfigError("CommandAgent takes the program and its arguments as a list of texts")
        if any("\0" in part for part in argv):
            raise ConfigError("an argument of CommandAgent holds a NUL character, which no program can be given")
        self.argv = tuple(argv)
        self.environment = tuple(environment)
        self.seconds = seconds
        self.most_bytes = most_bytes
        self.skills_folder = skills_folder
        self.must_tell = must_tell
        self.workspace = workspace

    def run(self, prompt: str, *, tools: Sequence[Tool] = (), skills: Sequence[Skill] = (), seed: int = 0) -> AgentRun:
        """Run the program on one prompt. It brings its own tools.

        Raises ConfigError for tools and for a variable that is not set, EvaluationError when it saw another version of
        a skill, InfrastructureError when it fails, breaks the protocol or takes too long.
        """
        if tools:
            raise ConfigError("a command-line agent brings its own tools and cannot be given tools=...")
        offered = [skill for skill in skills if skill.exists]
        if self.workspace is not None:
            return self._run(self.workspace, prompt, offered, seed)
        with Workspace() as fresh:
            fresh.allow("**")
            return self._run(fresh, prompt, offered, seed)

    def _run(self, place: Workspace, prompt: str, skills: Sequence[Skill], seed: int) -> AgentRun:
        folders = {skill.name: place.add_skill(skill, self.skills_folder) for skill in skills}
        laid = {name: scan(folder) for name, folder in folders.items()}
        request = {
            "version": PROTOCOL,
            "prompt": prompt,
            "seed": seed,
            "workspace": str(place.root),
            "skills": [{"name": skill.name, "folder": str(folders[skill.name])} for skill in skills],
        }
        heard = self._converse(place, request)
        if changed := next((name for name, folder in folders.items() if not same(folder, laid[name])), None):
            raise EvaluationError(f"the agent changed the skill {changed!r} while it ran; put its notes elsewhere")
        self._attest(heard, skills)
        return AgentRun(
            answer=heard.answer or "",
            messages=({"role": "user", "content": prompt}, *heard.messages),
            tools=self.workspace,
            usage=heard.usage,
            turns=heard.turns,
            stop_reason=heard.stop_reason,
            skills_offered=tuple(skill.name for skill in skills),
            skills_loaded=tuple(dict.fromkeys(name for name, _, _ in heard.skills)),
            skills_viewed=tuple(name for name, _, _ in heard.skills),
        )

    def _converse(self, place: Workspace, request: Mapping[str, Any]) -> Heard:
        environment = self._environment(place)
        redact = redactor(secret_values({**os.environ, **environment}))
        heard = Heard()
        child = ChildProcess(
            self.argv,
            folder=place.root,
            environment=environment,
            stdin=json.dumps(request, ensure_ascii=False).encode("utf-8", "replace") + b"\n",
            most_bytes=self.most_bytes,
        )
        try:
            for number, line in enumerate(child.lines(self.seconds), start=1):
                heard.hear(line, number)
            code = child.exit_code()
        except TooLong as error:
            late = "" if heard.answer is None else "; its result had come, but its output was held open"
            raise self._failed(f"{error}{late}", child, redact) from None
        except InfrastructureError as error:
            raise self._failed(str(error), child, redact) from None
        finally:
            child.stop()
        if code != 0:
            raise self._failed(f"it ended with exit code {code}", child, redact)
        if heard.answer is None:
            raise self._failed("it ended without a result event", child, redact)
        return heard

    def _failed(self, what: str, child: ChildProcess, redact: Callable[[str], str]) -> InfrastructureError:
        child.stop()
        tail = "".join(map(_visible, redact(child.errors).strip()))
        said = f"; it said: {tail[-1_000:]}" if tail else ""
        return InfrastructureError(f"the agent {self.argv[0]} failed: {redact(what)}{said}")

    def _environment(self, place: Workspace) -> dict[str, str]:
        missing = [name for name in self.environment if name not in os.environ]
        if missing:
            raise ConfigError(f"the agent {self.argv[0]} needs the environment variable {missing[0]}, which is not set")
        kept = {name: os.environ[name] for name in (*_KEPT, *self.environment) if name in os.environ}
        home = place.home / "home"
        temporary = place.home / "tmp"
        for folder in (home, temporary):
            folder.mkdir(exist_ok=True)
        own = {
            "HOME": home,
            "USERPROFILE": home,
            "APPDATA": home,
            "LOCALAPPDATA": home,
            "XDG_CONFIG_HOME": home / ".config",
            "XDG_DATA_HOME": home / ".local" / "share",
            "XDG_CACHE_HOME": home / ".cache",
            "XDG_STATE_HOME": home / ".local" / "state",
            "TMPDIR": temporary,
            "TMP": temporary,
            "TEMP": temporary,
        }
        return {**{name: str(path) for name, path in own.items()}, "PYTHONUTF8": "1", **kept}

    def _attest(self, heard: Heard, skills: Sequence[Skill]) -> None:
        """What the agent says to have read is what it was given."""
        given = {skill.name: skill for skill in skills}
        for name, digest, text in heard.skills:
            skill = given.get(name)
            if skill is None:
                raise EvaluationError(f"the agent read a skill {name!r} that this run did not offer: it leaks in")
            if (digest is not None and digest != skill.digest) or (text is not None and text != skill.text):
                raise EvaluationError(
                    f"the agent read another version of the skill {name!r} than it was given ({skill.digest[:12]})"
                )
        silent = set(given).difference(name for name, _, _ in heard.skills)
        if self.must_tell and silent:
            raise EvaluationError(f"the agent did not tell which version of {sorted(silent)[0]!r} it read")


def _visible(char: str) -> str:
    """What a stranger wrote must not steer the terminal that shows it."""
    return char if char.isprintable() or char in "\n\t" else ascii(char)[1:-1]

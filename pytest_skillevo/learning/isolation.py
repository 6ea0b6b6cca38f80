"""A Reviewer in a process of its own: one that hangs is ended with all it started, one that floods memory dies alone.

The Reviewer is sent once, pickled; sessions go as pickled frames and answers come back as JSON, of a bounded size. On
systems without `resource` (Windows) the memory has no bound, the time still has.
"""

from __future__ import annotations

import contextlib
import json
import os
import pickle
import signal
import subprocess
import sys
import threading
from collections.abc import Mapping
from dataclasses import asdict
from typing import IO, Any, Final

from ..core.errors import ConfigError
from ..core.records import Usage
from ..core.review.decision import normalised
from ..core.review.prompt import ReviewInput
from ..core.review.reviewer import Review, ReviewFailed, Reviewing

_LENGTH: Final = 8
#: Bytes of an answer.
MAX_ANSWER: Final = 4_000_000
_START_SECONDS: Final = 60.0
#: Seconds for a process that closed its output to be gone.
_LAST_WORDS: Final = 5.0


class IsolatedReviewer:
    """Runs another Reviewer in a child process, with `seconds` for each review and `memory` bytes at most.

    The Reviewer must be picklable: made of classes that an import finds. Raises ConfigError for one that is not.
    """

    def __init__(self, reviewer: Reviewing, *, seconds: float = 60.0, memory: int = 2_000_000_000) -> None:
        try:
            self._frozen = json.dumps(sys.path).encode("ascii") + b"\n" + pickle.dumps(reviewer)
        except Exception as error:
            raise ConfigError(
                f"the Reviewer cannot be sent to another process ({error}); it must be made of importable classes"
            ) from None
        self._seconds = seconds
        self._memory = memory
        self._idle: list[_Child] = []
        self._lock = threading.Lock()

    def review(self, given: ReviewInput, *, seed: int) -> Review | None:
        """The other Reviewer's review. Raises ReviewFailed when it fails, hangs or dies."""
        child = self._child()
        try:
            answer = child.ask((_plain(given), seed), self._seconds)
        except _Lost as lost:
            child.end()
            raise ReviewFailed(str(lost)) from None
        with self._lock:
            self._idle.append(child)
        return _review(answer)

    def close(self) -> None:
        """End all child processes."""
        with self._lock:
            children, self._idle = self._idle, []
        for child in children:
            child.end()

    def _child(self) -> _Child:
        with self._lock:
            if self._idle:
                return self._idle.pop()
        return _Child(self._frozen, self._memory)


class _Lost(Exception):
    """Why no answer came from a child process."""


class _Child:
    """One child process."""

    def __init__(self, frozen: bytes, memory: int) -> None:
        command = [sys.executable, "-m", "pytest_skillevo.learning.child", str(memory)]
        self._process = subprocess.Popen(
            command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            start_new_session=os.name == "posix",
        )
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._to: IO[bytes] = self._process.stdin
        self._from: IO[bytes] = self._process.stdout
        ready = self._exchange(frozen, _START_SECONDS)
        if ready.get("error"):
            self.end()
            raise ReviewFailed(f"the Reviewer's process did not start: {ready['error']}")

    def ask(self, request: Any, seconds: float) -> Mapping[str, Any]:
        return self._exchange(pickle.dumps(request), seconds)

    def end(self) -> None:
        self._kill()
        self._process.wait()
        for pipe in (self._to, self._from):
            try:
                pipe.close()
            except OSError:  # what was still to be sent has nobody to read it
                continue

    def _exchange(self, data: bytes, seconds: float) -> Mapping[str, Any]:
        answers: list[bytes] = []
        thread = threading.Thread(target=self._talk, args=(data, answers), daemon=True)
        thread.start()
        thread.join(seconds)
        if thread.is_alive():
            # The end of the process ends the thread's reading too.
            self._kill()
            thread.join()
            raise _Lost(f"no answer within {seconds:g} seconds; its process was ended")
        if not answers:
            code = self._exit_code()
            raise _Lost(f"its process died without an answer (exit code {code}); perhaps it ran out of memory")
        if len(answers[0]) > MAX_ANSWER:
            raise _Lost(f"its answer has more than {MAX_ANSWER} bytes")
        answer: Mapping[str, Any] = json.loads(answers[0])
        return answer

    def _kill(self) -> None:
        """End the process and whatever it started."""
        if os.name == "posix":
            with contextlib.suppress(OSError):
                os.killpg(self._process.pid, signal.SIGKILL)
        self._process.kill()

    def _exit_code(self) -> int | None:
        try:
            return self._process.wait(_LAST_WORDS)
        except subprocess.TimeoutExpired:
            return None

    def _talk(self, data: bytes, answers: list[bytes]) -> None:
        try:
            self._to.write(len(data).to_bytes(_LENGTH, "big") + data)
            self._to.flush()
            head = self._from.read(_LENGTH)
            if len(head) == _LENGTH:
                size = int.from_bytes(head, "big")
                body = self._from.read(min(size, MAX_ANSWER + 1))
                if len(body) == min(size, MAX_ANSWER + 1):
                    answers.append(body)
        except (OSError, ValueError):
            return


def _plain(given: ReviewInput) -> dict[str, Any]:
    """The input as plain data; it is made whole again in the child."""
    return asdict(given)


def _review(answer: Mapping[str, Any]) -> Review | None:
    usage = Usage() if answer.get("usage") is None else Usage.from_json(answer["usage"])
    if answer.get("error"):
        raise ReviewFailed(str(answer["error"])[:2_000], usage)
    if answer.get("review") is None:
        return None
    told = answer["review"]
    decision = None if told["decision"] is None else normalised(told["decision"])[0]
    return Review(decision, usage, told["shown"], tuple(told["notes"]), tuple(told["refused_calls"]))

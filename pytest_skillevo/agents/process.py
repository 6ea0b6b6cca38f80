"""A child process that ends when we say so, with everything that it started, and whose output is bounded."""

from __future__ import annotations

import contextlib
import os
import queue
import secrets
import signal
import subprocess
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import IO, Final

from ..core.errors import InfrastructureError

#: Environment variable that marks a run's processes, so that those which left the group are found as well.
MARK: Final = "SKILLEVO_RUN"
#: Seconds between asking a process to end and ending it.
GRACE: Final = 1.0
LONGEST_LINE: Final = 1 << 20
TAIL: Final = 4_000
_END: Final = None


class TooLong(InfrastructureError):
    """The time is over, and the program, or one that it started, has not ended."""


class ChildProcess:
    """One run of a program: `lines` gives its standard output, `stop` ends it and all its children.

    No shell is involved. Raises InfrastructureError when the program cannot be started.
    """

    def __init__(
        self, argv: Sequence[str], *, folder: Path, environment: Mapping[str, str], stdin: bytes, most_bytes: int
    ) -> None:
        self._mark = secrets.token_hex(16)
        self._most = most_bytes
        self._tail = b""
        self._queue: queue.Queue[bytes | Exception | None] = queue.Queue(maxsize=1_000)
        self._stopped = threading.Event()
        try:
            self._process = subprocess.Popen(
                list(argv),
                cwd=folder,
                env={**environment, MARK: self._mark},
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                start_new_session=os.name == "posix",
                creationflags=getattr(subprocess, "CREATE_NEW_PROCESS_GROUP", 0),
            )
        except OSError as error:
            raise InfrastructureError(f"{argv[0]} cannot be started: {error.strerror or error}") from None
        assert self._process.stdin
        assert self._process.stdout
        assert self._process.stderr
        self._threads = [
            self._thread(self._feed, self._process.stdin, stdin),
            self._thread(self._read, self._process.stdout),
            self._thread(self._drain, self._process.stderr),
            self._thread(self._end_leftovers),
        ]

    @property
    def errors(self) -> str:
        """The end of what was written to standard error."""
        return self._tail.decode("utf-8", "replace")

    def lines(self, seconds: float) -> Iterator[bytes]:
        """Lines of standard output without their ends. Raises TooLong, or InfrastructureError at the size limit."""
        end = time.monotonic() + seconds
        while True:
            try:
                line = self._queue.get(timeout=max(0.0, end - time.monotonic()))
            except queue.Empty:
                raise TooLong(f"no end within {seconds:g} seconds") from None
            if isinstance(line, Exception):
                raise line
            if line is _END:
                return
            yield line

    def exit_code(self, seconds: float = GRACE) -> int:
        """The exit code after the output has ended. Raises InfrastructureError when the process goes on."""
        try:
            return self._process.wait(seconds)
        except subprocess.TimeoutExpired:
            raise InfrastructureError("it closed its output and went on running") from None

    def stop(self) -> None:
        """End the process and everything that it started; does nothing where all of it has ended."""
        self._stopped.set()
        self._signal(getattr(signal, "SIGTERM", 15))
        with contextlib.suppress(subprocess.TimeoutExpired):
            self._process.wait(GRACE if self._process.poll() is None else 0)
        self._signal(getattr(signal, "SIGKILL", 9))
        self._process.wait()
        for stream in (self._process.stdin, self._process.stdout, self._process.stderr):
            with contextlib.suppress(OSError, ValueError):
                if stream is not None:
                    stream.close()
        for thread in self._threads:
            thread.join(GRACE)

    def _signal(self, number: int) -> None:
        if os.name != "posix":
            with contextlib.suppress(OSError):
                self._process.kill()
            return
        with contextlib.suppress(OSError):
            os.killpg(self._process.pid, number)
        for pid in _marked(self._mark):
            with contextlib.suppress(OSError):
                os.kill(pid, number)

    def _thread(self, run: Callable[..., None], *arguments: object) -> threading.Thread:
        thread = threading.Thread(target=run, args=arguments, daemon=True, name="skillevo-child")
        thread.start()
        return thread

    def _feed(self, stream: IO[bytes], data: bytes) -> None:
        with contextlib.suppress(OSError, ValueError):  # it need not read what it is given
            stream.write(data)
            stream.close()

    def _read(self, stream: IO[bytes]) -> None:
        size = 0
        with contextlib.suppress(ValueError, OSError):
            while line := stream.readline(LONGEST_LINE + 1):
                size += len(line)
                if len(line) > LONGEST_LINE or size > self._most:
                    self._put(InfrastructureError(f"more output than {self._most:,} bytes, or one line of over 1 MB"))
                    return
                self._put(line.rstrip(b"\r\n"))
        self._put(_END)

    def _put(self, line: bytes | Exception | None) -> None:
        while not self._stopped.is_set():
            with contextlib.suppress(queue.Full):
                self._queue.put(line, timeout=0.2)
                return

    def _end_leftovers(self) -> None:
        """What the program leaves behind may hold its output open: it ends GRACE seconds after the program."""
        self._process.wait()
        if not self._stopped.wait(GRACE):
            self._signal(getattr(signal, "SIGKILL", 9))

    def _drain(self, stream: IO[bytes]) -> None:
        with contextlib.suppress(ValueError, OSError):
            while block := os.read(stream.fileno(), 1 << 16):
                self._tail = (self._tail + block)[-TAIL:]


def _marked(mark: str) -> list[int]:
    """Processes of this run, also those that made a session of their own (Linux only: elsewhere nothing tells)."""
    wanted = f"{MARK}={mark}".encode("ascii")
    found = []
    for folder in Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError):
            if wanted in (folder / "environ").read_bytes().split(b"\0"):
                found.append(int(folder.name))
    return found

"""The process of an isolated Reviewer: reads frames from its parent, answers, and ends when the parent is gone.

A thread of its own reads the frames, so that the end of a killed parent is seen during a review that hangs.
"""

from __future__ import annotations

import json
import os
import pickle
import queue
import signal
import sys
import threading
from typing import IO, Any

from ..core.review.prompt import ReviewInput, ShownSkill
from ..core.review.reviewer import Review, ReviewFailed, Reviewing
from ..core.sessions import TaskOutcome


def main() -> None:
    """Serve until the end of the input."""
    _bound_memory(int(sys.argv[1]))
    # The Reviewer may print: its output must not meet the frames.
    answers = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)
    frames: queue.SimpleQueue[bytes] = queue.SimpleQueue()
    threading.Thread(target=_listen, args=(sys.stdin.buffer, frames), daemon=True).start()
    reviewer = _reviewer(frames.get(), answers)
    while reviewer is not None:
        given, seed = pickle.loads(frames.get())
        _write(answers, _answer(reviewer, _whole(given), seed))


def _listen(requests: IO[bytes], frames: queue.SimpleQueue[bytes]) -> None:
    """Pass frames on until the parent is gone, then end this process and whatever the Reviewer started."""
    while (frame := _read(requests)) is not None:
        frames.put(frame)
    if os.name == "posix" and os.getpgrp() == os.getpid():
        os.killpg(0, signal.SIGKILL)
    os._exit(0)


def _reviewer(frame: bytes, answers: IO[bytes]) -> Reviewing | None:
    """The Reviewer of the first frame: the path of imports as JSON, then, pickled, the Reviewer itself."""
    path, _, frozen = frame.partition(b"\n")
    sys.path[:] = json.loads(path)
    try:
        reviewer: Reviewing = pickle.loads(frozen)  # from our own parent
    except Exception as error:
        _write(answers, {"error": f"{type(error).__name__}: {error}"})
        return None
    _write(answers, {"ready": True})
    return reviewer


def _answer(reviewer: Reviewing, given: ReviewInput, seed: int) -> dict[str, Any]:
    try:
        review = reviewer.review(given, seed=seed)
        return {"review": None} if review is None else _told(review)
    except ReviewFailed as error:
        return {"error": str(error), "usage": error.usage.to_json()}
    except MemoryError:
        return {"error": "it ran out of memory"}
    except Exception as error:
        return {"error": f"{type(error).__name__}: {error}"}


def _told(review: Review) -> dict[str, Any]:
    told = {
        "decision": None if review.decision is None else review.decision.to_json(),
        "shown": dict(review.shown),
        "notes": list(review.notes),
        "refused_calls": list(review.refused_calls),
    }
    return {"review": told, "usage": review.usage.to_json()}


def _whole(given: dict[str, Any]) -> ReviewInput:
    outcome = None if given["outcome"] is None else TaskOutcome(**given["outcome"])
    skills = tuple(ShownSkill(**skill) for skill in given["skills"])
    return ReviewInput(given["messages"], outcome, skills, given["app"], given["user"], given["session"])


def _bound_memory(limit: int) -> None:
    try:
        import resource
    except ImportError:
        return
    _, most = resource.getrlimit(resource.RLIMIT_AS)
    resource.setrlimit(resource.RLIMIT_AS, (limit if most == resource.RLIM_INFINITY else min(limit, most), most))


def _read(pipe: IO[bytes]) -> bytes | None:
    head = pipe.read(8)
    return pipe.read(int.from_bytes(head, "big")) if len(head) == 8 else None


def _write(pipe: IO[bytes], answer: dict[str, Any]) -> None:
    data = json.dumps(answer).encode("utf-8")
    pipe.write(len(data).to_bytes(8, "big") + data)
    pipe.flush()


if __name__ == "__main__":
    main()

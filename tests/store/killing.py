"""Run one action on copies of a project, killing the process at its first durable step, at a later one, and so on.

`python killing.py TEMPLATE WORK STRIDE ACTION [ARGUMENT]` copies TEMPLATE to WORK/000, and so on, and kills the child
that works on copy n at its n-th step with SIGKILL; n grows by STRIDE. The last copy is the one whose action came to its
end. Steps are those that the store names, and every rename, removal and commit under them.
"""

from __future__ import annotations

import os
import shutil
import signal
import sys
import traceback
from collections.abc import Callable
from pathlib import Path
from typing import Any

from sqlalchemy import Engine, event

from pytest_skillevo.store import Store


class Killer:
    def __init__(self, at: int) -> None:
        self.left = at

    def __call__(self, step: str) -> None:
        if self.left == 0:
            os.kill(os.getpid(), signal.SIGKILL)
        self.left -= 1

    def around(self, method: Callable[..., Any]) -> Callable[..., Any]:
        def called(path: Path, *arguments: Any, **settings: Any) -> Any:
            # Nothing happens between the end of one step and the beginning of the next, and making what is there is
            # no step: one kill for each state is enough.
            if method.__name__ != "mkdir" or not path.exists():
                self(f"before {method.__name__}")
            return method(path, *arguments, **settings)

        return called


def act(root: Path, action: str, argument: str, killer: Killer) -> None:
    for name in ("replace", "unlink", "rmdir", "mkdir", "chmod"):
        setattr(Path, name, killer.around(getattr(Path, name)))
    event.listen(Engine, "commit", lambda connection: killer("commit"))
    with Store.open(root / ".skillevo", skills=root / "skills", fault=killer) as store:
        if action == "approve":
            store.approve(argument, "nina", "good")
        elif action == "rollback":
            store.rollback(argument, "omar", "bad")
        elif action == "promote":
            store.reevaluate(argument, {"outcome": {"score": 1.0}}, actor="ci")
        elif action == "restore":
            store.restore(argument, "nina")


def main(template: Path, work: Path, stride: int, action: str, argument: str = "") -> None:
    number = 0
    while True:
        root = work / f"{number:03}"
        shutil.copytree(template, root)
        child = os.fork()
        if child == 0:
            try:
                act(root, action, argument, Killer(number))
            except BaseException:
                traceback.print_exc()
                os._exit(3)
            os._exit(0)
        _, status = os.waitpid(child, 0)
        if os.WIFEXITED(status):
            sys.exit(os.WEXITSTATUS(status))
        assert os.WTERMSIG(status) == signal.SIGKILL
        number += stride


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]), int(sys.argv[3]), *sys.argv[4:])

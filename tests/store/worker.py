"""A second process for the tests: waits for a line on stdin, acts, and says on stdout how it went.

ROOT URL and one of: append EXPERIMENT BATCHES, approve ID, hold ID (approve, at the intent until the next line)
"""

from __future__ import annotations

import sys
from pathlib import Path

from pytest_skillevo.core.errors import StoreError
from pytest_skillevo.store import JournalEntry, Store


def stop(step: str) -> None:
    if step == "intent committed":
        print("holding", flush=True)
        sys.stdin.readline()


def main(root: Path, url: str, action: str, argument: str, count: str = "0") -> None:
    print("ready", flush=True)
    sys.stdin.readline()
    settings = {"fault": stop} if action == "hold" else {}
    settings |= {} if url == "-" else {"url": url}
    try:
        with Store.open(root / ".skillevo", skills=root / "skills", **settings) as store:
            if action == "append":
                for batch in range(int(count)):
                    entries = [JournalEntry(f"{batch}/{n}", "rollout", {"n": n}) for n in range(20)]
                    store.put_trace({"batch": batch})
                    store.append(argument, entries)
            else:
                store.approve(argument, "worker")
    except StoreError as error:
        print(f"refused: {error}", flush=True)
    else:
        print("done", flush=True)


if __name__ == "__main__":
    main(Path(sys.argv[1]), *sys.argv[2:])

"""What all tests share."""

from __future__ import annotations

import importlib
import itertools
import json
import pkgutil
import subprocess
import sys
import urllib.request
from collections.abc import Iterator
from pathlib import Path

import pytest

# pytester forgets the modules that an inner run imported first. A second import would make a second set of classes,
# whose enum members are not the first ones, and SQLAlchemy's compiled parts do not survive it: load all beforehand.
import sqlalchemy.dialects.sqlite  # noqa: F401
import yaml  # noqa: F401

import pytest_skillevo

for _found in pkgutil.walk_packages(pytest_skillevo.__path__, "pytest_skillevo."):
    importlib.import_module(_found.name)

pytest_plugins = ["pytester"]


@pytest.fixture(autouse=True)
def outside_of_github(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where these tests run on GitHub Actions, inner runs must not write to the summary of the outer one."""
    monkeypatch.delenv("GITHUB_ACTIONS", raising=False)
    monkeypatch.delenv("GITHUB_STEP_SUMMARY", raising=False)


class ChatServer:
    """An OpenAI-compatible server in a process of its own (tools/openai_server.py), on loopback."""

    def __init__(self) -> None:
        command = [sys.executable, str(Path(__file__).with_name("tools") / "openai_server.py")]
        self.process = subprocess.Popen(command, stdout=subprocess.PIPE, encoding="utf-8")
        assert self.process.stdout is not None
        self._root = f"http://127.0.0.1:{int(self.process.stdout.readline())}"
        self.url = self._root + "/v1"
        self._names = itertools.count()

    def model(self, *steps: dict) -> str:
        """The name of a new model that gives these answers, one after another (see the server)."""
        name = f"scripted-{next(self._names)}"
        request = urllib.request.Request(f"{self._root}/script/{name}", json.dumps(steps).encode(), method="POST")
        urllib.request.urlopen(request).close()
        return f"openai/{name}"

    def requests(self, model: str) -> list[dict]:
        """What a model was asked so far."""
        with urllib.request.urlopen(f"{self._root}/requests/{model.removeprefix('openai/')}") as answer:
            return json.load(answer)

    def stop(self) -> None:
        """End the process."""
        self.process.kill()
        self.process.wait()
        assert self.process.stdout is not None
        self.process.stdout.close()


@pytest.fixture(scope="session")
def chat_server() -> Iterator[ChatServer]:
    """One server for all tests; LiteLLM is loaded as well, so that inner runs of pytester share it."""
    from pytest_skillevo.models.live.library import litellm

    litellm()
    server = ChatServer()
    yield server
    server.stop()

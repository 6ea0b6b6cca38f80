"""LiteLLM is loaded late, offline and silently, and what is missing is said in a sentence."""

from __future__ import annotations

import subprocess
import sys
from datetime import UTC, datetime

import pytest

from pytest_skillevo.core.errors import ConfigError
from pytest_skillevo.models import resolve_model
from pytest_skillevo.models.live import LiveModel, LiveSettings
from pytest_skillevo.models.live import library as loading
from pytest_skillevo.models.live.failures import Kind, failure_of
from pytest_skillevo.models.live.library import require_provider

SILENT_IMPORT = """
import os, socket, sys

def no_network(*arguments, **named):
    raise AssertionError("the import reaches for the network")

socket.socket.connect = socket.socket.connect_ex = socket.getaddrinfo = no_network
before = dict(os.environ)
from pytest_skillevo.models.live import LiveModel
model = LiveModel("openai/gpt-4o")
assert model.priced and "litellm" not in sys.modules
from pytest_skillevo.models.live.library import litellm
library = litellm()
assert dict(os.environ) == before, set(os.environ) ^ set(before)
assert library.model_cost["gpt-4o"]
try:
    library.get_llm_provider("no-such-model")
except Exception:
    pass
"""


def test_the_import_reads_no_env_file_reaches_for_no_network_and_prints_nothing(tmp_path):
    (tmp_path / ".env").write_text("OPENAI_API_KEY=from-the-file\nSKILLEVO_PROBE=1\n", encoding="utf-8")
    command = [sys.executable, "-c", SILENT_IMPORT]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, encoding="utf-8", check=False)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("opnai/gpt-4o", "Did you mean 'openai'.*such as openai/gpt-4o"),
        ("gpt-4oo", "Did you mean 'gpt-4o'"),
        ("my-own-model", "Write PROVIDER/MODEL.*--evolve-api-base=URL"),
    ],
)
def test_a_name_without_a_provider_is_refused_with_what_to_write(name, words):
    with pytest.raises(ConfigError, match=words):
        require_provider(name)


def test_a_missing_key_is_named(monkeypatch):
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    with pytest.raises(ConfigError, match=r"needs OPENAI_API_KEY.*--evolve-cassettes=replay"):
        resolve_model("openai/gpt-4o")


def test_a_server_of_ones_own_needs_no_key(monkeypatch):
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    LiveModel("openai/mine", LiveSettings(api_base="http://127.0.0.1:1/v1")).require()


def test_without_the_extra_the_message_says_how_to_get_it(monkeypatch):
    monkeypatch.setattr(loading, "find_spec", lambda name: None)
    monkeypatch.delitem(sys.modules, "litellm", raising=False)
    with pytest.raises(ConfigError, match=r"pip install 'pytest-skillevo\[litellm\]'"):
        resolve_model("openai/gpt-4o")


def test_what_a_provider_has_no_parameter_for_is_left_out_beforehand(monkeypatch):
    monkeypatch.setenv("ANTHROPIC_API_KEY", "key-of-a-test")
    model = LiveModel("anthropic/claude-sonnet-4-5")
    model.require()
    assert [note for note in model.notes if "takes no seed" in note]


class Refusal(Exception):
    """An exception in the shape of LiteLLM's."""

    def __init__(self, text, status=None, headers=None, body=None):
        super().__init__(text)
        self.status_code, self.body = status, body
        self.response = type("Response", (), {"headers": headers or {}})()


@pytest.mark.parametrize(
    ("value", "seconds"),
    [
        ("12", 12.0),
        ("-3", 0.0),
        ("Mon, 30 Nov 2026 12:00:30 GMT", 30.0),
        ("Mon, 30 Nov 2026 11:00:00 GMT", 0.0),
        ("soon", None),
        ("inf", None),
        ("nan", None),
    ],
)
def test_retry_after_is_seconds_or_a_date(value, seconds):
    now = datetime(2026, 11, 30, 12, tzinfo=UTC)
    assert failure_of(Refusal("slow down", 429, {"retry-after": value}), now).wait == seconds


@pytest.mark.parametrize(
    ("error", "kind"),
    [
        (Refusal("Connection error."), Kind.PASSING),
        (Refusal("timed out", 408), Kind.PASSING),
        (Refusal("Payment required", 402), Kind.LASTING),
        (Refusal("prompt is too long: 210000 tokens > 200000 maximum", 400), Kind.TOO_LONG),
        (Refusal("'temperature' is not supported with this model", 400), Kind.PARAMETER),
        (Refusal("messages: text content blocks must be non-empty", 400), Kind.REFUSED),
        (Refusal("forbidden", 403), Kind.REFUSED),
        (IndexError("list index out of range"), Kind.PASSING),
        (DeprecationWarning("use something else"), Kind.REFUSED),
    ],
)
def test_a_failure_is_told_by_its_status_and_words(error, kind):
    assert failure_of(error).kind is kind

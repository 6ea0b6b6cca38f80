"""What the command line prints is safe for any terminal, encoding and reader, whatever is stored."""

from __future__ import annotations

import io
import json
import os
import subprocess
import sys
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

import pytest_skillevo
from pytest_skillevo.cli import main
from pytest_skillevo.commands.differences import folder_diff
from pytest_skillevo.commands.screen import Screen, ago
from pytest_skillevo.core.skill import Skill
from pytest_skillevo.report.text import columns

NAME = "recipe-cookbook"
NOW = datetime(2026, 11, 30, 12, 0, tzinfo=UTC)


@pytest.mark.parametrize(
    "evidence",
    [
        {"decision": 3, "confirmation": [], "model": None},
        {"confirmation": {"holdout": {"cases": "many", "change": None, "interval": [1, "x"], "mean_before": True}}},
        {"confirmation": {"holdout": {"cases": 10**400, "mean_before": 1e308, "mean_after": 0.5, "change": 1e308}}},
        {"confirmation": {"criticals": ["?", None]}, "outcome": "fine"},
        {},
    ],
    ids=["wrong kinds", "wrong values", "huge values", "odd criticals", "nothing"],
)
def test_evidence_from_elsewhere_never_breaks_the_screen(bench, run, evidence):
    id = bench.enter(evidence=evidence)
    assert id in run("show", id)
    assert id in run("list")


def test_a_diff_tells_line_ends_and_binary_files_apart():
    before = {"a.md": b"one\r\ntwo\x0cstill two\n", "b.bin": b"\0\1", "same": b"same", "gone.md": b"last line"}
    after = {"a.md": b"one\ntwo\x0cstill two\n", "b.bin": b"\0\1\2", "same": b"same"}
    found = folder_diff("s", before, after)
    assert [(file.path, file.change) for file in found] == [
        ("a.md", "changed"),
        ("b.bin", "changed"),
        ("gone.md", "removed"),
    ]
    assert found[0].lines[2:] == ("@@ -1,2 +1,2 @@", "-one\r", "+one", " two\x0cstill two")
    assert found[1].lines == ("Binary files a/s/b.bin and b/s/b.bin differ (2 -> 3 bytes)",)
    assert found[2].lines[-2:] == ("-last line", "\\ No newline at end of file")


HOSTILE = "\x1b[2J\x1b]0;title\x07 \u202eevil\u200b\r\n::error::x \ud800\0 \u6599\u7406 caf\u00e9"


def test_stored_text_cannot_speak_to_the_terminal(bench, run):
    content = Skill.from_bytes(NAME, bench.seed.document + "\x1b[31mred \u202e \u6599\u7406\n::warning::x\n".encode())
    evidence = {"decision": {"verdict": HOSTILE, "reason": HOSTILE, "rule": HOSTILE}, HOSTILE: HOSTILE}
    id = bench.enter(content=content, source=f"experiment:{HOSTILE}", actor=HOSTILE, reason=HOSTILE, evidence=evidence)
    for command in (["list"], ["show", id], ["diff", id]):
        text = run(*command)
        assert not [char for char in text if not char.isprintable() and char not in "\n\t"]
        assert not [line for line in text.splitlines() if line.lstrip().startswith("::")]
        assert "\\x1b" in text
    assert [line for line in run("show", id).splitlines() if columns(line) > 80] == []
    assert "\\x1b" in run("show", HOSTILE, exits=1)
    assert "\\x1b" in run("list", HOSTILE, exits=4)


def subprocess_run(*arguments: str, **environment: str) -> subprocess.CompletedProcess[bytes]:
    package = str(Path(pytest_skillevo.__file__).parents[1])
    return subprocess.run(
        [sys.executable, "-m", "pytest_skillevo.cli", *arguments],
        capture_output=True,
        env=os.environ | {"PYTHONPATH": package} | environment,
        timeout=60,
    )


def test_an_ascii_terminal_gets_escapes_and_no_error(bench):
    id = bench.enter(reason=HOSTILE, evidence={"decision": {"verdict": "ACCEPT", "reason": HOSTILE}})
    for arguments in (["list"], ["show", id], ["diff", id], ["show", id, "--json"]):
        done = subprocess_run("revisions", *arguments, PYTHONIOENCODING="ascii", PYTHONUTF8="0", LC_ALL="C")
        assert done.returncode == 0, done.stderr
        assert done.stdout.isascii()
    done = subprocess_run("revisions", "show", id, PYTHONIOENCODING="ascii")
    assert b"caf\\xe9" in done.stdout
    failed = subprocess_run("revisions", "show", "rv-caf\u00e9", PYTHONIOENCODING="ascii")
    assert (failed.returncode, failed.stdout) == (1, b"")
    assert b"caf\\xe9" in failed.stderr


def test_a_reader_that_leaves_early_gets_no_traceback(bench):
    bench.enter()
    read, write = os.pipe()
    os.close(read)
    package = str(Path(pytest_skillevo.__file__).parents[1])
    done = subprocess.run(
        [sys.executable, "-m", "pytest_skillevo.cli", "revisions", "list"],
        stdout=write,
        stderr=subprocess.PIPE,
        env=os.environ | {"PYTHONPATH": package},
        timeout=60,
    )
    os.close(write)
    assert done.stderr == b""


def test_what_was_left_half_done_is_told_on_stderr(bench, capsys, monkeypatch):
    id = bench.enter()

    class Killed(BaseException):
        pass

    def die(*arguments: object) -> None:
        raise Killed

    with monkeypatch.context() as patch, bench.open() as store:
        patch.setattr("pytest_skillevo.store.publication.publish", die)
        with pytest.raises(Killed):
            store.approve(id, "nina")
    assert main(["revisions", "list", "--json"], clock=lambda: NOW) == 0
    out, err = capsys.readouterr()
    assert json.loads(out)[-1]["id"] == id
    assert err.startswith(f"note: an interrupted approve of {id}")


@pytest.mark.parametrize(
    ("age", "words"),
    [
        (timedelta(seconds=5), "just now"),
        (timedelta(seconds=-30), "just now"),
        (timedelta(seconds=61), "1 min ago"),
        (timedelta(minutes=59, seconds=59), "59 min ago"),
        (timedelta(hours=23), "23 h ago"),
        (timedelta(days=1), "1 day ago"),
        (timedelta(days=59), "59 days ago"),
        (timedelta(days=200), "2026-05-14"),
        (timedelta(days=-2), "2026-12-02"),
    ],
)
def test_times_are_told_as_people_tell_them(age, words):
    assert ago((NOW - age).isoformat(), NOW) == words


def test_a_stream_without_an_encoding_is_written_as_utf_8():
    out = io.StringIO()
    Screen(out, 80).line("caf\u00e9")
    assert out.getvalue() == "caf\u00e9\n"

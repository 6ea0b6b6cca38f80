"""Hostile texts cost time in proportion to their length: no pattern goes back and forth.

A pattern that does would need minutes to hours for texts of this length; no clock is asked.
"""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pytest_skillevo.core.gates.safety import scan_text

UNITS = [
    *(
        "a ",
        "a\n",
        "- a\n",
        "# a\n",
        "| a | b |\n|---|---|\n",
        "```\n",
        "> ",
        "<!--",
        "`",
        "\\",
        "'",
        '"',
        "(",
        "$(",
        "${a",
    ),
    *(
        "rm ",
        "rm -rf ",
        "rm -rf x ",
        "curl x |",
        "exec ",
        "eval(",
        "base64 -d ",
        "nc -",
        "dd of=/dev/sda ",
        "chmod 777 ",
    ),
    *("f(){ f|f& };", ">>", "LD_PRELOAD=", ":0:0:", "AKIA", "$GITHUB_TOKEN ", "os.walk('/')", "x=$(echo a|base64 -d)"),
    *("../", "../../ ", "write ../", "..%2f", "/etc/passwd ", "cat ~/.ssh/id_rsa ", ".env ", "a=b;", "$a"),
    *(
        "ignore ",
        "ignore all previous ",
        "instructions ",
        "never let ",
        "send secrets ",
        "do not tell the user ",
        "so that ",
    ),
    *("忽略", "之前的指令", "悄悄", "vergiss ", "забудь ", "無視", "heimlich "),
    *(
        "\u200b",
        "a\u200d",
        "\u202e",
        "token=",
        'password="',
        "eyJ",
        "-----BEGIN PRIVATE KEY-----",
        "http://a:",
        "bearer ",
    ),
    *("Ab1" * 8 + " ", "a b c d ", "i g n o r e  ", "\\x72", "726d2072", "![a](https://x?a={", "oooo", "1,2,3"),
]


@pytest.mark.parametrize("unit", UNITS)
def test_a_repeated_fragment_is_read_in_one_go(unit):
    for _ in scan_text(unit * (20_000 // len(unit))):
        pass


@pytest.mark.parametrize("unit", ["a", "never run rm -rf / "])
def test_a_megabyte_is_read_in_one_go(unit):
    for _ in scan_text(unit * (1_000_000 // len(unit))):
        pass


FRAGMENTS = st.sampled_from([unit[:40] for unit in UNITS] + ["\n", "\n\n", "Never ", ". ", "| ", "1. ", "\u3000"])


@settings(max_examples=300, deadline=None)
@given(st.lists(FRAGMENTS, max_size=25).map("".join), st.sampled_from(["SKILL.md", "a.sh", "a.json"]))
def test_any_text_is_judged_and_every_finding_lies_in_it(text, path):
    lines = text.replace("\r\n", "\n").replace("\r", "\n").count("\n") + 1
    for finding in scan_text(text, path):
        assert finding.where.startswith(f"{path}:")
        assert 1 <= int(finding.where.rpartition(":")[2]) <= lines
        assert "\n" not in finding.message


@settings(max_examples=150, deadline=None)
@given(st.text(max_size=200), st.sampled_from(["SKILL.md", "x.py"]))
def test_arbitrary_text_is_judged(text, path):
    assert list(scan_text(text, path)) == list(scan_text(text, path))

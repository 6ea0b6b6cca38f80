"""Ini keys and hooks decide which gates judge; a typing error opens none."""

from __future__ import annotations

import pytest

from pytest_skillevo.core.errors import ConfigError
from pytest_skillevo.core.gates.effectiveness import EffectivenessGate
from pytest_skillevo.core.gates.human import Hold, HumanGate
from pytest_skillevo.core.gates.records import Gates
from pytest_skillevo.core.gates.safety import SafetyGate
from pytest_skillevo.core.gates.spec import SpecGate
from pytest_skillevo.gating import INI, GateSettings, settings

DEFAULTS = {name: default for name, _, _, default in INI}


def of(**changes: object) -> GateSettings:
    return settings((DEFAULTS | changes).__getitem__)


def test_the_defaults_are_the_gates_of_the_specification():
    assert of() == GateSettings()
    assert of().gates() == Gates(SpecGate(), SafetyGate(), EffectivenessGate(), HumanGate())


def test_every_key_reaches_its_gate():
    chosen = of(
        skillevo_gates=["human", "spec", "safety", "effectiveness"],
        skillevo_gate_min_steps="3",
        skillevo_gate_max_name="64",
        skillevo_gate_allow=["dangerous_shell:setuid"],
        skillevo_gate_min_score="0.5",
        skillevo_gate_min_gain="-0.05",
        skillevo_gate_park_failures=False,
        skillevo_gate_human="create-and-delete",
        skillevo_gate_shadow=True,
    )
    assert chosen.shadow
    assert chosen.gates() == Gates(
        SpecGate(3, 64),
        SafetyGate(("dangerous_shell:setuid",)),
        EffectivenessGate(0.5, -0.05, False),
        HumanGate(Hold.CREATE_AND_DELETE),
    )


def test_a_gate_that_is_not_named_is_off():
    assert of(skillevo_gates=["safety"]).gates() == Gates(safety=SafetyGate())


@pytest.mark.parametrize(
    ("key", "value", "message"),
    [
        ("skillevo_gates", ["safty"], "ini key skillevo_gates=safty: 'safty' is none of spec, safety,"),
        (
            "skillevo_gate_min_steps",
            "two",
            "ini key skillevo_gate_min_steps=two: expected a whole number of at least 1",
        ),
        ("skillevo_gate_max_name", "0", "expected a whole number of at least 1"),
        ("skillevo_gate_min_score", "80", "ini key skillevo_gate_min_score=80: expected a number between 0 and 1"),
        ("skillevo_gate_min_score", "nan", "expected a number between 0 and 1"),
        ("skillevo_gate_min_gain", "-2", "expected a number between -1 and 1"),
        ("skillevo_gate_human", "alway", "expected one of always, create-and-delete, never"),
    ],
)
def test_a_typing_error_is_refused_with_what_was_expected(key, value, message):
    with pytest.raises(ConfigError) as caught:
        of(**{key: value})
    assert message in str(caught.value)


def test_an_unknown_code_to_allow_is_refused_when_the_gates_are_built():
    with pytest.raises(ConfigError, match="knows no 'dangerous'"):
        of(skillevo_gate_allow=["dangerous"]).gates()


CONFTEST = """
from pytest_skillevo.core.gates.records import verdict_of
from pytest_skillevo.gating import gates_of


class Strict:
    version = "strict"

    def __init__(self, inner):
        self.inner = inner

    def judge(self, candidate):
        return self.inner.judge(candidate)


def pytest_skillevo_gate_safety(default, config):
    return Strict(default)


def pytest_report_header(config):
    gates, shadow = gates_of(config)
    return [f"gates: {gates.version}", f"shadow: {shadow}"]
"""


def test_a_hook_replaces_a_gate_and_may_wrap_the_default(pytester):
    pytester.makeconftest(CONFTEST)
    pytester.makeini(
        "[pytest]\nskillevo_gate_human = never\nskillevo_gate_min_steps = 3\nskillevo_gate_shadow = true\n"
    )
    pytester.makepyfile("def test_it(): pass")
    result = pytester.runpytest()
    result.assert_outcomes(passed=1)
    result.stdout.fnmatch_lines(
        ["gates: spec 1 (steps 3, name 120); safety strict; effectiveness 1 (*); human 1 (never)", "shadow: True"]
    )

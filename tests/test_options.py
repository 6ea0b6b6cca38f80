"""The option table repeats names and defaults of the core, which the plugin may not load: they must be the same."""

from __future__ import annotations

from dataclasses import fields

import pytest

from pytest_skillevo import options, project
from pytest_skillevo.core.records import ROLES
from pytest_skillevo.core.verdict import CriticalRule, Goal
from pytest_skillevo.stages.settings import Settings

DEFAULTS = {option.key: option.default for option in options.OPTIONS}


def test_goals_rules_and_roles_are_those_of_the_core() -> None:
    assert set(options.GOALS) == {goal.value for goal in Goal}
    assert set(options.CRITICAL_RULES) == {rule.value for rule in CriticalRule}
    assert options.ROLES == ROLES


@pytest.mark.parametrize("name", [field.name for field in fields(Settings) if field.name != "cache"])
def test_an_option_and_its_setting_have_the_same_default(name: str) -> None:
    assert DEFAULTS[f"evolve_{name}"] == getattr(Settings(), name)


def test_the_command_line_tool_and_pytest_look_in_the_same_folders() -> None:
    ini = {key: default for key, _, _, default in options.INI_ONLY}
    assert (ini["skillevo_skills"], ini["skillevo_home"]) == (project.DEFAULT_SKILLS, project.DEFAULT_HOME)

"""`skillevo init`: a suite beside a skill that a team already has, run as the README tells."""

from __future__ import annotations

import ast
import json
import shutil
import sys
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pytest_skillevo.cli import main
from pytest_skillevo.commands.starter import KINDS, suite_for
from pytest_skillevo.commands.starter.suite import terms_of
from pytest_skillevo.core.errors import SkillError
from pytest_skillevo.core.skill import Skill

SKILLS = Path(__file__).parents[1] / "data/own_skills"
NAMES = ("pdf-forms", "house-tone")

AGENT = """
import json, sys
from pathlib import Path

request = json.loads(sys.stdin.readline())
text = Path(request["skills"][0]["folder"], "SKILL.md").read_text(encoding="utf-8")
print(json.dumps({"type": "skill", "name": request["skills"][0]["name"], "text": text}))
usage = {"input_tokens": None, "output_tokens": None, "usd": None}
print(json.dumps({"type": "result", "answer": text, "usage": usage}))
"""


@pytest.fixture
def project(pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch) -> pytest.Pytester:
    """A project with two skills: one with steps, one pure prose."""
    shutil.copytree(SKILLS, pytester.path / "skills")
    monkeypatch.chdir(pytester.path)
    return pytester


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("kind", KINDS)
def test_every_kind_of_suite_is_python_and_says_what_is_missing(project, monkeypatch, capsys, name, kind):
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    assert main(["init", f"skills/{name}", "--agent", kind]) == 0
    told = capsys.readouterr().out
    assert f"next:  pytest tests/skills/{name}\n" in told
    assert f"       pytest tests/skills/{name} --evolve --evolve-plan" in told
    result = project.runpytest(f"tests/skills/{name}")
    assert result.ret == 1
    missing = {
        "built-in": "*no model is named*Name one*",
        "function": "*put the call of your agent into solve()*",
        "openai": "*needs OPENAI_API_KEY in the environment*",
        "command": "*my-agent cannot be started*",
    }
    result.stdout.fnmatch_lines([missing[kind]])
    assert "Traceback" not in result.stdout.str()


@pytest.mark.parametrize("name", NAMES)
def test_with_a_program_the_suite_runs_and_can_be_planned(project, name):
    project.path.joinpath("agent.py").write_text(AGENT, encoding="utf-8")
    line = f"{sys.executable} {project.path / 'agent.py'}"
    assert main(["init", f"skills/{name}", "--agent", "command", "--command", line]) == 0
    project.runpytest(f"tests/skills/{name}").assert_outcomes(passed=3)
    plan = project.runpytest(f"tests/skills/{name}", "--evolve", "--evolve-plan")
    assert plan.ret == 0
    plan.stdout.fnmatch_lines(["*1 feedback, 1 validation, 1 holdout*"])


@pytest.mark.parametrize("name", NAMES)
def test_with_a_client_or_a_named_model_the_suite_asks_a_real_server(project, chat_server, monkeypatch, name):
    answer = (SKILLS / name / "SKILL.md").read_text(encoding="utf-8")
    monkeypatch.setenv("OPENAI_API_KEY", "none")
    monkeypatch.setenv("OPENAI_BASE_URL", chat_server.url)
    model = chat_server.model(*[{"text": answer}] * 3)
    monkeypatch.setenv("AGENT_MODEL", model.removeprefix("openai/"))
    assert main(["init", f"skills/{name}", "--agent", "openai", "--in", "checks/client"]) == 0
    project.runpytest("checks/client").assert_outcomes(passed=3)
    assert main(["init", f"skills/{name}", "--in", "checks/built_in"]) == 0
    model = chat_server.model(*[{"text": answer}] * 3)
    project.runpytest(
        "checks/built_in", f"--evolve-model={model}", f"--evolve-api-base={chat_server.url}"
    ).assert_outcomes(passed=3)


def test_nothing_is_ever_overwritten(project, capsys):
    assert main(["init", "skills/pdf-forms"]) == 0
    written = {path: path.read_bytes() for path in Path("tests").rglob("*") if path.is_file()}
    capsys.readouterr()
    assert main(["init", "skills/pdf-forms", "--agent", "function"]) == 4
    assert "already there, and nothing is overwritten" in capsys.readouterr().err
    assert {path: path.read_bytes() for path in Path("tests").rglob("*") if path.is_file()} == written


def test_a_skill_elsewhere_gets_its_folder_into_the_settings(project, capsys):
    shutil.copytree(SKILLS / "house-tone", project.path / ".claude/skills/house-tone")
    assert main(["init", ".claude/skills/house-tone", "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert (told["files"][-1], told["setting"]) == ("pytest.ini", None)
    assert Path("pytest.ini").read_text(encoding="utf-8") == "[pytest]\nskillevo_skills = .claude/skills\n"


def test_settings_that_exist_are_named_not_changed(project, capsys):
    Path("pyproject.toml").write_text("[tool.pytest.ini_options]\naddopts = '-q'\n", encoding="utf-8")
    shutil.copytree(SKILLS / "house-tone", project.path / ".claude/skills/house-tone")
    assert main(["init", ".claude/skills/house-tone"]) == 0
    assert 'first: add to pyproject.toml: skillevo_skills = ".claude/skills"' in capsys.readouterr().out
    assert "skillevo" not in Path("pyproject.toml").read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["init", "skills/pdf-form"], "Did you mean 'pdf-forms'?"),
        (["init", "skills/pdf-forms", "--command", "x"], "--command belongs to --agent command"),
        (["init", "skills/pdf-forms", "--agent", "command", "--command", "x 'y"], "No closing quotation"),
        (["init", "skills/pdf-forms", "--agent", "robot"], "invalid choice: 'robot'"),
    ],
)
def test_wrong_usage_is_exit_code_4_and_writes_nothing(project, capsys, arguments, message):
    assert main(arguments) == 4
    assert message in capsys.readouterr().err
    assert not Path("tests").exists()


def test_the_words_to_look_for_are_code_first_and_none_of_the_description():
    assert terms_of(Skill.load(SKILLS / "pdf-forms"))[:2] == ["pdftk form.pdf dump_data_fields", "pdftk fill_form"]
    assert "customers" not in terms_of(Skill.load(SKILLS / "house-tone"))


@settings(max_examples=60)
@given(st.text(max_size=80), st.text(max_size=200))
def test_what_a_skill_says_is_data_in_the_written_test(description, body):
    document = "---\nname: x\ndescription: " + json.dumps(description) + "\n---\n" + body
    try:
        skill = Skill.from_bytes("x", document.encode("utf-8", "ignore"), {})
    except SkillError:
        return  # what is no skill gets no suite
    for kind in KINDS:
        found = suite_for(skill, "x", kind, ["a", '"""', "{{COMMAND}}"]).files
        assert shape(found["test_x.py"]) == ["ask", *CASES]
        assert shape(found["conftest.py"]) == shape(suite_for(PLAIN, "x", kind).files["conftest.py"])


CASES = ["test_the_steps_are_known", "test_advice_follows_the_skill", "test_what_must_not_be_forgotten"]
PLAIN = Skill.from_bytes("x", b"---\nname: x\ndescription: Plain.\n---\nText.\n", {})


def shape(source: str) -> list[str]:
    """Names of the functions that a module defines, and the kinds of other calls at its top."""
    tree = ast.parse(source)
    return [node.name for node in tree.body if isinstance(node, ast.FunctionDef)] + [
        ast.dump(node) for node in tree.body if isinstance(node, ast.Expr) and not isinstance(node.value, ast.Constant)
    ]

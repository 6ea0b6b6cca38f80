"""Command-line agents as real processes: protocol, bounds, isolation, attestation (docs/agents.md)."""

from __future__ import annotations

import json
import os
import sys
import time
from decimal import Decimal
from pathlib import Path

import pytest

from pytest_skillevo.agents.command import CommandAgent
from pytest_skillevo.agents.workspace import Workspace
from pytest_skillevo.core.artifacts import commands_of
from pytest_skillevo.core.errors import ConfigError, EvaluationError, InfrastructureError
from pytest_skillevo.core.skill import Skill

PROGRAM = str(Path(__file__).with_name("fake_agent.py"))
SKILL = Skill.from_bytes("demo", b"---\nname: demo\ndescription: Shows.\n---\n# Demo\n", {"ref/x.md": b"x"})


def agent(deed: str, *more: str, **settings: object) -> CommandAgent:
    return CommandAgent([sys.executable, PROGRAM, deed, *more], **settings)


def test_an_agent_works_in_its_workspace_and_tells_what_it_did():
    with Workspace() as place:
        place.allow("out/**")
        run = agent("work", workspace=place, must_tell=True).run("Say hello.", skills=[SKILL], seed=7)
        assert place.read("out/answer.txt") == b"Say hello."
        assert place.breaches() == ()
    assert run.answer == "seed 7"
    assert (run.usage.input_tokens, run.usage.output_tokens, run.usage.usd) == (10, 2, Decimal("0.02"))
    assert (run.skills_offered, run.skills_loaded, run.turns) == (("demo",), ("demo",), 1)
    assert commands_of(run.messages) == ["lint.py --strict"]


def test_without_a_workspace_each_run_gets_an_empty_one():
    assert agent("work").run("One.").answer == "seed 0"
    assert agent("work").run("Two.").answer == "seed 0"


def test_an_agent_sees_a_clean_home_and_no_variable_that_was_not_named(monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", "sk-not-for-you")
    monkeypatch.setenv("MY_KEY", "for-the-agent")
    seen = json.loads(agent("tell", environment=["MY_KEY"]).run("Look.", skills=[SKILL]).answer)
    assert seen["env"]["MY_KEY"] == "for-the-agent"
    assert "OPENAI_API_KEY" not in seen["env"]
    assert seen["home"] == []
    assert seen["env"]["HOME"] != os.environ.get("HOME")
    assert not any((parent / "pyproject.toml").exists() for parent in Path(seen["cwd"]).parents)
    assert set(seen["request"]) == {"version", "prompt", "seed", "workspace", "skills"}


def test_two_runs_share_nothing():
    homes = [json.loads(agent("tell").run("Look.").answer)["env"]["HOME"] for _ in range(2)]
    assert homes[0] != homes[1]
    assert not any(Path(home).exists() for home in homes)


def test_an_exit_code_is_an_infrastructure_error_without_its_secrets():
    with pytest.raises(InfrastructureError, match="exit code 3; it said: quota reached") as caught:
        agent("fail").run("Go.")
    assert "ABCDEFGHIJ" not in str(caught.value)


def test_a_program_that_is_not_there_is_named():
    with pytest.raises(InfrastructureError, match="no-such-agent cannot be started"):
        CommandAgent(["no-such-agent"]).run("Go.")


@pytest.mark.skipif(not Path("/proc").is_dir(), reason="only Linux tells which processes a run has started")
def test_the_time_limit_ends_also_what_has_left_the_process_group(tmp_path):
    told = tmp_path / "pid"
    with pytest.raises(InfrastructureError, match="no end within 1 seconds"):
        agent("hang", str(told), seconds=1).run("Go.")
    pid = int(told.read_text(encoding="utf-8"))
    end = time.monotonic() + 5
    while _runs(pid) and time.monotonic() < end:
        time.sleep(0.05)
    assert not _runs(pid)


def _runs(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text(encoding="utf-8").split()[2] != "Z"
    except OSError:
        return False


@pytest.mark.parametrize("deed", ["flood", "long-line"])
def test_endless_output_is_cut_off(deed):
    with pytest.raises(InfrastructureError, match=r"more output than 300,000 bytes"):
        agent(deed, most_bytes=300_000, seconds=20).run("Go.")


def test_an_agent_that_goes_on_after_its_output_is_stopped():
    with pytest.raises(InfrastructureError, match="closed its output and went on running"):
        agent("lingering").run("Go.")


def test_an_agent_that_hangs_after_its_result_is_told_from_one_that_never_answered():
    with pytest.raises(InfrastructureError, match="within 1 seconds; its result had come"):
        agent("late", seconds=1).run("Go.")


def test_an_agent_that_takes_its_working_folder_away_is_a_breach():
    with Workspace() as place:
        place.allow("**")
        agent("take-all-away", workspace=place).run("Go.")
        assert [str(change) for change in place.breaches()] == [". (removed)"]


def test_what_an_agent_complains_about_steers_no_terminal():
    with pytest.raises(InfrastructureError) as caught:
        agent("paint").run("Go.")
    assert r"it said: \x1b[31mred\x1b[0m \u202e" in str(caught.value)


def test_half_a_character_in_a_prompt_reaches_the_agent_as_a_question_mark():
    assert json.loads(agent("tell").run("Go \ud800.").answer)["request"]["prompt"] == "Go ?."


RESULT = '{"type": "result", "answer": "x", "usage": %s}'


@pytest.mark.parametrize(
    ("said", "message"),
    [
        (
            "banner\n" + RESULT % '{"input_tokens": 1, "output_tokens": 1, "usd": null}',
            "line 1 of its output is no JSON",
        ),
        ("{} {}", "is no JSON"),
        ("[]", "must be an object with a type of message, tool_call"),
        ('{"type": "shrug"}', "must be an object with a type"),
        ("", "ended without a result event"),
        (RESULT % '{"input_tokens": 10}', "it lacks output_tokens, usd"),
        (RESULT % "null", "needs a usage"),
        (RESULT % '{"input_tokens": true, "output_tokens": 3, "usd": null}', "input_tokens True"),
        (RESULT % '{"input_tokens": -1, "output_tokens": 3, "usd": null}', "input_tokens -1"),
        (RESULT % '{"input_tokens": 1, "output_tokens": 1.5, "usd": null}', "output_tokens 1.5"),
        (RESULT % '{"input_tokens": 1, "output_tokens": 1, "usd": NaN}', "NaN is no JSON"),
        (RESULT % '{"input_tokens": 1, "output_tokens": 1, "usd": -0.01}', "usd -0.01"),
        (RESULT % '{"input_tokens": 1, "output_tokens": 1, "usd": "Infinity"}', "usd 'Infinity'"),
        ("\n".join(2 * [RESULT % '{"input_tokens": 1, "output_tokens": 1, "usd": null}']), "after the result"),
        ('{"type": "message", "role": "tool", "content": "x"}', "role that is none of"),
        ('{"type": "skill", "name": "demo"}', "digest or the text"),
    ],
)
def test_what_is_no_protocol_is_not_guessed_at(said, message):
    with pytest.raises(InfrastructureError) as caught:
        agent("say", said).run("Go.")
    assert message in str(caught.value)


@pytest.mark.parametrize("figure", ["0", '"0.25"', "null"])
def test_costs_that_can_be_are_taken(figure):
    said = RESULT % f'{{"input_tokens": null, "output_tokens": null, "usd": {figure}}}'
    usage = agent("say", said).run("Go.").usage
    assert usage.input_tokens is None
    assert usage.usd == (None if figure == "null" else Decimal(figure.strip('"')))


@pytest.mark.parametrize(
    ("deed", "message"),
    [
        ("other-skill", "read another version of the skill 'demo'"),
        ("foreign-skill", "'installed-elsewhere' that this run did not offer"),
        ("edit-skill", "changed the skill 'demo'"),
        ("take-skill-away", "changed the skill 'demo'"),
        ("take-all-away", "changed the skill 'demo'"),
    ],
)
def test_an_arm_that_saw_another_skill_is_an_error(deed, message):
    with pytest.raises(EvaluationError, match=message):
        agent(deed).run("Go.", skills=[SKILL])


def test_an_agent_that_must_tell_and_does_not_is_an_error():
    said = RESULT % '{"input_tokens": 1, "output_tokens": 1, "usd": null}'
    assert agent("say", said).run("Go.", skills=[SKILL]).skills_loaded == ()
    with pytest.raises(EvaluationError, match="did not tell which version of 'demo'"):
        agent("say", said, must_tell=True).run("Go.", skills=[SKILL])


def test_wrong_usage_is_refused_before_anything_runs():
    with pytest.raises(ConfigError, match="as a list of texts"):
        CommandAgent("agent --flag")
    with pytest.raises(ConfigError, match="NUL character"):
        CommandAgent(["agent", "a\0b"])
    with pytest.raises(ConfigError, match="brings its own tools"):
        agent("work").run("Go.", tools=[object()])
    with pytest.raises(ConfigError, match="NOT_SET_ANYWHERE, which is not set"):
        agent("work", environment=["NOT_SET_ANYWHERE"]).run("Go.")


@pytest.mark.skipif(os.name != "posix", reason="a process group is needed")
def test_a_background_process_that_holds_the_output_open_does_not_cost_the_time_limit(tmp_path):
    program = tmp_path / "leaves.sh"
    usage = {"input_tokens": 10, "output_tokens": 2, "usd": None}
    result = json.dumps({"type": "result", "answer": "done", "usage": usage})
    program.write_text(f"read request\nsleep 300 &\necho '{result}'\n", encoding="utf-8")
    assert CommandAgent(["sh", str(program)], seconds=60).run("Go.").answer == "done"

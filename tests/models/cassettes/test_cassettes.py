"""Cassettes: what was recorded is given again, without the model, and a miss says what differs."""

from __future__ import annotations

import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from decimal import Decimal

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from pytest_skillevo.core.errors import ConfigError, InfrastructureError, TaskError
from pytest_skillevo.core.gates.redaction import MARK, redactor
from pytest_skillevo.core.protocols import ChatModel, Reply, ToolCall
from pytest_skillevo.core.records import Usage
from pytest_skillevo.models.cassettes import CassetteModel, Cassettes, Mode, Scene
from pytest_skillevo.models.cassettes.miss import CassetteMiss
from pytest_skillevo.models.cassettes.tape import Exchange, Tape, append, compact, read

CASE = "tests/test_soup.py::test_soup[a]"
ASK = [{"role": "system", "content": "Be brief."}, {"role": "user", "content": "What is in the soup?\nSay it."}]
TOOL = {"type": "function", "function": {"name": "look", "description": "look it up", "parameters": {}}}


class Fickle:
    """A model whose every answer is another one."""

    name, kind, priced = "openai/fickle", "live", True

    def __init__(self):
        self.facts = {"price": {"source": "test"}, "api_base": None}
        self.asked = 0
        self.failure = None

    def complete(self, messages, tools=(), **parameters):
        self.asked += 1
        if self.failure is not None:
            raise self.failure
        call = (ToolCall("1", "look", '{"dish": "soup"}'),) if tools else ()
        usage = Usage(10, 2, 0, None, Decimal("0.01"))
        return Reply(f"answer {self.asked}", call, "tool_calls" if tools else "stop", usage)


@pytest.fixture
def fickle():
    return Fickle()


@pytest.fixture
def play(tmp_path, fickle):
    """Open the cassettes anew, as another session does, and give the model of the role `agent`."""

    def open_(mode: str, *, secrets=(), ask=lambda: fickle) -> CassetteModel:
        tapes = Cassettes(tmp_path / "cassettes", Mode(mode), redactor(secrets), tmp_path / "lock")
        return CassetteModel("openai/fickle", "agent", tapes, ask)

    return open_


def no_model():
    raise AssertionError("the model was asked")


def at(model, *, case=CASE, skill="skill-1", repeat=0):
    return model.at(Scene(case, lambda: skill, repeat))


def tapes(model) -> Cassettes:
    return model._cassettes


def test_a_replay_gives_what_was_recorded_without_the_model(play):
    recording = at(play("record"))
    first = [recording.complete(ASK, seed=1), recording.complete(ASK, [TOOL], seed=1)]
    model = play("replay", ask=no_model)
    replaying = at(model)
    assert [replaying.complete(ASK, seed=1), replaying.complete(ASK, [TOOL], seed=1)] == first
    assert first[1].tool_calls == (ToolCall("1", "look", '{"dish": "soup"}'),)
    assert (model.kind, model.priced, model.facts) == ("cassette", True, Fickle().facts)
    assert isinstance(replaying, ChatModel)


def test_the_same_request_is_numbered_within_a_rollout_and_not_across_rollouts(play):
    recorded = play("record")
    once = at(recorded)
    answers = [once.complete(ASK, seed=1).text, once.complete(ASK, seed=1).text]
    assert answers == ["answer 1", "answer 2"]
    # A rollout that an outage ended is repeated: it gets what is there already.
    assert at(recorded).complete(ASK, seed=1).text == "answer 1"
    again = at(play("replay", ask=no_model))
    assert [again.complete(ASK, seed=1).text, again.complete(ASK, seed=1).text] == answers


@pytest.mark.parametrize(
    ("changed", "words"),
    [
        ({"seed": 2}, "the messages are the same; seed was 1 and is 2"),
        ({"temperature": 0.5}, "temperature was None and is 0.5"),
        ({"repeat": 1}, "recorded is repeat 0, wanted repeat 1"),
        ({"skill": "skill-2"}, "only the version of the skill differs"),
        ({"tools": [TOOL]}, "the tools differ"),
        ({"messages": ASK[:1]}, "has 2 messages where this one has 1"),
    ],
)
def test_whatever_decides_an_answer_is_part_of_its_key(play, changed, words):
    at(play("record")).complete(ASK, seed=1)
    given_ = {"messages": ASK, "tools": [], "seed": 1, "skill": "skill-1", "repeat": 0} | changed
    take = at(play("replay"), skill=given_.pop("skill"), repeat=given_.pop("repeat"))
    with pytest.raises(CassetteMiss) as missed:
        take.complete(given_.pop("messages"), given_.pop("tools"), **given_)
    assert words in str(missed.value)


def test_a_miss_shows_the_message_that_differs_as_a_diff(play):
    at(play("record")).complete(ASK, seed=1)
    changed = [ASK[0], {"role": "user", "content": "What is in the stew?\nSay it."}]
    with pytest.raises(CassetteMiss) as missed:
        at(play("replay")).complete(changed, seed=1)
    text = str(missed.value)
    assert "message 2 (user) differs" in text
    assert "-What is in the soup?\n+What is in the stew?\n Say it." in text
    assert "--evolve-cassettes=record" in text
    assert "stew" not in missed.value.headline


def test_a_long_difference_is_cut(play):
    at(play("record")).complete(ASK, seed=1)
    changed = [ASK[0], {"role": "user", "content": "\n".join(f"line {n} " + "x" * 500 for n in range(500))}]
    with pytest.raises(CassetteMiss) as missed:
        at(play("replay")).complete(changed, seed=1)
    assert len(str(missed.value)) < 5_000
    assert "more lines" in str(missed.value)


def test_a_cassette_of_another_version_of_the_skill_is_called_stale(play):
    at(play("record"), skill="old-version").complete(ASK, seed=1)
    with pytest.raises(CassetteMiss, match="stale: it was recorded with the skill old-version, now it is new-version"):
        at(play("replay"), skill="new-version").complete(ASK, seed=2)


def test_what_was_not_used_is_reported(play):
    recording = at(play("record"))
    recording.complete(ASK, seed=1)
    recording.complete(ASK, seed=2)
    at(play("record"), skill="skill-0").complete(ASK, seed=1)
    model = play("replay")
    at(model).complete(ASK, seed=1)
    done, unused = tapes(model).summary()
    assert done == "cassettes (replay): 1 answers given again, 0 recorded in cassettes/"
    assert "2 recorded answers were not used, 1 of them of another version of the skill: tests-test_soup-" in unused


def test_auto_asks_only_for_what_is_missing(play, fickle):
    at(play("record")).complete(ASK, seed=1)
    model = play("auto")
    assert model.kind == "cassette"
    assert at(model).complete(ASK, seed=1).text == "answer 1"
    assert (fickle.asked, model.kind) == (1, "cassette")
    assert at(model).complete(ASK, seed=2).text == "answer 2"
    assert model.kind == "live"
    assert at(play("replay")).complete(ASK, seed=2).text == "answer 2"


def test_record_replaces_and_the_old_answer_leaves_the_file(play):
    at(play("record")).complete(ASK, seed=1)
    model = play("record")
    assert at(model).complete(ASK, seed=1).text == "answer 2"
    tapes(model).close()
    path = tapes(model).path(CASE)
    assert "answer 1" not in path.read_text(encoding="utf-8")
    assert at(play("replay")).complete(ASK, seed=1).text == "answer 2"


def test_an_outage_is_not_recorded(play, fickle):
    take = at(play("record"))
    fickle.failure = InfrastructureError("down")
    with pytest.raises(InfrastructureError):
        take.complete(ASK, seed=1)
    fickle.failure = None
    assert take.complete(ASK, seed=1).text == "answer 2"
    assert at(play("replay")).complete(ASK, seed=1).text == "answer 2"


def test_that_a_conversation_is_too_long_is_recorded(play, fickle):
    fickle.failure = TaskError("too long")
    for mode in ("record", "replay"):
        with pytest.raises(TaskError, match="too long"):
            at(play(mode)).complete(ASK, seed=1)


def test_secrets_stay_out_of_the_file_and_do_not_decide_the_key(play, fickle):
    secret = "hunter2-hunter2"
    messages = [{"role": "user", "content": f"my password is {secret}, and sk-proj-{'a1B2' * 10}"}]
    model = play("record", secrets=[secret])
    at(model).complete(messages, seed=1)
    text = tapes(model).path(CASE).read_text(encoding="utf-8")
    assert secret not in text
    assert "sk-proj" not in text
    assert MARK in text
    assert at(play("replay", secrets=[secret])).complete(messages, seed=1).text == "answer 1"


def test_a_file_is_readable_yaml_with_every_message_once(play):
    take = at(play("record"))
    take.complete(ASK, seed=1)
    take.complete([*ASK, {"role": "assistant", "content": "Peas."}], seed=1)
    text = tapes(play("replay")).path(CASE).read_text(encoding="utf-8")
    assert "content: |-\n  What is in the soup?\n  Say it.\n" in text
    documents = list(yaml.safe_load_all(text))
    assert [next(iter(one)) for one in documents] == ["cassette", *["message"] * 2, "exchange", "message", "exchange"]
    assert documents[0]["case"] == CASE


def test_a_role_of_the_experiment_has_a_file_of_its_own(play, tmp_path):
    play("record").complete(ASK, seed=1)
    assert play("replay", ask=no_model).complete(ASK, seed=1).text == "answer 1"
    assert [path.name[:6] for path in (tmp_path / "cassettes").glob("*.yaml")] == ["agent-"]


def test_a_model_that_was_never_recorded_is_refused_with_those_that_were(play, tmp_path):
    play("record")
    tapes_ = Cassettes(tmp_path / "cassettes", Mode.REPLAY, str, tmp_path / "lock")
    with pytest.raises(ConfigError, match=r"recorded are openai/fickle. Record them: --evolve-cassettes=record"):
        CassetteModel("openai/other", "agent", tapes_, no_model)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("cassette: 1\ncase: a\n<<<<<<< ours\n...\n", "is no YAML"),
        ("---\nexchange: x\n...\n", "is damaged"),
        ("---\ncassette: 99\ncase: a\n...\n", "its format is 99, not 1"),
        ("---\n- a\n...\n", "is damaged"),
    ],
)
def test_a_file_that_is_no_cassette_is_named(play, text, words):
    model = play("record")
    path = tapes(model).path(CASE)
    path.write_text(text, encoding="utf-8")
    with pytest.raises(ConfigError, match=words) as caught:
        at(play("replay")).complete(ASK, seed=1)
    assert str(path) in str(caught.value)


def test_what_a_killed_process_left_behind_is_cut_off(play):
    model = play("record")
    path = tapes(model).path(CASE)
    at(model).complete(ASK, seed=1)
    first = path.read_bytes()
    at(model).complete([*ASK, {"role": "user", "content": "Und süß?"}], seed=2)
    both = path.read_bytes()
    for end in range(len(first), len(both)):
        path.write_bytes(both[:end])
        assert len(read(path).exchanges) == 1
        if end % 25 == 0:
            assert at(play("auto")).complete(ASK, seed=3).text.startswith("answer")
            assert len(read(path).exchanges) == 2
            assert path.read_bytes().startswith(first)


JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**70), 2**70)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=6,
)


@given(content=st.text(), name=st.sampled_from(["extra", "message", "fields", "tools"]), extra=JSON, reply=st.text())
def test_any_text_comes_back_as_it_was(tmp_path_factory, content, name, extra, reply):
    tapes_ = Cassettes(tmp_path_factory.mktemp("any"), Mode.RECORD, str, tmp_path_factory.getbasetemp() / "lock")
    message, answer = tapes_.plain({"role": "user", "content": content, name: extra}), tapes_.plain({"text": reply})
    exchange = Exchange("key", 0, "m", "", 0, {"seed": 1}, [message], [], answer)
    path = tapes_.path("any")
    append(path, Tape("any"), exchange)
    append(path, Tape("any"), exchange)
    compact(path)
    assert read(path).exchanges == {("key", 0): exchange}


def test_threads_may_record_the_same_case(play):
    model = play("record")
    with ThreadPoolExecutor(8) as pool:
        told = list(pool.map(lambda seed: at(model).complete(ASK, seed=seed).text, range(40)))
    replay = play("replay", ask=no_model)
    assert [at(replay).complete(ASK, seed=seed).text for seed in range(40)] == told


RECORDER = """
import sys
from pathlib import Path
from pytest_skillevo.core.protocols import Reply
from pytest_skillevo.core.records import Usage
from pytest_skillevo.models.cassettes import CassetteModel, Cassettes, Mode, Scene

class Model:
    name, kind, priced = "openai/fickle", "live", False
    def complete(self, messages, tools=(), **parameters):
        return Reply(f"{sys.argv[2]} {parameters['seed']}", (), "stop", Usage())

root = Path(sys.argv[1])
for round in range(3):
    tapes = Cassettes(root / "cassettes", Mode.RECORD, str, root / "lock")
    model = CassetteModel("openai/fickle", "agent", tapes, Model)
    for seed in range(20):
        mine = seed if sys.argv[2] == "a" else -seed
        model.at(Scene("shared")).complete([{"role": "user", "content": "hi"}], seed=mine)
    tapes.close()
"""


def test_two_processes_record_the_same_case_without_hurting_each_other(tmp_path):
    command = [sys.executable, "-c", RECORDER, str(tmp_path)]
    both = [subprocess.Popen([*command, name], stderr=subprocess.PIPE, encoding="utf-8") for name in "ab"]
    assert [process.communicate()[1] for process in both] == ["", ""]
    model = CassetteModel(
        "openai/fickle", "agent", Cassettes(tmp_path / "cassettes", Mode.REPLAY, str, tmp_path / "lock"), no_model
    )
    for seed in range(1, 20):
        for name, mine in (("a", seed), ("b", -seed)):
            reply = model.at(Scene("shared")).complete([{"role": "user", "content": "hi"}], seed=mine)
            assert reply.text == f"{name} {mine}"


def test_long_and_odd_case_names_become_file_names(play):
    tapes_ = tapes(play("record"))
    names = {
        tapes_.path(case).name for case in ("a" * 5_000, "../../etc/passwd::x[/]", "テスト.py::テスト", "a" * 4_999)
    }
    assert len(names) == 4
    assert all(len(name) < 120 and "/" not in name and not name.startswith(".") for name in names)

"""Sessions from the formats that people have, and refusals that name the line."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_skillevo.core.errors import ConfigError
from pytest_skillevo.core.sessions import Cursor, Event, Session, TaskOutcome, load_file, read_jsonl, read_session
from pytest_skillevo.core.sessions.loading import FORMATS

CALL = {"id": "c1", "type": "function", "function": {"name": "tide", "arguments": '{"port": "north"}'}}
OPENAI = [
    {"role": "system", "content": "You help."},
    {"role": "user", "content": [{"type": "text", "text": "When is"}, {"type": "text", "text": "high tide?"}]},
    {"role": "assistant", "content": None, "tool_calls": [CALL]},
    {"role": "tool", "tool_call_id": "c1", "content": "at noon"},
    {"role": "assistant", "content": "At noon."},
]
ANTHROPIC = {
    "system": "You help.",
    "messages": [
        {"role": "user", "content": "When is\nhigh tide?"},
        {
            "role": "assistant",
            "content": [
                {"type": "thinking", "thinking": "hm"},
                {"type": "tool_use", "id": "c1", "name": "tide", "input": {"port": "north"}},
            ],
        },
        {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "c1", "content": "at noon"}]},
        {"role": "assistant", "content": [{"type": "text", "text": "At noon."}]},
    ],
}
LITELLM = {
    "messages": OPENAI[:4],
    "response": {"id": "r", "created": 1_700_000_000, "choices": [{"message": OPENAI[4]}]},
    "startTime": 1_699_999_999,
    "metadata": {"session_id": "s7"},
    "end_user": "nina",
}


def attribute(key, value):
    return {"key": key, "value": {"stringValue": value if isinstance(value, str) else json.dumps(value)}}


def span(start, attributes, **more):
    listed = [attribute(key, value) for key, value in attributes.items()]
    return {"name": "chat", "spanId": str(start), "traceId": "t1", "attributes": listed} | {
        "startTimeUnixNano": str(start),
        "endTimeUnixNano": str(start + 1),
        **more,
    }


ASKED = {"role": "user", "parts": [{"type": "text", "content": "When is\nhigh tide?"}]}
CALLED = {
    "role": "assistant",
    "parts": [{"type": "tool_call", "id": "c1", "name": "tide", "arguments": {"port": "north"}}],
}
TOLD = {"role": "tool", "parts": [{"type": "tool_call_response", "id": "c1", "response": "at noon"}]}
SAID = {"role": "assistant", "parts": [{"type": "text", "content": "At noon."}]}
HEAD = {
    "gen_ai.conversation.id": "s9",
    "gen_ai.system_instructions": [{"type": "text", "content": "You help."}],
    "user.id": "nina",
}
SPANS = [
    span(10, HEAD | {"gen_ai.input.messages": [ASKED], "gen_ai.output.messages": [CALLED]}),
    span(20, HEAD | {"gen_ai.input.messages": [ASKED, CALLED, TOLD], "gen_ai.output.messages": [SAID]}),
]
OTLP = {
    "resourceSpans": [
        {"resource": {"attributes": [attribute("service.name", "harbour")]}, "scopeSpans": [{"spans": SPANS}]}
    ]
}


def said(session):
    return [
        (e.message["role"], e.message["content"], [c["function"]["name"] for c in e.message.get("tool_calls", ())])
        for e in session.events
    ]


SAME = [
    ("system", "You help.", []),
    ("user", "When is\nhigh tide?", []),
    ("assistant", "", ["tide"]),
    ("tool", "at noon", []),
    ("assistant", "At noon.", []),
]


@pytest.mark.parametrize("data", [OPENAI, {"messages": OPENAI}, ANTHROPIC, LITELLM, OTLP, SPANS], ids=range(6))
def test_every_format_tells_the_same_session(data):
    (session,) = read_session(data)
    assert said(session) == SAME
    arguments = session.events[2].message["tool_calls"][0]["function"]["arguments"]
    assert json.loads(arguments) == {"port": "north"}


def test_ids_users_apps_and_times_are_taken_from_the_data():
    (session,) = read_session(LITELLM)
    assert (session.id, session.user) == ("s7", "nina")
    assert session.events[-1].at == 1_700_000_000 * 10**9
    (session,) = read_session(OTLP)
    assert (session.id, session.user, session.app) == ("s9", "nina", "harbour")
    assert session.events[-1].at == 21


def test_spans_of_the_older_shape_and_of_tools_are_read():
    events = [
        {"name": "gen_ai.user.message", "attributes": [attribute("content", "hi")]},
        {"name": "gen_ai.choice", "attributes": [attribute("message", {"content": "hello", "role": "assistant"})]},
    ]
    tool = {
        "gen_ai.operation.name": "execute_tool",
        "gen_ai.tool.name": "tide",
        "gen_ai.tool.call.id": "c1",
        "gen_ai.tool.call.result": "at noon",
    }
    (session,) = read_session([span(30, tool), span(10, {}, events=events)])
    assert said(session) == [("user", "hi", []), ("assistant", "hello", []), ("tool", "at noon", [])]


def test_a_failed_tool_of_anthropic_says_so():
    block = {"type": "tool_result", "tool_use_id": "c", "content": "boom", "is_error": True}
    (session,) = read_session({"messages": [{"role": "user", "content": [block]}]})
    assert json.loads(session.events[0].message["content"]) == {"error": "boom"}


def test_json_lines_hold_messages_sessions_or_spans(tmp_path):
    file = tmp_path / "mixed.jsonl"
    lines = [*({"session_id": "a"} | one for one in OPENAI), ANTHROPIC | {"session_id": "b"}, *SPANS]
    file.write_text("\n".join(map(json.dumps, lines)) + "\n\n", encoding="utf-8")
    sessions = {session.id: session for session in load_file(file)}
    assert set(sessions) == {"a", "b", "s9"}
    assert all(said(session) == SAME for session in sessions.values())


def test_loading_twice_gives_the_same_session():
    assert read_session(OPENAI) == read_session(OPENAI)
    assert read_session(OPENAI)[0].id.startswith("s-")


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("{", "not valid JSON"),
        ("5", "must be a list of messages or an object"),
        ('{"hello": 1}', "nothing is known here"),
        ('{"role": "robot", "content": "x"}', "the role of a message must be one of"),
        ('{"role": "user", "content": 7}', "content must be text"),
        ('{"role": "user", "content": "x", "timestamp": "noon"}', "isoformat"),
        ('{"role": "assistant", "tool_calls": [{"name": "x"}]}', "function.name"),
        ('{"role": "user", "content": "x", "timestamp": 1700000000000}', "milliseconds?"),
        ('{"role": "user", "content": "x", "timestamp": 1e300}', "seconds since 1970"),
        ('{"choices": [{"delta": {"content": "x"}}]}', "record the whole response"),
        ('{"name": "c", "spanId": "1", "attributes": {"gen_ai.input.messages": [{"parts": null}]}}', "must be a list"),
        ('{"messages": []}', "no message in it"),
        ('{"choices": [{}]}', "must have a message"),
        ('{"role": "user", "content": NaN}', "NaN is no JSON"),
        ("[" * 100_000, "nested too deeply"),
    ],
)
def test_bad_input_is_refused_with_the_number_of_its_line(line, words):
    good = json.dumps({"role": "user", "content": "x"})
    with pytest.raises(ConfigError, match="sessions:3: ") as refused:
        read_jsonl(f"{good}\n{good}\n{line}\n{good}")
    assert words in str(refused.value)


CALL_SPAN = {
    "gen_ai.operation.name": "execute_tool",
    "gen_ai.tool.name": "tide",
    "gen_ai.tool.call.id": "c1",
    "gen_ai.tool.call.result": "at noon",
}
AGENT_SPAN = HEAD | {"gen_ai.operation.name": "invoke_agent", "gen_ai.input.messages": [ASKED]}


def event(name, **attributes):
    return {"name": name, "attributes": [attribute(key, value) for key, value in attributes.items()]}


def test_spans_of_agents_and_tools_beside_those_of_calls_tell_nothing_twice():
    about = {"gen_ai.conversation.id": "s9"}
    agent = span(5, AGENT_SPAN | {"gen_ai.output.messages": [SAID]})
    (session,) = read_session([agent, SPANS[0], span(15, about | CALL_SPAN), SPANS[1]])
    assert said(session) == SAME
    assert session.events[3].at == 16
    (session,) = read_session([agent])
    assert said(session) == [SAME[0], SAME[1], SAME[4]]


ASKED_OPENAI = [{"role": "user", "content": "When?"}]
SAID_OPENAI = [{"role": "assistant", "content": "At noon."}]
INDEXED = {
    "gen_ai.prompt.0.role": "user",
    "gen_ai.prompt.0.content": "When?",
    "gen_ai.completion.0.content": "At noon.",
    "gen_ai.completion.0.tool_calls.0.name": "tide",
    "gen_ai.completion.0.tool_calls.0.arguments": "{}",
}


@pytest.mark.parametrize(
    "one",
    [
        span(1, {"gen_ai.prompt": ASKED_OPENAI, "gen_ai.completion": SAID_OPENAI}),
        span(1, {"gen_ai.prompt": "When?", "gen_ai.completion": "At noon."}),
        span(1, INDEXED),
        span(
            1,
            {},
            events=[
                event("gen_ai.content.prompt", **{"gen_ai.prompt": ASKED_OPENAI}),
                event("gen_ai.content.completion", **{"gen_ai.completion": SAID_OPENAI}),
            ],
        ),
        span(
            1,
            {},
            events=[
                event(
                    "gen_ai.client.inference.operation.details",
                    **{"gen_ai.input.messages": ASKED_OPENAI, "gen_ai.output.messages": SAID_OPENAI},
                )
            ],
        ),
        span(
            1,
            {},
            events=[
                event("gen_ai.user.message", content="When?"),
                event("gen_ai.assistant.message", content="At noon.", tool_calls=[CALL]),
            ],
        ),
    ],
    ids=["attributes", "plain", "numbered", "content events", "details event", "message events"],
)
def test_every_shape_of_spans_is_read(one):
    (session,) = read_session(one)
    assert [line[:2] for line in said(session)] == [("user", "When?"), ("assistant", "At noon.")]


def test_spans_without_content_are_refused_and_not_passed_over(tmp_path):
    with pytest.raises(ConfigError, match="no message in it; spans have messages only where"):
        read_session(span(1, {"gen_ai.operation.name": "chat"}))
    (tmp_path / "empty.jsonl").write_text("\n", encoding="utf-8")
    with pytest.raises(ConfigError, match=r"empty\.jsonl: there is no message"):
        load_file(tmp_path / "empty.jsonl")


def test_what_is_no_text_leaves_its_kind_and_calls_of_every_shape_are_kept():
    picture = {"type": "image_url", "image_url": {"url": "data:,"}}
    old = {"role": "assistant", "content": None, "function_call": {"name": "tide", "arguments": "{}"}}
    free = {"id": "c2", "type": "custom", "custom": {"name": "sql", "input": "select 1"}}
    messages = [
        {"role": "user", "content": [picture]},
        old,
        {"role": "function", "name": "tide", "content": "noon"},
        {"role": "assistant", "tool_calls": [free]},
        {"role": "assistant", "content": None, "refusal": "I will not."},
        {"role": "assistant", "content": [{"type": "refusal", "refusal": "No."}]},
    ]
    (session,) = read_session(messages)
    assert said(session) == [
        ("user", "[image_url]", []),
        ("assistant", "", ["tide"]),
        ("tool", "noon", []),
        ("assistant", "", ["sql"]),
        ("assistant", "I will not.", []),
        ("assistant", "No.", []),
    ]
    assert session.events[3].message["tool_calls"][0]["function"]["arguments"] == "select 1"


def test_blocks_of_anthropic_are_kept_in_their_order():
    found = [{"type": "web_search_result", "url": "https://tides.example", "title": "Tides"}]
    blocks = [
        {"type": "text", "text": "I look."},
        {"type": "server_tool_use", "id": "w1", "name": "web_search", "input": {"query": "tide"}},
        {"type": "web_search_tool_result", "tool_use_id": "w1", "content": found},
        {"type": "redacted_thinking", "data": "x"},
        {"type": "text", "text": "At noon."},
    ]
    asked = {"role": "user", "content": [{"type": "image", "source": {}}]}
    (session,) = read_session({"system": "s", "messages": [asked, {"role": "assistant", "content": blocks}]})
    assert said(session)[1:] == [
        ("user", "[image]", []),
        ("assistant", "I look.", ["web_search"]),
        ("tool", json.dumps(found), []),
        ("assistant", "At noon.", []),
    ]


def test_a_log_with_a_line_for_each_call_tells_one_session(tmp_path):
    lines = [{"session_id": "a", "messages": OPENAI[:stop]} for stop in (2, 4, 5)] + [
        {"session_id": "a", "messages": [{"role": "user", "content": "Thanks."}]},
        {"session_id": "b", "messages": OPENAI},
    ]
    (tmp_path / "log.jsonl").write_text("\n".join(map(json.dumps, lines)), encoding="utf-8")
    (tmp_path / "log.json").write_text(json.dumps(lines), encoding="utf-8")
    for name in ("log.jsonl", "log.json"):
        sessions = {one.id: said(one) for one in load_file(tmp_path / name)}
        assert sessions == {"a": [*SAME, ("user", "Thanks.", [])], "b": SAME}


@given(st.lists(st.sampled_from(["user", "assistant"]), min_size=1, max_size=8), st.data())
def test_however_a_conversation_is_cut_into_growing_records_it_is_one(roles, data):
    messages = [{"role": role, "content": str(place // 2)} for place, role in enumerate(roles)]
    stops = sorted(data.draw(st.lists(st.integers(1, len(roles)), max_size=4)))
    records = [{"session_id": "a", "messages": messages[:stop]} for stop in (*stops, len(roles))]
    (session,) = read_jsonl("\n".join(map(json.dumps, records)))
    assert [event.message for event in session.events] == messages


def test_only_line_feeds_end_a_line_of_jsonl(tmp_path):
    texts = ["one\u2028two", "three\u0085four\x0c", "five"]
    lines = [json.dumps({"role": "user", "content": text}, ensure_ascii=False) for text in texts]
    (tmp_path / "s.jsonl").write_bytes(("\ufeff" + "\r\n".join(lines) + "\r\n").encode())
    (session,) = load_file(tmp_path / "s.jsonl")
    assert [event.message["content"] for event in session.events] == texts


def test_a_line_that_is_not_utf_8_is_named(tmp_path):
    good = b'{"role": "user", "content": "x"}\n'
    (tmp_path / "s.jsonl").write_bytes(good + good.replace(b"x", b"caf\xe9"))
    with pytest.raises(ConfigError, match=r"s\.jsonl:2: not UTF-8: .*0xe9"):
        load_file(tmp_path / "s.jsonl")


JUNK = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=5,
)


def _places(value, path=()):
    yield path
    parts = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, part in parts:
        yield from _places(part, (*path, key))


def _with(value, path, junk):
    if not path:
        return junk
    copy = dict(value) if isinstance(value, dict) else list(value)
    copy[path[0]] = _with(value[path[0]], path[1:], junk)
    return copy


@given(st.data())
def test_data_with_junk_in_any_place_is_read_or_refused(data):
    whole = data.draw(st.sampled_from([OPENAI, ANTHROPIC, LITELLM, OTLP, SPANS]))
    spoilt = _with(whole, data.draw(st.sampled_from(list(_places(whole)))), data.draw(JUNK))
    try:
        sessions = read_session(spoilt, data.draw(st.sampled_from(FORMATS)))
    except ConfigError:
        return
    assert all(isinstance(event.message["content"], str) for one in sessions for event in one.events)


def test_a_file_that_cannot_be_read_is_named(tmp_path):
    with pytest.raises(ConfigError, match=r"gone\.json cannot be read"):
        load_file(tmp_path / "gone.json")
    (tmp_path / "bad.json").write_text("[{]", encoding="utf-8")
    with pytest.raises(ConfigError, match=r"bad\.json: not valid JSON"):
        load_file(tmp_path / "bad.json")
    with pytest.raises(ConfigError, match="the format 'xml' is none of"):
        read_session([], "xml")


def test_a_cursor_finds_its_place_by_id_and_else_by_time():
    events = tuple(Event(f"e{n}", at, {"role": "user", "content": "x"}) for n, at in enumerate((5, 5, 6)))
    session = Session("s", events)
    assert session.after(Cursor()) == 0
    assert session.after(Cursor(5, "e0")) == 1
    assert session.after(Cursor(5, "lost")) == session.after(Cursor(5)) == 2
    assert session.cursor == Cursor(6, "e2")


@pytest.mark.parametrize("score", [float("nan"), 1.2, -0.1, True, "high"])
def test_what_is_no_score_is_refused(score):
    with pytest.raises(ConfigError, match="score of an outcome"):
        TaskOutcome("success", score)

"""Redaction: credentials go, everything else stays, twice is once, and hostile text costs no more than any other.

The credentials are made up, and put together at run time so that secret scanners leave the file alone.
"""

from __future__ import annotations

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pytest_skillevo.core.gates.patterns import SENSITIVE, SENSITIVE_WORDS, VENDOR_SHAPES, VENDOR_WORDS
from pytest_skillevo.core.gates.redaction import MARK, is_sensitive, redact, redacted, redactor, secret_values

ALNUM = "Ab1Cd2Ef3Gh4Ij5Kl6Mn7Op8Qr9St0Uv1Wx2Yz3"

VENDOR_KEYS = {
    "AWS key id": "AK" + "IA" + "Q7ZK2M4P6R8T0W2Y",
    "AWS session key id": "AS" + "IA" + "Q7ZK2M4P6R8T0W2Y",
    "GitHub classic": "gh" + "p_" + ALNUM[:36],
    "GitHub server": "gh" + "s_" + ALNUM[:36],
    "GitHub fine-grained": "github" + "_pat_" + ALNUM[:22] + "_" + ALNUM,
    "OpenAI": "sk" + "-" + ALNUM,
    "OpenAI project": "sk" + "-proj-" + ALNUM,
    "Anthropic": "sk" + "-ant-api03-" + ALNUM,
    "Slack bot": "xo" + "xb-123456789012-" + ALNUM[:24],
    "Slack app": "xa" + "pp-1-A012-" + ALNUM[:24],
    "Google API key": "AI" + "za" + ALNUM[:35],
    "Google access token": "ya" + "29." + ALNUM,
    "GitLab": "gl" + "pat-" + ALNUM[:20],
    "Hugging Face": "h" + "f_" + ALNUM[:34],
    "Stripe": "sk" + "_live_" + ALNUM[:24],
    "npm": "np" + "m_" + ALNUM[:36],
    "SendGrid": "S" + "G." + ALNUM[:22] + "." + ALNUM,
    "JWT": "ey" + "JhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.dBjftJeZ4CVP-mB92K27uhbUJU1p1r",
}


@pytest.mark.parametrize("key", VENDOR_KEYS.values(), ids=VENDOR_KEYS.keys())
def test_a_vendors_key_is_taken_out_wherever_it_stands(key):
    for before, after in ((" ", " "), ("(", ")"), ('"', '",'), ("口令", " 完"), ("=", "\n"), ("/", "?")):
        assert redact(f"see{before}{key}{after}end") == f"see{before}{MARK}{after}end"


@pytest.mark.parametrize(
    ("text", "clean"),
    [
        ("Authorization: Bearer FAKE.tok", f"Authorization: Bearer {MARK}"),
        ("Authorization: Basic dXNlcjpwdw==", f"Authorization: Basic {MARK}"),
        ('{"authorization":"FAKEFAKE"}', f'{{"authorization":"{MARK}"}}'),
        ('{"Authorization": "Bearer abc", "a": 1}', f'{{"Authorization": "Bearer {MARK}", "a": 1}}'),
        ("sent bearer FAKEFAKEFAKE ok", f"sent bearer {MARK} ok"),
        ("DB_PASSWD='x y';", f"DB_PASSWD='{MARK}';"),
        ("x-api-key: FAKE123", f"x-api-key: {MARK}"),
        ("accessToken: FAKE", f"accessToken: {MARK}"),
        ("sync --api-key=FAKE", f"sync --api-key={MARK}"),
        ("sync --auth-token FAKE now", f"sync --auth-token {MARK} now"),
        ("口令password=FAKE1 完", f"口令password={MARK} 完"),
        ("dock_token = \nnext", f"dock_token = \n{MARK}"),
        ("a_token=F1, b_secret=F2", f"a_token={MARK}, b_secret={MARK}"),
        ("config: password: FAKE1", f"config: password: {MARK}"),
        ("password_hash=abc", f"password_hash={MARK}"),
        ('API_KEY_V2: "x y"', f'API_KEY_V2: "{MARK}"'),
        ("AWS_SECRET_ACCESS_KEY=ab/cd+ef", f"AWS_SECRET_ACCESS_KEY={MARK}"),
        ('{\\"token\\":\\"FAKE\\", \\"n\\":1}', f'{{\\"token\\":\\"{MARK}\\", \\"n\\":1}}'),
        ("db://user:FAKEpw@host/x", f"db://user:{MARK}@host/x"),
        ("https://hooks.slack.com/services/T0/B0/abcdefgh", f"https://hooks.slack.com/services/{MARK}"),
        ('{"x-api-key": "k-123", "user": "bo"}', f'{{"x-api-key": "{MARK}", "user": "bo"}}'),
    ],
)
def test_a_named_credential_is_taken_out_and_its_surroundings_stay(text, clean):
    assert redact(text) == clean


@pytest.mark.parametrize(
    "text",
    [
        "",
        " \n",
        "username=bob",
        "DOCK_NAME=north",
        "max_tokens: 4096",
        "TOKEN_LIMIT=5",
        "secret_note: hello",
        "a bearer of news",
        "k sk-short z",
        "pip install sk-learn-contrib",
        "export TOKEN=$MY_TOKEN",
        "password: <your password>",
        '{"token": null, "secret": false}',
        "authorization: bearer",
        "Count the tokens. Keep the secret.",
        "https://example.org:8080/a@b",
        "see https://example.org/x:y",
    ],
)
def test_harmless_text_stays_as_it_is(text):
    assert redact(text) == text


@pytest.mark.parametrize("kind", ["RSA PRIVATE KEY", "PRIVATE KEY", "OPENSSH PRIVATE KEY", "PGP PRIVATE KEY BLOCK"])
def test_a_private_key_is_taken_out_whole_also_when_it_was_cut(kind):
    block = f"-----BEGIN {kind}-----\nFAKE\nBODY\n"
    assert redact(f"a\n{block}-----END {kind}-----\nb") == f"a\n{MARK}\nb"
    assert redact(f"a\n{block}") == f"a\n{MARK}"
    assert "BODY" not in redact(json.dumps({"key": f"{block}-----END {kind}-----"}))


@pytest.mark.parametrize(
    ("name", "sensitive"),
    [
        ("DOCK_API_KEY", True),
        ("x-api-key", True),
        ("privateKey", True),
        ("auth_token", True),
        ("secret-note", True),
        ("secret_key", True),
        ("password_hash", True),
        ("AWS_ACCESS_KEY_ID", True),
        ("secret_note", False),
        ("passphrase", False),
        ("max_tokens", False),
        ("monkey", False),
        ("PATH", False),
    ],
)
def test_names_are_told_apart(name, sensitive):
    assert is_sensitive(name) is sensitive


def test_known_values_are_taken_out_in_every_spelling():
    value = 'p/w "x" ü'
    clean = redactor(secret_values({"MY_PASSWORD": value}))
    assert clean(f"it was {value} here") == f"it was {MARK} here"
    assert "x" not in clean(json.dumps({"it": value})).replace(MARK, "")
    assert clean("https://h/?q=p%2Fw%20%22x%22%20%C3%BC") == f"https://h/?q={MARK}"


def test_a_longer_known_value_is_not_hidden_by_a_shorter_one():
    assert redactor(("abcdefgh", "abcdefghijkl"))("x abcdefghijkl y") == f"x {MARK} y"


def test_only_secret_looking_variables_of_some_length_count():
    environ = {
        "B_TOKEN": "abcdefgh",
        "A_SECRET": "12345678",
        "PATH": "/usr/bin/x",
        "C_TOKEN": "short",
        "D_API_KEY": "x" * 9,
    }
    assert secret_values(environ) == ("abcdefgh", "x" * 9)


FRAGMENTS = st.sampled_from(
    [
        *("token", "secret_key", "password", "authorization", "bearer ", "Bearer", "--api-key", "name", "basic"),
        *("=", ":", " ", "\n", '"', "'", "\\", '\\"', ",", ";", "}", "]", "[", "{", "-", "_", "/", "@", "://", "."),
        *("abc", "FAKEFAKEFAKE1", "sk-", "eyJ", MARK, "REDACTED", "$", "<", ">", "null", "x", "1"),
        "-----BEGIN PRIVATE KEY-----",
        "-----END PRIVATE KEY-----",
    ]
)


@settings(max_examples=400)
@given(st.lists(FRAGMENTS, max_size=14).map("".join))
def test_redacting_twice_is_redacting_once(text):
    once = redact(text)
    assert redact(once) == once


@settings(max_examples=200)
@given(st.lists(FRAGMENTS, max_size=10).map("".join))
def test_a_known_value_never_survives(text):
    value = "Zq9-hidden-Zq9"
    assert value not in redact(f"{text}{value}{text}", (value,))


@pytest.mark.parametrize(
    "unit",
    [
        *(
            "a",
            "-",
            "\\",
            "token",
            "token ",
            "token=",
            'token="',
            "token='\\",
            'token:\\"',
            "token_",
            "token_id",
            "tokenv1",
        ),
        *("secret_key_", "authorization:", "bearer ", "://", "://a:", "sk-", "eyJ-", "eyJa.", "xoxb-", "--token "),
        *("-----BEGIN PRIVATE KEY", "-----BEGIN PRIVATE KEY-----", "token=${{", "=", "hooks.slack.com/services/"),
    ],
)
def test_hostile_text_is_redacted_in_one_go(unit):
    """A pattern that goes back and forth would need minutes to hours for a text of this length."""
    once = redact(unit * (300_000 // len(unit)))
    assert redact(once) == once


@given(st.sampled_from(sorted(VENDOR_SHAPES)).flatmap(lambda name: st.from_regex(VENDOR_SHAPES[name], fullmatch=True)))
def test_every_key_of_a_shape_holds_one_of_the_words_that_are_looked_for_first(key):
    assert any(word in key for word in VENDOR_WORDS)


@given(st.from_regex(SENSITIVE, fullmatch=True))
def test_every_sensitive_name_holds_one_of_the_words_that_are_looked_for_first(name):
    assert any(word in name.lower() for word in SENSITIVE_WORDS)


def test_a_text_below_a_sensitive_key_of_a_mapping_is_taken_out_whole():
    value = {
        "password": "hunter2",
        "note": "tea",
        "list": [{"api_key": "brief"}],
        "token": None,
        "secret": "${FROM_ENV}",
    }
    assert redacted(value, redact) == {
        "password": MARK, "note": "tea", "list": [{"api_key": MARK}], "token": None, "secret": "${FROM_ENV}",
    }  # fmt: skip

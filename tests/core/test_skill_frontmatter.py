"""The frontmatter: strict where it must be, lenient where it can be, and edited in one value only."""

from __future__ import annotations

import pytest
import yaml

from pytest_skillevo.core.errors import SkillError
from pytest_skillevo.core.skill import Skill


def skill_of(frontmatter: str, body: str = "\nBody.\n") -> Skill:
    return Skill.from_bytes("x", f"---\n{frontmatter}---\n{body}".encode(), where="skills/x/SKILL.md")


def described(frontmatter: str, text: str) -> str:
    """The frontmatter after its description was set to the text, which must read back with an ordinary YAML reader."""
    child = skill_of(frontmatter).with_component("description", text)
    head, _, rest = child.text.removeprefix("---\n").partition("\n---\n")
    assert rest == "\nBody.\n"
    assert child.description == text
    assert yaml.safe_load(head)["description"] == text
    return head + "\n"


@pytest.mark.parametrize(
    ("before", "text", "after"),
    [
        ("name: x\ndescription: old # kept\n", "new", "name: x\ndescription: new # kept\n"),
        ("description: old\nname: x\n", "Use: it", 'description: "Use: it"\nname: x\n'),
        ("description: 'it''s'\n", "it's new", "description: 'it''s new'\n"),
        ('description: "old"   # c\n', 'a "b" \\', 'description: "a \\"b\\" \\\\"   # c\n'),
        ("description: 1.10\n", "1.20", 'description: "1.20"\n'),
        ("description: yes\n", "no", 'description: "no"\n'),
        ("description:\nname: x\n", "new", "description: new\nname: x\n"),
        ("description: # todo\n", "new", "description: new # todo\n"),
        ("description: a\n  b\n  c\nname: x\n", "new words", "description: new words\nname: x\n"),
        ("description: |\n  a\n  b\n\nname: x\n", "c\n\nd: e", "description: |-\n  c\n\n  d: e\n\nname: x\n"),
        ("description: >-  # why\n    a\n    b\nname: x\n", "new", "description: >-  # why\n    new\nname: x\n"),
        ("description: >\n  a\nname: x\n", "one\ntwo", "description: >-\n  one\n\n  two\nname: x\n"),
        ("name: x\ndescription: a\n", "one\ntwo", "name: x\ndescription: |-\n  one\n  two\n"),
        ("description: a # c\n", "one\ntwo", 'description: "one\\ntwo" # c\n'),
        ("description: [a, b]\nname: x\n", "new", "description: new\nname: x\n"),
        ("description:\n  - a\n# c\nname: x\n", "new", "description:\n  new\n# c\nname: x\n"),
        ("{name: x, description: old}\n", "a, b", '{name: x, description: "a, b"}\n'),
        ("{name: x}\n", "new", "{name: x, description: new}\n"),
        ("{}\n", "new", "{ description: new}\n"),
        ("  name: x\n  license: MIT\n", "new", "  name: x\n  description: new\n  license: MIT\n"),
        ("name: >-\n  x\n\nlicense: MIT\n", "new", "name: >-\n  x\ndescription: new\n\nlicense: MIT\n"),
        ("license: MIT\nmetadata:\n  a: b # c\n", "new", "license: MIT\nmetadata:\n  a: b # c\ndescription: new\n"),
        ("# only a comment\n", "new", "# only a comment\ndescription: new\n"),
        ("", "new", "description: new\n"),
        ("description: a\n", "tab\tand \u2028 and \x07", 'description: "tab\\tand \\u2028 and \\x07"\n'),
        ("name: x\ndescription: a\n", "🎯 数据 é", "name: x\ndescription: 🎯 数据 é\n"),
    ],
)
def test_a_new_description_changes_only_its_own_bytes(before, text, after) -> None:
    assert described(before, text) == after


@pytest.mark.parametrize(
    "text", ["- a", "#x", "a #b", "a: b", "@x", "`x`", "*x", "&x", "!x", "%x", "? x", "[x", "|", ">", "'", '"']
)
@pytest.mark.parametrize("value", ["a", "'a'", '"a"', ">-\n  a", "|\n  a", "[a]"])
def test_a_description_of_special_characters_reads_back(value, text) -> None:
    described(f"description: {value}\nname: x\n", text)


def test_a_folded_description_keeps_its_width() -> None:
    before = "description: >-\n  Create and edit spreadsheets. Use this whenever a\n  spreadsheet is the input.\n"
    lines = described(before, "Create, edit and repair spreadsheets. Use this whenever one is the input.").split("\n")
    assert lines == [
        "description: >-",
        "  Create, edit and repair spreadsheets. Use this",
        "  whenever one is the input.",
        "",
    ]


def test_an_emptied_description_stays_as_an_empty_text() -> None:
    assert (
        skill_of("name: x\ndescription: a\n")
        .with_component("description", " ")
        .text.startswith('---\nname: x\ndescription: ""\n---\n')
    )


def test_carriage_returns_are_kept_in_an_edited_frontmatter() -> None:
    text = "---\r\nname: x\r\ndescription: |-\r\n  a\r\n  b\r\nlicense: MIT\r\n---\r\nBody.\r\n"
    child = Skill.from_bytes("x", text.encode()).with_component("description", "c\nd\ne")
    assert child.text == text.replace("  a\r\n  b\r\n", "  c\r\n  d\r\n  e\r\n")


def test_scalars_are_text() -> None:
    skill = skill_of("name: 12\ndescription: 1.10\n")
    assert (skill.name, skill.description) == ("12", "1.10")
    assert skill_of("name: x\ndescription: null\n").description == "null"


@pytest.mark.parametrize(
    ("frontmatter", "description"),
    [
        ("description: Use when: asked\n", "Use when: asked"),
        ("name: x\ndescription: Triggers: a, b: c:\nlicense: MIT\n", "Triggers: a, b: c:"),
        ("description: Use when\n  they say: now\n  or: later\nname: x\n", "Use when they say: now or: later"),
        ("description: a: b\nlicense: c: d\n", "a: b"),
        ('name: x\nnote: "q: r"\ndescription: a: b\nblock: |\n  k: v: w\nflow: {a: b}\n', "a: b"),
        ("description: fine\nmetadata:\n  hint: a: b\n", "fine"),
    ],
)
def test_an_unquoted_colon_is_read_as_text_and_said(frontmatter, description) -> None:
    skill = skill_of(frontmatter)
    assert skill.description == description
    assert any("has an unquoted ': '; read as text" in warning for warning in skill.warnings)
    child = skill.with_component("description", "Now: quoted")
    assert child.description == "Now: quoted"
    assert not any("the description has an unquoted" in warning for warning in child.warnings)


def test_an_unquoted_colon_keeps_the_values_of_the_other_keys() -> None:
    fields = skill_of('a: b: c\nname: x\nblock: |\n  k: v: w\nflow: {a: b}\nquoted: "q: r"\n')._page.fields
    assert {entry.key: entry.value for entry in fields.entries} == {
        "a": "b: c",
        "name": "x",
        "block": "k: v: w\n",
        "flow": ("mapping", ("a", "b")),
        "quoted": "q: r",
    }


def test_a_number_sign_that_cuts_the_description_is_said() -> None:
    skill = skill_of("name: x\ndescription: Fix issue #12 and others\n")
    assert skill.description == "Fix issue"
    assert "SKILL.md:3: YAML takes what follows ' #' as a comment" in skill.warnings[0]


@pytest.mark.parametrize(
    ("frontmatter", "line", "words"),
    [
        ("name: x\nname: y\n", 3, "has the key 'name' twice"),
        ("name: x\nmetadata:\n  a: 1\n  a: 2\n", 5, "has the key 'a' twice"),
        ("- a\n- b\n", 2, "must be a mapping"),
        ("just text\n", 2, "must be a mapping"),
        ("name: x\ndescription: 'open\nlicense: MIT\n", 3, "a quote that starts here is never closed"),
        ("name: x\n\tdescription: y\n", 3, "not valid YAML"),
        ("name: x\ndescription: @home\n", 3, "put the value in quotes"),
        ("name: x\ndescription: `code`\n", 3, "put the value in quotes"),
        ("name: &a x\n", 2, "anchor or alias"),
        ("a: &a [x]\nb: [*a, *a]\n", 2, "anchor or alias"),
        ("name: x\ndescription: *bold* text\n", 3, "put the value in quotes"),
        ("? [a, b]\n: c\n", 2, "has a key that is not text"),
        ("name: " + "[" * 30 + "]" * 30 + "\n", 2, "nested more than 20 levels"),
        ("name: a\x07b\n", 2, "U+0007"),
        ('name: x\ndescription: "\\ud800"\n', 3, "half a character"),
        ('name: "\\U00110000"\n', 2, "not valid YAML"),
        ("name: x\n--- more\n", 3, "not valid YAML"),
        ("a: b\n" * 20000, 2, "longer than 65536 characters"),
    ],
)
def test_a_frontmatter_that_cannot_be_used_is_an_error_with_file_and_line(frontmatter, line, words) -> None:
    with pytest.raises(SkillError) as caught:
        skill_of(frontmatter)
    assert str(caught.value).startswith(f"skills/x/SKILL.md:{line}: the frontmatter ")
    assert words in str(caught.value)


def test_an_alias_bomb_is_refused_before_it_grows() -> None:
    levels = [f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 9)}]" for n in range(1, 40)]
    with pytest.raises(SkillError, match=r"SKILL\.md:2: .*anchor or alias"):
        skill_of("a0: &a0 [x]\n" + "\n".join(levels) + "\n")


def test_two_json_escapes_make_one_character() -> None:
    assert skill_of('description: "\\ud83c\\udfaf"\n').description == "🎯"


def test_an_unclosed_frontmatter_is_an_error() -> None:
    with pytest.raises(SkillError, match=r"^s/SKILL\.md:3: the frontmatter that starts here has no end"):
        Skill.from_bytes("x", b"\n\n---\n\nname: x\ndescription: y\n", where="s/SKILL.md")


def test_an_unclosed_rule_at_the_top_is_body_text_with_a_warning() -> None:
    skill = Skill.from_bytes("x", b"---\n\nNote: prose.\n")
    assert skill.body == "---\n\nNote: prose.\n"
    assert any(warning.startswith("SKILL.md:1: nothing closes this '---'") for warning in skill.warnings)


@pytest.mark.parametrize("fence", ["----", "-- -", " ---", "--- x", "—"])
def test_only_three_dashes_open_a_frontmatter(fence) -> None:
    skill = Skill.from_bytes("x", f"{fence}\nname: y\n{fence}\n".encode())
    assert skill.name == "x"
    assert skill.body.startswith(fence)


def test_only_the_first_pair_of_fences_counts() -> None:
    skill = skill_of("name: x\ndescription: d --- e\n", "\n---\nname: y\n---\n")
    assert (skill.name, skill.description) == ("x", "d --- e")
    assert skill.body == "\n---\nname: y\n---\n"


def test_text_above_the_first_fence_means_that_there_is_no_frontmatter() -> None:
    assert Skill.from_bytes("x", b"Text.\n---\nname: y\n---\n").name == "x"
    assert Skill.from_bytes("x", b"<!-- a --> text\n---\nname: y\n---\n").name == "x"
    assert Skill.from_bytes("x", b"<!-- a -->\n---\nname: y\n---\n").name == "y"
    assert Skill.from_bytes("x", b"<!-- never closed\n---\nname: y\n---\n").name == "x"


@pytest.mark.parametrize(
    ("frontmatter", "line", "words"),
    [
        ("description: d\n", 1, "the frontmatter has no name; the folder's name 'x' is used: add one"),
        ("name: x\n", 1, "the frontmatter has no description; no agent can tell when to load the skill: add one"),
        ("name: [a]\ndescription: d\n", 2, "the name is not text; the folder's name 'x' is used"),
        ("name: ''\ndescription: d\n", 2, "the name is not text"),
        ("name: x\ndescription: [a b, c]\n", 3, "the description is a list or a mapping"),
        ("name: y\ndescription: d\n", 2, "the name 'y' differs from the folder's name 'x'"),
        (f"name: x\ndescription: d\ncompatibility: {'a' * 501}\n", 4, "compatibility has 501 characters"),
        ("name: x\ndescription: d\nmetadata: text\n", 4, "metadata should be a mapping"),
    ],
)
def test_what_other_tools_may_refuse_is_a_warning_with_file_and_line(frontmatter, line, words) -> None:
    assert [w for w in skill_of(frontmatter).warnings if w.startswith(f"skills/x/SKILL.md:{line}: {words}")]


def test_a_list_as_description_is_read_as_it_is_written() -> None:
    assert skill_of("name: x\ndescription: [a b, c]  # d\n").description == "[a b, c]"

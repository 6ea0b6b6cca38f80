"""What holds for every document: bytes stay, edits stay inside their component, digests see content only."""

from __future__ import annotations

import contextlib

import yaml
from hypothesis import given, settings
from hypothesis import strategies as st

from pytest_skillevo.core.errors import SkillError
from pytest_skillevo.core.skill import Skill, normal_block

ANY_TEXT = st.text(st.characters(exclude_categories=["Cs"]), max_size=200)

#: Lines of which hostile and ordinary documents are made.
LINE = st.sampled_from(
    [
        *[
            "# Title",
            "## When to use",
            "## Steps",
            "## Pitfalls",
            "## Notes",
            "### Deep",
            "Title",
            "===",
            "---",
            "----",
        ],
        *["***", "1. one", "2. two", "- bullet", "  - nested", "    code", "```", "```sh", "    ```", "- ```", "~~~"],
        *["<!--", "-->", "<!-- c -->", "text", "text: colon", "", "", "  ", "\t", "> quote", "| a | b |", "# comment"],
        *["\x0c", "\u2028", "é🎯", "\ufeff", "name: y", "description: z"],
    ]
)
NEWLINE = st.sampled_from(["\n", "\n", "\n", "\r\n", "\r"])
BODY = st.lists(st.tuples(LINE, NEWLINE), max_size=25).map(lambda pairs: "".join(line + end for line, end in pairs))
BLOCK = st.one_of(BODY, ANY_TEXT)
VALUE = st.sampled_from(
    [
        *["d", "'d'", '"d"', "", "d # c", "d\n  more", "[a, b]", "1.10", "use: it", "'a: b'"],
        *[">-\n  a\n  b", "|\n  a\n\n  b\n", ">+\n  a\n\n"],
    ]
)
HEAD = st.builds(
    "{0}---\n{1}name: x\n{2}description: {3}\nlicense: MIT # c\n---{4}\n".format,
    st.sampled_from(["", "\n", "<!-- c -->\n"]),
    st.sampled_from(["", "# c\n", "\n"]),
    st.sampled_from(["", "metadata:\n  a: 1.0\n"]),
    VALUE,
    st.sampled_from(["", " "]),
)
DOCUMENT = st.builds(
    lambda bom, head, body, cut: (bom + head + body)[: -cut or None],
    st.sampled_from(["", "\ufeff"]),
    st.one_of(st.just(""), HEAD),
    BODY,
    st.integers(0, 2),
)


def skill_of(text: str) -> Skill | None:
    with contextlib.suppress(SkillError):
        return Skill.from_bytes("x", text.encode())
    return None


@given(ANY_TEXT)
def test_any_text_either_keeps_its_bytes_or_is_refused(text) -> None:
    skill = skill_of(text)
    if skill is not None:
        assert skill.document == text.encode()
        assert skill._page.bom + skill.text == text
        assert skill.text.endswith(skill.body)


@given(DOCUMENT)
def test_the_texts_of_the_components_are_in_normal_form_and_in_the_document(text) -> None:
    skill = skill_of(text)
    if skill is None:
        return
    lines = skill.text.replace("\r\n", "\n").replace("\r", "\n")
    for name, part in skill.components.items():
        if name != "description":
            assert part in lines
            assert normal_block(part) == part
        assert skill.with_component(name, part) is skill


@settings(max_examples=300)
@given(DOCUMENT, BLOCK, st.data())
def test_a_change_of_one_component_changes_only_its_own_bytes(text, new, data) -> None:
    skill = skill_of(text)
    if skill is None:
        return
    name = data.draw(st.sampled_from(sorted(skill.components)))
    try:
        child = skill.with_component(name, new)
    except SkillError:
        return
    assert child.components.get(name, "") == normal(name, new)
    assert without(child, name) == without(skill, name)
    assert child.name == skill.name
    if name != "description":
        assert child.document[: head_size(skill)] == skill.document[: head_size(skill)]
        assert lost_text(skill, child) in skill.components.get(name, "")


@settings(max_examples=300)
@given(HEAD, ANY_TEXT)
def test_a_new_description_reads_back_with_an_ordinary_yaml_reader(head, new) -> None:
    skill = skill_of(head + "# T\n")
    if skill is None or "\0" in new:
        return
    child = skill.with_component("description", new)
    assert child.description == normal("description", new)
    assert child.body == skill.body
    with contextlib.suppress(yaml.YAMLError):
        if child is skill:
            return
        values = yaml.safe_load(child._page.yaml)
        assert values["description"] == child.description
        assert (values["name"], values["license"]) == ("x", "MIT")


@given(st.dictionaries(st.sampled_from(["description", "when_to_use", "steps", "pitfalls"]), BLOCK), st.randoms())
def test_a_skill_that_grows_depends_only_on_its_components(parts, random) -> None:
    accepted = {}
    for name, text in parts.items():
        with contextlib.suppress(SkillError):
            Skill.absent("x").with_component(name, text)
            accepted[name] = text
    grown = []
    for _ in range(2):
        order = list(accepted)
        random.shuffle(order)
        skill = Skill.absent("x")
        with contextlib.suppress(SkillError):
            for name in order:
                skill = skill.with_component(name, accepted[name])
            grown.append(skill)
    assert len({skill.document for skill in grown}) <= 1
    for skill in grown:
        if skill.components["when_to_use"] and skill.components["steps"]:
            assert Skill.from_bytes("x", skill.document).components == skill.components


@given(DOCUMENT)
def test_write_and_load_give_the_same_skill(tmp_path_factory, text) -> None:
    skill = skill_of(text)
    if skill is not None:
        folder = tmp_path_factory.mktemp("skills") / "x"
        skill.write(folder)
        assert Skill.load(folder) == skill


@given(st.permutations(["a.md", "b/c.md", "b/d.md", "z"]))
def test_the_digest_does_not_depend_on_the_order_of_the_files(order) -> None:
    plain = {"a.md": b"1", "b/c.md": b"2", "b/d.md": b"3", "z": b"4"}
    shuffled = {name: plain[name] for name in order}
    assert Skill.from_bytes("x", b"# T\n", shuffled).digest == Skill.from_bytes("x", b"# T\n", plain).digest


def normal(name: str, text: str) -> str:
    if name == "description":
        return text.replace("\r\n", "\n").replace("\r", "\n").strip(" \t\n")
    return normal_block(text)


def without(skill: Skill, name: str) -> list[tuple[str, str]]:
    return [(key, text) for key, text in skill.components.items() if key != name]


def head_size(skill: Skill) -> int:
    return len((skill._page.bom + skill._page.head).encode())


def lost_text(before: Skill, after: Skill) -> str:
    """What of the old text lies between the common start and the common end; a last line end may be added."""
    old, new = (skill.document.rstrip(b"\r\n") for skill in (before, after))
    start, end = common(old, new), common(old[::-1], new[::-1])
    lost = old[start : max(start, len(old) - end)].decode("utf-8", "ignore")
    return lost.replace("\r\n", "\n").replace("\r", "\n").strip("\n")


def common(a: bytes, b: bytes) -> int:
    return next((i for i, (x, y) in enumerate(zip(a, b, strict=False)) if x != y), min(len(a), len(b)))

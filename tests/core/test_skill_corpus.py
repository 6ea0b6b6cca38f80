"""A corpus of realistic SKILL.md files, after the shapes of spec/landscape.md part 4."""

from __future__ import annotations

from pathlib import Path

import pytest

from pytest_skillevo.core.skill import Skill

CORPUS = Path(__file__).parent.parent / "data" / "skills"
NAMES = sorted(path.name for path in CORPUS.iterdir() if path.is_dir())
STRUCTURED = ["description", "when_to_use", "steps", "pitfalls"]

#: name -> (components, number of steps or None for free form, number of pitfalls)
EXPECTED = {
    "api-reference": (
        "description preamble section:quick-start section:python-libraries section:command-line-tools "
        "section:next-steps",
        None,
        0,
    ),
    "blank-above": ("description preamble", None, 0),
    "byte-order-mark": ("structured", 3, 0),
    "chinese": ("structured section:示例", 3, 1),
    "circled-numerals": ("structured", 3, 0),
    "commented-section": ("structured preamble section:when-not-to-use", 2, 2),
    "csv-import": ("structured", 3, 1),
    "emoji-headings": ("structured preamble section:4-checklist", 2, 1),
    "empty-sections": ("structured", 0, 0),
    "flow-frontmatter": ("description preamble", None, 0),
    "folded-description": (
        "description section:all-files section:financial-models section:creation-and-editing section:important-rules",
        None,
        0,
    ),
    "headings-in-fences": ("structured section:notes", 3, 0),
    "license-header": ("description preamble section:overview section:references", None, 0),
    "literal-description": ("structured", 3, 1),
    "long-description": ("description section:docs", None, 0),
    "machine-written": (
        "description preamble section:prompt section:role-objective section:operational-rules "
        "section:anti-patterns section:triggers",
        None,
        0,
    ),
    "mixed-line-ends": ("structured", 3, 0),
    "nested-metadata": ("structured section:verification", 2, 2),
    "no-final-newline": ("structured", 2, 0),
    "no-frontmatter": ("description preamble section:setup section:usage", None, 0),
    "only-frontmatter": ("description preamble", None, 0),
    "other-name": ("description preamble", None, 0),
    "prose-steps": ("structured section:tone", 0, 0),
    "release-notes": ("structured section:verification", 4, 2),
    "repeated-headings": (
        "description section:example section:example-2 section:example-2-2 section:example-3 section:untitled",
        None,
        0,
    ),
    "rules-in-body": ("structured preamble section:notes", 2, 0),
    "several-titles": ("structured section:overview", 3, 1),
    "two-workflows": ("description section:when-to-use section:creation-workflow section:editing-workflow", None, 0),
    "underlined-headings": ("structured preamble", 2, 0),
    "unquoted-colon": ("structured", 3, 0),
    "wrapped-plain-description": ("structured", 3, 0),
}

#: What loads leniently, and words of the warning; all other files load without one.
WARNED = {
    "blank-above": ["SKILL.md:1: there is a blank line above the frontmatter"],
    "byte-order-mark": ["SKILL.md:1: the file starts with a byte order mark"],
    "csv-import": ["SKILL.md:1: lines end in CRLF"],
    "empty-sections": ["SKILL.md:3: the description is empty"],
    "license-header": ["SKILL.md:1: there is a comment above the frontmatter"],
    "long-description": ["SKILL.md:3: the description has 1319 characters, 1024 are allowed"],
    "machine-written": [
        "SKILL.md:2: not in the published format: 'id', 'version', 'tags', 'triggers'",
        "SKILL.md:3: the name 'Python Log Parser' differs from the folder's name 'machine-written'",
        "SKILL.md:3: the name 'Python Log Parser' is not 1 to 64 of a-z",
    ],
    "mixed-line-ends": ["SKILL.md:1: line ends are mixed"],
    "nested-metadata": [
        "SKILL.md:12: allowed-tools should be text",
        "SKILL.md:15: not in the published format: 'user-invocable'",
    ],
    "no-frontmatter": ["SKILL.md:1: there is no frontmatter; the name 'no-frontmatter' is that of the folder"],
    "other-name": [
        "SKILL.md:2: the name 'Some_Other Name' differs from the folder's name 'other-name'",
        "SKILL.md:2: the name 'Some_Other Name' is not 1 to 64 of a-z",
    ],
    "unquoted-colon": [
        "SKILL.md:3: the description has an unquoted ': '; read as text, but other tools will refuse it: "
        "put the value in quotes."
    ],
    "wrapped-plain-description": ["SKILL.md:8: not in the published format: 'version'"],
}


@pytest.fixture(params=NAMES)
def skill(request) -> Skill:
    return Skill.load(CORPUS / request.param)


def test_every_file_of_the_corpus_has_an_expectation() -> None:
    assert sorted(EXPECTED) == NAMES


def test_the_bytes_stay_as_they_are(skill, tmp_path) -> None:
    folder = tmp_path / skill.name
    skill.write(folder)
    assert skill.document == (CORPUS / skill._folder / "SKILL.md").read_bytes()
    assert (folder / "SKILL.md").read_bytes() == skill.document
    assert Skill.load(folder).digest == skill.digest


def test_components_steps_and_pitfalls_are_found(skill) -> None:
    components, steps, pitfalls = EXPECTED[skill._folder]
    assert list(skill.components) == components.replace("structured", " ".join(STRUCTURED)).split(" ")
    assert (skill.spec is None) == (steps is None)
    if skill.spec is not None:
        assert (len(skill.spec.steps), len(skill.spec.pitfalls)) == (steps, pitfalls)


def test_what_was_read_leniently_is_said_with_file_and_line(skill) -> None:
    expected = WARNED.get(skill._folder, [])
    assert len(skill.warnings) == len(expected)
    for warning, words in zip(skill.warnings, expected, strict=True):
        assert warning.startswith(str(CORPUS / skill._folder / words))


def test_each_component_can_change_while_all_other_bytes_stay(skill) -> None:
    for name, old in skill.components.items():
        child = skill.with_component(name, "A new text: it's short.")
        assert dict(child.components) == {**skill.components, name: "A new text: it's short."}
        assert_only_one_place_changed(skill.document, child.document, old)


def test_an_equal_text_gives_equal_bytes(skill) -> None:
    for name, text in skill.components.items():
        assert skill.with_component(name, f"\n{text}\n\n").document == skill.document


def test_changing_there_and_back_loses_no_other_byte(skill) -> None:
    for name, old in skill.components.items():
        back = skill.with_component(name, "Something else.").with_component(name, old)
        assert dict(back.components) == dict(skill.components)
        assert back.name == skill.name


def assert_only_one_place_changed(before: bytes, after: bytes, old: str) -> None:
    """All bytes but those of the old text are still there, as a common start and a common end."""
    start = next((i for i, (a, b) in enumerate(zip(before, after, strict=False)) if a != b), len(before))
    rest, new_rest = before[start:][::-1], after[start:][::-1]
    end = next((i for i, (a, b) in enumerate(zip(rest, new_rest, strict=False)) if a != b), len(rest))
    lost = len(before) - start - end
    #: Line ends, indent and quotes of the old text are its own as well.
    own = len(old.encode()) + 6 * (old.count("\n") + 1) + 8
    assert lost <= own

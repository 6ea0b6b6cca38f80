"""The settings that the command line reads are those that pytest reads."""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path

import pytest

from pytest_skillevo.core.errors import ConfigError
from pytest_skillevo.project import find_project

SETTINGS = {
    "pytest.toml": '[pytest]\nskillevo_skills = "from/here"\n',
    ".pytest.toml": '[pytest]\nskillevo_skills = "from/here"\n',
    "pytest.ini": "[pytest]\nskillevo_skills = from/here\n",
    ".pytest.ini": "[pytest]\nskillevo_skills = from/here\n",
    "pyproject.toml": '[tool.pytest.ini_options]\nskillevo_skills = "from/here"\n',
    "tox.ini": "[pytest]\nskillevo_skills = from/here\n",
    "setup.cfg": "[tool:pytest]\nskillevo_skills = from/here\n",
}


def write(folder: Path, name: str, text: str) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    file = folder / name
    file.write_text(text, encoding="utf-8")
    return file


@pytest.mark.parametrize("name", SETTINGS)
def test_each_kind_of_file_is_read_from_below(tmp_path, name):
    file = write(tmp_path / "project", name, SETTINGS[name])
    below = tmp_path / "project" / "a" / "b"
    below.mkdir(parents=True)
    project = find_project(below)
    assert project.file == file
    assert project.skills == tmp_path / "project" / "from/here"
    assert project.home == tmp_path / "project" / ".skillevo"


def test_native_toml_settings_are_read(tmp_path):
    write(tmp_path, "pyproject.toml", '[tool.pytest]\nskillevo_home = "var/store"\n')
    assert find_project(tmp_path).home == tmp_path / "var/store"
    assert find_project(tmp_path).skills == tmp_path / "skills"


def test_of_several_files_the_one_that_pytest_takes_is_taken(tmp_path):
    for name in reversed(SETTINGS):
        write(tmp_path, name, SETTINGS[name].replace("from/here", f"of-{name}"))
        assert find_project(tmp_path).skills == tmp_path / f"of-{name}"


def test_a_nearer_file_without_pytest_settings_is_passed_over(tmp_path):
    write(tmp_path, "pytest.ini", "[pytest]\nskillevo_skills = far\n")
    write(tmp_path / "inner", "tox.ini", "[tox]\nenvlist = py311\n")
    write(tmp_path / "inner", "pyproject.toml", "[project]\nname = 'x'\n")
    assert find_project(tmp_path / "inner").skills == tmp_path / "far"


def test_an_empty_pytest_ini_ends_the_search(tmp_path):
    write(tmp_path, "pyproject.toml", SETTINGS["pyproject.toml"])
    write(tmp_path / "inner", "pytest.ini", "")
    assert find_project(tmp_path / "inner").skills == tmp_path / "inner" / "skills"


def test_without_settings_the_root_is_where_pytest_puts_it(tmp_path):
    below = tmp_path / "a" / "b"
    below.mkdir(parents=True)
    assert find_project(below).skills == below / "skills"
    write(tmp_path / "a", "setup.py", "")
    assert find_project(below).skills == tmp_path / "a" / "skills"
    write(tmp_path, "pyproject.toml", "[project]\nname = 'x'\n")
    assert find_project(below).skills == tmp_path / "skills"


def test_an_absolute_path_stays_absolute(tmp_path):
    write(tmp_path, "pytest.ini", f"[pytest]\nskillevo_skills = {tmp_path / 'elsewhere'}\n")
    assert find_project(tmp_path).skills == tmp_path / "elsewhere"


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("pyproject.toml", "[tool.pytest\n"),
        ("pytest.ini", "no section\n"),
        ("pytest.toml", "[pytest]\nskillevo_skills = ['a', 'b']\n"),
        ("pytest.toml", "[pytest]\nskillevo_home = ''\n"),
        ("pytest.ini", "[pytest]\nskillevo_home =\n"),
    ],
)
def test_what_cannot_be_read_is_named_with_its_file(tmp_path, name, content):
    write(tmp_path, name, content)
    with pytest.raises(ConfigError, match=name):
        find_project(tmp_path)


def test_a_file_that_is_not_utf_8_is_named(tmp_path):
    (tmp_path / "pytest.ini").write_bytes("[pytest]\n# caf\u00e9\n".encode("utf-16"))
    with pytest.raises(ConfigError, match=r"pytest\.ini cannot be read"):
        find_project(tmp_path)


@pytest.mark.parametrize("name", SETTINGS)
def test_pytest_itself_finds_the_same_settings(pytester, name):
    file = write(pytester.path, name, SETTINGS[name])
    config = pytester.parseconfig()
    assert config.inipath == file
    assert config.inipath.parent / config.getini("skillevo_skills") == find_project(pytester.path).skills


def test_store_protection_and_timers_are_read_from_any_kind_of_file(tmp_path, monkeypatch):
    monkeypatch.delenv("SKILLEVO_STORE", raising=False)
    lines = [
        "skillevo_store = postgresql://host/db",
        "skillevo_protected = core-* 'my skill'",
        "skillevo_promote_after = 12h",
        "skillevo_expire_after = 4w",
    ]
    write(tmp_path, "pytest.ini", "[pytest]\n" + "\n".join(lines) + "\n")
    project = find_project(tmp_path)
    assert (project.store, project.protected) == ("postgresql://host/db", ("core-*", "my skill"))
    assert (project.promote_after, project.expire_after) == (timedelta(hours=12), timedelta(weeks=4))
    write(tmp_path, "pytest.toml", '[pytest]\nskillevo_protected = ["a", "b c"]\n')
    assert find_project(tmp_path).protected == ("a", "b c")
    assert find_project(tmp_path).store is None
    monkeypatch.setenv("SKILLEVO_STORE", "postgresql://other/db")
    assert find_project(tmp_path).store == "postgresql://other/db"


@pytest.mark.parametrize(
    ("line", "problem"),
    [
        ("skillevo_promote_after = soon", "must be a time such as 12h or 7d"),
        ("skillevo_expire_after = 0d", "must be a time such as 12h or 7d"),
        ("skillevo_expire_after = 5", "must be a time such as 12h or 7d"),
        ("skillevo_protected = 'open", "skillevo_protected: No closing quotation"),
    ],
)
def test_a_setting_that_cannot_be_is_named(tmp_path, line, problem):
    write(tmp_path, "pytest.ini", f"[pytest]\n{line}\n")
    with pytest.raises(ConfigError, match=problem):
        find_project(tmp_path)


@pytest.mark.parametrize("text", ["skillevo_store = 5", "skillevo_protected = [1]"])
def test_a_setting_of_the_wrong_type_is_named(tmp_path, text):
    write(tmp_path, "pytest.toml", f"[pytest]\n{text}\n")
    with pytest.raises(ConfigError, match="must be a"):
        find_project(tmp_path)


@pytest.mark.parametrize(
    ("name", "text"),
    [
        (
            "pytest.ini",
            "[pytest]\nskillevo_gates = spec 'safety'\nskillevo_gate_human = never\nskillevo_gate_shadow = yes\n",
        ),
        (
            "pyproject.toml",
            "[tool.pytest.ini_options]\nskillevo_gates = ['spec', 'safety']\nskillevo_gate_human = 'never'\n"
            "skillevo_gate_shadow = true\n",
        ),
    ],
)
def test_the_gates_are_those_of_the_ini_file(tmp_path, name, text):
    write(tmp_path, name, text)
    gates = find_project(tmp_path).gates
    assert (gates.names, gates.human, gates.shadow) == (("spec", "safety"), "never", True)


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("skillevo_gates = safty", "'safty' is none of spec, safety, effectiveness, human"),
        ("skillevo_gate_shadow = perhaps", "skillevo_gate_shadow must be true or false, not 'perhaps'"),
    ],
)
def test_a_typing_error_in_a_gate_setting_names_the_file(tmp_path, line, message):
    file = write(tmp_path, "pytest.ini", f"[pytest]\n{line}\n")
    with pytest.raises(ConfigError) as caught:
        find_project(tmp_path)
    assert str(file) in str(caught.value)
    assert message in str(caught.value)

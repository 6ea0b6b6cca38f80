from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_skillevo.core.errors import ConfigError
from pytest_skillevo.core.scopes import NO_SCOPE, Scope, ScopeMode, component, is_key, resolve, visible_keys

VALUES = st.text(st.characters(blacklist_categories=("Cs",)), min_size=1, max_size=140).filter(str.strip)
SCOPES = st.builds(Scope) | st.builds(Scope, VALUES.map(str.strip)) | st.builds(Scope, *[VALUES.map(str.strip)] * 2)


@given(SCOPES, SCOPES)
def test_two_scopes_share_a_partition_only_if_they_are_one(one, other):
    assert (one.key == other.key) == (one == other)


@given(SCOPES, SCOPES)
def test_partitions_stay_apart_on_disks_that_ignore_case(one, other):
    assert (one.key.casefold() == other.key.casefold()) == (one == other)


@given(VALUES)
def test_a_component_is_one_plain_folder_name(value):
    name = component(value)
    assert name not in (".", "..")
    assert name == name.lower()
    assert 1 <= len(name) <= 128
    assert set(name) <= set("abcdefghijklmnopqrstuvwxyz0123456789._-")
    assert not name.endswith(".")


@given(SCOPES)
def test_every_scope_has_a_key_that_is_one(scope):
    assert is_key(scope.key)


@pytest.mark.parametrize(
    "key", ["x", "..", "@apps", "@apps/", "@apps/..", "@apps/A", "@apps/a/b", "@users/a", "@users/a/../..", "@x/a", "/"]
)
def test_what_no_scope_has_is_no_key(key):
    assert not is_key(key)


@given(SCOPES)
def test_what_is_visible_follows_from_the_key_alone(scope):
    assert visible_keys(scope.key) == tuple(one.key for one in scope.visible)
    assert scope.visible[0] == scope
    assert scope.visible[-1] == NO_SCOPE


def test_a_user_sees_the_own_skills_those_of_the_app_and_the_shared_ones():
    assert [one.parts for one in Scope("crm", "nina").visible] == [("@users", "crm", "nina"), ("@apps", "crm"), ()]


@pytest.mark.parametrize(
    "value", ["id-0123456789abcdef", "Nina", "con", "aux.txt", "a..b", "x.", "å", "a/b", "x" * 129]
)
def test_what_could_be_taken_for_something_else_is_hashed(value):
    assert component(value).startswith("id-")
    assert component(value) != value


def test_a_mode_with_a_typing_error_shares_nothing():
    assert ScopeMode.parse(" User ") is ScopeMode.USER
    assert ScopeMode.parse("") is ScopeMode.NONE
    with pytest.raises(ConfigError, match="'tenant' is none of none, app, user"):
        ScopeMode.parse("tenant")


def test_what_a_mode_needs_must_be_there():
    assert Scope.of(ScopeMode.APP, " crm ", "nina") == Scope("crm")
    assert Scope.of(ScopeMode.NONE, "crm", "nina") == NO_SCOPE
    with pytest.raises(ConfigError, match="needs the name of an app"):
        Scope.of(ScopeMode.APP, " ", "nina")
    with pytest.raises(ConfigError, match="needs the name of a user"):
        Scope.of(ScopeMode.USER, "crm", " ")


def test_explicit_wins_over_the_session_and_private_work_never_falls_into_the_shared_partition():
    session = Scope("crm", "nina")
    assert resolve(ScopeMode.APP, Scope("billing", "zed"), session) == Scope("billing")
    assert resolve(ScopeMode.USER, session=session) == session
    assert resolve(ScopeMode.NONE, session=session) == NO_SCOPE
    assert resolve(ScopeMode.NONE, Scope("billing")) == Scope("billing")
    with pytest.raises(ConfigError):
        resolve(ScopeMode.USER)
    assert (session.words, Scope("crm").words, NO_SCOPE.words) == ("user nina of crm", "app crm", "shared by all")

"""Texts of failures are the same in every process."""

from __future__ import annotations

import subprocess
import sys

import pytest

from pytest_skillevo.execution.texts import clean_text, explain, ordered_repr


def test_sets_and_dicts_are_explained_in_order_whatever_the_hash_seed() -> None:
    code = (
        "from pytest_skillevo.execution.texts import explain\n"
        "left = {'pear', 'apple', 'fig', ('a', frozenset('xyz'))}\n"
        "print(explain('==', left, {'apple'}), explain('in', 'kiwi', left))\n"
        "print(explain('==', {'a': 1, 'b': {'x', 'y', 'z'}, 'c': 0, 'd': 1}, {'b': set(), 'a': 2, 'e': 1, 'c': 0}))"
    )
    texts = {
        subprocess.run(
            [sys.executable, "-c", code],
            env={"PYTHONHASHSEED": seed},
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for seed in ("1", "2", "3")
    }
    assert len(texts) == 1
    assert "only on the left: 'fig'" in next(iter(texts))


def test_a_dict_is_explained_by_what_differs() -> None:
    assert explain("==", {"a": 1, "b": 2}, {"a": 3, "c": 4}) == [
        "{'a': 1, 'b': 2} == {'a': 3, 'c': 4}",
        "differs: 'a': 1 != 3",
        "only on the left: 'b': 2",
        "only on the right: 'c': 4",
    ]


@pytest.mark.parametrize("pair", [(1, 2), ("a", "b"), ([1], [2])])
def test_everything_else_is_left_to_pytest(pair: tuple[object, object]) -> None:
    assert explain("==", *pair) is None


@pytest.mark.parametrize("value", [(1,), (1, 2), [], {}, {"a": [1, (2,)]}, {3}], ids=str)
def test_the_ordered_repr_of_plain_values_is_their_repr(value: object) -> None:
    assert ordered_repr(value) == repr(value)


def test_a_huge_set_is_told_in_bounded_space() -> None:
    lines = explain("==", set(range(100_000)), set())
    assert lines is not None
    assert len("\n".join(lines)) < 5_000
    assert lines[-1] == "... 99950 more"


@pytest.mark.parametrize("worker", ["", "/popen-gw3"])
def test_addresses_colours_and_temporary_folders_go(worker: str) -> None:
    text = f"\x1b[31m<f at 0x7f12ab90> is not in '/tmp/pytest-of-ann/pytest-17{worker}/test_it0/out.txt'\x1b[0m"
    assert clean_text(text) == "<f at 0x…> is not in '<tmp>/test_it0/out.txt'"

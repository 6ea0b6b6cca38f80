"""Model calls side by side: bounded, nothing that was paid is lost, and the first error counts."""

from __future__ import annotations

import threading
from collections.abc import Callable

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pytest_skillevo.execution.calls import side_by_side


@settings(deadline=None)
@given(st.integers(0, 12), st.integers(1, 6))
def test_every_call_is_made_once_and_never_more_than_allowed_at_a_time(count: int, at_once: int) -> None:
    guard, inside, most = threading.Lock(), 0, 0

    def call(number: int) -> Callable[[], int]:
        def made() -> int:
            nonlocal inside, most
            with guard:
                inside += 1
                most = max(most, inside)
            with guard:
                inside -= 1
            return number * number

        return made

    told = list(side_by_side([call(number) for number in range(count)], at_once))
    assert sorted(told) == [(number, number * number) for number in range(count)]
    assert most <= at_once


def test_calls_really_run_at_the_same_time() -> None:
    together = threading.Barrier(4, timeout=30)
    assert len(list(side_by_side([together.wait] * 4, 4))) == 4


def test_one_at_a_time_stays_in_this_thread_and_in_order() -> None:
    threads = list(side_by_side([threading.get_ident] * 3, 1))
    assert threads == [(index, threading.get_ident()) for index in range(3)]


@pytest.mark.parametrize("error", [ValueError("second"), KeyboardInterrupt("second")])
def test_after_an_error_what_was_begun_is_told_and_nothing_more_is_begun(error: BaseException) -> None:
    failed, began = threading.Event(), []

    def slow() -> str:
        assert failed.wait(30)
        return "paid"

    def fail() -> str:
        failed.set()
        raise error

    told: list[tuple[int, object]] = []
    with pytest.raises(type(error), match="second"):
        told.extend(side_by_side([slow, fail, lambda: began.append("late")], 2))
    assert told == [(0, "paid")]
    assert began == []

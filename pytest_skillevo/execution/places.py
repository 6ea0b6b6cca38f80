"""Where cases stand: which module and class, and in which order. Cases of one place share their wide fixtures."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import pytest

from ..core.records import RolloutRequest


class Places:
    """The places of these items, by case id."""

    def __init__(self, items: Iterable[pytest.Item]) -> None:
        self._places = {
            item.nodeid: (item.parent.nodeid if item.parent is not None else "", index)
            for index, item in enumerate(items)
        }

    def of(self, case_id: str) -> str:
        """The module or class of a case."""
        return self._places[case_id][0]

    def order(self, requests: Sequence[RolloutRequest]) -> list[int]:
        """Indices of the requests in the order to run them: place by place, so that wide fixtures are set up seldom."""
        return sorted(range(len(requests)), key=lambda index: (self._places[requests[index].case_id], index))

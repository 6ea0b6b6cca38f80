"""Running one collected item again and again: every private name of pytest that this needs, in one place.

pytest runs an item once; a rollout runs it many times. What an item keeps from a run is reset here, and what wide
fixtures gather from many runs is dropped. Measured on pytest 8.2 to 9.2 (spec/execution.md section 1).
"""

from __future__ import annotations

import copy
import dataclasses
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, cast

import pytest
from _pytest import assertion
from _pytest.capture import CaptureManager
from _pytest.runner import call_and_report, runtestprotocol
from _pytest.warnings import catch_warnings_for_item

#: After this many rollouts, finalizers that became no-ops are dropped from wide fixtures.
PRUNE_EVERY = 500

_VERBOSITY = "verbosity_assertions"

_QUIET = frozenset(
    {
        "pytest_runtest_logstart",
        "pytest_runtest_logreport",
        "pytest_runtest_logfinish",
        "pytest_warning_recorded",
        "pytest_exception_interact",
    }
)


class ReusableItem:
    """An item and the state it had when collected."""

    def __init__(self, item: pytest.Item) -> None:
        self.item = item
        self._user_properties = list(item.user_properties)
        self._own_markers = list(item.own_markers)
        self._keywords = dict(_keyword_marks(item))

    def reset(self) -> None:
        """Make the item as it was when collected, so that nothing passes from one variant to the next."""
        item: Any = self.item
        if isinstance(item.parent, pytest.Class):
            item.__dict__.pop("_instance", None)
            item.__dict__.pop("_obj", None)
        item._report_sections.clear()
        item.user_properties[:] = self._user_properties
        item.own_markers[:] = self._own_markers
        _keyword_marks(item).clear()
        _keyword_marks(item).update(self._keywords)
        if hasattr(item, "_initrequest"):
            item._initrequest()


def _keyword_marks(item: pytest.Item) -> dict[str, Any]:
    marks: dict[str, Any] = item.keywords._markers  # type: ignore[attr-defined]
    return marks


def run_protocol(item: pytest.Item) -> list[pytest.TestReport]:
    """Setup, call and teardown of one item; wider fixtures stay alive, nothing is published."""
    assert item.parent is not None
    # The item's own parent as "next item" keeps exactly the wide scopes: see spec/execution.md, nextitem choices.
    return runtestprotocol(item, log=False, nextitem=item.parent)  # type: ignore[arg-type]


def fresh_copy(item: pytest.Function) -> pytest.Function:
    """A copy that can be set up beside others of the same item: its own request, stash and function fixtures."""
    twin = copy.copy(item)
    twin.stash = pytest.Stash()
    twin.user_properties = list(item.user_properties)
    twin._report_sections = []
    info = item._fixtureinfo
    own = {name: [_own(one) for one in definitions] for name, definitions in info.name2fixturedefs.items()}
    twin._fixtureinfo = dataclasses.replace(info, name2fixturedefs=own)  # type: ignore[arg-type]
    if isinstance(item.parent, pytest.Class):
        twin.__dict__.pop("_instance", None)
        twin.__dict__.pop("_obj", None)
    twin._initrequest()
    return twin


def _own(definition: pytest.FixtureDef[Any]) -> pytest.FixtureDef[Any]:
    if definition.scope != "function":
        return definition
    twin: Any = copy.copy(definition)
    twin._finalizers = []
    twin.cached_result = None
    return cast("pytest.FixtureDef[Any]", twin)


def wide_parameters(item: pytest.Function) -> tuple[str, ...]:
    """The parameters of wide fixtures: items that differ in them cannot be set up at the same time."""
    spec = getattr(item, "callspec", None)
    if spec is None:
        return ()
    narrow = {name for name, scope in spec._arg2scope.items() if scope.value == "function"}
    return tuple(f"{name}={spec.indices[name]}" for name in spec.indices if name not in narrow)


def set_up(item: pytest.Item) -> tuple[pytest.TestReport, Any]:
    """Set an item up and take it off pytest's stack, so that the next one can be set up: its report and its place."""
    report = call_and_report(item, "setup", log=False)
    return report, item.session._setupstate.stack.pop(item, None)


def report_of_call(item: pytest.Item, error: BaseException | None) -> pytest.TestReport:
    """The report of a body that was run elsewhere."""

    def outcome() -> None:
        if error is not None:
            raise error

    call = pytest.CallInfo.from_call(outcome, when="call", reraise=(pytest.exit.Exception, KeyboardInterrupt))
    report: pytest.TestReport = item.ihook.pytest_runtest_makereport(item=item, call=call)
    return report


def tear_down(item: pytest.Item, place: Any) -> pytest.TestReport:
    """Put an item back on the stack and tear it down; wider fixtures stay."""
    if place is not None:
        item.session._setupstate.stack[item] = place
    return call_and_report(item, "teardown", log=False, nextitem=item.parent)


@contextmanager
def shared_protocol(item: pytest.Item) -> Iterator[None]:
    """What pytest puts around one item, for all that share the time with it: explained asserts, warning filters."""
    explaining = assertion.pytest_runtest_protocol(item)
    with catch_warnings_for_item(config=item.config, ihook=item.ihook, when="runtest", item=item):
        next(explaining)
        try:
            yield
        finally:
            explaining.close()


def tear_down_to(item: pytest.Item | None, session: pytest.Session, last: pytest.Item | None) -> None:
    """Tear down what `item` does not need (everything, for None), with the output captured."""
    state = session._setupstate
    if not state.stack:
        return
    capture = session.config.pluginmanager.getplugin("capturemanager")
    if isinstance(capture, CaptureManager) and last is not None:
        with capture.item_capture("teardown", last):
            state.teardown_exact(item)
    else:
        state.teardown_exact(item)


@contextmanager
def quiet_hooks(session: pytest.Session, sink: list[pytest.TestReport]) -> Iterator[None]:
    """Keep reports, warnings and debugger calls of a rollout from other plugins; reports go to the sink."""
    original = session.gethookproxy
    relays: dict[int, Any] = {}

    def quiet(fspath: Any) -> Any:
        relay = original(fspath)
        if id(relay) not in relays:
            relays[id(relay)] = _QuietRelay(relay, sink)
        return relays[id(relay)]

    session.gethookproxy = quiet  # type: ignore[method-assign]
    try:
        yield
    finally:
        del session.gethookproxy


class _QuietRelay:
    """A hook relay that swallows what would be published."""

    def __init__(self, relay: Any, sink: list[pytest.TestReport]) -> None:
        self._relay = relay
        self._sink = sink

    def __getattr__(self, name: str) -> Any:
        hook = _Swallow(self._sink) if name in _QUIET else getattr(self._relay, name)
        self.__dict__[name] = hook
        return hook


class _Swallow:
    def __init__(self, sink: list[pytest.TestReport]) -> None:
        self._sink = sink

    def __call__(self, **arguments: Any) -> list[Any]:
        report = arguments.get("report")
        if report is not None:
            self._sink.append(report)
        return []

    def call_historic(self, *_: Any, **__: Any) -> None:
        return None


def full_explanations(config: pytest.Config) -> Callable[[], None]:
    """Explain failed asserts in full, whatever -v and the environment variable CI say. Returns what undoes it."""
    cache: dict[str, Any] = config._inicache
    before = cache.get(_VERBOSITY)
    cache[_VERBOSITY] = "2"

    def restore() -> None:
        cache.pop(_VERBOSITY, None)
        if before is not None:
            cache[_VERBOSITY] = before

    return restore


def recount_folders(config: pytest.Config, name: str) -> None:
    """Give a removed folder's name again, so that texts do not show how often a case ran before (pytest 9.2)."""
    counts: dict[str, int] = getattr(getattr(config, "_tmp_path_factory", None), "_next_number", {})
    for prefix in [one for one in counts if name.lower().removeprefix(one).isdecimal()]:
        del counts[prefix]


def prune_finalizers(item: pytest.Item) -> None:
    """Drop finalizers of finished narrow fixtures from the wide ones: pytest adds one per use and never removes it."""
    info = getattr(item, "_fixtureinfo", None)
    if info is None:
        return
    for definitions in info.name2fixturedefs.values():
        for definition in definitions:
            finalizers = definition._finalizers
            finalizers[:] = [one for one in finalizers if not _finished(one)]


def _finished(finalizer: Any) -> bool:
    owner = getattr(getattr(finalizer, "func", None), "__self__", None)
    return isinstance(owner, pytest.FixtureDef) and owner.cached_result is None

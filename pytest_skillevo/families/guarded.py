"""What an author's functions raise, in words: which function of which family, for what, and at which of its lines.

A family is guarded when it is loaded: every function that it passes is called through a guard, which also checks what
it gives. So neither the engine nor an author has to think of it, and nobody reads a traceback through the engine.
"""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

from ..core.errors import ConfigError, SkillevoError
from ..core.frames import author_line
from .scenario import Scenario
from .spec import FamilySpec, FieldSpec, SummaryField
from .tools import Answer, Ask, ToolSpec
from .world import Chance, Population, World


class FamilyError(ConfigError):
    """A function that a family passes raised, or gave what it must not. `headline` says so without any value."""

    def __init__(self, headline: str, detail: str, line: str = "") -> None:
        super().__init__(f"{headline}{detail}{line}")
        self.headline = headline + line


#: What a function may give: the words for it, and the test.
_Gives = tuple[str, Callable[[Any], bool]]
ANYTHING: Final[_Gives] = ("a value", lambda _: True)
TEXT: Final[_Gives] = ("text", lambda value: isinstance(value, str))
IDENT: Final[_Gives] = ("text or a whole number", lambda value: type(value) in (str, int))
NAMED: Final[_Gives] = ("a mapping", lambda value: isinstance(value, Mapping))
TEXTS: Final[_Gives] = (
    "a mapping of paths to texts",
    lambda value: isinstance(value, Mapping) and all(isinstance(one, str) for pair in value.items() for one in pair),
)
ANSWER: Final[_Gives] = (
    "an Answer, such as Answer({...}) or failed(CODE, sentence)",
    lambda it: isinstance(it, Answer),
)
SHARE: Final[_Gives] = (
    "a number from 0 to 1",
    lambda value: isinstance(value, int | float) and 0 <= value <= 1,
)
PAIRS: Final[_Gives] = (
    "a sequence of pairs",
    lambda value: isinstance(value, Sequence) and all(isinstance(one, tuple) and len(one) == 2 for one in value),
)


@functools.cache
def guarded(spec: FamilySpec) -> FamilySpec:
    """The same family, each of its functions behind a guard; the same object every time."""

    def guard(what: str, function: Callable[..., Any], gives: _Gives) -> Callable[..., Any]:
        return _guard(f"family {spec.name}: {what}", function, gives)

    contract = spec.contract
    return dataclasses.replace(
        spec,
        population=_population(spec.population, guard),
        traits={name: guard(f"the trait {name!r}", has, ANYTHING) for name, has in spec.traits.items()},
        tools={name: _tool(name, tool, guard) for name, tool in spec.tools.items()},
        contract=dataclasses.replace(
            contract,
            fields=tuple(_field(one, guard) for one in contract.fields),
            summary=tuple(_summary(one, guard) for one in contract.summary),
            ident=guard("Contract.ident", contract.ident, IDENT),
        ),
        prompt=guard("the prompt", spec.prompt, TEXT),
        files=guard("the files", spec.files, TEXTS),
        route=guard("the route", spec.route, PAIRS),
        title=guard("the title", spec.title, TEXT),
        alias=None if spec.alias is None else guard("the alias", spec.alias, TEXT),
        official=guard("the official rules", spec.official, ANYTHING) if callable(spec.official) else spec.official,
    )


_Wrap = Callable[[str, Callable[..., Any], _Gives], Callable[..., Any]]


def _population(population: Population, guard: _Wrap) -> Population:
    drawn = {name: guard(f"the attribute {name!r}", draw, ANYTHING) for name, draw in population.attributes.items()}
    return dataclasses.replace(
        population, attributes=drawn, shape=guard("Population.shape", population.shape, ANYTHING)
    )


def _tool(name: str, tool: ToolSpec, guard: _Wrap) -> ToolSpec:
    return dataclasses.replace(
        tool,
        answer=guard(f"the answer of the tool {name}", tool.answer, ANSWER),
        about=guard(f"`about` of the tool {name}", tool.about, NAMED),
        meant=guard(f"`meant` of the tool {name}", tool.meant, NAMED),
    )


def _field(one: FieldSpec, guard: _Wrap) -> FieldSpec:
    where = f"the field {one.name!r}"
    return dataclasses.replace(
        one,
        truth=guard(f"the truth of {where}", one.truth, ANYTHING),
        compare=guard(f"the comparator of {where}", one.compare, SHARE),
        needs=guard(f"`needs` of {where}", one.needs, PAIRS),
        alternatives=tuple(guard(f"an alternative of {where}", way, PAIRS) for way in one.alternatives),
        truncated=None if one.truncated is None else guard(f"`truncated` of {where}", one.truncated, ANYTHING),
    )


def _summary(one: SummaryField, guard: _Wrap) -> SummaryField:
    where = f"the summary field {one.name!r}"
    return dataclasses.replace(
        one,
        truth=guard(f"the truth of {where}", one.truth, ANYTHING),
        compare=guard(f"the comparator of {where}", one.compare, SHARE),
    )


def _guard(what: str, function: Callable[..., Any], gives: _Gives) -> Callable[..., Any]:
    words, fits = gives

    @functools.wraps(function)
    def call(*arguments: Any) -> Any:
        try:
            value = function(*arguments)
        except SkillevoError:
            raise
        except Exception as error:
            raise FamilyError(
                f"{what} raised {type(error).__name__}", f": {error}{_occasion(arguments)}", author_line(error)
            ) from None
        if not fits(value):
            raise FamilyError(f"{what} must give {words}", f", not {_short(value)}{_occasion(arguments)}")
        return value

    return call


def _occasion(arguments: Sequence[Any]) -> str:
    """For which task, world, record or value a function was called."""
    told = [text for one in arguments if (text := _told(one))]
    return f" ({'; '.join(told)})" if told else ""


def _told(one: Any) -> str:
    if isinstance(one, Scenario):
        return f"task {one.slug}: level {one.level}, {one.split}, world {one.draw}"
    if isinstance(one, World):
        return f"{one.split}, world {one.draw}"
    if isinstance(one, Ask):
        return f"{one.world.split}, world {one.world.draw}; arguments {_short(dict(one.arguments))}"
    if isinstance(one, Chance):
        return f"draw {' / '.join(map(str, one.key))}"
    if isinstance(one, dict) and "id" in one and "name" in one:
        return f"record {one['id']} {one['name']}"
    if isinstance(one, list) and one and isinstance(one[0], dict):
        return f"{len(one)} records"
    return f"value {_short(one)}"


def _short(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= 120 else f"{text[:117]}..."

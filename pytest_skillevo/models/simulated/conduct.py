"""How the simulated agent works on the tasks of a lookup family, as a declaration: lookups, fields, summary.

A family's `behaviour.py` fills in a Conduct and wraps it in a LookupBehaviour; worker.py carries it out. Nothing here
knows a world, a truth or a plan of faults: all that an item tells comes from the prompt and from answers.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final, TypeAlias

from .library import AMBIGUITY, GAP, GENERIC
from .lookups import is_called, resembles
from .practices import Practice
from .words import Terms

if TYPE_CHECKING:
    from .worker import Worker

#: What an honest artifact holds where a source has no value, as every prompt says.
SENTINEL: Final = {"unavailable": True}


@dataclass(slots=True)
class Item:
    """What the agent knows of one entity of the task: the table's cells by column, and what answers told.

    `known` never holds a null: what an answer leaves open is not known. `gaps` are the tools that had no data.
    """

    title: str
    known: dict[str, Any] = field(default_factory=dict)
    gaps: set[str] = field(default_factory=set)

    def get(self, name: str) -> Any:
        """A known value, or None."""
        return self.known.get(name)

    def learn(self, data: Mapping[str, Any], *names: str, **renamed: str) -> None:
        """Take over values of an answer: `names` as they are called there, `renamed` as known name=their name."""
        for known, theirs in (*zip(names, names, strict=True), *renamed.items()):
            if data.get(theirs) not in (None, ""):
                self.known[known] = data[theirs]


Ask: TypeAlias = "Callable[[Item, Worker], Mapping[str, Any] | None]"
Learn: TypeAlias = Callable[[Item, Mapping[str, Any]], None]


def _named(item: Item, row: Mapping[str, Any], worker: Worker) -> bool:
    """Whether a row is the item's: its name, or in a lapse any name that begins alike."""
    same = resembles if worker.lapses(AMBIGUITY) else is_called
    name = row.get("name")
    return isinstance(name, str) and bool(name) and same(item.title, name)


@dataclass(frozen=True, slots=True, kw_only=True)
class Lookup:
    """One kind of lookup, made for every item of which `ask` knows the arguments (None: nothing to ask).

    Without `rows`, `learn` is told the answer. With `rows`, the name of a list in the answer: `learn` is told the row
    that `match` takes for the item's; or, with `whole`, the answer with all pages of the list in it, and in addition
    `total` (of the list) and `pages` (whether there were several). A malformed answer, from which `learn` cannot take
    what it wants, teaches nothing.
    """

    tool: str
    ask: Ask
    learn: Learn
    rows: str = ""
    match: Callable[[Item, Mapping[str, Any], Worker], bool] = _named
    whole: bool = False
    #: Rows of a whole list tell something of every item that they hold (by id).
    fills: Learn | None = None
    #: Text argument that loses its first word when nothing is found.
    shorten: str = ""
    #: Arguments that an agent tries before it knows what it needs, when the practice of order lapses.
    early: Ask | None = None
    #: Not made where this tool is offered.
    unless: str = ""
    #: Not made when this practice lapses.
    practice: Practice | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Fill:
    """How one field of an entry is filled. `value` gives None for what was not found out.

    `tools`: only where one of them is offered. `include`: left out when this practice lapses. `invented` makes a
    plausible value from a number in [0, 1) when the practice of honesty lapses.
    """

    name: str
    value: Callable[[Item, Worker], Any]
    invented: Callable[[float], Any]
    tools: tuple[str, ...] = ()
    include: Practice | None = None


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Conduct:
    """How the agent works on one family. Lookups of one stage go out in one turn; stages follow each other.

    `title` is the heading of the prompts by which a task is recognised. `practices` come in addition to the general
    ones. `terms` are the family's words for items, ids, the file and so on (words.py).
    """

    name: str
    title: str
    stages: Sequence[Sequence[Lookup]]
    fields: Sequence[Fill]
    summary: Callable[[Worker, Sequence[Mapping[str, Any]]], Mapping[str, Any]]
    practices: tuple[Practice, ...] = ()
    terms: Terms = ()
    #: Value of the entry's id key; None for the title.
    ident: Callable[[Item, Worker], Any] | None = None
    #: Cells of an item that an old plan lured the agent into; the others are copied from the first item.
    stranger: Mapping[str, str] = field(default_factory=dict)

    @property
    def switches(self) -> tuple[Practice, ...]:
        """All practices of an agent of this family."""
        return (*self.practices, *GENERIC)


def gap_or(item: Item, worker: Worker, tool: str, value: Any, guess: Any) -> Any:
    """The value; where the tool has no data the sentinel, in a lapse a guess, or nothing after asking in vain."""
    if tool not in item.gaps:
        return value
    return {"guess": guess, "retry": None, "": dict(SENTINEL)}[worker.lapses(GAP)]

"""The agent of lookup families at work: reads the task, makes the lookups of a Conduct, writes the file, closes."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from ...core.canonical import canonical_json
from ...core.errors import ConfigError
from ...core.protocols import Reply
from ...core.records import Message
from .caller import Caller, Fetch
from .conduct import Conduct, Item, Learn, Lookup
from .library import FINISH, HONESTY, MERGE, ORDER, PAGING, REFERENCE, REUSE, TASK_WINS, TITLES, VERIFY, WRITE_ONCE
from .lookups import find, follow, planned, rows_of
from .overrides import apply_overrides, read_overrides
from .practices import Practice
from .solver import Answer, Call, Program, Situation, Switches, first_prompt, next_reply, tool_names
from .words import Terms

PLAN: Final = "plan.json"

#: What a malformed answer of a tool makes a family's code raise: then nothing was found out.
MALFORMED: Final = (ArithmeticError, LookupError, TypeError, ValueError)

_HEADING = re.compile(r"^# (?P<title>.+): \d+ (?P<entries>.+?) x \d+ lookups$", re.MULTILINE)
_FILE = re.compile(r"Save the result as `([\w.-]+)`")
_REFERENCE = re.compile(r"`(reference/[\w.-]+)`")


@dataclass(frozen=True, slots=True)
class LookupBehaviour:
    """The behaviour that the simulated model takes on for the tasks of one family (core/protocols.py: Behaviour)."""

    conduct: Conduct

    @property
    def name(self) -> str:
        """The family's name."""
        return self.conduct.name

    @property
    def terms(self) -> Terms:
        """The family's words, by which skills are read."""
        return self.conduct.terms

    def recognises(self, messages: Sequence[Message], tools: Sequence[Mapping[str, Any]]) -> bool:
        """A task with the family's heading and a workspace to write to."""
        heading = _HEADING.search(first_prompt(messages))
        return "write_file" in tool_names(tools) and heading is not None and heading["title"] == self.conduct.title

    def reply(self, messages: Sequence[Message], tools: Sequence[Mapping[str, Any]], *, seed: int) -> Reply:
        """The next assistant turn."""
        return next_reply(lambda situation: Worker(self.conduct, situation).work(), messages, tools, seed)


@dataclass(frozen=True, slots=True)
class Order:
    """What a prompt asks for: items, file, keys and the example entry."""

    items: tuple[Item, ...]
    entries: str
    file: str
    list_key: str
    id_key: str
    #: The example's summary, for agents that copy it.
    summary: Mapping[str, Any] = field(default_factory=dict)


def read_order(prompt: str) -> Order:
    """Read the prompt that families/texts.py writes, as far as an agent needs it; another one is a ConfigError."""
    heading, file = _HEADING.search(prompt), _FILE.search(prompt)
    table = [_cells(line) for line in prompt.splitlines() if line.startswith("| ")]
    example = next((line for line in prompt.splitlines() if line.startswith('{"')), None)
    if heading is None or file is None or len(table) < 2 or example is None:
        raise ConfigError(
            "the simulated model cannot read this task: it needs the heading, the table, the example and the sentence"
            " 'Save the result as `FILE`' as families/texts.py: task_prompt writes them"
        )
    head, *rows = table
    items = tuple(Item(cells[1], dict(zip(head[2:], cells[2:], strict=False))) for cells in rows)
    shape = json.loads(example)
    list_key = next(iter(shape))
    id_key = next(iter(shape[list_key][0]))
    return Order(items, heading["entries"], file[1], list_key, id_key, shape.get("summary", {}))


def _cells(line: str) -> list[str]:
    return [cell.strip() for cell in line.strip().strip("|").split("|")]


class Worker:
    """One run of one task. `items` are its items, `order` what the prompt asks for."""

    def __init__(self, conduct: Conduct, situation: Situation) -> None:
        self.conduct = conduct
        self.at = situation
        self.order = read_order(situation.prompt)
        self.items = list(self.order.items)
        self._switches = Switches(conduct.switches, situation, conduct.terms)
        self._caller = Caller(situation, self._switches, Call("list_files", {}))

    def lapses(self, practice: Practice) -> str:
        """The kind of lapse of this run, "" if the practice is kept."""
        return self._switches.lapse(practice)

    def offers(self, *tools: str) -> bool:
        """Whether the task has one of these tools."""
        return not self.at.tools.isdisjoint(tools)

    def others(self, item: Item) -> Iterator[Item]:
        """The items but this one."""
        return (other for other in self.items if other is not item)

    def work(self) -> Program:
        """The whole run; returns the closing words."""
        yield from self._prepare()
        if self.lapses(ORDER):
            yield from self._too_early()
        for stage in self.conduct.stages:
            yield from self._stage([lookup for lookup in stage if self._made(lookup)])
        return (yield from self._deliver())

    # -- looking up ------------------------------------------------------------------------------------------------

    def _prepare(self) -> Fetch:
        """Read the reference, or trust the plan that lies in the workspace."""
        reference = _REFERENCE.search(self.at.prompt)
        if reference and not self.lapses(REFERENCE):
            (answer,) = yield from self._caller.fetch([Call("read_file", {"path": reference[1]})])
            self._switches.documented = answer.ok
        if self.lapses(TASK_WINS):
            (answer,) = yield from self._caller.fetch([Call("read_file", {"path": PLAN})])
            strangers = planned(answer, self.order.entries, {item.title for item in self.items})
            first = self.items[0].known
            self.items += [Item(title, {**first, **self.conduct.stranger}) for title in strangers[:1]]
        return []

    def _made(self, lookup: Lookup) -> bool:
        if not self.offers(lookup.tool) or (lookup.unless and self.offers(lookup.unless)):
            return False
        return lookup.practice is None or not self.lapses(lookup.practice)

    def _too_early(self) -> Fetch:
        """Ask for what needs an earlier answer, without it."""
        for stage in self.conduct.stages:
            for lookup in stage:
                if lookup.early is not None and self.offers(lookup.tool):
                    asked = (lookup.early(item, self) for item in self.items)
                    yield from self._caller.fetch([Call(lookup.tool, dict(given)) for given in asked if given])
        return []

    def _stage(self, lookups: Sequence[Lookup]) -> Fetch:
        """Make the lookups of a stage in one turn, equal calls once, and once more with fewer words for the unfound."""
        asked = [
            (lookup, item, Call(lookup.tool, dict(given)))
            for lookup in lookups
            for item in self.items
            if (given := lookup.ask(item, self)) is not None
        ]
        while asked:
            calls = {_key(call): call for _, _, call in asked}
            answers = dict(zip(calls, (yield from self._caller.fetch(list(calls.values()))), strict=True))
            wholes: dict[str, Mapping[str, Any]] = {}
            unfound = []
            for lookup, item, call in asked:
                answer = answers[_key(call)]
                if answer.ok:
                    yield from self._take(lookup, item, call, answer, wholes)
                elif answer.code == "NO_DATA":
                    item.gaps.add(lookup.tool)
                elif answer.code == "NOT_FOUND" and (shorter := _shorter(lookup, item, call)):
                    unfound.append((lookup, item, shorter))
            asked = unfound
        return []

    def _take(
        self, lookup: Lookup, item: Item, call: Call, answer: Answer, wholes: dict[str, Mapping[str, Any]]
    ) -> Fetch:
        """Learn from a successful answer, following its pages where the lookup wants it."""
        if not lookup.rows:
            _learn(lookup.learn, item, answer.data)
        elif not lookup.whole:
            row = yield from find(self._caller, call, answer, lookup.rows, lambda row: lookup.match(item, row, self))
            if row:
                _learn(lookup.learn, item, row)
        else:
            key = _key(call)
            if key not in wholes:
                rows, total = yield from follow(
                    self._caller, call, answer, lookup.rows, to_the_total=not self.lapses(PAGING)
                )
                pages = len(rows) > len(rows_of(answer, lookup.rows))
                wholes[key] = {**answer.data, lookup.rows: rows, "total": total, "pages": pages}
                if lookup.fills is not None and not self.lapses(MERGE):
                    self._fill(lookup, rows)
            _learn(lookup.learn, item, wholes[key])
        return []

    def _fill(self, lookup: Lookup, rows: Sequence[Mapping[str, Any]]) -> None:
        by_id = {row["id"]: row for row in rows if isinstance(row.get("id"), str | int)}
        for item in self.items:
            if lookup.fills is not None and item.get("id") in by_id:
                _learn(lookup.fills, item, by_id[item.get("id")])

    # -- writing ---------------------------------------------------------------------------------------------------

    def _deliver(self) -> Program:
        """Write the file and close the task."""
        ending = self.lapses(FINISH)
        document = self._document()
        if ending == "no file":
            return f"Here is the {self.conduct.title.lower()}: {json.dumps(document, ensure_ascii=False)}"
        if self.lapses(REUSE) and self._caller.made:
            yield self._caller.made[:4]
        entries = document[self.order.list_key]
        if self.lapses(WRITE_ONCE):
            for part in range(1, len(entries)):
                yield [self._write({self.order.list_key: entries[:part]})]
        yield [self._write(document)]
        if not ending:
            yield [Call("claim_done", {"summary": f"{self.order.file} is written."})]
        return f"I have written {self.order.file}."

    def _write(self, document: Mapping[str, Any]) -> Call:
        content = json.dumps(document, ensure_ascii=False, indent=1)
        return Call("write_file", {"path": self.order.file, "content": content})

    def _document(self) -> dict[str, Any]:
        items = [*self.items, *(self.items[:1] if self.lapses(VERIFY) else ())]
        overrides = [override for text in self.at.texts for override in read_overrides(text)]
        entries = [
            apply_overrides(self._entry(item), overrides, [name for name in (item.title, item.get("name")) if name])
            for item in items
        ]
        try:
            summary = dict(self.conduct.summary(self, entries))
        except MALFORMED:
            summary = {}
        return {self.order.list_key: entries, "summary": summary}

    def _entry(self, item: Item) -> dict[str, Any]:
        """One entry; a value that stayed open is left out, or in a lapse invented."""
        entry: dict[str, Any] = {self.order.id_key: self._ident(item)}
        for one in self.conduct.fields:
            if one.tools and not self.offers(*one.tools):
                continue
            if one.include is not None and self.lapses(one.include):
                continue
            try:
                value = one.value(item, self)
            except MALFORMED:
                value = None
            if value is None and self.lapses(HONESTY):
                value = one.invented(self.at.draw("invent", one.name))
            if value is not None:
                entry[one.name] = value
        return entry

    def _ident(self, item: Item) -> Any:
        if self.conduct.ident is not None:
            return self.conduct.ident(item, self)
        return item.get("name") if self.lapses(TITLES) and item.get("name") else item.title


def _learn(learn: Learn, item: Item, data: Mapping[str, Any]) -> None:
    """Learn what an answer tells; nothing from one that is malformed."""
    try:
        learn(item, data)
    except MALFORMED:
        return


def _key(call: Call) -> str:
    return f"{call.tool} {canonical_json(call.arguments)}"


def _shorter(lookup: Lookup, item: Item, call: Call) -> Call | None:
    """The call with the title less its first word; None if it has been tried or cannot be."""
    text = str(call.arguments.get(lookup.shorten, ""))
    if not lookup.shorten or text != item.title or " " not in text:
        return None
    return Call(call.tool, {**call.arguments, lookup.shorten: text.partition(" ")[2]})

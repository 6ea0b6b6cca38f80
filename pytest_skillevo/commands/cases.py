"""`skillevo cases`: the cases that experiments used, and retiring opened holdout cases into validation."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any, Final

from ..core.errors import ConfigError
from ..core.suggest import did_you_mean
from ..report import figures
from ..report.text import clip_start, one_line, visible, wrap
from ..stages.packing import CASES
from ..store.committed import RETIRED_FILE, Retirement, add_retirements, read_retirements
from . import session_cases
from .context import Context
from .decisions import add_actor
from .screen import table

if TYPE_CHECKING:
    from ..store import Store

#: Columns of the marks with the gaps between columns, and of a skill's name.
_FIGURES: Final = 39
_SKILL: Final = 20


@dataclass(frozen=True, slots=True)
class KnownCase:
    """A case as the newest experiment of its skill knew it. `opened` counts experiments and viewings."""

    case: str
    skill: str
    split: str
    critical: bool
    key: str
    opened: int
    retired: bool

    @property
    def retirable(self) -> bool:
        """Whether it is a used-up holdout case that may go."""
        return self.split == "holdout" and self.opened > 0 and not self.retired and not self.critical


def add_parser(groups: Any, shared: Any) -> None:
    """Add the group with all its commands."""
    group = groups.add_parser("cases", help="list cases, retire opened holdout cases, make feedback cases of sessions")
    commands = group.add_subparsers(title="commands", metavar="COMMAND", required=True)
    about = "list the cases of the newest experiments: split, openings, retired or not"
    parser = commands.add_parser("list", parents=[shared], help=about, description=about)
    parser.set_defaults(run=list_cases)
    parser.add_argument("--skill", metavar="NAME", help="only this skill")
    session_cases.add_command(commands, shared)
    about = f"let opened holdout cases count as validation from now on: a line each in {RETIRED_FILE}, to be committed"
    parser = commands.add_parser("retire", parents=[shared], help=about, description=about)
    parser.set_defaults(run=retire)
    parser.add_argument(
        "cases", nargs="*", metavar="CASE", help="ids as listed, or a part of one (default: all opened)"
    )
    parser.add_argument("--skill", metavar="NAME", help="only this skill")
    parser.add_argument("--reason", default="", metavar="TEXT", help="why, for the record")
    parser.add_argument("--dry-run", action="store_true", help="say what would be retired, write nothing")
    add_actor(parser)


def list_cases(context: Context) -> None:
    """`skillevo cases list`"""
    known = _known(context)
    if context.arguments.json:
        context.screen.json([asdict(one) for one in known])
        return
    if not known:
        context.screen.line("no cases; pytest --evolve records those of its experiments")
        return
    several = len({one.skill for one in known}) > 1
    room = max(context.screen.width - _FIGURES - several * (_SKILL + 2), 20)
    rows = [
        (
            clip_start(visible(one.case), room),
            *([one_line(one.skill, _SKILL)] if several else ()),
            one.split,
            "yes" if one.critical else "",
            f"{one.opened}x" if one.opened else "",
            "retired" if one.retired else "",
        )
        for one in known
    ]
    context.screen.lines(table([("case", *(["skill"] if several else ()), "split", "critical", "opened", ""), *rows]))


def retire(context: Context) -> None:
    """`skillevo cases retire [CASE ...]`"""
    from ..store.experiments import stamp

    arguments = context.arguments
    known = _known(context)
    wanted = _chosen(known, arguments.cases) if arguments.cases else known
    chosen = [one for one in wanted if one.retirable]
    kept = [one for one in known if one.critical and one.opened and not one.retired]
    lines = [
        Retirement(stamp(context.clock), one.skill, one.case, one.key, context.actor, arguments.reason)
        for one in chosen
    ]
    if chosen and not arguments.dry_run:
        with context.committing():
            add_retirements(context.project.root / RETIRED_FILE, lines)
    if arguments.json:
        context.screen.json({"retired": [asdict(one) for one in lines], "written": not arguments.dry_run})
        return
    for one in chosen:
        context.screen.line(f"  {clip_start(visible(one.case), context.screen.width - 2)}")
    for text in _sentences(known, chosen, kept, arguments.dry_run):
        context.screen.lines(wrap(visible(text), context.screen.width))


def _sentences(
    known: Sequence[KnownCase], chosen: Sequence[KnownCase], kept: Sequence[KnownCase], dry: bool
) -> Iterable[str]:
    if not chosen:
        yield "no opened holdout case is left to retire"
    else:
        does = "would count" if dry else "counts" if len(chosen) == 1 else "count"
        end = "" if dry else f"; commit {RETIRED_FILE}"
        yield f"{figures.some(len(chosen), 'holdout case')} {does} as validation from now on{end}"
    if kept:
        stay = "stays" if len(kept) == 1 else "stay"
        yield (
            f"{figures.some(len(kept), 'critical case')} {stay} in the holdout, where alone a case can veto; "
            "to retire one, mark a fresh case critical and take the mark off"
        )
    gone = {(one.skill, one.key) for one in chosen}
    for skill in sorted({one.skill for one in chosen}):
        rest = [one for one in known if one.skill == skill and one.split == "holdout" and not one.retired]
        fresh = sum(1 for one in rest if (one.skill, one.key) not in gone and not one.opened)
        if not fresh:
            yield f"{skill} has no unopened holdout case left: add fresh ones, or nothing can be accepted"


def _chosen(known: Sequence[KnownCase], wanted: Sequence[str]) -> list[KnownCase]:
    """The cases that these words mean. Raises ConfigError for one that means none or none that can be retired."""
    chosen = []
    for word in wanted:
        found = [one for one in known if one.case == word] or [one for one in known if word in one.case]
        if not found:
            hint = did_you_mean(word, [one.case for one in known]) or "`skillevo cases list` shows all."
            raise ConfigError(f"no case is called {word!r}. {hint}")
        if not any(one.retirable for one in found):
            raise ConfigError(f"{found[0].case} cannot be retired: it {_why_not(found[0])}")
        chosen += [one for one in found if one not in chosen]
    return chosen


def _why_not(one: KnownCase) -> str:
    if one.retired:
        return "is retired already"
    if one.split != "holdout":
        return f"is a {one.split} case"
    if not one.opened:
        return "was never opened, so it is still good for a decision"
    return "is critical, and only a holdout case can veto; mark a fresh case critical and take the mark off this one"


def _known(context: Context) -> list[KnownCase]:
    with context.store() as store:
        return sorted(_read(context, store), key=lambda one: (one.skill, one.case))


def _read(context: Context, store: Store) -> Iterable[KnownCase]:
    retired = {(one.skill, one.fingerprint) for one in read_retirements(context.project.root / RETIRED_FILE)}
    seen: set[str] = set()
    for experiment in store.experiments(context.arguments.skill):
        cases = next((entry.payload for entry in store.entries(experiment.id) if entry.kind == CASES), None)
        if cases is None or experiment.skill in seen:
            continue
        seen.add(experiment.skill)
        opened: dict[str, set[tuple[str, str]]] = {}
        for record in store.opening_records():
            opened.setdefault(record.fingerprint, set()).add((record.experiment, record.why))
        for case, about in cases.items():
            key = about["key"]
            gone = (experiment.skill, key) in retired
            split = "validation" if gone else about["split"]
            times = len(opened.get(key, ()))
            yield KnownCase(case, experiment.skill, split, about["critical"], key, times, gone)

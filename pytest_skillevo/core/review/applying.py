"""A decision becomes changed skills, one by one: each change fits the skill that was shown, or it is told why not.

Changes of skills that the agent used come first, then other changes, new skills, deletions (spec/hermes.md H5). What
the Reviewer was not shown in full and in the present version it may not change (H7), nor what is protected (H8).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from ..errors import SkillError
from ..revisions import Action
from ..skill import Skill, SkillSpec
from ..skill.spec import bullet_list, numbered_list
from .decision import ReviewDecision, SkillUpdate
from .names import normalize
from .protection import Protection, refusal


@dataclass(frozen=True, slots=True)
class Shelf:
    """The skills as they are now, with what the Reviewer saw of them."""

    skills: Sequence[Skill]
    #: Name -> digest of the version that was shown in full.
    shown: Mapping[str, str]
    #: Names of the skills that the agent used.
    used: Sequence[str] = ()
    #: Name -> class; a name that is missing is managed.
    protection: Mapping[str, Protection] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Change:
    """One skill before and after; `before` is absent for a new one, `after` for a deleted one."""

    action: Action
    #: The name as the Reviewer wrote it.
    name: str
    before: Skill
    after: Skill
    reason: str


@dataclass(frozen=True, slots=True)
class Refused:
    """An entry of the decision that changes nothing, and why."""

    name: str
    reason: str


def changes(decision: ReviewDecision, shelf: Shelf) -> tuple[tuple[Change, ...], tuple[Refused, ...]]:
    """What the decision does to the skills. One entry that does not fit keeps no other back."""
    named = {skill.name: skill for skill in shelf.skills if skill.exists}
    done: list[Change] = []
    refused: list[Refused] = []

    def attempt(name: str, make: Callable[[], Change | None]) -> None:
        try:
            change = make()
        except SkillError as error:
            refused.append(Refused(name, str(error)))
            return
        if change is None:
            refused.append(Refused(name, "it says so already: nothing changes"))
        else:
            done.append(change)

    used = set(shelf.used)
    for update in sorted(decision.updates, key=lambda one: one.name not in used):
        attempt(update.name, lambda update=update: _updated(update, named, shelf))  # type: ignore[misc]
    for spec in decision.skills:
        attempt(spec.name, lambda spec=spec: _created(spec, named))  # type: ignore[misc]
    for name in decision.deletions:
        attempt(name, lambda name=name: _deleted(name, named, shelf))  # type: ignore[misc]
    return tuple(done), tuple(refused)


def _updated(update: SkillUpdate, named: Mapping[str, Skill], shelf: Shelf) -> Change | None:
    before = _writable(update.name, "update", named, shelf)
    after = revised(before, update)
    if after.digest == before.digest:
        return None
    return Change(Action.UPDATE, before.name, before, after, update.reason)


def _deleted(name: str, named: Mapping[str, Skill], shelf: Shelf) -> Change:
    before = _writable(name, "delete", named, shelf)
    return Change(Action.DELETE, before.name, before, Skill.absent(before.name), "the Reviewer wants it gone")


def _created(spec: SkillSpec, named: Mapping[str, Skill]) -> Change:
    after = Skill.create(spec)
    if after.name in named:
        raise SkillError(f"the Reviewer wants to create {spec.name!r}, which exists already")
    return Change(Action.CREATE, spec.name, Skill.absent(after.name), after, "")


def _writable(name: str, verb: str, named: Mapping[str, Skill], shelf: Shelf) -> Skill:
    """The skill of that name, if it may be changed on the ground of what the Reviewer saw."""
    skill = named.get(name)
    if skill is None:
        raise SkillError(f"the Reviewer wants to {verb} {name!r}, which it was not shown")
    protection = shelf.protection.get(name, Protection.MANAGED)
    why = refusal(protection, "delete" if verb == "delete" else "update", "reviewer")
    if why:
        raise SkillError(f"{name!r} is read-only for the Reviewer: {why}")
    seen = shelf.shown.get(name)
    if seen is None:
        raise SkillError(f"the Reviewer wants to {verb} {name!r}, of which it was shown a summary only")
    if seen != skill.digest:
        raise SkillError(f"{name!r} has changed since the Reviewer read it")
    return skill


def revised(skill: Skill, update: SkillUpdate) -> Skill:
    """The skill after an update. Raises SkillError for a part that it cannot hold."""
    if update.component:
        return skill.with_component(update.component, update.text)
    if update.new_spec is not None:
        return _replaced(skill, update.new_spec)
    skill = _extended(skill, "steps", update.add_steps)
    skill = _extended(skill, "pitfalls", update.add_pitfalls)
    if not update.add_files:
        return skill
    files = {**skill.files, **{path: text.encode("utf-8") for path, text in update.add_files.items()}}
    return Skill.from_bytes(skill.name, skill.document, files)


def _replaced(skill: Skill, spec: SkillSpec) -> Skill:
    """Every part of a structured skill replaced; pitfalls that are there stay, and what the spec adds comes after."""
    if skill.spec is None:
        raise SkillError(f"{skill.name!r} is free-form: change one component, or add steps and pitfalls")
    pitfalls = _missing(spec.pitfalls, skill.spec.pitfalls)
    for name, text in (
        ("description", spec.description),
        ("when_to_use", spec.when_to_use),
        ("steps", numbered_list(spec.steps)),
    ):
        skill = skill.with_component(name, text)
    return _extended(skill, "pitfalls", pitfalls)


def _extended(skill: Skill, component: str, items: Sequence[str]) -> Skill:
    """The component with more items at the end of its list, those it holds already left out."""
    spec = skill.spec
    if not items:
        return skill
    if spec is None:
        raise SkillError(f"{skill.name!r} is free-form: it has no {component} to add to; change one component")
    present = spec.steps if component == "steps" else spec.pitfalls
    more = _missing(items, present)
    if not more:
        return skill
    text = skill.components[component]
    if component == "steps":
        # A list in our own form is written anew; below any other one the numbers go on.
        own = not text or text == numbered_list(present)
        added = numbered_list([*present, *more]) if own else f"{text}\n{_numbered_from(len(present), more)}"
    else:
        added = f"{text}\n{bullet_list(more)}" if text else bullet_list(more)
    return skill.with_component(component, added)


def _numbered_from(count: int, items: Sequence[str]) -> str:
    """The items as a numbered list that goes on after `count`."""
    return "\n".join(numbered_list([*[""] * count, *items]).split("\n")[count:])


def _missing(items: Sequence[str], present: Sequence[str]) -> tuple[str, ...]:
    known = {normalize(item) for item in present}
    return tuple(item for item in dict.fromkeys(items) if normalize(item) not in known)

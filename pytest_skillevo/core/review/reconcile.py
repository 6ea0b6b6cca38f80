"""New skills against what exists: near-copies become changes of the skill that is there. Pure and deterministic.

Order: copies within the batch, then longer names of existing skills, counted siblings, names that share most words, and
last the counts in what is still new. A name alone never overwrites a body that is known to be about something else,
opposites never meet, losers leave their pitfalls behind, and every step is told (spec/online-review.md 7, 10).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final, TypeAlias

from ..skill import SkillSpec
from .decision import ReviewDecision, SkillUpdate
from .names import NAME_OVERLAP, are_alike, are_opposite, is_variant, normalize, overlap, significant_words
from .quantities import family_key, generalised, is_generic

DUPLICATE: Final = "drop_intra_batch_duplicate"
CONFLICT: Final = "drop_conflicts_with_existing_update"
SUPERSET: Final = "rewrite_to_update"
SIBLING: Final = "rewrite_quantified_sibling_to_update"
OVERLAP: Final = "rewrite_word_overlap_to_update"
GENERALISED: Final = "generalise_count"
KEPT_OPPOSITE: Final = "keep_opposite"
KEPT_UNLIKE: Final = "keep_unlike_body"
UNKNOWN: Final = "drop_unknown_target"
RENAMED: Final = "repair_spelling"


@dataclass(frozen=True, slots=True)
class Known:
    """An existing skill: its name, its body as far as it is known, and its title where that says more."""

    name: str
    body: str = ""
    title: str = ""

    @property
    def key(self) -> str:
        """The normalised name."""
        return normalize(self.name)

    @property
    def keys(self) -> tuple[str, ...]:
        """Everything that it goes by, normalised."""
        return tuple(dict.fromkeys(key for key in (normalize(self.title), self.key) if key))


@dataclass(frozen=True, slots=True)
class ReconcileEvent:
    """One drop, rewrite or deliberate keep: what, of which entry, towards which skill, and why."""

    kind: str
    original: str
    target: str
    reason: str

    def to_json(self) -> dict[str, str]:
        """A JSON object with all fields."""
        return {"kind": self.kind, "original": self.original, "target": self.target, "reason": self.reason}


_Found: TypeAlias = tuple[Known, str] | None


def reconcile(decision: ReviewDecision, existing: Sequence[Known]) -> tuple[ReviewDecision, tuple[ReconcileEvent, ...]]:
    """The decision with near-copies rewritten or dropped, and one event for everything that was done."""
    work = _Work(decision, [known for known in existing if known.key])
    work.spell_targets()
    work.drop_copies()
    work.rewrite(SUPERSET, work.parent_of)
    work.rewrite(SIBLING, work.sibling_of)
    work.rewrite(OVERLAP, work.overlapping)
    work.generalise()
    return work.decision, tuple(work.events)


class _Work:
    def __init__(self, decision: ReviewDecision, existing: Sequence[Known]) -> None:
        self.creates = list(decision.skills)
        self.updates = list(decision.updates)
        self._decision = decision
        self._deletions = list(decision.deletions)
        #: Of two names that are equal once normalised, the later spelling counts.
        self._by_key: Mapping[str, Known] = {key: known for known in existing for key in known.keys}
        self._existing = existing
        self._parents = sorted(self._by_key.items(), key=lambda pair: -len(pair[0]))
        self._deleted = {self._key_of(name) for name in decision.deletions}
        self.events: list[ReconcileEvent] = []

    @property
    def decision(self) -> ReviewDecision:
        return replace(
            self._decision,
            skills=tuple(self.creates),
            updates=tuple(self.updates),
            deletions=tuple(self._deletions),
        )

    def spell_targets(self) -> None:
        """Give updates and deletions the spelling of the skill they mean; unknown targets go, and it is told."""
        if not self._existing and not self.updates:
            return
        kept = []
        for update in self.updates:
            known = self._by_key.get(normalize(update.name))
            if known is None:
                self._tell(UNKNOWN, update.name, "", f"there is no skill {update.name!r} to update")
                continue
            if known.name != update.name:
                self._tell(RENAMED, update.name, known.name, f"the skill is spelled {known.name!r}")
                spec = None if update.new_spec is None else replace(update.new_spec, name=known.name)
                update = replace(update, name=known.name, new_spec=spec)
            kept.append(update)
        self.updates = kept
        self._deletions = [self._spelled(name) for name in self._deletions]

    def _key_of(self, name: str) -> str:
        known = self._by_key.get(normalize(name))
        return normalize(name) if known is None else known.key

    def _spelled(self, name: str) -> str:
        known = self._by_key.get(normalize(name))
        return name if known is None else known.name

    def drop_copies(self) -> None:
        """Of equal names and of equal shapes the first stays."""
        kept: list[SkillSpec] = []
        names: dict[str, int] = {}
        shapes: dict[tuple[str, ...], int] = {}
        for spec in self.creates:
            name, shape = normalize(spec.name), _shape(spec)
            first = names.get(name) if name else None
            first = shapes.get(shape) if first is None and shape else first
            if first is not None:
                self._tell(DUPLICATE, spec.name, "", f"the batch has {kept[first].name!r} already{_left(spec)}")
                kept[first] = _with_pitfalls(kept[first], spec.pitfalls)
                continue
            names[name] = len(kept)
            if shape:
                shapes[shape] = len(kept)
            kept.append(spec)
        self.creates = kept

    def rewrite(self, kind: str, target_of: Callable[[SkillSpec], _Found]) -> None:
        """Turn creates into updates of the skill that the stage finds for them."""
        claimed = {normalize(update.name) for update in self.updates}
        rewritten: set[str] = set()
        kept: list[SkillSpec] = []
        for spec in self.creates:
            found = target_of(spec)
            if found is None or found[0].key in self._deleted:
                kept.append(spec)
                continue
            target, why = found
            if target.key in rewritten or target.key in claimed:
                drop = DUPLICATE if target.key in rewritten else CONFLICT
                self._tell(drop, spec.name, target.name, f"{target.name!r} is changed already{_left(spec)}")
                self._leave_pitfalls(target, spec)
                continue
            self._tell(kind, spec.name, target.name, why)
            self.updates.append(self._update(target, spec, why))
            rewritten.add(target.key)
        self.creates = kept

    def _update(self, target: Known, spec: SkillSpec, why: str) -> SkillUpdate:
        reason = f"proposed as {spec.name!r}: {why}"
        if are_alike(target.body, _body(spec)) is False:
            # Only an equal name gets here: the body stays, what was learned to avoid is added.
            return SkillUpdate(target.name, reason, add_pitfalls=spec.pitfalls or (spec.steps[:1]))
        return SkillUpdate(target.name, reason, new_spec=replace(spec, name=target.name))

    def _leave_pitfalls(self, target: Known, spec: SkillSpec) -> None:
        for place, update in enumerate(self.updates):
            if normalize(update.name) != target.key or not spec.pitfalls:
                continue
            if update.new_spec is not None:
                update = replace(update, new_spec=_with_pitfalls(update.new_spec, spec.pitfalls))
            elif not update.component:
                update = replace(update, add_pitfalls=_joined(update.add_pitfalls, spec.pitfalls))
            self.updates[place] = update

    def parent_of(self, spec: SkillSpec) -> _Found:
        """The existing skill whose name this one is, or begins with as a variant; the longest such name."""
        name = normalize(spec.name)
        for key, known in self._parents:
            if name == key:
                return known, "the name is that of an existing skill"
            if name.startswith(key) and is_variant(name[len(key) :]):
                return self._checked(spec, known, "the name is a variant of an existing skill's")
        return None

    def sibling_of(self, spec: SkillSpec) -> _Found:
        """The existing skill of the same family that stands for any number."""
        name = normalize(spec.name)
        family = family_key(name)
        if family == name:
            return None
        for key, known in self._parents:
            if key != name and family_key(key) == family and is_generic(key):
                return self._checked(spec, known, "it differs from an existing skill in a count only")
        return None

    def overlapping(self, spec: SkillSpec) -> _Found:
        """The existing skill with most words in common, from half of them on."""
        name, words = normalize(spec.name), significant_words(spec.name)
        best: Known | None = None
        score = 0.0
        for known in self._existing:
            prefix = any(name.startswith(key) or key.startswith(name) for key in known.keys)
            if prefix or self._by_key[known.key] is not known:
                continue
            share = max(overlap(words, significant_words(key)) for key in known.keys)
            if share > score:
                best, score = known, share
        if best is None or score < NAME_OVERLAP:
            return None
        return self._checked(spec, best, f"{score:.0%} of the words of the two names are the same")

    def _checked(self, spec: SkillSpec, known: Known, why: str) -> _Found:
        """The find, unless the two undo each other or their bodies are about different work."""
        if known.key in self._deleted:
            return known, why
        if any(are_opposite(spec.name, key) for key in known.keys):
            self._tell(KEPT_OPPOSITE, spec.name, known.name, "the two names say opposite things")
            return None
        if are_alike(known.body, _body(spec)) is False:
            self._tell(KEPT_UNLIKE, spec.name, known.name, f"{why}, but the bodies have too little in common")
            return None
        return known, why

    def generalise(self) -> None:
        """Counted names that are still new become names for any number; siblings in the batch become one."""
        kept: list[SkillSpec] = []
        places: dict[str, int] = {}
        for spec in self.creates:
            name = generalised(spec.name)
            if name != spec.name and normalize(name) not in self._by_key:
                if normalize(name) in places:
                    first = kept[places[normalize(name)]]
                    self._tell(DUPLICATE, spec.name, "", f"{first.name!r} covers every count{_left(spec)}")
                    kept[places[normalize(name)]] = _with_pitfalls(first, spec.pitfalls)
                    continue
                self._tell(GENERALISED, spec.name, name, "a count in a name belongs into the task, not the skill")
                spec = replace(spec, name=name)
            places.setdefault(normalize(spec.name), len(kept))
            kept.append(spec)
        self.creates = kept

    def _tell(self, kind: str, original: str, target: str, reason: str) -> None:
        self.events.append(ReconcileEvent(kind, original, target, reason))


def _shape(spec: SkillSpec) -> tuple[str, ...]:
    when = spec.when_to_use.strip().lower()
    return (when, *(step.strip().lower() for step in spec.steps)) if when and spec.steps else ()


def _body(spec: SkillSpec) -> str:
    return "\n".join(spec.steps)


def _with_pitfalls(spec: SkillSpec, more: Sequence[str]) -> SkillSpec:
    return replace(spec, pitfalls=_joined(spec.pitfalls, more))


def _joined(one: Sequence[str], other: Sequence[str]) -> tuple[str, ...]:
    """Both lists, each text once."""
    known = {normalize(text) for text in one}
    return (*one, *(text for text in other if normalize(text) not in known))


def _left(spec: SkillSpec) -> str:
    count = len(spec.pitfalls)
    return f"; its {count} pitfall{'s' * (count != 1)} stay{'s' * (count == 1)}" if count else ""

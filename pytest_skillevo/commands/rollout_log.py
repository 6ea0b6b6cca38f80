"""The rollouts of an experiment as its journal tells them, and the one that an id means.

The id of a rollout is EXPERIMENT/KEY, KEY being the id of the request: ex-7aae4355/confirm/holdout0039/after/r1.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from ..core.errors import StoreError
from ..core.suggest import did_you_mean
from ..report.text import visible
from ..stages.packing import CASES, unpacked
from .experiments import find_experiment

if TYPE_CHECKING:
    from ..core.records import Outcome
    from ..store import Experiment, Store

#: First parts of keys; an id that begins so is one of the newest experiment.
STAGES: Final = ("search", "confirm", "rerun", "replay", "transfer")
#: Ids that a complaint about an ambiguous one lists.
_SHOWN: Final = 5


@dataclass(frozen=True, slots=True)
class Logged:
    """One rollout. `split` and `fingerprint` are those of its case."""

    experiment: Experiment
    key: str
    case: str
    split: str
    fingerprint: str
    payload: Mapping[str, Any]

    @property
    def id(self) -> str:
        """The id that finds it again."""
        return f"{self.experiment.id}/{self.key}"

    @property
    def stage(self) -> str:
        """The first part of the key."""
        return self.key.split("/", 1)[0]

    @property
    def outcome(self) -> Outcome:
        """How it ended, without its trace."""
        return unpacked(self.payload["outcome"])


def read_rollouts(store: Store, experiment: Experiment) -> list[Logged]:
    """All rollouts in the order of their answers. Raises StoreError for an experiment whose cases are not recorded."""
    cases: Mapping[str, Any] = {}
    found = []
    for entry in store.entries(experiment.id):
        if entry.kind == CASES:
            cases = entry.payload
        elif entry.kind == "rollout":
            about = cases.get(entry.payload.get("case"))
            if about is None:
                raise StoreError(
                    f"experiment {experiment.id} was made by an older version that did not record its cases; "
                    "its rollouts cannot be shown"
                )
            case = entry.payload["case"]
            found.append(Logged(experiment, entry.key, case, about["split"], about["key"], entry.payload))
    return found


def find_rollout(store: Store, wanted: str) -> Logged:
    """The rollout with this id, an unambiguous beginning of one, or a key of the newest experiment.

    Raises StoreError that names the nearest ids.
    """
    name, _, key = wanted.partition("/")
    if name in STAGES:
        name, key = "last", wanted
    experiment = find_experiment(store, name)
    known = {one.key: one for one in read_rollouts(store, experiment)}
    if key in known:
        return known[key]
    near = [one for one in known if one.startswith(key)] if key else []
    if len(near) == 1:
        return known[near[0]]
    listing = f"`skillevo rollouts list {experiment.id}` shows all {len(known)}"
    if not key:
        raise StoreError(f"{visible(wanted)!r} is an experiment, not one of its rollouts; {listing}")
    if near:
        some = ", ".join(near[:_SHOWN]) + (", ..." if len(near) > _SHOWN else "")
        raise StoreError(f"{len(near)} rollouts of experiment {experiment.id} begin with {visible(key)!r}: {some}")
    hint = did_you_mean(key, known) or "There is none like it."
    raise StoreError(f"there is no rollout {visible(key)!r} in experiment {experiment.id}. {hint} {listing}")

"""The choices of a search that can be made differently, in one place, and the names of the built-in ones."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from ..errors import ConfigError
from ..suggest import did_you_mean
from .acceptance import Acceptance, at_least_as_good, strictly_better
from .components import ComponentSelector, all_components, blamed_component, round_robin
from .sampling import BatchSampler, epoch_batch, hardest_batch, independent_batch
from .selection import ParentSelector, best_parent, pareto_parent, reference_parent, top_parent
from .validation import Bound, Full, Racing, ValidationPolicy


@dataclass(frozen=True, slots=True)
class Strategy:
    """The policies of one search."""

    select_parent: ParentSelector = pareto_parent
    sample: BatchSampler = epoch_batch
    select_component: ComponentSelector = round_robin
    accept: Acceptance = strictly_better
    validate: ValidationPolicy = field(default_factory=Full)


#: Kind of policy -> name -> the policy. The first name of each kind is the default.
POLICIES: Final[Mapping[str, Mapping[str, Any]]] = {
    "parent": {
        "pareto": pareto_parent,
        "top-k": top_parent,
        "current-best": best_parent,
        "reference": reference_parent,
    },
    "sampler": {"epoch": epoch_batch, "independent": independent_batch, "hardest": hardest_batch},
    "component": {"round-robin": round_robin, "all": all_components, "blamed": blamed_component},
    "acceptance": {"strict": strictly_better, "or-equal": at_least_as_good},
    "validation": {"full": Full(), "racing": Racing(), "bound": Bound()},
}
_FIELDS: Final = {
    "parent": "select_parent",
    "sampler": "sample",
    "component": "select_component",
    "acceptance": "accept",
    "validation": "validate",
}


def named_strategy(names: Mapping[str, str], offered: Callable[[str, str], Any] = lambda kind, name: None) -> Strategy:
    """The strategy of these names by kind; what is not named is the default.

    `offered(kind, name)` is asked for names that are not built in. Raises ConfigError for a name that nobody knows.
    """
    chosen = {}
    for kind, name in names.items():
        policy = POLICIES[kind].get(name)
        policy = offered(kind, name) if policy is None else policy
        if policy is None:
            hint = did_you_mean(name, POLICIES[kind]) or f"Built in are {', '.join(POLICIES[kind])}."
            raise ConfigError(f"nobody offers a {kind} policy '{name}'. {hint}")
        chosen[_FIELDS[kind]] = policy
    return Strategy(**chosen)

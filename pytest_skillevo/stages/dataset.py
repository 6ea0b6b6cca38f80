"""The cases of one experiment: by split, with a fingerprint, and what a partial selection means."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Any

from ..core.canonical import digest_json
from ..core.errors import ConfigError
from ..core.leaks import Seal
from ..core.records import SPLITS, Case, Split
from ..core.skill import Skill


@dataclass(frozen=True, slots=True)
class Dataset:
    """The cases of one skill. `partial` says why the selection is not the whole dataset; None when it is.

    `unrelated` counts collected tests without a skill marker: they are no part of the experiment.
    """

    skill: str
    cases: tuple[Case, ...]
    partial: str | None = None
    unrelated: int = 0
    by_id: dict[str, Case] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "by_id", {case.id: case for case in self.cases})

    def ids(self, split: Split) -> tuple[str, ...]:
        """Case ids of one split in collection order."""
        return tuple(case.id for case in self.cases if case.split == split)

    @property
    def critical(self) -> tuple[str, ...]:
        """Ids of the critical cases."""
        return tuple(case.id for case in self.cases if case.critical)

    @property
    def fingerprint(self) -> str:
        """Digest of ids, splits, critical marks and contents."""
        return digest_json(sorted([case.id, case.split, case.critical, case.content] for case in self.cases))

    @property
    def ledger_keys(self) -> list[str]:
        """Keys of the holdout cases in the exposure ledger."""
        return [case.ledger_key for case in self.cases if case.split == "holdout"]

    def listed(self, redact: Callable[[str], str]) -> dict[str, Any]:
        """Split and ledger key by case: whoever shows a rollout must know whether that opens the holdout."""
        return {
            redact(case.id): {"split": case.split, "key": case.ledger_key, "critical": case.critical}
            for case in self.cases
        }

    def require(self, splits: Iterable[Split]) -> None:
        """Raise ConfigError when a split that a stage needs has no case."""
        missing = [split for split in splits if not self.ids(split)]
        if not missing:
            return
        counts = ", ".join(f"{len(self.ids(split))} {split}" for split in SPLITS)
        why = f" The selection is partial: {self.partial}." if self.partial else ""
        raise ConfigError(
            f"skill {self.skill!r} has no {' and no '.join(missing)} case ({counts}).{why} "
            f"Mark some with @pytest.mark.split({missing[0]!r}), "
            f"or add cases: those without a mark are split for you."
        )


def holdout_seal(dataset: Dataset, seed: Skill) -> Seal:
    """What only the holdout cases say: their texts without those that open cases or the seed skill have as well."""
    open_texts = [text for case in dataset.cases if case.split != "holdout" for text in case.watched]
    sealed = [text for case in dataset.cases if case.split == "holdout" for text in case.watched]
    return Seal(sealed, [*open_texts, seed.text])

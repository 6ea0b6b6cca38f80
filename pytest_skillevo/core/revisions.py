"""Revisions of a skill, and the closed set of states that one passes through (spec/online-revisions.md 1, 9)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, Final

from .errors import StoreError


class Status(StrEnum):
    """Where a revision stands. The set is closed: nothing else is ever stored."""

    PENDING = "pending"
    PENDING_EVAL = "pending_eval"
    PENDING_APPROVAL = "pending_approval"
    ACTIVE = "active"
    ARCHIVED = "archived"
    REJECTED = "rejected"
    EXPIRED = "expired"
    PUBLISH_FAILED = "publish_failed"

    @property
    def words(self) -> str:
        """The status as people read it, such as "pending approval"."""
        return self.value.replace("_", " ")


class Action(StrEnum):
    """What publishing a revision does to the skill folder."""

    CREATE = "create"
    UPDATE = "update"
    DELETE = "delete"


class Deed(StrEnum):
    """What was done to a revision, for the audit trail."""

    SUBMIT = "submit"
    HOLD = "hold"
    REEVALUATE = "reevaluate"
    APPROVE = "approve"
    PROMOTE = "promote"
    REJECT = "reject"
    EXPIRE = "expire"
    ARCHIVE = "archive"
    ROLLBACK = "rollback"
    ADOPT = "adopt"
    RESTORE = "restore"
    #: Refused because the skill is no longer what the revision was judged against.
    STALE = "stale"
    FAIL = "fail"
    #: Put right what an interrupted publication left.
    REPAIR = "repair"


#: What may follow each status. Rejected and expired are final; a parked candidate always has a way out, and a failed
#: publication can be tried again (the reference has dead ends here, spec/online-revisions.md 19 #4 and #5).
LEGAL: Final[Mapping[Status, tuple[Status, ...]]] = {
    Status.PENDING: (
        Status.PENDING_EVAL,
        Status.PENDING_APPROVAL,
        Status.ACTIVE,
        Status.REJECTED,
        Status.EXPIRED,
        Status.PUBLISH_FAILED,
    ),
    Status.PENDING_EVAL: (Status.PENDING, Status.PENDING_APPROVAL, Status.REJECTED, Status.EXPIRED),
    Status.PENDING_APPROVAL: (
        Status.ACTIVE,
        Status.PENDING_EVAL,
        Status.REJECTED,
        Status.EXPIRED,
        Status.PUBLISH_FAILED,
    ),
    Status.ACTIVE: (Status.ARCHIVED,),
    Status.ARCHIVED: (Status.ACTIVE,),
    Status.REJECTED: (),
    Status.EXPIRED: (),
    Status.PUBLISH_FAILED: (
        Status.ACTIVE,
        Status.PENDING_EVAL,
        Status.PENDING_APPROVAL,
        Status.REJECTED,
        Status.EXPIRED,
    ),
}

#: The statuses in which a candidate may enter the store; `active` and `archived` are reached by publication only.
ENTRY: Final = (Status.PENDING, Status.PENDING_EVAL, Status.PENDING_APPROVAL, Status.REJECTED)

#: The statuses in which a person may approve.
APPROVABLE: Final = (Status.PENDING_APPROVAL, Status.PUBLISH_FAILED)

#: The statuses in which a candidate may be judged again.
JUDGEABLE: Final = (Status.PENDING, Status.PENDING_EVAL, Status.PENDING_APPROVAL)

#: The statuses that time may end.
EXPIRABLE: Final = (Status.PENDING, Status.PENDING_EVAL, Status.PENDING_APPROVAL, Status.PUBLISH_FAILED)

_WAY_OUT: Final[Mapping[Status, str]] = {
    Status.PENDING: "it is still being judged",
    Status.PENDING_EVAL: "it waits for better evidence",
    Status.PENDING_APPROVAL: "it waits for approval",
    Status.ACTIVE: "it is what agents use now",
    Status.ARCHIVED: "only a rollback brings it back",
    Status.REJECTED: "that is final",
    Status.EXPIRED: "that is final",
    Status.PUBLISH_FAILED: "its files could not be written",
}


def check_transition(revision_id: str, current: Status, target: Status) -> None:
    """Return if a revision may go from one status to the other. Raises StoreError naming both and the reason."""
    if target not in LEGAL[current]:
        raise StoreError(
            f"{revision_id} is {current.words} ({_WAY_OUT[current]}); it cannot become {target.words} from there."
        )


@dataclass(frozen=True, slots=True)
class Revision:
    """One version of a skill, immutable but for its status. The content is held by digest, see Store.skill_of."""

    #: "rv-" and hex digits.
    id: str
    #: The folder name of the skill.
    skill: str
    action: Action
    #: Where it came from: "experiment:<id>", "reviewer", "submission" or "import".
    source: str
    #: Digest of the whole folder after this revision is published.
    digest: str
    #: Digest of the folder that the revision was judged against.
    parent_digest: str
    #: Id of the revision with that digest: what a rollback of this one restores. None until it is known.
    parent: str | None
    status: Status
    #: ISO 8601, UTC, microseconds.
    created_at: str
    #: When it last became active; None if it never was.
    promoted_at: str | None = None
    #: What was measured; keys as in the JSON report (model, decision, confirmation, ...).
    evidence: Mapping[str, Any] = field(default_factory=dict)
    #: Key of the partition that it belongs to; "" for the one that everybody shares.
    scope: str = ""
    #: The skill's name as it was given; None where only the folder's name is known.
    name: str | None = None
    #: Paths of the files that may be executed; None where nobody recorded it.
    executable: tuple[str, ...] | None = None
    #: What the gates said last, see core/judging.py; None if none has judged it.
    gates: Mapping[str, Any] | None = None
    #: The gates that held it when it was published all the same (shadow mode).
    bypassed: tuple[str, ...] = ()

    @property
    def origin(self) -> str:
        """The kind of source without its id, such as "experiment"."""
        return self.source.partition(":")[0]

    def to_json(self) -> dict[str, Any]:
        """A JSON object with all fields."""
        return {
            "id": self.id,
            "skill": self.skill,
            "action": self.action.value,
            "source": self.source,
            "digest": self.digest,
            "parent_digest": self.parent_digest,
            "parent": self.parent,
            "status": self.status.value,
            "created_at": self.created_at,
            "promoted_at": self.promoted_at,
            "evidence": dict(self.evidence),
            "scope": self.scope,
            "name": self.name,
            "executable": None if self.executable is None else list(self.executable),
            "gates": None if self.gates is None else dict(self.gates),
            "bypassed": list(self.bypassed),
        }


@dataclass(frozen=True, slots=True)
class AuditEvent:
    """One thing done to one revision: who, when, why. `before` is None when the revision entered the store."""

    at: str
    deed: Deed
    skill: str
    revision: str
    before: Status | None
    after: Status
    actor: str
    reason: str

    def to_json(self) -> dict[str, Any]:
        """A JSON object with all fields."""
        return {
            "at": self.at,
            "action": self.deed.value,
            "skill": self.skill,
            "revision": self.revision,
            "from": None if self.before is None else self.before.value,
            "to": self.after.value,
            "actor": self.actor,
            "reason": self.reason,
        }

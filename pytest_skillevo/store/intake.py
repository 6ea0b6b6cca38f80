"""How candidates come in: judged by the gates, entered with what they said, published when nothing holds them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from ..core.errors import StoreError
from ..core.judging import Standing
from ..core.revisions import ENTRY, JUDGEABLE, Deed, Revision, Status
from ..core.skill import Skill
from .audit import Change, note
from .database import Database
from .experiments import Clock, stamp
from .judge import Judge, as_proposal
from .place import Place, Protected, title
from .promotion import Promotions
from .publisher import check_name, executables
from .revisions import (
    Proposal,
    find_content,
    find_same,
    get_pointer,
    get_revision,
    insert_revision,
    set_judgement,
    set_status,
)
from .snapshots import get_snapshot, tree_of


class Intake:
    """The way into one partition."""

    def __init__(self, database: Database, promotions: Promotions, place: Place, judge: Judge, clock: Clock) -> None:
        self._database = database
        self._promotions = promotions
        self._place = place
        self._judge = judge
        self._clock = clock

    def add(self, proposal: Proposal, least: Status, actor: str, reason: str) -> Revision:
        """Enter a candidate that waits at least as strictly as `least` says; nothing is published.

        The same source entering the same content again, as a resumed experiment does, gets the revision that is there.
        A candidate that is parked for better evidence gets that of a new experiment.
        """
        if least not in ENTRY:
            raise StoreError(f"a revision cannot enter the store as {least.words}")
        proposal = self._checked(proposal)
        known = self._known(proposal)
        if known is not None:
            return known
        parked = self._parked(proposal)
        if parked is not None:
            return self.reevaluate(parked.id, proposal.evidence, actor, reason, least=least)
        standing = self._judge.stand(proposal, least=least)
        held = standing.status is not least
        deed = _DEEDS.get(standing.status, Deed.SUBMIT) if held else Deed.SUBMIT
        why = " | ".join(part for part in (reason, standing.reason) if part) if held else reason
        return self._insert(proposal, standing, deed, actor, why)

    def offer(self, proposal: Proposal, actor: str, reason: str, *, shadow: bool = False) -> Revision:
        """Let the gates decide about a candidate, and publish it at once when none of them holds it.

        In shadow mode only what blocks keeps it; the other gates are named in `bypassed`. Returns the revision in the
        status it came to. One that came too late, or is for a protected skill, is entered as rejected.
        """
        proposal = self._checked(proposal)
        known = self._known(proposal)
        if known is not None:
            return known
        try:
            self._place.require_writable(proposal.skill)
        except Protected as error:
            refused = Standing(Status.REJECTED, str(error), (), None)
            return self._insert(proposal, refused, Deed.REJECT, actor, str(error))
        standing = self._judge.stand(proposal, shadow=shadow)
        if standing.status is Status.PENDING:
            return self._promotions.promote(proposal, standing, actor, reason)
        return self._insert(proposal, standing, _DEEDS[standing.status], actor, standing.reason or reason)

    def reevaluate(
        self,
        id: str,
        evidence: Mapping[str, Any] | None,
        actor: str,
        reason: str,
        *,
        least: Status | None = None,
        shadow: bool = False,
    ) -> Revision:
        """Let the gates judge a waiting candidate again, with new evidence (None: with what there is).

        New evidence takes the place of equal keys; the old is kept apart. Without gates the caller vouches for it. By
        default only what the Reviewer made may be published at once; everything else waits for a person at `least`.
        """
        revision = self._promotions.find(id)
        if revision.status not in JUDGEABLE:
            raise StoreError(
                f"{revision.id} is {revision.status.words}; only a revision that waits can be evaluated again."
            )
        with self._database.read() as connection:
            content = get_snapshot(connection, revision.skill, revision.digest)
            parent = get_snapshot(connection, revision.skill, revision.parent_digest)
        merged = dict(revision.evidence) | dict(evidence or {})
        if least is None:
            waits = revision.status is Status.PENDING_APPROVAL or revision.origin != "reviewer"
            least = Status.PENDING_APPROVAL if waits else Status.PENDING
        proposal = as_proposal(revision, content, parent, merged)
        standing = self._judge.stand(proposal, least=least, shadow=shadow)
        if standing.status is Status.PENDING:
            return self._promotions.promote(proposal, standing, actor, reason, revision)
        return self._restand(revision, standing, merged, actor, reason)

    def _restand(
        self, revision: Revision, standing: Standing, evidence: Mapping[str, Any], actor: str, reason: str
    ) -> Revision:
        why = " | ".join(part for part in (reason, standing.reason) if part)
        change = Change(actor, why, stamp(self._clock))
        with self._promotions.lock(revision.skill), self._database.write(durable=True) as connection:
            if get_revision(connection, revision.scope, revision.id).status is not revision.status:
                raise StoreError(f"{revision.id} was changed by someone else meanwhile; look at it again.")
            set_judgement(connection, revision, evidence, standing.record, (), change.at)
            if standing.status is revision.status:
                note(connection, revision, Deed.REEVALUATE, change)
            else:
                deed = Deed.REJECT if standing.status is Status.REJECTED else Deed.REEVALUATE
                set_status(connection, revision, standing.status, deed, change)
            return get_revision(connection, revision.scope, revision.id)

    def _checked(self, proposal: Proposal) -> Proposal:
        skill, content, parent = proposal.skill, proposal.content, proposal.parent
        check_name(skill)
        absent = Skill.absent(skill).digest
        if any(not version.exists and version.digest != absent for version in (content, parent)):
            raise StoreError(f"the absent version of {skill} must be that of {skill}, not of another skill")
        if content.digest == parent.digest:
            raise StoreError(f"the new version of {skill} is the same as the one before; nothing was stored")
        if proposal.name is None and content.exists:
            proposal = replace(proposal, name=title(content))
        if proposal.executable is None and self._place.skills is not None:
            folder = self._place.skills.joinpath(*self._place.parts, skill)
            proposal = replace(proposal, executable=executables(folder, tree_of(content)))
        return proposal

    def _known(self, proposal: Proposal) -> Revision | None:
        with self._database.read() as connection:
            return find_same(connection, self._place.key, proposal)

    def _parked(self, proposal: Proposal) -> Revision | None:
        """The parked revision that a new experiment has measured again."""
        if proposal.source.partition(":")[0] != "experiment":
            return None
        with self._database.read() as connection:
            parked = find_content(
                connection, self._place.key, proposal.skill, proposal.content.digest, Status.PENDING_EVAL
            )
        return parked if parked is not None and parked.parent_digest == proposal.parent.digest else None

    def _insert(self, proposal: Proposal, standing: Standing, deed: Deed, actor: str, reason: str) -> Revision:
        change = Change(actor, reason, stamp(self._clock))
        with self._database.write(durable=True) as connection:
            known = find_same(connection, self._place.key, proposal)
            if known is not None:
                return known
            pointer = get_pointer(connection, self._place.key, proposal.skill)
            judged = pointer is not None and pointer.digest == proposal.parent.digest
            return insert_revision(
                connection,
                self._place.key,
                proposal,
                standing.status,
                deed,
                change,
                replaces=pointer.revision if pointer is not None and judged else None,
                gates=standing.record,
                bypassed=standing.bypassed,
            )


_DEEDS = {
    Status.REJECTED: Deed.REJECT,
    Status.PENDING_EVAL: Deed.HOLD,
    Status.PENDING_APPROVAL: Deed.HOLD,
}

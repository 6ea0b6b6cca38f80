"""External submissions: checked in order, judged, and always left for a person (spec/online-revisions.md 17)."""

from __future__ import annotations

from ..core.errors import ConfigError
from ..core.naming import renamed
from ..core.revisions import Action, Revision, Status
from ..core.scopes import NO_SCOPE, Scope, ScopeMode, resolve
from ..core.skill import Skill
from ..core.submission import Submission, SubmissionRefused, check, updated
from .place import Protected
from .repository import Library, Listing, Repository
from .revisions import Proposal
from .store import Store

SOURCE = "submission"


class RevisionSubmitter:
    """Takes submissions for the skills of one store. Nothing that comes in here is published without a person."""

    def __init__(self, store: Store, repository: Repository | None, mode: ScopeMode = ScopeMode.NONE) -> None:
        self._store = store
        self._repository = repository
        self._mode = mode

    def submit(self, submission: Submission, actor: str) -> Revision:
        """Store a submission. Raises SubmissionRefused, with a code, for one that is not even stored.

        Returns the revision: pending_approval, or rejected or pending_eval where the gates say so.
        """
        action = check(submission)
        assert submission.content is not None, "checked above"
        store = self._store.at(self._scope(submission.scope).key)
        library = self._repository.library() if self._repository is not None else Library((), (), {})
        listing = library.find(submission.name)
        if action is Action.CREATE:
            proposal = self._creation(store, submission, listing)
        else:
            proposal = self._update(store, submission, library, listing)
        reason = "handed in from outside; a person must approve it"
        return store.add(proposal, status=Status.PENDING_APPROVAL, actor=actor, reason=reason)

    def _scope(self, wanted: Scope) -> Scope:
        if self._mode is not ScopeMode.NONE and wanted == NO_SCOPE:
            raise SubmissionRefused("scope_required", f"scope mode {self._mode} needs to know whose skill it is.")
        try:
            return resolve(self._mode, wanted)
        except ConfigError as error:
            raise SubmissionRefused("scope_required", f"{error}.") from None

    def _creation(self, store: Store, submission: Submission, listing: Listing | None) -> Proposal:
        if listing is not None:
            raise SubmissionRefused("target_exists", f"there already is a skill {submission.name!r}; update it.")
        content = submission.content
        assert content is not None
        folder = store.folder_for(submission.name)
        new = renamed(content if isinstance(content, Skill) else Skill.create(content), folder)
        return self._proposal(submission, folder, new, Skill.absent(folder), Action.CREATE)

    def _update(self, store: Store, submission: Submission, library: Library, listing: Listing | None) -> Proposal:
        content = submission.content
        assert content is not None
        if listing is None:
            raise SubmissionRefused("target_missing", f"there is no skill {submission.name!r} to update.")
        folder = listing.folder.name
        try:
            store.require_writable(folder)
        except Protected as error:
            raise SubmissionRefused("target_not_managed", str(error)) from None
        if not listing.managed:
            raise SubmissionRefused(
                "target_not_managed", f"the skill {submission.name!r} in {listing.folder} is not managed from here."
            )
        parent = self._parent(store, submission, folder) or library.skill(listing.name)
        assert parent is not None, "it is listed"
        return self._proposal(submission, folder, updated(parent, content), parent, Action.UPDATE)

    def _parent(self, store: Store, submission: Submission, folder: str) -> Skill | None:
        """The version that it was evaluated against; None for what the folder holds now."""
        pointer = store.pointer(folder)
        if not submission.parent.strip():
            return None
        known = {revision.id: revision for revision in store.revisions(folder)}
        parent = known.get(submission.parent.strip())
        if parent is None:
            raise SubmissionRefused("parent_missing", f"{submission.parent} is no revision of {submission.name!r}.")
        if pointer is None or pointer.revision != parent.id:
            active = "nothing is" if pointer is None else f"{pointer.revision} is"
            raise SubmissionRefused("stale_parent", f"{parent.id} is no longer active, {active}; evaluate it again.")
        return store.skill_of(parent)

    def _proposal(self, submission: Submission, folder: str, content: Skill, parent: Skill, action: Action) -> Proposal:
        given = submission.source.strip()
        evidence = {} if submission.evidence is None else {"submission": submission.evidence.to_json()}
        source = f"{SOURCE}:{given}" if given else SOURCE
        return Proposal(folder, content, parent, action, source, evidence, submission.name)

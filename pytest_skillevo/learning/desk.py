"""Where an agent's own changes of skills are handed in: into one partition of the store, through its gates."""

from __future__ import annotations

from collections.abc import Callable

from ..agents.manage import DeskAnswer
from ..core.errors import SkillError
from ..core.gates.redaction import redact as redact_by_shape
from ..core.naming import is_folder_name
from ..core.review.protection import refusal
from ..core.revisions import Action, Status
from ..core.scopes import NO_SCOPE, Scope
from ..core.skill import Skill
from ..store import Proposal, Store
from ..store.learning_records import Pause
from ..store.repository import Repository
from .library import Shelves

_ACTIONS = {"create": Action.CREATE, "delete": Action.DELETE}


class StoreDesk:
    """Hands changes in under the name of one session. People's own skills are read-only unless `user_skills`."""

    def __init__(
        self,
        store: Store,
        session: str,
        scope: Scope = NO_SCOPE,
        *,
        user_skills: bool = False,
        redact: Callable[[str], str] = redact_by_shape,
    ) -> None:
        self._store = store.at(scope.key)
        self._repository = Repository(store.skills_folder, scope)
        self._session = session
        self._user_skills = user_skills
        self._redact = redact

    def skill(self, name: str) -> Skill:
        """The skill as agents see it now; absent when there is none. Raises SkillError for what is no name."""
        if not is_folder_name(name):
            raise SkillError("a name has 1 to 64 of a-z, 0-9 and single hyphens")
        return next((skill for skill in self._shelves().skills if skill.name == name), Skill.absent(name))

    def hand_in(self, action: str, before: Skill, after: Skill, reason: str) -> DeskAnswer:
        """Enter a change as a revision; the gates decide. Raises SkillError for a protected skill, StoreError."""
        folder = before.name
        if before.exists:
            shelves = self._shelves()
            why = refusal(shelves.protection[before.name], "delete" if action == "delete" else "update", "agent")
            if why:
                raise SkillError(f"{before.name!r} is read-only: {why}")
            folder = shelves.folders[before.name]
        if any(self._redact(text) != text for text in _texts(after)):
            raise SkillError("it holds something that looks like a credential")
        evidence = {"foreground": {"session": self._session, "reason": self._redact(reason)}}
        kind = _ACTIONS.get(action, Action.UPDATE)
        proposal = Proposal(folder, after, before, kind, f"agent:{self._session}", evidence)
        told = self._redact(reason) or f"the agent of session {self._session}"
        if self._store.learning.is_paused(Pause.PUBLICATION):
            revision = self._store.add(proposal, status=Status.PENDING_APPROVAL, actor="agent", reason=told)
        else:
            revision = self._store.offer(proposal, actor="agent", reason=told)
        accepted = revision.status not in (Status.REJECTED, Status.EXPIRED, Status.ARCHIVED)
        sentence = _SENTENCES.get(revision.status, f"it is {revision.status.words}")
        if not accepted:
            last = self._store.history(revision)[-1].reason
            sentence = f"the gates refused it: {last}"
        return DeskAnswer(accepted, sentence, revision.id)

    def _shelves(self) -> Shelves:
        return Shelves.take(self._repository, self._store, user_skills=self._user_skills)


_SENTENCES = {
    Status.ACTIVE: "published; later tasks use it",
    Status.PENDING_APPROVAL: "kept; a person will decide",
    Status.PENDING_EVAL: "kept; it waits for better evidence",
}


def _texts(skill: Skill) -> list[str]:
    return [skill.text, *(data.decode("utf-8", "replace") for data in skill.files.values())]

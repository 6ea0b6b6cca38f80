"""The evaluation cache of the search: what was answered under the very same conditions is not run again.

It serves the search only; confirmation, critical reruns and replay always run (design: decision 5). Answers carry
feedback and trace. Failures of the infrastructure are never kept, and neither are skips: they cost nothing.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final

from ..core.canonical import digest_json
from ..core.protocols import ChatModel
from ..core.records import Message, RolloutRequest

if TYPE_CHECKING:
    from ..store.cache import Answers

#: Of the form in which answers are kept.
_VERSION: Final = 1
_STAGE: Final = "search/"


class SearchCache:
    """Keys and answers of one experiment.

    `facts` is JSON: evaluator version, models and their parameters, the agent and its limits, further skills on offer.
    `contents` gives the digest of what each case asks; a case whose content is not known is never served.
    """

    def __init__(self, answers: Answers, facts: Mapping[str, Any], contents: Mapping[str, str]) -> None:
        self._answers = answers
        self._facts = digest_json([_VERSION, dict(facts)])
        self._contents = contents
        self._waiting: dict[str, Any] = {}

    def key(self, request: RolloutRequest) -> str | None:
        """The digest of all that decides this rollout; None when the cache does not serve it."""
        content = self._contents.get(request.case_id)
        if not content or not request.id.startswith(_STAGE):
            return None
        return digest_json([self._facts, request.variant, request.case_id, content, request.seed, request.repeat])

    def chat_key(
        self, id: str, role: str, model: ChatModel, messages: Sequence[Message], parameters: Mapping[str, Any]
    ) -> str | None:
        """The digest of all that decides one call of a model; None when the cache does not serve it."""
        if not id.startswith(_STAGE):
            return None
        # A real model of the same name may stand behind another endpoint.
        asked = [role, model.name, getattr(model, "facts", None)]
        return digest_json([_VERSION, "chat", asked, list(messages), dict(parameters)])

    def get(self, keys: Sequence[str]) -> dict[str, Any]:
        """The answers that are known, by key."""
        return self._answers.get(keys) if keys else {}

    def keep(self, key: str, payload: Any) -> None:
        """Keep an answer from the next `flush` on."""
        self._waiting[key] = payload

    def flush(self) -> None:
        """Write what waits. What a killed process had waiting is run again by others, and lost to nobody else."""
        waiting, self._waiting = self._waiting, {}
        self._answers.put(waiting)

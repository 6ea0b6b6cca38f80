"""The cassettes of a project: a folder of files, one per case, and what a session did with them."""

from __future__ import annotations

import json
import re
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from enum import StrEnum
from pathlib import Path
from typing import Any, Final

from ...core.canonical import digest, digest_json
from ...core.errors import ConfigError
from ...core.files import atomic_write
from ...core.gates.redaction import redacted
from ...core.locks import file_lock
from . import tape
from .miss import explained
from .tape import Exchange, Tape

#: Prices and endpoints of the recorded models.
MODELS_FILE: Final = "models.json"
_LONGEST_NAME: Final = 80


class Mode(StrEnum):
    """What happens to a request."""

    RECORD = "record"  # the model is asked, its answer replaces what was recorded
    REPLAY = "replay"  # the recorded answer is given; none is an error
    AUTO = "auto"  # the recorded answer is given; where there is none, the model is asked and recorded


class Cassettes:
    """All cassettes in a folder. May be used by several threads; other processes may record there at the same time.

    `redact` is applied to every text before it is kept or compared; `lock` is a file that recording processes share.
    """

    def __init__(self, folder: Path, mode: Mode, redact: Callable[[str], str], lock: Path) -> None:
        self.folder = folder
        self.mode = mode
        self._redact = redact
        self._lock_file = lock
        self._guard = threading.Lock()
        self._tapes: dict[str, Tape] = {}
        #: What each tape held when this session first looked at it.
        self._found: dict[str, set[tuple[str, int]]] = {}
        self._used: dict[str, set[tuple[str, int]]] = {}
        self._fresh: dict[str, set[tuple[str, int]]] = {}
        self._skills: dict[str, set[str]] = {}
        self.replayed = 0
        self.recorded = 0

    def path(self, case: str) -> Path:
        """The file of a case: readable, and never longer than file names may be."""
        name = re.sub(r"[^A-Za-z0-9_.-]+", "-", self._redact(case).replace(".py::", "-")).strip("-.")
        return self.folder / f"{name[-_LONGEST_NAME:].lstrip('-.')}-{digest(case)[:8]}.yaml"

    def plain(self, value: Any) -> Any:
        """A JSON copy of a request without secrets, and without halves of characters, which no file can hold."""
        return json.loads(
            json.dumps(redacted(json.loads(json.dumps(value)), self._redact), ensure_ascii=False)
            .encode("utf-8", "replace")
            .decode("utf-8")
        )

    def known_models(self) -> dict[str, Any]:
        """Facts of the models that were recorded here, by name. Raises ConfigError for a file that cannot be read."""
        path = self.folder / MODELS_FILE
        try:
            found: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
        except FileNotFoundError:
            return {}
        except (OSError, ValueError) as error:
            raise ConfigError(f"{path} cannot be read: {error}; restore it, or record the cassettes anew") from None
        return found

    def remember_model(self, name: str, facts: Mapping[str, Any]) -> None:
        """Keep price and endpoint of a model beside its answers."""
        with self._writing():
            known = self.known_models()
            if known.get(name) != facts:
                data = json.dumps({**known, name: facts}, indent=1, sort_keys=True, ensure_ascii=False) + "\n"
                atomic_write(self.folder / MODELS_FILE, data.encode("utf-8"))

    def recorded_reply(self, case: str, wanted: Exchange) -> Mapping[str, Any] | None:
        """The answer to give again, None when the model is to be asked. Raises CassetteMiss in replay."""
        place = wanted.key, wanted.nth
        with self._guard:
            kept = self._tape(case)
            self._skills.setdefault(case, set()).add(wanted.skill)
            found = kept.exchanges.get(place)
            # An attempt after an outage gets what the first one has recorded.
            if found is not None and (self.mode is not Mode.RECORD or place in self._fresh[case]):
                self._used[case].add(place)
                self.replayed += 1
                return found.reply
        if self.mode is Mode.REPLAY:
            raise explained(wanted, kept.exchanges.values(), case, self.path(case).name)
        return None

    def keep(self, case: str, exchange: Exchange) -> None:
        """Record an answer."""
        with self._guard, self._writing():
            kept = self._tape(case)
            tape.append(self.path(case), kept, exchange)
            place = exchange.key, exchange.nth
            # Only a miss needs the request again, and there is none where models are asked: long runs stay small.
            kept.exchanges[place] = replace(exchange, messages=(), tools=())
            self._fresh[case].add(place)
            self._used[case].add(place)
            self.recorded += 1

    def _tape(self, case: str) -> Tape:
        if case not in self._tapes:
            self._tapes[case] = kept = tape.read(self.path(case), self._redact(case))
            self._found[case] = set(kept.exchanges)
            self._used[case], self._fresh[case] = set(), set()
        return self._tapes[case]

    @contextmanager
    def _writing(self) -> Iterator[None]:
        try:
            self.folder.mkdir(parents=True, exist_ok=True)
            self._lock_file.parent.mkdir(parents=True, exist_ok=True)
            with file_lock(self._lock_file):
                yield
        except OSError as error:
            raise ConfigError(f"cassettes cannot be written to {self.folder}: {error.strerror}") from None

    def close(self) -> None:
        """Take out of the files what was recorded anew."""
        with self._guard:
            again = [case for case, kept in self._tapes.items() if kept.superseded and self._fresh[case]]
            if again:
                with self._writing():
                    for case in again:
                        tape.compact(self.path(case))

    def summary(self) -> list[str]:
        """What the session did, in sentences; nothing when no model was asked."""
        lines = []
        if self.replayed or self.recorded:
            lines.append(
                f"cassettes ({self.mode}): {self.replayed} answers given again, {self.recorded} recorded "
                f"in {self.folder.name}/"
            )
        for case in sorted(self._tapes):
            unused = self._found[case] - self._used[case]
            if unused:
                stale = sum(self._tapes[case].exchanges[one].skill not in self._skills[case] for one in unused)
                versions = f", {stale} of them of another version of the skill" if stale else ""
                lines.append(
                    f"cassettes: {len(unused)} recorded answers were not used{versions}: {self.path(case).name} "
                    "(remove the file and record it anew to be rid of them)"
                )
        return lines


def request_key(model: str, request: Mapping[str, Any], skill: str, repeat: int) -> str:
    """The digest that finds an answer: model, messages, tools, parameters, skill and repeat."""
    return digest_json([model, dict(request), skill, repeat])[:24]

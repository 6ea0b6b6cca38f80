"""The chat model of every role, from options: simulated, real, or played from cassettes."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from functools import partial
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import urlsplit

import pytest

from . import options
from .collection import config_folder, home_folder, skill_items
from .core.errors import ConfigError
from .core.gates.redaction import redactor, secret_values
from .core.protocols import Behaviour, ChatModel
from .core.rollout import Rollout
from .execution.current import current
from .limiting import limited
from .models import SIMULATED, resolve_model

if TYPE_CHECKING:
    from .models.cassettes import Cassettes
    from .models.live import LiveSettings

#: Plays the agent in the transfer check.
TRANSFER: Final = "transfer"

_MODELS: pytest.StashKey[dict[str, ChatModel]] = pytest.StashKey()
_CASSETTES: pytest.StashKey[Cassettes | None] = pytest.StashKey()


def chat_models(session: pytest.Session) -> dict[str, ChatModel]:
    """The chat model of every role, made once per session. Raises pytest.UsageError for one that cannot be asked."""
    stash = session.config.stash
    if _MODELS not in stash:
        stash[_MODELS] = _make_models(session)
    return stash[_MODELS]


def model_names(config: pytest.Config) -> dict[str, str]:
    """The name of every role's model, as it was chosen."""
    given: dict[str, str] = dict(options.value_of(config, "evolve_model"))
    named = {role: given.get(role, given.get("", SIMULATED)) for role in options.ROLES}
    transfer = options.value_of(config, "evolve_transfer")
    return named if transfer is None else {**named, TRANSFER: transfer}


#: Warnings of LiteLLM about itself: nobody here can do anything about them, and where warnings are errors they would
#: end every call.
_OTHERS_WARNINGS = (
    r"ignore:::litellm\..*",
    r"ignore:Items? .* using the .ReadOnly. qualifier:UserWarning",
    r"ignore:Pydantic serializer warnings:UserWarning",
)


def quiet_warnings(config: pytest.Config) -> None:
    """Keep warnings of LiteLLM about itself out of tests, where a real model is chosen."""
    if set(model_names(config).values()) != {SIMULATED}:
        for line in _OTHERS_WARNINGS:
            config.addinivalue_line("filterwarnings", line)


def _make_models(session: pytest.Session) -> dict[str, ChatModel]:
    config = session.config
    made: dict[str, ChatModel] = {}

    def real(name: str, role: str) -> ChatModel:
        if name not in made:
            offered = config.hook.pytest_skillevo_chat_model(name=name, role=role, config=config)
            made[name] = limited(config, offered if offered is not None else _resolved(session, name))
        return made[name]

    by_role: dict[str, ChatModel] = {}
    for role, name in model_names(config).items():
        try:
            by_role[role] = _played(config, name, role, partial(real, name, role))
        except ConfigError as error:
            option = "--evolve-transfer" if role == TRANSFER else "--evolve-model"
            raise pytest.UsageError(f"{option}={name}: {error}") from None
    return by_role


def _resolved(session: pytest.Session, name: str) -> ChatModel:
    redact = redactor(secret_values(os.environ))
    return resolve_model(name, behaviours=_behaviours(session), live=live_settings(session.config), redact=redact)


def _played(config: pytest.Config, name: str, role: str, real: partial[ChatModel]) -> ChatModel:
    """The model behind cassettes, when they are in use and it is not the simulated one, which needs none."""
    from .models.cassettes import CassetteModel

    tapes = cassettes(config)
    if tapes is None or name == SIMULATED:
        return real()
    return CassetteModel(name, role, tapes, real)


def _behaviours(session: pytest.Session) -> list[Behaviour]:
    """What the simulated model can do: behaviours of the families in sight, and those that plugins bring."""
    from .families.registry import behaviours

    found: dict[str, Behaviour] = {}
    for folder in sorted({item.path.parent for item in skill_items(session.items)}):
        found.update((behaviour.name, behaviour) for behaviour in behaviours(folder))
    for offered in session.config.hook.pytest_skillevo_behaviours(config=session.config):
        found.update((behaviour.name, behaviour) for behaviour in offered or ())
    return list(found.values())


def live_settings(config: pytest.Config) -> LiveSettings:
    """How real models are called, from options and ini. Raises ConfigError or pytest.UsageError for wrong ones."""
    from .models.live import LiveSettings
    from .models.prices import own_prices

    table = str(config.getini("skillevo_prices") or "")
    base = options.value_of(config, "evolve_api_base")
    if base is not None and not (urlsplit(base).scheme in ("http", "https") and urlsplit(base).netloc):
        raise pytest.UsageError(f"--evolve-api-base={base}: expected an address such as http://127.0.0.1:8000/v1")
    return LiveSettings(
        api_base=base,
        attempt_seconds=options.ini_seconds(config, "skillevo_attempt_seconds"),
        call_seconds=options.ini_seconds(config, "skillevo_call_seconds"),
        stream=bool(config.getini("skillevo_stream")),
        prices=own_prices(config_folder(config) / table) if table else {},
    )


def cassettes(config: pytest.Config) -> Cassettes | None:
    """The session's cassettes, None when they are not in use."""
    stash = config.stash
    if _CASSETTES not in stash:
        stash[_CASSETTES] = _open_cassettes(config)
    return stash[_CASSETTES]


def _open_cassettes(config: pytest.Config) -> Cassettes | None:
    from .models.cassettes import Cassettes, Mode

    mode = options.value_of(config, "evolve_cassettes")
    if mode == "off":
        return None
    folder = config_folder(config) / str(config.getini("skillevo_cassettes"))
    if folder.exists() and not folder.is_dir():
        raise pytest.UsageError(f"ini key skillevo_cassettes: {folder} is not a folder")
    return Cassettes(folder, Mode(mode), redactor(secret_values(os.environ)), home_folder(config) / "cassettes.lock")


def model_for(request: pytest.FixtureRequest, role: str, rollout: Rollout) -> ChatModel:
    """The model of a role for one run of one case. Fails the test with a sentence when it cannot be had."""
    from .models.cassettes import CassetteModel, Scene

    problem, running = "", current(request.config)
    if role == "agent" and running is not None and running.phase == TRANSFER:
        role = TRANSFER
    try:
        model = chat_models(request.session)[role]
    except pytest.UsageError as error:
        problem = str(error)
    if problem:
        # The sentence says it all; a traceback through this plugin would only hide it.
        pytest.fail(problem, pytrace=False)
    if not isinstance(model, CassetteModel):
        return model
    node = request.node

    def skill_digest() -> str:
        """The version on trial; in a plain run the fixture may be made after the agent, so it is looked up late."""
        skill = running.skill if running is not None else node.funcargs.get("skill")
        return "" if skill is None else str(skill.digest)

    return model.at(Scene(node.nodeid, skill_digest, rollout.repeat))


def closing_words(config: pytest.Config) -> tuple[str, ...]:
    """End the cassettes of a session; what its models want to say at the end, in sentences."""
    lines: list[str] = []
    for model in _distinct(config.stash.get(_MODELS, {}).values()):
        lines += [line for line in getattr(model, "notes", ()) if line not in lines]
    tapes = config.stash.get(_CASSETTES, None)
    if tapes is not None:
        lines += tapes.summary()
        try:
            tapes.close()
        except ConfigError as error:
            lines.append(str(error))
    return tuple(lines)


def _distinct(models: Iterable[ChatModel]) -> list[ChatModel]:
    return list({id(model): model for model in models}.values())


def live_facts(models: Mapping[str, ChatModel]) -> list[dict[str, Any]]:
    """Price and endpoint of every real model, by name, for the record of a run."""
    facts = {model.name: getattr(model, "facts", None) for model in models.values()}
    return [{"name": name, **fact} for name, fact in sorted(facts.items()) if fact is not None]

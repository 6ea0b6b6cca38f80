"""From options to objects: models, agents, store, experiment."""

from __future__ import annotations

import getpass
import itertools
import os
import time
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from dataclasses import fields
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, TypeAlias

import pytest

from . import __version__, gating, observing, options, searching
from .chatmodels import chat_models, live_facts
from .collection import Marked, config_folder, home_folder, shown_path, skills_folder
from .core.canonical import digest, digest_json
from .core.errors import ConfigError, StoreError
from .core.gates.redaction import redactor, secret_values
from .core.protocols import Agent, ChatModel
from .core.records import RolloutRequest
from .core.skill import Skill
from .executing import executor_for, versions
from .limiting import open_ledger
from .project import STORE_VARIABLE
from .stages.dataset import Dataset
from .stages.settings import Settings
from .store.committed import EXPOSURE_FILE, read_openings

if TYPE_CHECKING:
    from collections.abc import Mapping

    from .stages.experiment import Setting
    from .stages.online import OnlineTask
    from .stages.plan import Earlier
    from .stages.progress import Progress
    from .stages.recorder import Executor
    from .stages.trial import Trial, Tried
    from .store import Experiment as StoredExperiment
    from .store import Store

Report: TypeAlias = dict[str, Any]

#: Id of the experiment that an interrupt would leave unfinished.
RESUMABLE: pytest.StashKey[str] = pytest.StashKey()
#: What opening the store has put right, and what went wrong beside the experiment, in sentences.
NOTICES: pytest.StashKey[tuple[str, ...]] = pytest.StashKey()


def agent_for(model: ChatModel) -> Agent:
    """The built-in agent on this model."""
    from .agents import LoopAgent

    return LoopAgent(model)


def open_store(config: pytest.Config) -> Store:
    """The project's store; raises StoreError and ConfigError, which callers show as a usage error."""
    from .store import Store

    gates, _ = gating.gates_of(config)
    committed = read_openings(config_folder(config) / EXPOSURE_FILE)
    store = Store.open(
        home_folder(config),
        skills=skills_folder(config),
        url=store_url(config),
        gates=gates,
        protected=config.getini("skillevo_protected"),
    )
    store.enter_openings(committed)
    return store


def store_url(config: pytest.Config) -> str | None:
    """PostgreSQL URL of the store; None for a file in the project."""
    return os.environ.get(STORE_VARIABLE, "").strip() or str(config.getini("skillevo_store")).strip() or None


def plan_of(config: pytest.Config, setting: Setting) -> Report:
    """The figures of --evolve-plan, with what earlier experiments tell; a store is looked at, never made."""
    from .stages.plan import plan_figures

    return plan_figures(setting.dataset, setting.settings, setting.models["agent"], earlier_runs_of(config, setting))


def earlier_runs_of(config: pytest.Config, setting: Setting) -> Earlier:
    """What finished experiments with the skill tell; a store is looked at, never made."""
    from .stages.plan import Earlier, earlier_runs
    from .store import Store

    if not Store.exists(home_folder(config), store_url(config)):
        return Earlier()
    with open_store(config) as store:
        finished = [one.report for one in store.experiments(setting.folder) if one.report is not None]
    return earlier_runs(finished, setting.dataset, setting.seed_skill.digest, setting.models["agent"].name)


def settings_of(config: pytest.Config) -> Settings:
    """The settings of an experiment, from options and ini."""

    def value(name: str) -> Any:
        return options.value_of(config, f"evolve_{name}")

    given = {field.name: value(field.name) for field in fields(Settings) if field.name != "cache"}
    # A cassette must hear every question of the search, or a replay would miss what a cache has answered.
    return Settings(**given, cache=not value("no_cache") and value("cassettes") == "off")


def setting_for(
    session: pytest.Session, dataset: Dataset, seed: Skill, mine: Sequence[Marked], command: str
) -> Setting:
    """Everything an experiment needs from outside. Raises ConfigError for settings that cannot work."""
    from .execution.evaluator import evaluator_files, evaluator_version
    from .stages.experiment import Setting
    from .store import StopRequests

    config = session.config
    settings = settings_of(config)
    models = chat_models(session)
    redact = redactor(secret_values(os.environ))
    searching.check_prices(settings, models)
    if settings.transfer is not None and "agent" not in roles_used([one.item for one in mine]):
        raise ConfigError(
            f"--evolve-transfer={settings.transfer}: no case uses the fixture 'agent', so no model can be exchanged; "
            "leave the option out, or let the cases use the fixture"
        )
    files = evaluator_files(
        [(one.case, one.item) for one in mine], config.rootpath, list(config.getini("skillevo_evaluator_files"))
    )
    return Setting(
        dataset=dataset,
        seed_skill=seed,
        folder=dataset.skill,
        settings=settings,
        models=models,
        live=live_facts(models),
        evaluator=lambda: digest_json([evaluator_version(files, __version__), _on_disk(config, dataset.skill)]),
        versions=versions(),
        command=command,
        redact=redact,
        now=lambda: datetime.now(UTC),
        clock=time.monotonic,
        actor=actor(),
        strategy=searching.strategy_of(config, settings),
        proposer=searching.proposer_of(config, settings),
        observe=observing.observer_of(config, lambda sentence: _notice(config, sentence), redact),
        asked_to_stop=StopRequests(home_folder(config)).take,
        conditions=searching.conditions_of(config, dataset.skill, agent_for(models["agent"])),
        gates=gating.gates_of(config)[0],
    )


def _on_disk(config: pytest.Config, name: str) -> str | None:
    """Digest of the active skill as it is now; None when there is none."""
    folder = skills_folder(config) / name
    return Skill.load(folder).digest if folder.exists() else None


def actor() -> str:
    """Who runs this."""
    try:
        return getpass.getuser()
    except (KeyError, OSError):  # no such user in the password database, as in some containers
        return "unknown"


def run_experiment(
    session: pytest.Session, setting: Setting, items: Sequence[pytest.Item], progress: Progress
) -> Report:
    """Run, resume or look up the experiment and give its report."""
    from .stages.experiment import recorded_report

    # One process at a time runs the same experiment: a second one waits for nothing and is told.
    with open_store(session.config) as store, store.running(setting.fingerprint[:12]):
        session.config.stash[NOTICES] = store.notices
        resumed = options.value_of(session.config, "evolve_resume")
        fork = options.switched_on(session.config, "evolve_fork")
        if resumed is not None and not fork:
            return _run_in(session, store, setting, items, progress, resumable(store, resumed, setting))
        origin = _origin(store, resumed, setting) if fork else None
        recorded = recorded_report(store, setting.fingerprint)
        if recorded is not None:
            _say_unrecorded(session.config)
            return recorded
        name = _new_id(store, setting)
        about = {
            **setting.settings.to_json(),
            "identity": setting.identity,
            "live": list(setting.live),
            "forked_from": origin,
            "arguments": _arguments(session, setting),
        }
        store.create_experiment(name, setting.folder, setting.fingerprint, about)
        return _run_in(session, store, setting, items, progress, name)


def _say_unrecorded(config: pytest.Config) -> None:
    if options.value_of(config, "evolve_cassettes") == "record":
        told = "nothing was recorded: the verdict of this very experiment is known; --evolve-seed makes another one"
        config.stash[NOTICES] = (*config.stash[NOTICES], told)


def _new_id(store: Store, setting: Setting) -> str:
    """The id of a new experiment: the same in every store that has seen the same ones before."""
    for number in itertools.count():
        name = f"ex-{digest_json([setting.fingerprint, number])[:8]}"
        try:
            store.experiment(name)
        except StoreError:
            break
    return name


def _arguments(session: pytest.Session, setting: Setting) -> list[str]:
    """The command line without what belongs to one run only, so that `skillevo experiments resume` can repeat it."""
    given = [str(argument) for argument in session.config.invocation_params.args]
    return [setting.redact(text) for text in given if not text.startswith(("--evolve-resume", "--evolve-fork"))]


def _run_in(
    session: pytest.Session, store: Store, setting: Setting, items: Sequence[pytest.Item], progress: Progress, name: str
) -> Report:
    from .stages.experiment import Experiment

    with _executor(session, items, name, setting.redact, progress) as executor:
        experiment = Experiment(setting, store, executor, progress, name)
        session.config.stash[RESUMABLE] = name
        report = experiment.run()
    with open_store(session.config) as again:
        again.experiment(name)  # raises when somebody removed the store meanwhile: the verdict would be lost
    return report


def _executor(
    session: pytest.Session, items: Sequence[pytest.Item], name: str, redact: Callable[[str], str], progress: Progress
) -> AbstractContextManager[Executor]:
    """What runs the rollouts of the experiment or trial of that name."""
    from .execution.serial import ATTEMPTS

    def on_retry(request: RolloutRequest, attempt: int, reason: str) -> None:
        progress.retry(request.case_id, attempt=attempt, attempts=ATTEMPTS, reason=reason)

    open_ledger(session.config, name)
    return executor_for(session, items, name, redact, on_retry, lambda text: _notice(session.config, text))


def run_trial(session: pytest.Session, trial: Trial, items: Sequence[pytest.Item], progress: Progress) -> Tried:
    """Run both versions of a trial on this session's items."""
    from .stages.trial import run_trial as run

    name = trial.fingerprint[:12]
    with open_store(session.config) as store, store.running(name):
        session.config.stash[NOTICES] = store.notices
        with _executor(session, items, name, trial.setting.redact, progress) as executor:
            return run(trial, store, executor, progress)


def run_online(
    session: pytest.Session, setting: Setting, items: Sequence[pytest.Item], progress: Progress
) -> list[OnlineTask]:
    """Run the online experiment of one skill on this session's items."""
    from .stages.online import online_fingerprint
    from .stages.online import run_online as run

    name = online_fingerprint(setting)[:12]
    with open_store(session.config) as store, store.running(name):
        session.config.stash[NOTICES] = store.notices
        with _executor(session, items, name, setting.redact, progress) as executor:
            return run(setting, store, executor, progress)


def roles_used(items: Sequence[pytest.Item]) -> tuple[str, ...]:
    """Which of the roles agent and judge these items fill with our models, told by their fixtures."""
    return tuple(role for role in ("agent", "judge") if any(_uses(item, role) for item in items))


def _uses(item: pytest.Item, fixture: str) -> bool:
    known = getattr(getattr(item, "_fixtureinfo", None), "name2fixturedefs", {})
    for definition in reversed(known.get(fixture, ())):
        if definition.func.__module__ == f"{__package__}.fixtures":
            return True
        if fixture not in definition.argnames:  # a fixture of the suite's own that does not build on ours
            return False
    return False


def evaluator_digests(session: pytest.Session, mine: Sequence[Marked]) -> dict[str, str]:
    """Digest of every file that decides scores, by its path below the root (elsewhere: its name)."""
    from .execution.evaluator import evaluator_files

    config = session.config
    files = evaluator_files(
        [(one.case, one.item) for one in mine], config.rootpath, list(config.getini("skillevo_evaluator_files"))
    )
    return {shown_path(config, path): digest(path.read_bytes()) for path in files}


def _notice(config: pytest.Config, sentence: str) -> None:
    config.stash[NOTICES] = (*config.stash.get(NOTICES, ()), sentence)


def resumable(store: Store, wanted: str, setting: Setting) -> str:
    """The id of the experiment to go on with. Raises ConfigError when it cannot be the one that was interrupted."""
    found = _wanted(store, wanted)
    if found.finished_at is not None:
        raise ConfigError(
            f"--evolve-resume={wanted}: experiment {found.id} is finished; run it without --evolve-resume"
        )
    if found.fingerprint != setting.fingerprint:
        raise ConfigError(
            f"--evolve-resume={wanted}: experiment {found.id} was started with something else "
            f"({_difference(found.settings, setting)}); restore that, or add --evolve-fork for a new experiment that "
            "reuses the answers that still hold"
        )
    return found.id


def _wanted(store: Store, wanted: str) -> StoredExperiment:
    if wanted == "last":
        # A gate, an A/A and an online experiment go on by themselves when they are repeated.
        found = next((one for one in store.experiments() if "kind" not in one.settings), None)
        if found is None:
            raise ConfigError("--evolve-resume=last: the store holds no experiment of --evolve yet")
        return found
    found = store.experiment(wanted)
    if kind := found.settings.get("kind"):
        raise ConfigError(
            f"--evolve-resume={wanted}: that is a run of --evolve-{kind}; repeat its command, and it goes on"
        )
    return found


def _origin(store: Store, wanted: str | None, setting: Setting) -> str:
    """The experiment that a fork comes from."""
    if wanted is None:
        raise ConfigError("--evolve-fork needs --evolve-resume=ID: which experiment shall the new one come from?")
    if not setting.settings.cache:
        raise ConfigError("--evolve-fork does not go with --evolve-no-cache: a fork reuses answers")
    return _wanted(store, wanted).id


def _difference(before: Mapping[str, Any], setting: Setting) -> str:
    """What an experiment was started with and is different now, in words."""
    mine = setting.settings.to_json()
    # A setting that binds nothing may be left out on either side.
    names = {*mine, *(field.name for field in fields(Settings))}
    if changed := sorted(key for key in names if before.get(key) != mine.get(key)):
        return f"these settings differ: {', '.join(changed)}"
    known = before.get("identity") or {}
    parts = [(name, known.get(name), now) for name, now in setting.identity.items()]
    return (
        "; ".join(
            f"the {name} was {_short(old)} and is {_short(now)}"
            for name, old, now in parts
            if old is not None and old != now
        )
        or "its skill, cases, evaluator, models or versions"
    )


def _short(value: Any) -> str:
    return value[:12] if isinstance(value, str) else ", ".join(f"{key} {one}" for key, one in value.items())

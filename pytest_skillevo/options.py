"""Every option of the plugin: command line, ini key of the same name, default, and its checked value.

An option `--evolve-seed` has the ini key `evolve_seed`. All values are plain text, numbers or booleans, so that
they can be sent to workers.

PYTEST_DONT_REWRITE: no assert here needs an explanation, and every pytest run loads this module.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from decimal import Decimal, InvalidOperation
from typing import Any

import pytest

from . import gating

STAGES = ("search", "confirm", "replay")
GOALS = ("quality", "cost", "either", "no-worse")
CRITICAL_RULES = ("any", "rerun", "tested")
METHODS = ("gepa", "seed", "no-skill", "best-of-n")
FRONTIERS = ("instance", "hybrid")
PICKS = ("best", "one-se")
CASSETTES = ("off", "record", "replay", "auto")
ROLES = ("agent", "reflection", "reviewer", "judge")


@dataclass(frozen=True)
class Option:
    """One option. `parse` turns text into the checked value or raises ValueError with what was expected."""

    name: str
    help: str
    parse: Callable[[str], Any] | None = None
    default: Any = None
    metavar: str | None = None
    many: bool = False
    #: Native type of the ini key: TOML files may then hold a number (pytest 8.4 and newer; older ones pass text on).
    number: str | None = None

    @property
    def flag(self) -> str:
        return "--" + self.name

    @property
    def key(self) -> str:
        return self.name.replace("-", "_")


def _whole(least: int) -> Callable[[str], int]:
    def parse(text: str) -> int:
        try:
            value = int(text)
        except ValueError:
            raise ValueError("a whole number") from None
        if value < least:
            raise ValueError(f"a whole number of at least {least}")
        return value

    return parse


def _share(low: float, high: float) -> Callable[[str], float]:
    def parse(text: str) -> float:
        wanted = f"a number above {low:g} and below {high:g}"
        try:
            value = float(text)
        except ValueError:
            raise ValueError(wanted) from None
        if not low < value < high:
            raise ValueError(wanted)
        return value

    return parse


def _seconds(text: str) -> float:
    try:
        value = float(text)
    except ValueError:
        raise ValueError("a number of seconds above 0") from None
    if not (math.isfinite(value) and value > 0):
        raise ValueError("a number of seconds above 0")
    return value


def _money(text: str) -> Decimal:
    try:
        value = Decimal(text)
    except InvalidOperation:
        raise ValueError("an amount in US dollars, such as 2.50") from None
    if not value.is_finite() or value <= 0:
        raise ValueError("an amount in US dollars above 0")
    return value


def _one_of(choices: tuple[str, ...]) -> Callable[[str], str]:
    def parse(text: str) -> str:
        if text not in choices:
            raise ValueError("one of " + ", ".join(choices))
        return text

    return parse


def _up_to_one(text: str) -> float:
    return 1.0 if text in ("1", "1.0") else _share(0, 1)(text)


def _at_least(least: int) -> Callable[[str], float]:
    def parse(text: str) -> float:
        wanted = f"a number, {least} or more"
        try:
            value = float(text)
        except ValueError:
            raise ValueError(wanted) from None
        if not (math.isfinite(value) and value >= least):
            raise ValueError(wanted)
        return value

    return parse


def _below_one(text: str) -> float:
    return 0.0 if text in ("0", "0.0") else _share(0, 1)(text)


def _stages(text: str) -> tuple[str, ...]:
    parts = [part.strip() for part in text.split(",") if part.strip()]
    if not parts or any(part not in STAGES for part in parts) or len(set(parts)) != len(parts):
        raise ValueError("a comma-separated choice of " + ", ".join(STAGES))
    if "search" not in parts or ("replay" in parts and "confirm" not in parts):
        raise ValueError("search, search,confirm or search,confirm,replay: each stage needs the one before it")
    return tuple(stage for stage in STAGES if stage in parts)


def _text(text: str) -> str:
    if not text.strip():
        raise ValueError("some text")
    return text


def _role_model(text: str) -> tuple[str, str]:
    role, sign, name = text.partition("=")
    if not sign:
        role, name = "", text
    if (sign and role not in ROLES) or not name.strip():
        raise ValueError(f"NAME or ROLE=NAME with a role of {', '.join(ROLES)}")
    return role, name.strip()


def _provider_number(text: str) -> tuple[str, int]:
    provider, _, number = text.rpartition("=")
    try:
        return provider.strip(), _whole(1)(number)
    except ValueError:
        raise ValueError("N or PROVIDER=N with a whole number of at least 1") from None


OPTIONS = (
    Option("evolve", "search for a better version of one skill, confirm it on holdout cases, and decide"),
    Option("evolve-skill", "the skill to evolve, when the selected cases exercise several", _text, metavar="NAME"),
    Option("evolve-stages", "stages to run", _stages, STAGES, "search,confirm,replay"),
    Option(
        "evolve-model",
        "model for all roles, or for one role (agent, reflection, reviewer, judge); may be repeated",
        _role_model,
        (),
        "[ROLE=]NAME",
        many=True,
    ),
    Option("evolve-api-base", "address of an endpoint for real models", _text, metavar="URL"),
    Option("evolve-cassettes", "recorded answers of real models", _one_of(CASSETTES), "off", "|".join(CASSETTES)),
    Option("evolve-seed", "seed of every draw of the experiment", _whole(0), 1, "N", number="int"),
    Option("evolve-iterations", "at most this many proposals in the search", _whole(0), 60, "N", number="int"),
    Option("evolve-rollouts", "at most this many rollouts in all stages together", _whole(1), 1000, "N", number="int"),
    Option(
        "evolve-max-tokens",
        "at most this many tokens in all stages together",
        _whole(1),
        metavar="N",
        number="int",
    ),
    Option("evolve-max-usd", "the same for money; refused for models without a price", _money, metavar="USD"),
    Option("evolve-max-seconds", "stop the search after this time", _seconds, metavar="SECONDS", number="float"),
    Option("evolve-goal", "what an accepted version must show", _one_of(GOALS), "quality", "|".join(GOALS)),
    Option(
        "evolve-margin", "largest loss of quality that counts as not worse", _share(0, 1), 0.10, "SHARE", number="float"
    ),
    Option(
        "evolve-alpha", "accepted chance of a false claim, one-sided", _share(0, 0.5), 0.05, "SHARE", number="float"
    ),
    Option("evolve-repeats", "runs per case and version in the confirmation", _whole(1), 3, "N", number="int"),
    Option(
        "evolve-critical", "when a critical case refuses", _one_of(CRITICAL_RULES), "rerun", "|".join(CRITICAL_RULES)
    ),
    Option(
        "evolve-transfer",
        "show how both versions do on the holdout with this second agent model",
        _text,
        metavar="NAME",
    ),
    Option("evolve-report", "write the report here (.json, .md, .html); may be repeated", _text, (), "PATH", many=True),
    Option("evolve-plan", "print dataset, budget and power, run nothing"),
    Option("evolve-resume", "go on with an interrupted experiment", _text, metavar="last|ID"),
    Option("evolve-gate", "judge the skills that changed against --evolve-baseline; exit 0 only if all may be merged"),
    Option("evolve-baseline", "what a gate compares with: a git ref, a folder, a revision", _text, metavar="REF"),
    Option("evolve-evidence", "where a gate writes its evidence", _text, "skillevo-evidence.json", metavar="PATH"),
    Option("evolve-aa", "run the present skill against itself, with different seeds: how much is noise?"),
    Option("evolve-online", "run feedback tasks in order without a skill, and with one that a Reviewer keeps changing"),
    Option("allow-simulated", "let a gate pass on results of the simulated model"),
    Option("evolve-accept-reason", "a person's reason to override INCONCLUSIVE in a gate", _text, metavar="TEXT"),
    Option("family-check", "check the task families at the given paths against the rules, instead of running tests"),
    Option("family-check-name", "the same for an installed family", _text, metavar="NAME"),
    Option("skillevo-show-holdout", "show why holdout cases failed (counts as an opening of the holdout)"),
    Option("evolve-method", "gepa, or a baseline of the same price", _one_of(METHODS), "gepa", "|".join(METHODS)),
    Option("evolve-parent", "who is mutated: pareto, top-k, current-best, reference", _text, "pareto", "NAME"),
    Option("evolve-sampler", "minibatches: epoch, independent, hardest", _text, "epoch", "NAME"),
    Option("evolve-component", "what is changed: round-robin, all, blamed", _text, "round-robin", "NAME"),
    Option("evolve-acceptance", "who passes a minibatch: strict, or-equal", _text, "strict", "NAME"),
    Option("evolve-validation", "how much is validated: full, racing, bound", _text, "full", "NAME"),
    Option("evolve-proposer", "who proposes: the reflection model, or a plugin's proposer", _text, "model", "NAME"),
    Option("evolve-minibatch", "feedback cases of one proposal", _whole(1), 3, "N", number="int"),
    Option("evolve-width", "proposals worked on side by side", _whole(1), 1, "N", number="int"),
    Option(
        "evolve-pace",
        "validate when proposals have cost this share of a validation; 0: every child that passed",
        _at_least(0),
        1.0,
        "SHARE",
        number="float",
    ),
    Option("evolve-merges", "merges of two candidates that may be accepted", _whole(0), 0, "N", number="int"),
    Option("evolve-patience", "stop after N proposals without a better best", _whole(1), metavar="N", number="int"),
    Option("evolve-threshold", "stop at this validation mean", _up_to_one, 1.0, "SCORE", number="float"),
    Option("evolve-epsilon", "take the cheapest this close to the best", _below_one, 0.0, "SCORE", number="float"),
    Option("evolve-cost", "what is cheap: tokens, size, or an objective (lower is better)", _text, "tokens", "NAME"),
    Option(
        "evolve-max-cost-growth",
        "refuse a candidate whose cost is above this multiple of the seed skill's",
        _at_least(1),
        metavar="RATIO",
        number="float",
    ),
    Option("evolve-frontier", "hybrid adds a front for the cost", _one_of(FRONTIERS), "instance", "|".join(FRONTIERS)),
    Option("evolve-pick", "of candidates: best mean, or shortest near it", _one_of(PICKS), "best", "|".join(PICKS)),
    Option("evolve-frozen", "a component that is never changed; may be repeated", _text, (), "NAME", many=True),
    Option("evolve-rollout-tokens", "the most tokens of one rollout, if known", _whole(1), metavar="N", number="int"),
    Option("evolve-rollout-usd", "the most that one rollout costs, if known", _money, metavar="USD"),
    Option("evolve-call-tokens", "the same for one call of reflection or review", _whole(1), metavar="N", number="int"),
    Option("evolve-call-usd", "the same for money", _money, metavar="USD"),
    Option("evolve-max-reflection-usd", "stop the search at this cost of reflection alone", _money, metavar="USD"),
    Option(
        "evolve-max-calls",
        "send at most this many model calls, all roles and workers together",
        _whole(1),
        metavar="N",
        number="int",
    ),
    Option(
        "evolve-provider-calls",
        "calls of a provider at once, in all processes; may be repeated",
        _provider_number,
        (),
        "[PROVIDER=]N",
        many=True,
    ),
    Option(
        "evolve-provider-rate",
        "calls of a provider a minute, in all processes; may be repeated",
        _provider_number,
        (),
        "[PROVIDER=]N",
        many=True,
    ),
    Option("evolve-concurrency", "rollouts at once in one process (async cases)", _whole(1), 1, "N", number="int"),
    Option("evolve-no-cache", "run everything anew in the search"),
    Option("evolve-fork", "with --evolve-resume: a new experiment that reuses the answers that still hold"),
    Option("evolve-learn", "learn from the feedback cases of a plain run; proposals wait for approval"),
    Option("evolve-learn-seconds", "time for learning at the end of a run", _seconds, 60.0, "SECONDS", number="float"),
)

INI_ONLY: tuple[tuple[str, str, str, Any], ...] = (
    ("skillevo_skills", "folder of the active skills, relative to the ini file", "string", "skills"),
    ("skillevo_home", "folder of the store, relative to the ini file", "string", ".skillevo"),
    ("skillevo_cassettes", "folder of the cassettes, relative to the ini file", "string", "cassettes"),
    ("skillevo_prices", "table of your own prices (TOML), relative to the ini file", "string", ""),
    ("skillevo_stream", "take the answers of real models as streams", "bool", False),
    ("skillevo_attempt_seconds", "seconds that one attempt of a real model's call may take", "string", "180"),
    ("skillevo_call_seconds", "seconds that a real model's call with all its attempts may take", "string", "600"),
    ("skillevo_evaluator_files", "further files (globs) that decide scores; a change of one stops a run", "args", []),
    (
        "skillevo_store",
        "PostgreSQL URL of a store that several machines share; SKILLEVO_STORE comes first",
        "string",
        "",
    ),
    ("skillevo_protected", "folder names or patterns of skills that nothing is published to", "args", []),
    ("skillevo_promote_after", "skillevo revisions sweep approves what waited so long, such as 7d", "string", ""),
    ("skillevo_expire_after", "skillevo revisions sweep gives up what waited so long, such as 30d", "string", ""),
    *gating.INI,
)


def _ini_type(option: Option) -> Any:
    if option.many:
        return "args"
    return option.number if pytest.version_tuple >= (8, 4) else None


def add_options(parser: pytest.Parser) -> None:
    """Register every option and ini key in one group."""
    group = parser.getgroup("skillevo", "evaluate and evolve agent skills")
    for option in OPTIONS:
        if option.parse is None:
            group.addoption(option.flag, action="store_true", default=None, dest=option.key, help=option.help)
            parser.addini(option.key, option.help, type="bool", default=False)
            continue
        action = "append" if option.many else "store"
        group.addoption(
            option.flag, action=action, default=None, dest=option.key, metavar=option.metavar, help=option.help
        )
        parser.addini(option.key, option.help, type=_ini_type(option), default=None)
    for key, help_, type_, default in INI_ONLY:
        parser.addini(key, help_, type=type_, default=default)  # type: ignore[arg-type]


def switched_on(config: pytest.Config, key: str) -> bool:
    """A yes/no option: the command line, else the ini file."""
    return bool(config.getoption(key) or config.getini(key))


def evolving(config: pytest.Config) -> bool:
    """Whether this run is an experiment instead of a plain run."""
    modes = ("evolve", "evolve_plan", "evolve_gate", "evolve_aa", "evolve_online")
    return any(switched_on(config, key) for key in modes) or value_of(config, "evolve_resume")


def is_given(config: pytest.Config, key: str) -> bool:
    """Whether an option was set at all, on the command line or in the ini file."""
    return any(given not in (None, [], "") for given in (config.getoption(key), _ini(config, key)))


def checking(config: pytest.Config) -> bool:
    """Whether this run checks task families instead of running tests."""
    return switched_on(config, "family_check") or value_of(config, "family_check_name") is not None


def value_of(config: pytest.Config, key: str) -> Any:
    """The checked value of an option; raises pytest.UsageError that names it."""
    option = next(option for option in OPTIONS if option.key == key)
    if option.parse is None:
        return switched_on(config, key)
    given = config.getoption(key)
    where = option.flag
    if given is None or given == []:
        given, where = _ini(config, key), f"ini key {key}"
    if given is None or given == []:
        return option.default
    texts = [str(part) for part in given] if isinstance(given, list | tuple) else [str(given)]
    try:
        values = tuple(option.parse(text) for text in texts)
    except ValueError as error:
        shown = " ".join(texts)
        raise pytest.UsageError(f"{where}={shown}: expected {error}") from None
    return values if option.many else values[0]


def ini_seconds(config: pytest.Config, key: str) -> float:
    """The checked value of an ini key that is a time; raises pytest.UsageError that names it."""
    text = str(_ini(config, key))
    try:
        return _seconds(text)
    except ValueError as error:
        raise pytest.UsageError(f"ini key {key}={text}: expected {error}") from None


def _ini(config: pytest.Config, key: str) -> Any:
    try:
        return config.getini(key)
    except (TypeError, ValueError, pytest.UsageError) as error:  # which one depends on the version of pytest
        raise pytest.UsageError(f"ini key {key}: {error}") from None

"""Which gates judge: the built-in ones with the settings of the ini file, or what a plugin puts in their place.

PYTEST_DONT_REWRITE: no assert here needs an explanation, and every pytest run loads this module.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeVar

if TYPE_CHECKING:
    import pytest

    from .core.gates.records import Gate, Gates

NAMES = ("spec", "safety", "effectiveness", "human")
HOLDS = ("always", "create-and-delete", "never")

#: Ini keys: name, help, type, default. All values are checked by `settings`, because pytest takes any text.
INI: tuple[tuple[str, str, str, Any], ...] = (
    ("skillevo_gates", f"gates in use, of {', '.join(NAMES)}; their order is fixed", "args", list(NAMES)),
    ("skillevo_gate_min_steps", "steps that a structured skill needs", "string", "2"),
    ("skillevo_gate_max_name", "bytes that the name of a skill may have", "string", "120"),
    ("skillevo_gate_allow", "codes or categories that the safety gate only warns about", "args", []),
    (
        "skillevo_gate_min_score",
        "score that a candidate must reach where no baseline is known; 0: any",
        "string",
        "0.8",
    ),
    ("skillevo_gate_min_gain", "gain over the baseline that a candidate must reach", "string", "0"),
    ("skillevo_gate_park_failures", "park candidates whose task or agent failed", "bool", True),
    ("skillevo_gate_human", f"what waits for a person: {', '.join(HOLDS)}", "string", "always"),
    (
        "skillevo_gate_shadow",
        "record what effectiveness and human gate refuse, and publish all the same",
        "bool",
        False,
    ),
)

_T = TypeVar("_T")


@dataclass(frozen=True, slots=True)
class GateSettings:
    """The checked values of the ini keys."""

    names: tuple[str, ...] = NAMES
    min_steps: int = 2
    max_name: int = 120
    allow: tuple[str, ...] = ()
    min_score: float = 0.8
    min_gain: float = 0.0
    park_failures: bool = True
    human: str = "always"
    shadow: bool = False

    def gates(self) -> Gates:
        """The built-in gates with these settings. Raises ConfigError for one that cannot be."""
        from .core.gates.effectiveness import EffectivenessGate
        from .core.gates.human import Hold, HumanGate
        from .core.gates.records import Gates
        from .core.gates.safety import SafetyGate
        from .core.gates.spec import SpecGate

        built: dict[str, Gate] = {
            "spec": SpecGate(self.min_steps, self.max_name),
            "safety": SafetyGate(self.allow),
            "effectiveness": EffectivenessGate(self.min_score, self.min_gain, self.park_failures),
            "human": HumanGate(Hold(self.human)),
        }
        return Gates(**{name: built[name] for name in self.names})


def settings(ini: Callable[[str], Any]) -> GateSettings:
    """The settings that `ini` (such as config.getini) gives for the keys of INI.

    Raises ConfigError naming the key, what it holds and what is expected: a typing error must not open a gate.
    """
    from .core.errors import ConfigError

    def read(key: str, parse: Callable[[str], _T], expected: str) -> _T:
        text = str(ini(key)).strip()
        try:
            return parse(text)
        except ValueError:
            raise ConfigError(f"ini key {key}={text}: expected {expected}") from None

    def listed(key: str, known: tuple[str, ...]) -> tuple[str, ...]:
        values = tuple(str(value) for value in ini(key))
        strange = next((value for value in values if value not in known), None)
        if strange is not None:
            raise ConfigError(f"ini key {key}={' '.join(values)}: '{strange}' is none of {', '.join(known)}")
        return values

    return GateSettings(
        listed("skillevo_gates", NAMES),
        read("skillevo_gate_min_steps", _least(1), "a whole number of at least 1"),
        read("skillevo_gate_max_name", _least(1), "a whole number of at least 1"),
        tuple(str(value) for value in ini("skillevo_gate_allow")),
        read("skillevo_gate_min_score", _between(0), "a number between 0 and 1"),
        read("skillevo_gate_min_gain", _between(-1), "a number between -1 and 1"),
        bool(ini("skillevo_gate_park_failures")),
        read("skillevo_gate_human", _one_of(HOLDS), f"one of {', '.join(HOLDS)}"),
        bool(ini("skillevo_gate_shadow")),
    )


def gates_of(config: pytest.Config) -> tuple[Gates, bool]:
    """The gates of this run, after the hooks pytest_skillevo_gate_* had their say, and whether it is in shadow mode."""
    from dataclasses import replace

    chosen = settings(config.getini)
    gates = chosen.gates()
    for name in NAMES:
        hook = getattr(config.hook, f"pytest_skillevo_gate_{name}")
        replacement = hook(default=getattr(gates, name), config=config)
        if replacement is not None:
            gates = replace(gates, **{name: replacement})
    return gates, chosen.shadow


def _least(least: int) -> Callable[[str], int]:
    def parse(text: str) -> int:
        value = int(text)
        if value < least:
            raise ValueError
        return value

    return parse


def _between(low: float) -> Callable[[str], float]:
    def parse(text: str) -> float:
        value = float(text)
        if not low <= value <= 1:
            raise ValueError
        return value

    return parse


def _one_of(choices: tuple[str, ...]) -> Callable[[str], str]:
    def parse(text: str) -> str:
        if text not in choices:
            raise ValueError
        return text

    return parse

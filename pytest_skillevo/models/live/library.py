"""LiteLLM, imported late, offline and without a word (spec/ecosystem.md 0.4 and 3.3)."""

from __future__ import annotations

import logging
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from importlib import import_module
from importlib.util import find_spec
from typing import Any, Final

from ...core.errors import ConfigError
from ...core.suggest import did_you_mean

#: Read while LiteLLM is imported: its own price map instead of a download, and no `.env` of the working directory.
_ENVIRONMENT: Final = {"LITELLM_LOCAL_MODEL_COST_MAP": "True", "LITELLM_MODE": "PRODUCTION"}
_LOGGERS: Final = ("LiteLLM", "LiteLLM Proxy", "LiteLLM Router")


def litellm() -> Any:
    """The library. Raises ConfigError when it is not installed."""
    if "litellm" not in sys.modules and find_spec("litellm") is None:
        raise ConfigError(
            "real models need LiteLLM, which is not installed: pip install 'pytest-skillevo[litellm]'. "
            "Recorded answers need nothing: --evolve-cassettes=replay"
        )
    with _environment():
        try:
            library: Any = import_module("litellm")
        except ImportError as error:
            raise ConfigError(
                f"LiteLLM is installed and cannot be imported ({error}); "
                "repair it: pip install --force-reinstall 'pytest-skillevo[litellm]'"
            ) from error
    library.suppress_debug_info = True
    if hasattr(library, "telemetry"):  # gone in newer versions
        library.telemetry = False
    for name in _LOGGERS:
        logging.getLogger(name).setLevel(logging.CRITICAL)
    return library


@contextmanager
def _environment() -> Iterator[None]:
    before = {name: os.environ.get(name) for name in _ENVIRONMENT}
    os.environ.update(_ENVIRONMENT)
    try:
        yield
    finally:
        for name, value in before.items():
            if value is None:
                del os.environ[name]
            else:
                os.environ[name] = value


def require_provider(name: str) -> str:
    """The provider of a model name such as "openai/gpt-4o". Raises ConfigError when no provider is known for it."""
    library = litellm()
    try:
        _, provider, _, _ = library.get_llm_provider(name)
    except Exception:
        known = sorted({str(getattr(one, "value", one)) for one in library.provider_list})
        prefix, sign, model = name.partition("/")
        advice = did_you_mean(prefix, known) if sign else did_you_mean(name, library.model_cost)
        example = f"such as {advice.split(chr(39))[1]}/{model}" if sign and advice else "such as openai/gpt-4o"
        raise ConfigError(
            f"there is no model {name!r}: LiteLLM knows no provider for it. {advice + ' ' if advice else ''}"
            f"Write PROVIDER/MODEL, {example}; a server of your own that speaks OpenAI's protocol is "
            "openai/NAME with --evolve-api-base=URL"
        ) from None
    return str(provider)


def missing_keys(name: str, api_base: str | None) -> tuple[str, ...]:
    """Environment variables that the provider needs and that are not set."""
    found = litellm().validate_environment(model=name, api_base=api_base)
    return () if found["keys_in_environment"] else tuple(found["missing_keys"])

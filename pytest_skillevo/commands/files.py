"""Reading what people hand to a command, bounded and with errors in words."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, Final

from ..core.errors import ConfigError

#: Bytes of a JSON file. A bundle of two skills of the largest size, in base64, stays below.
MAX_JSON: Final = 64 * 1024 * 1024


def read_json(file: Path) -> Any:
    """The value in a JSON file. Raises ConfigError for one that cannot be read."""
    try:
        with file.open("rb") as stream:
            data = stream.read(MAX_JSON + 1)
    except OSError as error:
        raise ConfigError(f"{file} cannot be read: {error.strerror}") from None
    if len(data) > MAX_JSON:
        raise ConfigError(f"{file} holds more than {MAX_JSON // 1024 // 1024} MB; it is no file of skillevo")
    try:
        return json.loads(data.decode("utf-8"))
    except (ValueError, RecursionError) as error:
        raise ConfigError(f"{file} is not JSON: {error}") from None

"""The published JSON schema of the report (draft 2020-12, strict), shipped inside the package."""

from __future__ import annotations

import json
from importlib import resources
from typing import Any, Final

#: Version of the report that this package writes; readers must refuse others.
SCHEMA_VERSION: Final = 1


def report_schema() -> dict[str, Any]:
    """The schema of the report this package writes, as parsed JSON."""
    text = resources.files("pytest_skillevo.report").joinpath("schema", f"report-{SCHEMA_VERSION}.json")
    schema: dict[str, Any] = json.loads(text.read_text(encoding="utf-8"))
    return schema

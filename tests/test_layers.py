"""Every import follows the order of the layers (design: Layers)."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

import pytest_skillevo

ROOT = Path(pytest_skillevo.__file__).parent
#: Layer -> what it may import besides itself.
ALLOWED: dict[str, set[str]] = {"core": set()}
ALLOWED["store"] = ALLOWED["models"] = {"core"}
ALLOWED["agents"] = {"core", "models"}
ALLOWED["families"] = {"core", "models", "agents"}
ALLOWED["execution"] = {*ALLOWED["families"], "families", "store"}
ALLOWED["learning"] = {*ALLOWED["families"], "families", "store"}
ALLOWED["stages"] = {*ALLOWED["execution"], "execution"}
ALLOWED["report"] = {*ALLOWED["stages"], "stages"}


def imported(file: Path) -> Iterator[str]:
    """Names of the layers that a module imports, also inside functions."""
    package = file.relative_to(ROOT).parent.parts
    for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
        if isinstance(node, ast.ImportFrom) and node.level:
            base = [*package[: len(package) - node.level + 1], *(node.module or "").split(".")]
            yield from ([base[0]] if base[0] else (alias.name for alias in node.names))
        elif isinstance(node, ast.Import | ast.ImportFrom):
            names = [node.module or ""] if isinstance(node, ast.ImportFrom) else [alias.name for alias in node.names]
            yield from (name.split(".")[1] for name in names if name.startswith("pytest_skillevo."))


@pytest.mark.parametrize("layer", ALLOWED)
def test_a_layer_imports_only_those_before_it(layer: str) -> None:
    wrong = {
        f"{file.relative_to(ROOT)} -> {name}"
        for file in (ROOT / layer).rglob("*.py")
        for name in imported(file)
        if name != layer and name not in ALLOWED[layer]
    }
    assert wrong == set()


def test_every_package_is_a_layer_or_stands_above_them() -> None:
    packages = {path.parent.name for path in ROOT.glob("*/__init__.py")}
    assert packages - {"commands", "gate"} == set(ALLOWED)

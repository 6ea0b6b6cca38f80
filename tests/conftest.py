"""What all tests share."""

from __future__ import annotations

import importlib
import pkgutil

# pytester forgets the modules that an inner run imported first. A second import would make a second set of classes,
# whose enum members are not the first ones, and SQLAlchemy's compiled parts do not survive it: load all beforehand.
import sqlalchemy.dialects.sqlite  # noqa: F401
import yaml  # noqa: F401

import pytest_skillevo

for _found in pkgutil.walk_packages(pytest_skillevo.__path__, "pytest_skillevo."):
    importlib.import_module(_found.name)

pytest_plugins = ["pytester"]

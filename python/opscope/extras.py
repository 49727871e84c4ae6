# SPDX-License-Identifier: Apache-2.0
"""The extras of the package, ``pip install 'opscope[NAME]'``, and which of them are installed. Imports none of their
packages.
"""

from __future__ import annotations

import importlib.metadata
import os
import re
import shutil
from typing import NamedTuple


class Extra(NamedTuple):
    """One of ``[project.optional-dependencies]`` in pyproject.toml."""

    name: str
    purpose: str  # a phrase
    packages: tuple[str, ...]  # as pip takes them: "mcp>=2.0"
    needs_java: bool = False  # which no package of Python brings


EXTRAS = (
    Extra("pandas", "tables as pandas", ("numpy", "pandas")),
    Extra("arrow", "tables as Arrow", ("pyarrow",)),
    Extra("sql", "opscope query, Parquet, folders of opscope collect", ("duckdb>=1.4",)),
    Extra("spark", "opscope.spark, --engine spark", ("pyspark>=4.1", "pyarrow", "duckdb>=1.4"), needs_java=True),
    Extra("notebook", "%%opscope in notebooks", ("ipython>=7.21",)),
    Extra("mcp", "opscope mcp", ("mcp>=2.0",)),
)


def facts() -> list[dict]:
    """For ``opscope doctor``: a dict for each extra."""
    return [_facts_of(extra) for extra in EXTRAS]


def _facts_of(extra: Extra) -> dict:
    requirements = {package.partition(">=")[0]: package for package in extra.packages}
    installed = {name: version for name in requirements if (version := version_of(name)) is not None}
    missing = [package for name, package in requirements.items() if not _is_enough(installed.get(name), package)]
    lines = [f"pip install 'opscope[{extra.name}]'"] if missing else []
    if extra.needs_java and not (os.environ.get("JAVA_HOME") or shutil.which("java")):
        missing.append("java")
        lines.append("apt-get install default-jre-headless")
    return {
        "name": extra.name,
        "purpose": extra.purpose,
        "installed": installed,
        "missing": missing,
        "install": " && ".join(lines),
    }


def version_of(package: str) -> str | None:
    """Version of an installed distribution package; None if it is not installed."""
    try:
        return importlib.metadata.version(package)
    except importlib.metadata.PackageNotFoundError:
        return None


def _is_enough(version: str | None, requirement: str) -> bool:
    least = requirement.partition(">=")[2]
    return version is not None and _numbers(version)[: len(_numbers(least))] >= _numbers(least)


def _numbers(version: str) -> list[int]:
    """The first two parts, which a least version has: [1, 4] of "1.4.0rc1"."""
    return [int(number) for number in re.findall(r"\d+", version)[:2]]

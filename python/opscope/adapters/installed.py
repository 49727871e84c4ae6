# SPDX-License-Identifier: Apache-2.0
"""Finds installed packages by their files alone, because importing a framework takes seconds."""

from __future__ import annotations

import importlib.util
import re
from pathlib import Path


def package_folder(name: str) -> Path | None:
    """The folder of an installed package, without importing it."""
    folders = package_folders(name)
    return folders[0] if folders else None


def package_folders(name: str) -> list[Path]:
    """All folders of a package; a namespace package can have one in each folder of sys.path."""
    try:
        spec = importlib.util.find_spec(name)
    except (ImportError, ValueError):  # a half-removed package; a module without a spec
        return []
    return [Path(place) for place in spec.submodule_search_locations or ()] if spec is not None else []


def assigned_text(source: str, name: str) -> str:
    """The string that a line of Python source assigns to a name, with or without an annotation; "" without such a
    line.
    """
    found = re.search(rf"^{name}\s*(?::[^=]*)?=\s*['\"]([^'\"]*)['\"]", source, re.MULTILINE)
    return found.group(1) if found else ""

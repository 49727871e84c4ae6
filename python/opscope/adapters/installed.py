# SPDX-License-Identifier: Apache-2.0
"""What is installed here, told from files: importing a framework takes seconds."""

from __future__ import annotations

import importlib.util
from pathlib import Path


def package_folder(name: str) -> Path | None:
    """The folder of an installed package, without importing it."""
    try:
        spec = importlib.util.find_spec(name)
    except (ImportError, ValueError):  # a half-removed package; a module without a spec
        return None
    places = list(spec.submodule_search_locations or ()) if spec is not None else []
    return Path(places[0]) if places else None

# SPDX-License-Identifier: Apache-2.0
"""The library that records the calls of this Python: one per minor version, as it reads Python's frames."""

from __future__ import annotations

import importlib.machinery
import importlib.util
import sys
import threading
from types import ModuleType

from .. import _core  # noqa: F401  (brings the recorder into the process)
from .errors import AdapterMissing
from .torch_adapter import LIBRARIES

_lock = threading.Lock()
_loaded: ModuleType | None = None


def calls_library() -> ModuleType:
    """The extension module; AdapterMissing says what to do where there is none."""
    global _loaded
    with _lock:
        if _loaded is None:
            _loaded = _load()
        return _loaded


def _load() -> ModuleType:
    name = "libopscope_python_{}_{}.so".format(*sys.version_info)
    path = LIBRARIES / name
    if not path.exists():
        raise AdapterMissing(f"this opscope has no {name}")
    loader = importlib.machinery.ExtensionFileLoader("opscope_calls", str(path))
    module = importlib.util.module_from_spec(importlib.util.spec_from_loader("opscope_calls", loader))
    loader.exec_module(module)
    return module

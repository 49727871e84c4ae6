# SPDX-License-Identifier: Apache-2.0
"""The library that records Python calls: from the package, from the cache, or compiled now.

It reads Python's frames, whose layout changes with each minor version; the package has the library for the Python that
it was built with.
"""

from __future__ import annotations

import importlib.machinery
import importlib.util
import json
import platform
import sys
import sysconfig
import threading
from pathlib import Path
from types import ModuleType

from ..log import log_message
from .adapter import INCLUDE, LIBRARIES, Adapter, source_files
from .build import Recipe, compile_library
from .compiler import Compiler
from .run_self_test import test_library

_FOLDERS = ("sources/python", "sources/streams")
VERSION = "{}.{}".format(*sys.version_info)
_NEWEST, _OLDEST = (3, 13), (3, 10)
_WHAT = f"the library that records the calls of Python {VERSION}"

_lock = threading.Lock()
_loaded: ModuleType | None = None


def calls_library() -> ModuleType:
    """The extension module. Compiles it at the first use if necessary; AdapterMissing says what to do if that fails."""
    global _loaded
    with _lock:
        if _loaded is None:
            path = adapter().ready()
            _loaded = load(path)
            log_message("info", f"{_WHAT} is {path}")
        return _loaded


def load(path: Path) -> ModuleType:
    """Loads the extension module in this file."""
    loader = importlib.machinery.ExtensionFileLoader("opscope_calls", str(path))
    module = importlib.util.module_from_spec(importlib.util.spec_from_loader("opscope_calls", loader))
    loader.exec_module(module)
    return module


def carried() -> Path | None:
    """Path of the package's library if it was built for this Python; otherwise None."""
    path = LIBRARIES / f"libopscope_python_{VERSION.replace('.', '_')}.so"
    return path if path.exists() and not _is_unlike() else None


def was_tried(path: Path) -> bool:
    """Whether the package's library passed its self-test when it was built."""
    try:
        return json.loads(path.with_suffix(".json").read_text())["tried"] is True
    except (OSError, ValueError, KeyError):
        return False


def _is_unlike() -> bool:
    return platform.python_implementation() != "CPython" or bool(sysconfig.get_config_var("Py_GIL_DISABLED"))


def _obstacle() -> str:
    """Why it cannot be compiled for this Python; empty if it can."""
    if _is_unlike() or not _OLDEST <= sys.version_info[:2] <= _NEWEST:
        return f"{_WHAT} does not exist: CPython 3.10 to 3.13 with its lock is recorded"
    include = sysconfig.get_path("include")
    if not (Path(include) / "Python.h").exists():
        return f"{_WHAT} must be compiled once, and {include} has no Python.h (Debian: apt-get install python3-dev)"
    return ""


def adapter() -> Adapter:
    """The Adapter for this Python."""
    return Adapter(
        what=_WHAT,
        name=f"python-{VERSION}",
        facts=(VERSION,),
        folders=_FOLDERS,
        make=_make,
        carried=carried(),
        obstacle=_obstacle(),
    )


def recipe(include: Path) -> Recipe:
    """Sources and flags for the Python whose headers are in `include`."""
    return Recipe(
        what=_WHAT,
        sources=source_files(_FOLDERS),
        include=INCLUDE,
        system_include=[include],
        libraries=[LIBRARIES / "libopscope_recorder.so.1"],
        link_flags=(),  # Python's symbols stay undefined: the process resolves them, whatever file has them
    )


def _make(compiler: Compiler, place: Path) -> tuple[Path, dict]:
    library = compile_library(recipe(Path(sysconfig.get_path("include"))), compiler, place)
    test_library(_WHAT, library, place, "opscope.adapters.python_self_test")
    return library, {"python": VERSION}

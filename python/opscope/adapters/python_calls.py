# SPDX-License-Identifier: Apache-2.0
"""The library that records the calls of this Python: carried by the package, in the cache, or compiled now.

It reads Python's frames, whose layout belongs to one minor version; the package carries that of the Python that it was
built with. Anything else is as in torch_adapter.
"""

from __future__ import annotations

import functools
import hashlib
import importlib.machinery
import importlib.util
import json
import platform
import sys
import sysconfig
import threading
from pathlib import Path
from types import ModuleType

from .. import _core
from ..log import tell
from . import cache
from .build import Recipe, compile_library, test_library
from .compiler import find_compiler, require_compiler
from .errors import AdapterMissing, CacheUnusable
from .torch_adapter import LIBRARIES, SOURCES, WAIT_LIMIT_S

VERSION = "{}.{}".format(*sys.version_info)
_NEWEST, _OLDEST = (3, 13), (3, 10)
_WHAT = f"the library that records the calls of Python {VERSION}"

_lock = threading.Lock()
_loaded: ModuleType | None = None


def calls_library() -> ModuleType:
    """The extension module; AdapterMissing says what to do where it cannot be had. Compiles it at the first use."""
    global _loaded
    with _lock:
        if _loaded is None:
            path = carried() or compiled()
            _loaded = load(path)
            tell("info", f"{_WHAT} is {path}")
        return _loaded


def load(path: Path) -> ModuleType:
    """The module in this file."""
    loader = importlib.machinery.ExtensionFileLoader("opscope_calls", str(path))
    module = importlib.util.module_from_spec(importlib.util.spec_from_loader("opscope_calls", loader))
    loader.exec_module(module)
    return module


def carried() -> Path | None:
    """That of the package, when it was built with this Python."""
    path = LIBRARIES / f"libopscope_python_{VERSION.replace('.', '_')}.so"
    return path if path.exists() and not _is_unlike() else None


def was_tried(path: Path) -> bool:
    """Whether the one that the package carries has recorded a call where it was built."""
    try:
        return json.loads(path.with_suffix(".json").read_text())["tried"] is True
    except (OSError, ValueError, KeyError):
        return False


def _is_unlike() -> bool:
    return platform.python_implementation() != "CPython" or bool(sysconfig.get_config_var("Py_GIL_DISABLED"))


@functools.cache
def _sources() -> list[Path]:
    return sorted((SOURCES / "sources/python").glob("*.cc"))


@functools.cache
def _entry_folder() -> Path:
    headers = sorted((SOURCES / "sources/python").glob("*.h")) + sorted((SOURCES / "include/opscope").glob("*.h"))
    digest = hashlib.sha256()
    for path in [*headers, *_sources()]:
        digest.update(path.name.encode() + b"\0" + path.read_bytes() + b"\0")
    facts = [VERSION, digest.hexdigest(), platform.machine(), "".join(platform.libc_ver())]
    key = hashlib.sha256(json.dumps(facts).encode()).hexdigest()[:16]
    return cache.cache_folder() / f"python-{VERSION}-{key}"


def _entry(compiler) -> cache.Entry:
    return cache.Entry(_entry_folder(), hashlib.sha256(compiler.identity.encode()).hexdigest()[:16])


def cached() -> cache.Entry | None:
    """A valid entry, by this compiler, or by any where there is none."""
    try:
        compiler = find_compiler()
        folder = _entry_folder()
        if not folder.is_dir() or cache.complaint(folder.parent):
            return None
        found = [_entry(compiler)] if compiler is not None else cache.entries(folder)
    except (OSError, CacheUnusable):
        return None
    return next((entry for entry in found if entry.is_valid()), None)


def complaint() -> str:
    """Why it cannot be compiled for this Python; empty when it can."""
    if _is_unlike() or not _OLDEST <= sys.version_info[:2] <= _NEWEST:
        return f"{_WHAT} does not exist: CPython 3.10 to 3.13 with its lock is recorded"
    include = sysconfig.get_path("include")
    if not (Path(include) / "Python.h").exists():
        return f"{_WHAT} must be compiled once, and {include} has no Python.h (Debian: apt-get install python3-dev)"
    return ""


def compiled() -> Path:
    """The library from the cache, compiled when it is not there. Of many processes one compiles and the others wait."""
    if (known := cached()) is not None:
        return known.library
    if why := complaint():
        raise AdapterMissing(why)
    compiler = require_compiler(_WHAT)
    entry = _entry(compiler)
    cache.make_private(entry.folder.parent)
    cache.make_private(entry.folder)
    with cache.lock(entry.folder, limit_s=WAIT_LIMIT_S, waiting_for=f"it compiles {_WHAT}") as is_locked:
        if not entry.is_valid():
            with cache.working_folder(entry.folder, is_locked=is_locked) as place:
                recipe = Recipe(
                    what=_WHAT,
                    sources=_sources(),
                    include=[SOURCES / "include", SOURCES],
                    system_include=[Path(sysconfig.get_path("include"))],
                    libraries=[LIBRARIES / "libopscope_recorder.so.1"],
                    link_flags=(),  # what Python provides is in the process, in whatever file
                )
                library = compile_library(recipe, compiler, place)
                test_library(_WHAT, library, place, "opscope.adapters.python_self_test")
                facts = {"python": VERSION, "compiler": compiler.describe(), "opscope": _core.__version__}
                entry.publish(library, facts)
    return entry.library

# SPDX-License-Identifier: Apache-2.0
"""An adapter for one build of a framework, and its entry in the cache of compiled adapters.

A cache entry is found by a hash of everything that the compiled code depends on. The name of its folder has the hash of
the facts about the framework, opscope's sources, the machine and the C library; the name of its file has the hash of
the compiler. Without a compiler on this machine, an entry by any compiler is used.
"""

from __future__ import annotations

import functools
import hashlib
import json
import os
import platform
import re
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

from .. import _core
from ..log import log_message
from . import cache
from .compiler import Compiler, find_compiler, require_compiler
from .errors import AdapterMissing, CacheUnusable, CompilationFailed
from .parts import Parts

WAIT_LIMIT_S = 900.0

_ENGINE = Path(_core.__file__).parent
LIBRARIES = _ENGINE / "lib"
SOURCES = _ENGINE / "adapter_source"
INCLUDE = (SOURCES / "include", SOURCES)


def source_files(folders: tuple[str, ...]) -> list[Path]:
    """The source files in these folders of the sources that the package carries."""
    return [path for path in _files(folders, "*.cc") if not path.stem.endswith("_test")]


def _files(folders: tuple[str, ...], pattern: str) -> list[Path]:
    return [path for folder in folders for path in sorted((SOURCES / folder).rglob(pattern))]


@functools.cache
def source_hash(folders: tuple[str, ...]) -> str:
    """Hash of the source files in these folders: all of opscope's code that an adapter is compiled from."""
    digest = hashlib.sha256()
    for path in [*_files(("include/opscope",), "*.h"), *source_files(folders), *_files((*folders, "base"), "*.h")]:
        digest.update(path.name.encode() + b"\0" + path.read_bytes() + b"\0")
    return digest.hexdigest()


@dataclass(frozen=True)
class Adapter:
    """One adapter, built or not. The module of a framework sets its dependencies and the function that builds it."""

    what: str  # for messages: "the adapter for torch 2.13.0"
    name: str  # prefix of its folder in the cache: "torch-2.13.0"
    facts: tuple  # dependencies of its code besides our sources, the machine and the C library: a JSON list
    folders: tuple[str, ...] = ()  # folders of opscope's sources from which it is compiled
    # Compiles and tests it in a folder. Returns the library, and facts for the note beside it; raises
    # CompilationFailed or OSError. None: it is never compiled here, and `obstacle` has the reason.
    make: Callable[[Compiler, Path], tuple[Path, dict]] | None = None
    obstacle: str = ""  # why no compiler can compile it; "": it can be compiled
    carried: Path | None = None  # path of the library that the package carries for it
    parts: Parts = field(default_factory=dict)
    self_test: str = ""  # module that runs its self-test
    # True: an untested adapter is not used, so the test runs even if its result cannot be stored.
    must_be_tried: bool = False
    again: str = ""  # command that builds it again after a failure, for messages

    def entry_folder(self) -> Path:
        """Its folder of the cache."""
        libc = "".join(platform.libc_ver())
        facts = [*self.facts, source_hash(self.folders), platform.machine(), libc]
        key = hashlib.sha256(json.dumps(facts).encode()).hexdigest()[:16]
        name = re.sub(r"[^\w.+-]", "_", self.name)
        return cache.cache_folder() / f"{name}-{key}"

    def entry(self, compiler: Compiler) -> cache.Entry:
        """The cache entry for this compiler, whether it exists or not."""
        return cache.Entry(self.entry_folder(), hashlib.sha256(compiler.identity.encode()).hexdigest()[:16])

    def cached(self) -> cache.Entry | None:
        """A valid cache entry: by the installed compiler or, without one, by any compiler. None if there is none."""
        try:
            compiler = find_compiler()
            folder = self.entry_folder()
            if not folder.is_dir() or cache.complaint(folder.parent):
                return None
            found = [self.entry(compiler)] if compiler is not None else cache.entries(folder)
        except (OSError, CacheUnusable):
            return None
        return next((entry for entry in found if entry.is_valid()), None)

    def last_failure(self) -> str:
        """Message of the last failed build; empty if there was none, or if a valid entry exists."""
        compiler = find_compiler()
        try:
            folder = self.entry_folder()
            if compiler is None or not folder.is_dir() or cache.complaint(folder.parent):
                return ""
        except (OSError, CacheUnusable):
            return ""
        return self.entry(compiler).failure_text().partition("\n")[2]

    def ready(self) -> Path:
        """The library that the package carries for this build; otherwise ``compiled()``."""
        return self.carried or self.compiled()

    def compiled(self, *, rebuild: bool = False) -> Path:
        """The library from the cache, which is compiled if the cache lacks it, and with ``rebuild`` in any case.

        If many processes call this, one compiles and the others wait. Takes seconds. AdapterMissing: it cannot be
        compiled; the text has advice.
        """
        if not rebuild and (known := self.cached()) is not None:
            return known.library
        if self.obstacle:
            raise AdapterMissing(self.obstacle)
        compiler = require_compiler(self.what)
        entry = self.entry(compiler)
        cache.make_private(entry.folder.parent)
        cache.make_private(entry.folder)
        failed_before = entry.failure_text()
        before = _identity(entry.library)
        waiting_for = f"it compiles {self.what}"
        with cache.lock(entry.folder, limit_s=WAIT_LIMIT_S, waiting_for=waiting_for) as is_locked:
            is_made_meanwhile = _identity(entry.library) != before
            if entry.is_valid() and (not rebuild or is_made_meanwhile):
                log_message("info", f"{self.what} was made by another process: {entry.library}")
                return entry.library
            failed = entry.failure_text()
            if failed and failed != failed_before:
                raise CompilationFailed(failed.partition("\n")[2])
            if entry.library.exists() and not rebuild:
                log_message("info", f"{entry.library} is broken; it is made anew")
            return self._make(compiler, entry, is_locked)

    def _make(self, compiler: Compiler, entry: cache.Entry, is_locked: bool) -> Path:
        try:
            with cache.working_folder(entry.folder, is_locked=is_locked) as place:
                library, facts = self.make(compiler, place)
                entry.publish(library, {**facts, "compiler": compiler.describe(), "opscope": _core.__version__})
        except CompilationFailed as error:
            entry.fail(str(error))
            raise
        except OSError as error:
            raise cache.unusable(entry.folder, f"cannot be written: {error.strerror}") from error
        log_message("info", f"{self.what} is in {entry.library} ({os.stat(entry.library).st_size} bytes)")
        return entry.library


def _identity(path: Path) -> tuple | None:
    try:
        status = path.stat()
    except OSError:
        return None
    return (status.st_ino, status.st_mtime_ns, status.st_size)


def adapter_of(
    package: str | Path, read: Callable[[Path], object | None], adapter_for: Callable[..., Adapter], what: str
):
    """The Adapter for the installed framework.

    ``read``: returns the build in the package's folder; None raises AdapterMissing, whose text ends with ``what``.
    """
    folder = Path(package).parent
    build = read(folder)
    if build is None:
        raise AdapterMissing(f"{folder} holds no {what}")
    return adapter_for(build)

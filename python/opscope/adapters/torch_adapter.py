# SPDX-License-Identifier: Apache-2.0
"""The adapter that fits a build of torch: carried by the package, in the cache, or compiled now.

The key of a cache entry is all that the compiled code depends on: torch's build, our sources, machine
and C library in the folder's name, the compiler in the file's. Python is not part of it: the adapter
calls no Python. Where there is no compiler, an entry that any compiler made is good.
"""

from __future__ import annotations

import functools
import hashlib
import json
import os
import platform
import re
from pathlib import Path

from .. import _core
from ..log import tell
from . import cache
from .build import build_library
from .compiler import Compiler, find_compiler, require_compiler
from .errors import AdapterMissing, CacheUnusable, CompilationFailed
from .framework import TorchBuild

WAIT_LIMIT_S = 900.0

_ENGINE = Path(_core.__file__).parent
LIBRARIES = _ENGINE / "lib"
SOURCES = _ENGINE / "adapter_source"
INCLUDE = (SOURCES / "include", SOURCES)
_FOLDERS = ("sources/slots", "sources/torch")


def carried(build: TorchBuild) -> Path | None:
    """The adapter that the package was built with, when it was built for this torch.

    Builds of one release for several devices (``+cpu``, ``+cu130``) have the same layouts; states in
    between two releases fit only when they are the same commit.
    """
    for note in sorted(LIBRARIES.glob("libopscope_torch_*.json")):
        try:
            noted = json.loads(note.read_text())
            release, git, cxx11_abi = noted["version"].partition("+")[0], noted["git"], noted["cxx11_abi"]
        except (OSError, ValueError, KeyError):
            continue
        is_same = release == build.release and (build.is_final or (git != "" and git == build.git))
        library = note.with_suffix(".so")
        if is_same and cxx11_abi == build.cxx11_abi and library.exists():
            return library
    return None


@functools.cache
def _source_hash() -> str:
    digest = hashlib.sha256()
    for path in [*sorted((SOURCES / "include/opscope").glob("*.h")), *source_files(), *_own_headers()]:
        digest.update(path.name.encode() + b"\0" + path.read_bytes() + b"\0")
    return digest.hexdigest()


def source_files() -> list[Path]:
    """What is compiled."""
    return [path for path in _own_files("*.cc") if not path.stem.endswith("_test")]


def _own_headers() -> list[Path]:
    return _own_files("*.h")


def _own_files(pattern: str) -> list[Path]:
    return [path for folder in _FOLDERS for path in sorted((SOURCES / folder).glob(pattern))]


def entry_folder(build: TorchBuild) -> Path:
    """The folder of the cache for this torch and this opscope."""
    libc = "".join(platform.libc_ver())
    facts = [build.version, build.git, build.cxx11_abi, build.headers, _source_hash(), platform.machine(), libc]
    key = hashlib.sha256(json.dumps(facts).encode()).hexdigest()[:16]
    version = re.sub(r"[^\w.+-]", "_", build.version)
    return cache.cache_folder() / f"torch-{version}-{key}"


def _entry(build: TorchBuild, compiler: Compiler) -> cache.Entry:
    return cache.Entry(entry_folder(build), hashlib.sha256(compiler.identity.encode()).hexdigest()[:16])


def cached(build: TorchBuild) -> cache.Entry | None:
    """A valid entry for this torch, by this compiler, or by any where there is none."""
    try:
        compiler = find_compiler()
        folder = entry_folder(build)
        if not folder.is_dir() or cache.complaint(folder.parent):
            return None
        found = [_entry(build, compiler)] if compiler is not None else cache.entries(folder)
    except (OSError, CacheUnusable):
        return None
    return next((entry for entry in found if entry.is_valid()), None)


def last_failure(build: TorchBuild) -> str:
    """Why the adapter could not be made the last time that somebody tried; empty when nobody has, or it is there."""
    compiler = find_compiler()
    try:
        folder = entry_folder(build)
        if compiler is None or not folder.is_dir() or cache.complaint(folder.parent):
            return ""
    except (OSError, CacheUnusable):
        return ""
    return _entry(build, compiler).failure_text().partition("\n")[2]


def compiled(build: TorchBuild, *, rebuild: bool = False) -> Path:
    """The adapter from the cache, compiled when it is not there or must be made anew.

    Of many processes one compiles and the others wait. Takes seconds; AdapterMissing says what to do
    when it cannot be done.
    """
    what = f"the adapter for torch {build.version}"
    if not rebuild and (entry := cached(build)) is not None:
        return entry.library
    if build.headers == "":
        raise AdapterMissing(f"{what} cannot be compiled: {build.folder} has no headers")
    compiler = require_compiler(what)
    entry = _entry(build, compiler)
    cache.make_private(entry.folder.parent)
    cache.make_private(entry.folder)
    failed_before = entry.failure_text()
    before = _identity(entry.library)
    waiting_for = f"it compiles {what}"
    with cache.lock(entry.folder, limit_s=WAIT_LIMIT_S, waiting_for=waiting_for) as is_locked:
        is_made_meanwhile = _identity(entry.library) != before
        if entry.is_valid() and (not rebuild or is_made_meanwhile):
            tell("info", f"{what} was made by another process: {entry.library}")
            return entry.library
        failed = entry.failure_text()
        if failed and failed != failed_before:
            raise CompilationFailed(failed.partition("\n")[2])
        if entry.library.exists() and not rebuild:
            tell("info", f"{entry.library} is broken; it is made anew")
        return _build(build, compiler, entry, is_locked)


def _identity(path: Path) -> tuple | None:
    try:
        status = path.stat()
    except OSError:
        return None
    return (status.st_ino, status.st_mtime_ns, status.st_size)


def _build(build: TorchBuild, compiler: Compiler, entry: cache.Entry, is_locked: bool) -> Path:
    try:
        with cache.working_folder(entry.folder, is_locked=is_locked) as place:
            library, found = build_library(build, compiler, source_files(), INCLUDE, LIBRARIES, place)
            facts = {
                "torch": build.version,
                "git": build.git,
                "cxx11_abi": build.cxx11_abi,
                "compiler": compiler.describe(),
                "opscope": _core.__version__,
                **({} if found is None else {"parts": found}),
            }
            entry.publish(library, facts)
    except CompilationFailed as error:
        entry.fail(str(error))
        raise
    except OSError as error:
        raise CacheUnusable(
            f"the cache folder {entry.folder} cannot be written: {error.strerror}; "
            f"set {cache.VARIABLE} to a folder of your own"
        ) from error
    tell(
        "info", f"the adapter for torch {build.version} is in {entry.library} ({os.stat(entry.library).st_size} bytes)"
    )
    return entry.library

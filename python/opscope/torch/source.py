# SPDX-License-Identifier: Apache-2.0
"""The adapter of this process for the torch in it: carried by the package, cached, or compiled at first use."""

from __future__ import annotations

import os
import threading
from pathlib import Path

import torch

from .. import _core
from ..adapters import carried_verdict, parts, torch_adapter
from ..adapters.errors import AdapterMissing
from ..adapters.framework import TorchBuild, read_torch
from ..log import tell

__all__ = ["AdapterMissing", "adapter", "build_adapter", "load_ready_adapter"]

_lock = threading.RLock()
_loaded: _core.torch.TorchSource | None = None
_left_out: dict[str, str] = {}
_failure: AdapterMissing | None = None


def _renew_lock() -> None:
    global _lock
    _lock = threading.RLock()


os.register_at_fork(after_in_child=_renew_lock)  # another thread of the parent may have held it


def _build() -> TorchBuild:
    folder = Path(torch.__file__).parent
    build = read_torch(folder)
    if build is None or build.version != str(torch.__version__):
        found = "no torch" if build is None else f"torch {build.version}"
        raise AdapterMissing(f"this process runs torch {torch.__version__}, but {folder} now holds {found}; restart it")
    return build


def _load(path: Path, found: dict[str, str] | None) -> _core.torch.TorchSource:
    """Makes the library the adapter of this process; _core.Error when it does not load."""
    global _loaded, _left_out
    _loaded = _core.torch.load_source(path)
    _left_out = parts.left_out(found)
    verdict = (found or {}).get("drop_ins")
    if verdict is not None:
        _loaded.take_route_verdict(verdict)
    _core.torch.set_range_source(_loaded)
    tell("info", f"the adapter for torch {torch.__version__} is {path}")
    return _loaded


def _load_carried(build: TorchBuild) -> _core.torch.TorchSource | None:
    path = torch_adapter.carried(build)
    if path is None:
        return None
    found = carried_verdict.parts_of(build, path)
    if why := parts.misfit(found):
        tell("warn", f"the adapter that the package carries does not fit this torch ({why}); another one is needed")
        return None
    try:
        return _load(path, found)
    except _core.Error as error:
        tell("warn", f"the adapter that the package carries does not load ({error}); another one is needed")
        return None


def _load_compiled(build: TorchBuild, rebuild: bool) -> _core.torch.TorchSource:
    """One that does not load although it is whole (made for another system, say) is made anew, once."""
    path = torch_adapter.compiled(build, rebuild=rebuild)
    try:
        return _load(path, parts.read_parts(path))
    except _core.Error as error:
        if rebuild:
            raise AdapterMissing(f"the adapter for torch {build.version} does not load: {error}") from error
        tell("info", f"{path} does not load ({error}); it is made anew")
        return _load_compiled(build, rebuild=True)


def load_ready_adapter() -> bool:
    """Takes an adapter that is there already; compiles nothing and raises nothing."""
    with _lock:
        if _loaded is not None:
            return True
        try:
            build = _build()
            path = torch_adapter.carried(build)
            if path is not None and carried_verdict.known_parts(build, path) is None:
                return False
            if _load_carried(build) is not None:
                return True
            entry = torch_adapter.cached(build)
            return entry is not None and _load(entry.library, parts.read_parts(entry.library)) is not None
        except (AdapterMissing, _core.Error, OSError) as error:
            tell("info", f"no adapter for torch {torch.__version__} yet: {error}")
            return False


def adapter() -> _core.torch.TorchSource:
    """The loaded adapter. At the first use with a torch that the package has none for it is compiled,
    which takes seconds; AdapterMissing says what to do where that is not possible.
    """
    global _failure
    with _lock:
        if _loaded is not None:
            return _loaded
        if _failure is not None:
            raise _failure
        try:
            build = _build()
            return _load_carried(build) or _load_compiled(build, rebuild=False)
        except AdapterMissing as error:
            _failure = error  # a program may ask at every step
            raise


def left_out() -> dict[str, str]:
    """The parts of the loaded adapter that do not fit this torch, and why."""
    return _left_out


def build_adapter(*, rebuild: bool = False) -> Path:
    """Compiles the adapter for this torch into the cache now, instead of at the first recording.

    For images and clusters: run it once where there is a compiler, with OPSCOPE_CACHE set to a folder
    that the job can read. Returns the library; this process uses it when it has loaded none yet. An
    adapter in the cache is left as it is unless ``rebuild``. Raises AdapterMissing.
    """
    global _failure
    with _lock:
        build = _build()
        path = torch_adapter.compiled(build, rebuild=rebuild)
        _failure = None
        if _loaded is None:
            _load(path, parts.read_parts(path))
        return path

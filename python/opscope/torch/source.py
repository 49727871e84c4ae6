# SPDX-License-Identifier: Apache-2.0
"""The adapter of this process for the installed torch."""

from __future__ import annotations

from pathlib import Path

import torch

from .. import _core
from ..adapters.adapter import Adapter
from ..adapters.errors import AdapterMissing
from ..adapters.torch_adapter import adapter_for
from ..adapters.torch_build import read_torch
from ..frontend.loader import Loader

__all__ = ["AdapterMissing", "adapter", "build_adapter", "left_out", "load_ready_adapter"]


def _find() -> Adapter:
    folder = Path(torch.__file__).parent
    build = read_torch(folder)
    if build is None or build.version != str(torch.__version__):
        found = "no torch" if build is None else f"torch {build.version}"
        raise AdapterMissing(f"this process runs torch {torch.__version__}, but {folder} now holds {found}; restart it")
    return adapter_for(build)


def _take(source: _core.torch.TorchSource, found: dict[str, str] | None) -> None:
    result = (found or {}).get("hooks")
    if result is not None:
        source.set_probe_result(result)
    _core.torch.set_range_source(source)


_loader: Loader[_core.torch.TorchSource] = Loader(_find, lambda path: _core.torch.load_source(path), _take)


def load_ready_adapter() -> bool:
    """Loads an adapter if one exists already; compiles nothing and raises nothing."""
    return _loader.load_ready()


def adapter() -> _core.torch.TorchSource:
    """The loaded adapter. At the first use with a torch that the package has none for it is compiled,
    which takes seconds; AdapterMissing says what to do where that is not possible.
    """
    return _loader.source()


def left_out() -> dict[str, str]:
    """The parts of the loaded adapter that do not work with this torch, and why."""
    return _loader.left_out


def build_adapter(*, rebuild: bool = False) -> Path:
    """Makes sure now, instead of at the first recording, that there is an adapter for this torch.

    Returns at once the one that the package carries for this torch, or the one in the cache; where there is
    neither, and with ``rebuild`` in any case, it compiles one into the cache. For images and clusters: run it once
    where there is a compiler, with OPSCOPE_CACHE set to a folder that the job can read. Returns the library; this
    process uses it when it has loaded none yet. Raises AdapterMissing.
    """
    return _loader.build(rebuild=rebuild)

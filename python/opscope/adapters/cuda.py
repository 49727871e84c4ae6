# SPDX-License-Identifier: Apache-2.0
"""The CUDA source of this process, for every front end: kernels, copies and API calls, recorded through CUPTI."""

from __future__ import annotations

import functools
import os
from collections.abc import Iterator
from pathlib import Path

from .. import _core
from .installed import assigned_text, package_folder, package_folders

_LIBRARY = Path(_core.__file__).parent / "lib/libopscope_cuda.so"
_LIBRARIES_OF = {"torch": "lib", "paddle": "libs", "megengine": "core/lib"}  # folder of libcupti within each package


def cupti_is_named() -> bool:
    """Whether OPSCOPE_CUPTI_LIB names a libcupti. Only that library is then asked whether there is a device."""
    return bool(os.environ.get("OPSCOPE_CUPTI_LIB"))


@functools.cache
def cuda_source() -> _core.cuda.CudaSource | None:
    """The CUDA source, loaded at the first call; None if this build of opscope has none."""
    try:
        source = _core.cuda.load_source(_LIBRARY)
    except _core.Error:
        return None
    for file in cuptis_of_frameworks():
        source.suggest_cupti(file)
    return source


def cuptis_of_frameworks() -> list[Path]:
    """Paths of libcupti that the installed frameworks would load, those for torch's version of CUDA first.

    A framework has libcupti in its own folder or in pip's packages beside it (nvidia/*/lib), which need not be
    site-packages: ``pip install --target``, dist-packages, PYTHONPATH. No framework is imported.
    """
    files = [file for folder in _library_folders() for file in sorted(folder.glob("libcupti.so*"))]
    wanted = f"libcupti.so.{_cuda_release(package_folder('torch')).partition('.')[0]}"
    return sorted(dict.fromkeys(files), key=lambda file: not file.name.startswith(wanted))


def _library_folders() -> Iterator[Path]:
    frameworks = {name: package_folder(name) for name in _LIBRARIES_OF}
    installed = {name: folder for name, folder in frameworks.items() if folder is not None}
    for name, folder in installed.items():
        yield folder / _LIBRARIES_OF[name]
    for folder in installed.values():
        yield from sorted(folder.parent.glob("nvidia/*/lib"))
    for folder in package_folders("nvidia"):
        yield from sorted(folder.glob("*/lib"))


def _cuda_release(torch: Path | None) -> str:
    """torch's version of CUDA, "13.0"; "" without torch, or for a build without CUDA."""
    try:
        text = (torch / "version.py").read_text(encoding="utf-8", errors="replace") if torch is not None else ""
    except OSError:
        return ""
    return assigned_text(text, "cuda")

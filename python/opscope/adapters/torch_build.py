# SPDX-License-Identifier: Apache-2.0
"""Identifies the installed build of torch by its files, because importing torch takes seconds.

Two builds with the same version can differ in the class layouts that an adapter is compiled against. A build is
therefore identified by its version, git hash, the string ABI of libstdc++, and a hash of the headers with those
layouts.
"""

from __future__ import annotations

import functools
import hashlib
import re
from dataclasses import dataclass
from pathlib import Path

from .installed import assigned_text

# Headers whose layouts are compiled into the adapter.
_LAYOUT_HEADERS = (
    "ATen/record_function.h",
    "ATen/core/ivalue.h",
    "ATen/core/ivalue_inl.h",
    "c10/core/TensorImpl.h",
    "c10/core/StorageImpl.h",
)


@dataclass(frozen=True)
class TorchBuild:
    """One installed torch."""

    folder: Path
    version: str  # "2.13.0+cpu"
    git: str  # may be empty
    cxx11_abi: int  # _GLIBCXX_USE_CXX11_ABI of its libraries
    headers: str  # hash of those headers; empty if the package has none

    @property
    def release(self) -> str:
        """The version without its local part ("+cu130"), which builds of one release for several devices share."""
        return self.version.partition("+")[0]

    @property
    def is_final(self) -> bool:
        """Whether it is a tagged release, not a build between two releases."""
        return re.fullmatch(r"\d+\.\d+\.\d+", self.release) is not None


def read_torch(folder: Path) -> TorchBuild | None:
    """The build in this folder; None if it is not torch."""
    version_file = folder / "version.py"
    try:
        text = version_file.read_text(encoding="utf-8", errors="replace")
        return _read_torch(folder, text)
    except OSError:
        return None


@functools.lru_cache(maxsize=4)
def _read_torch(folder: Path, text: str) -> TorchBuild | None:
    version = assigned_text(text, "__version__")
    if not re.match(r"\d+\.\d+", version):
        return None
    git = assigned_text(text, "git_version")
    return TorchBuild(folder, version, git, _cxx11_abi(folder), _hash_headers(folder))


def _cxx11_abi(folder: Path) -> int:
    """Torch's CMake file names it up to 2.8 or so; later builds have the new ABI alone."""
    try:
        text = (folder / "share/cmake/Torch/TorchConfig.cmake").read_text(errors="replace")
    except OSError:
        return 1
    found = re.search(r"_GLIBCXX_USE_CXX11_ABI=([01])", text)
    return int(found.group(1)) if found else 1


def _hash_headers(folder: Path) -> str:
    digest = hashlib.sha256()
    seen = 0
    for name in _LAYOUT_HEADERS:
        try:
            digest.update((folder / "include" / name).read_bytes())
            seen += 1
        except OSError:
            digest.update(b"-")
    return digest.hexdigest() if seen else ""

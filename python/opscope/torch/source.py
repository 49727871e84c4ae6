# SPDX-License-Identifier: Apache-2.0
"""The adapter for the installed torch: a small library beside the engine, one per torch minor version."""

from __future__ import annotations

import functools
import os
import re

import torch

from .. import _core


class AdapterMissing(ImportError):
    """There is no adapter for the installed torch."""


def _library_path() -> str:
    major, minor = re.match(r"(\d+)\.(\d+)", torch.__version__).groups()
    return os.path.join(os.path.dirname(_core.__file__), "lib", f"libopscope_torch_{major}_{minor}.so")


@functools.cache
def _load():
    path = _library_path()
    if not os.path.exists(path):
        raise AdapterMissing(
            f"opscope was built without an adapter for torch {torch.__version__} (looked for {path}); "
            "install opscope with `pip install --no-build-isolation .` in an environment that has this torch"
        )
    try:
        return _core.load_torch_source(path)
    except _core.Error as error:
        raise AdapterMissing(f"the adapter for torch {torch.__version__} does not load: {error}") from error


def is_available() -> bool:
    """Whether torch's operators can be recorded here."""
    try:
        _core.set_range_source(_load())
    except AdapterMissing:
        return False
    return True


def adapter():
    """The loaded adapter; AdapterMissing says what to do when there is none."""
    return _load()

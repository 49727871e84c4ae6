# SPDX-License-Identifier: Apache-2.0
"""The MegEngine source of this process, which reads the records of MegEngine's recorder from memory."""

from __future__ import annotations

import megengine

from .. import _core
from ..adapters.adapter import Adapter, adapter_of
from ..adapters.errors import AdapterMissing
from ..adapters.megengine_adapter import adapter_for, read_megengine
from ..frontend.loader import Loader

__all__ = ["AdapterMissing", "source"]


def _find() -> Adapter:
    return adapter_of(megengine.__file__, read_megengine, adapter_for, "MegEngine that opscope knows")


_loader: Loader[_core.megengine.MegEngineSource] = Loader(_find, lambda path: _core.megengine.load_source(path))


def source() -> _core.megengine.MegEngineSource:
    """The loaded source.

    The first use with a MegEngine tests it, which takes as long as importing MegEngine once more. AdapterMissing says
    why there is none; the timeline that MegEngine writes is read instead.
    """
    return _loader.source()

# SPDX-License-Identifier: Apache-2.0
"""The MegEngine source of this process: it takes what MegEngine's recorder holds out of memory."""

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
    """The loaded source; at the first use with a MegEngine it is tested, which takes the time of importing MegEngine
    once more. AdapterMissing says why there is none: then what MegEngine writes itself is read.
    """
    return _loader.source()

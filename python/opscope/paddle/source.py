# SPDX-License-Identifier: Apache-2.0
"""The Paddle source of this process, with the results of its self-test for the installed Paddle."""

from __future__ import annotations

import paddle

from .. import _core
from ..adapters.adapter import Adapter, adapter_of
from ..adapters.errors import AdapterMissing
from ..adapters.paddle_adapter import PARTS, adapter_for, read_paddle
from ..adapters.paddle_fallbacks import set_fallback_recorders
from ..frontend.loader import Loader
from ..log import log_message

__all__ = ["AdapterMissing", "source"]


def _find() -> Adapter:
    lacks = "Paddle that opscope knows: it has neither libphi_core.so nor libpaddle.so"
    return adapter_of(paddle.__file__, read_paddle, adapter_for, lacks)


def _take(loaded: _core.paddle.PaddleSource, found: dict[str, str] | None) -> None:
    set_fallback_recorders(loaded)
    for part in PARTS:
        loaded.set_probe_result(part, (found or {}).get(part, "it was not tried"))
    _core.paddle.set_range_source(loaded)
    log_message("info", f"events of Paddle are recorded by {loaded.capture_mode}")


_loader: Loader[_core.paddle.PaddleSource] = Loader(_find, lambda path: _core.paddle.load_source(path), _take)


def source() -> _core.paddle.PaddleSource:
    """The loaded source, which also records the ranges of `_core.paddle.Range`.

    The first use with a Paddle tests it, which takes as long as importing Paddle once more. AdapterMissing says why
    there is none.
    """
    return _loader.source()

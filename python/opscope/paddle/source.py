# SPDX-License-Identifier: Apache-2.0
"""The Paddle source of this process, with what its self-test has shown beside the Paddle in it."""

from __future__ import annotations

import os
import threading
from pathlib import Path

import paddle

from .. import _core
from ..adapters import paddle_adapter
from ..adapters.errors import AdapterMissing
from ..log import tell

__all__ = ["AdapterMissing", "source"]

_lock = threading.Lock()
_loaded: _core.paddle.PaddleSource | None = None
_left_out: dict[str, str] = {}


def _renew_lock() -> None:
    global _lock
    _lock = threading.Lock()


os.register_at_fork(after_in_child=_renew_lock)  # another thread of the parent may have held it


def source() -> _core.paddle.PaddleSource:
    """The loaded source; ranges of `_core.paddle.Range` go to it. At the first use with a Paddle it is tested, which
    takes the time of importing Paddle once more; AdapterMissing says why there is none.
    """
    global _loaded, _left_out
    with _lock:
        if _loaded is not None:
            return _loaded
        folder = Path(paddle.__file__).parent
        build = paddle_adapter.read_paddle(folder)
        if build is None:
            raise AdapterMissing(f"{folder} holds no Paddle that opscope knows: it has no libphi_core.so")
        path = paddle_adapter.library()
        found = paddle_adapter.verdict(build)
        try:
            loaded = _core.paddle.load_source(path)
        except _core.Error as error:
            raise AdapterMissing(f"the Paddle source does not load: {error}") from error
        for part, why in found.items():
            loaded.take_verdict(part, why)
        _core.paddle.set_range_source(loaded)
        _loaded, _left_out = loaded, {part: why for part, why in found.items() if why}
        tell("info", f"the source for Paddle {build.version} is {path}; events by {loaded.route}")
        return loaded


def left_out() -> dict[str, str]:
    """The parts of the loaded source that do not fit this Paddle, and why."""
    return _left_out

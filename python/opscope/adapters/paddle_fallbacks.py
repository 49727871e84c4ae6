# SPDX-License-Identifier: Apache-2.0
"""Registers the fallback recorders (Paddle's profiler, Python wrappers) of the Paddle source, without importing Paddle
until one is needed.
"""

from __future__ import annotations

from .. import _core


def set_fallback_recorders(source: _core.paddle.PaddleSource) -> None:
    """Once per process."""
    source.set_fallback_recorder("native", _Later(_native))
    source.set_fallback_recorder("wrappers", _Later(lambda: _wrappers(source)))


def _native():
    from .paddle_native import NativeProfiler

    return NativeProfiler()


def _wrappers(source: _core.paddle.PaddleSource):
    from .paddle_wrappers import Wrappers

    return Wrappers(source)


class _Later:
    """Creates the recorder at its first use."""

    def __init__(self, make) -> None:
        self._make, self._made = make, None

    def __getattr__(self, name: str):
        if self._made is None:
            self._made = self._make()
        return getattr(self._made, name)

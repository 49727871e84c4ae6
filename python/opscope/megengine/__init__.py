# SPDX-License-Identifier: Apache-2.0
"""The names of ``megengine.utils.profiler`` and ``megengine.jit.trace``, recorded by opscope.

Change ``from megengine.utils.profiler import ...`` to ``from opscope.megengine import ...``.
What is there and what differs on purpose: docs/reference/megengine.md.

Importing this package imports no MegEngine, which takes a second: the analysis of dumps needs none. The first use of
one of its names does.
"""

from importlib import import_module
from typing import Any

_HOME = {
    "AdapterMissing": ".source",
    "Profiler": ".profiler",
    "UnsupportedFeature": ".errors",
    "is_profiling": ".profiler",
    "merge_trace_events": ".profiler",
    "profile": ".profiler",
    "scope": ".profiler",
    "trace": ".jit",
}

__all__ = list(_HOME)


def __getattr__(name: str) -> Any:
    if name not in _HOME:  # a module of this package, say, which is imported by whoever asks
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return globals().setdefault(name, getattr(import_module(_HOME[name], __name__), name))


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})

# SPDX-License-Identifier: Apache-2.0
"""The names of ``megengine.utils.profiler`` and ``megengine.jit.trace``, recorded by opscope.

Change ``from megengine.utils.profiler import ...`` to ``from opscope.megengine import ...``.
docs/reference/megengine.md lists what exists and what differs on purpose. Importing this package does not import
MegEngine, which takes a second and which the analysis of dumps does not need; the first use of one of its names does.
"""

from importlib import import_module
from typing import Any

_MODULE_OF = {
    "AdapterMissing": ".source",
    "Profiler": ".profiler",
    "UnsupportedFeature": ".errors",
    "is_profiling": ".profiler",
    "merge_trace_events": ".profiler",
    "profile": ".profiler",
    "scope": ".profiler",
    "trace": ".jit",
}

__all__ = list(_MODULE_OF)


def __getattr__(name: str) -> Any:
    if name not in _MODULE_OF:  # e.g. a module of this package, which the caller imports itself
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return globals().setdefault(name, getattr(import_module(_MODULE_OF[name], __name__), name))


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})

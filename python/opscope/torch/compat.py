# SPDX-License-Identifier: Apache-2.0
"""Results exactly as in torch.profiler, even where those are wrong or incomplete."""

from __future__ import annotations

import contextlib
import contextvars
from collections.abc import Iterator

_is_requested = contextvars.ContextVar("opscope.torch.compat", default=False)


def compat_is_requested() -> bool:
    """Whether the calling code runs within ``compat()``."""
    return _is_requested.get()


@contextlib.contextmanager
def compat() -> Iterator[None]:
    """In this context tables and events are identical to those of torch.profiler 2.13.

    FLOPs are counted only for the operators that torch.profiler has a formula for, and a table with both columns prints
    the FLOPs under "Source Location" and the source under "Total FLOPs". Events are computed at their first use, within
    the context or not, and do not change later.
    """
    token = _is_requested.set(True)
    try:
        yield
    finally:
        _is_requested.reset(token)

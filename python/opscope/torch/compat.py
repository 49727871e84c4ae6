# SPDX-License-Identifier: Apache-2.0
"""Results exactly as torch.profiler gives them, also where it is wrong or knows less."""

from __future__ import annotations

import contextlib
import contextvars
from collections.abc import Iterator

_asked = contextvars.ContextVar("opscope.torch.compat", default=False)


def compat_is_asked() -> bool:
    """Whether the calling code runs under ``compat()``."""
    return _asked.get()


@contextlib.contextmanager
def compat() -> Iterator[None]:
    """Within it, tables and events are those of torch.profiler 2.13 to the letter.

    FLOPs are counted only for the operators that torch.profiler has a formula for, and a table with both prints
    the FLOPs under "Source Location" and the source under "Total FLOPs". Events are computed at their first use,
    with or without it, and stay as they were then.
    """
    token = _asked.set(True)
    try:
        yield
    finally:
        _asked.reset(token)

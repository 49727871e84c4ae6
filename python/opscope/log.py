# SPDX-License-Identifier: Apache-2.0
"""Messages on standard error, one line each, filtered by ``OPSCOPE_LOG``: off, error, warn (default), info, debug.

The package returns values and raises exceptions. By default it prints only during waits of seconds, so that the program
does not seem to hang; with ``info`` it also prints what it does in the background.
"""

from __future__ import annotations

import os
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager

_LEVELS = ("off", "error", "warn", "info", "debug")
_DEFAULT = "warn"
_of_thread = threading.local()


def is_on(level: str) -> bool:
    """Whether messages of this level are printed. The variable is read each time, because programs may set it late."""
    wanted = os.environ.get("OPSCOPE_LOG", _DEFAULT)
    if wanted not in _LEVELS:
        wanted = _DEFAULT
    return _LEVELS.index(level) <= _LEVELS.index(wanted)


@contextmanager
def quiet() -> Iterator[None]:
    """Suppresses messages and warnings of this thread in the block, which runs inside a program that does not import
    opscope itself.
    """
    before = is_quiet()
    _of_thread.is_quiet = True
    try:
        yield
    finally:
        _of_thread.is_quiet = before


def is_quiet() -> bool:
    """Whether this thread is in a block of ``quiet()``."""
    return getattr(_of_thread, "is_quiet", False)


def log_message(level: str, message: str) -> None:
    """Writes ``opscope: MESSAGE``; control characters are escaped, so that it stays one line."""
    if not is_on(level) or sys.stderr is None or is_quiet():
        return
    line = "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in message)
    try:
        sys.stderr.write(f"opscope: {line}\n")
        sys.stderr.flush()
    except (OSError, ValueError):
        pass  # a closed standard error must not raise

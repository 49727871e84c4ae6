# SPDX-License-Identifier: Apache-2.0
"""Messages on standard error, one line each, filtered by ``OPSCOPE_LOG``: off, error, warn (default), info, debug.

The package returns values and raises exceptions; it prints only where it would otherwise look like a hung program, and
with ``info`` what it does in the background.
"""

from __future__ import annotations

import os
import sys

_LEVELS = ("off", "error", "warn", "info", "debug")
_DEFAULT = "warn"


def is_on(level: str) -> bool:
    """Whether messages of this level are printed. The variable is read each time, because programs may set it late."""
    wanted = os.environ.get("OPSCOPE_LOG", _DEFAULT)
    if wanted not in _LEVELS:
        wanted = _DEFAULT
    return _LEVELS.index(level) <= _LEVELS.index(wanted)


def tell(level: str, message: str) -> None:
    """Writes ``opscope: MESSAGE``; control characters are escaped, so that it stays one line."""
    if not is_on(level) or sys.stderr is None:
        return
    line = "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in message)
    try:
        sys.stderr.write(f"opscope: {line}\n")
        sys.stderr.flush()
    except (OSError, ValueError):
        pass  # a closed standard error must not raise

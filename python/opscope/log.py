# SPDX-License-Identifier: Apache-2.0
"""What the package tells on standard error: one line a time, as loud as ``OPSCOPE_LOG`` asks for.

Levels: off, error, warn (the default), info, debug. The package returns and raises; it tells only what
would otherwise look like a program that hangs, and with ``info`` what it does behind the scenes.
"""

from __future__ import annotations

import os
import sys

_LEVELS = ("off", "error", "warn", "info", "debug")
_DEFAULT = "warn"


def is_on(level: str) -> bool:
    """Whether lines of this level are told. The variable is read each time: programs may set it late."""
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
        pass  # a closed standard error is no reason to fail

# SPDX-License-Identifier: Apache-2.0
"""Files that appear under their name when they are whole."""

from __future__ import annotations

import os
import secrets
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import IO


@contextmanager
def whole_file(path, *, binary: bool = False) -> Iterator[IO]:
    """A file to write text to (bytes if ``binary``), which takes its name when the block ends without an exception.

    A symbolic link stays, and the file that it leads to is replaced. What exists and is no plain file (a pipe,
    ``/dev/stdout``) is written to directly.
    """
    asked = path
    kind = {} if binary else {"encoding": "utf-8", "errors": "surrogateescape"}
    path = os.fsdecode(path)
    if os.path.exists(path) and not os.path.isfile(path):
        with open(path, "wb" if binary else "w", **kind) as file:
            yield file
        return
    path = os.path.realpath(path)
    beside = f"{path}.{secrets.token_hex(4)}.tmp"
    try:
        file = open(beside, "xb" if binary else "x", **kind)  # noqa: SIM115  renamed below
    except OSError as error:
        raise type(error)(error.errno, os.strerror(error.errno), asked) from None
    try:
        with file:
            yield file
        os.replace(beside, path)
    except BaseException as error:
        with suppress(OSError):
            os.unlink(beside)
        if isinstance(error, OSError) and error.filename is None:
            error.filename = asked  # a write knows no path
        raise

# SPDX-License-Identifier: Apache-2.0
"""Files that appear under their name when they are whole."""

from __future__ import annotations

import io
from collections.abc import Iterator
from contextlib import contextmanager
from typing import IO

from .. import _core


@contextmanager
def whole_file(path, *, binary: bool = False) -> Iterator[IO]:
    """A file to write text to (bytes if ``binary``), which is there when the block ends without an exception.

    A symbolic link stays, and the file that it leads to is replaced, with its mode. What exists and is no plain file (a
    pipe, ``/dev/stdout``) is written to directly.
    """
    file = io.BytesIO() if binary else io.StringIO()
    yield file
    content = file.getvalue()
    _core.write_whole_file(path, content if binary else content.encode("utf-8", "surrogateescape"))

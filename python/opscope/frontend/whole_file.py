# SPDX-License-Identifier: Apache-2.0
"""Files that appear under their name only when they are complete."""

from __future__ import annotations

import io
from collections.abc import Iterator
from contextlib import contextmanager
from typing import IO

from .. import _core


@contextmanager
def whole_file(path, *, binary: bool = False) -> Iterator[IO]:
    """Opens a file for text (bytes if ``binary``) that replaces `path` when the block ends without an exception.

    A symbolic link stays, and its target is replaced, with the same mode. A path that is not a regular file (a pipe,
    ``/dev/stdout``) is written directly.
    """
    file = io.BytesIO() if binary else io.StringIO()
    yield file
    content = file.getvalue()
    _core.write_whole_file(path, content if binary else content.encode("utf-8", "surrogateescape"))

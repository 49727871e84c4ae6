# SPDX-License-Identifier: Apache-2.0
"""The page of ``opscope report``: as a file, and as a frame in a notebook."""

from __future__ import annotations

import html
import os
from typing import TYPE_CHECKING

from opscope import _core
from opscope.sizes import byte_count

if TYPE_CHECKING:
    from opscope.trace import Trace

__all__ = ["page_frame", "write_page"]

# A notebook is a file that people send to each other and keep in repositories.
_MAX_FRAME_BYTES = 2 << 20
_MIN_PAGE_BYTES = 1 << 20


def write_page(
    trace: Trace,
    path: str | bytes | os.PathLike,
    title: str | None,
    theme: str,
    max_size: int | str,
    baseline: Trace | None,
) -> None:
    """`opscope.Trace.report`."""
    size = byte_count(max_size, "max_size")
    if size < _MIN_PAGE_BYTES:
        raise ValueError(f"max_size should be at least 1M, not {max_size!r}")
    for name, value in (("title", title), ("theme", theme)):
        if not isinstance(value, str) and (value is not None or name == "theme"):
            raise TypeError(f"{name} must be a str, not {type(value).__name__}")
    if baseline is not None and not isinstance(baseline, type(trace)):
        kind = type(baseline).__name__
        raise TypeError(f"baseline must be an opscope.Trace (opscope.open(path), prof.trace), not {kind}")
    core = None if baseline is None else baseline._core
    _core.write_report(trace._core, os.fspath(path), title or "trace", theme, size, core)


def page_frame(trace: Trace, title: str) -> str | None:
    """An ``<iframe>`` with the whole page, which reaches neither the notebook nor a network. None if it is too large.

    >>> frame = page_frame(trace, "run")
    >>> frame.startswith('<iframe sandbox="allow-scripts allow-downloads" title="run"'), len(frame) < 2 << 20
    (True, True)
    """
    size = _MAX_FRAME_BYTES * 4 // 5  # quotes of the page take more bytes in the attribute
    while True:
        page = _core.report_text(trace._core, title, max(size, _MIN_PAGE_BYTES))
        frame = _FRAME.format(html.escape(title), page.replace("&", "&amp;").replace('"', "&quot;"))
        if len(frame.encode("utf-8", "surrogateescape")) <= _MAX_FRAME_BYTES:
            return frame
        if size < _MIN_PAGE_BYTES:
            return None
        size = size * 3 // 4


_FRAME = (
    '<iframe sandbox="allow-scripts allow-downloads" title="{}" width="100%" height="720" '
    'style="border:0" srcdoc="{}"></iframe>'
)

# SPDX-License-Identifier: Apache-2.0
"""What MegEngine's recorder recorded from one start to its stop."""

from __future__ import annotations

import os
from collections.abc import Callable

from .. import _core
from ..trace import Trace, open
from .errors import UnsupportedFeature


class DumpedWindow:
    """As MegEngine writes it: its JSON, in memory. Made at the first use, under the GIL."""

    def __init__(self, dump: Callable[[str, str], None]) -> None:
        """``dump``: what ``stop_profile`` has returned. It writes one file; a second call ends the process."""
        self._dump: Callable[[str, str], None] | None = dump
        self._json: int | None = None  # descriptor of the file in memory
        self._trace: Trace | None = None

    def _file(self) -> str:
        if self._json is None:
            if self._dump is None:
                raise UnsupportedFeature(
                    "a trace", "MegEngine gives what it recorded once, and it was given", "no memory_flow.svg"
                )
            dump, self._dump = self._dump, None
            self._json = os.memfd_create("opscope-megengine", os.MFD_CLOEXEC)
            dump(f"/proc/self/fd/{self._json}", "chrome_timeline.json")
        return f"/proc/self/fd/{self._json}"

    @property
    def trace(self) -> Trace:
        if self._trace is None:
            self._trace = open(self._file())
        return self._trace

    def write(self, path: str, format: str) -> None:
        """A file of this name in one of MegEngine's formats; OSError."""
        if format == "memory_flow.svg" and self._dump is not None:
            self._write_picture(path)
        elif format == "memory_flow.svg":
            raise UnsupportedFeature(
                "memory_flow.svg",
                "MegEngine gives what it recorded once, and it was given",
                "formats=['memory_flow.svg']",
            )
        else:
            with os.fdopen(os.open(self._file(), os.O_RDONLY), "rb") as file:
                _core.write_whole_file(path, file.read())

    def _write_picture(self, path: str) -> None:
        dump, self._dump = self._dump, None
        with os.fdopen(os.memfd_create("opscope-megengine", os.MFD_CLOEXEC), "rb") as file:
            dump(f"/proc/self/fd/{file.fileno()}", "memory_flow.svg")
            _core.write_whole_file(path, file.read())

    def __del__(self) -> None:
        if self._json is not None:
            os.close(self._json)

# SPDX-License-Identifier: Apache-2.0
"""A window of MegEngine whose records cannot be taken: by what MegEngine itself writes of it, in memory."""

from __future__ import annotations

import os
from collections.abc import Callable

from .. import _core


def dumped_trace(result: Callable[[str, str], None], why: str) -> _core.Trace:
    """Of what ``stop_profile`` has returned, which must not be called again: a second call ends the process.

    ``why`` its records were not taken: a problem of the trace says so. MegEngine holds the GIL while it writes.
    OSError: no file in memory could be had; _core.Error: what MegEngine wrote is no timeline.
    """
    file = os.memfd_create("opscope-megengine", os.MFD_CLOEXEC)
    try:
        path = f"/proc/self/fd/{file}"
        result(path, "chrome_timeline.json")
        return _core.megengine.read_dump(path, why)
    finally:
        os.close(file)

# SPDX-License-Identifier: Apache-2.0
"""Loads the library that records calls and records one.

    python -m opscope.adapters.python_self_test LIBRARY

Exit status 0 when the recording holds it. A process of its own, because a library that does not fit may crash.
"""

from __future__ import annotations

import sys
from pathlib import Path


def _called() -> int:
    return len("abc")


def record_one_call(path: Path) -> str:
    """Records one call; what is wrong with the library, or ""."""
    from .. import _core
    from ..trace import Trace
    from .python_calls import load

    source = _core.source_of(load(path).source())
    recording = _core.Recording(native_threads="none", sources=[(source, ["calls"])])
    recording.start()
    _called()
    recording.stop()
    names = list(Trace(recording.trace()).spans.text("name"))
    at = next((i for i, name in enumerate(names) if name.endswith("): _called")), -1)
    if at < 0 or names[at + 1 : at + 2] != ["<built-in function len>"]:
        return f"it recorded {names[:20]}"
    return ""


def main() -> int:
    wrong = record_one_call(Path(sys.argv[1]))
    if wrong:
        print(f"Error: the library does not work: {wrong}")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())

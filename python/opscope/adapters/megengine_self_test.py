# SPDX-License-Identifier: Apache-2.0
"""Loads the MegEngine source beside the installed MegEngine and tries it (self_test.py).

python -m opscope.adapters.megengine_self_test [LIBRARY]
"""

from __future__ import annotations

import sys

from . import self_test
from .parts import OPERATORS


def _recorded(source):
    """A scope, a product of matrices, and a tensor that is read."""
    import megengine.functional as functional
    from megengine.core._imperative_rt import core2

    from .. import _core
    from ..trace import Trace

    left, right = functional.ones((8, 40)), functional.ones((40, 16))
    core2.full_sync()
    recording = _core.Recording(sources=[(source, [])], native_threads="none")
    recording.start()
    core2.start_profile({"profile_device": 1})
    core2.push_scope("outer")
    functional.matmul(left, right).numpy()
    core2.pop_scope("outer")
    core2.full_sync()
    why = source.take(core2.stop_profile())
    recording.stop()
    return why, Trace(recording.trace())


def _operators(source) -> str:
    why, trace = _recorded(source)
    if why:
        return why
    rows = [row for row in trace.spans if row["name"] in ("outer", "MatrixMul")]
    tracks = [row["name"] for row in trace.tracks]
    found = sorted((row["name"], tracks[row["track"]]) for row in rows)
    if {("MatrixMul", "worker"), ("outer", "interpreter"), ("outer", "worker")} - set(found) or len(found) != 4:
        return f"it recorded {found}"
    shapes = sorted(
        tuple(trace.arguments(row["args"])[0]["sizes"]) for row in trace.tensor_lives if row["args"] is not None
    )
    if not {(8, 40), (40, 16), (8, 16)} <= set(shapes):
        return f"it recorded tensors of {shapes}"
    [operator] = [row for row in rows if row["name"] == "MatrixMul" and row["kind"] == 1]
    if '"transposeA": "0"' not in (operator["extra"] or ""):
        return f"it recorded the parameters {operator['extra']}"
    return ""


_PARTS = {OPERATORS: _operators}


def _load(path: str):
    from .. import _core

    return _core.megengine.load_source(path)


def _prepare() -> None:
    import megengine

    megengine.set_default_device("cpux")


if __name__ == "__main__":
    sys.exit(self_test.main(_PARTS, _load, _prepare))

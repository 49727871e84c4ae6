# SPDX-License-Identifier: Apache-2.0
"""Loads the Paddle source beside the installed Paddle and tries each of its parts (self_test.py).

python -m opscope.adapters.paddle_self_test [LIBRARY]
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable

from . import self_test
from .paddle_fallbacks import set_fallback_recorders
from .parts import OPERATORS

_OPERATOR = [
    ("add dygraph", "Operator"),
    ("add infer_meta", "OperatorInner"),
    ("add kernel launch", "DygraphKernelLaunch"),
]


def _recorded(source, flags: list[str], program: Callable[[], object]):
    from .. import _core
    from ..trace import Trace

    recording = _core.Recording(sources=[(source, flags)], native_threads="attached")
    recording.start()
    program()
    recording.stop()
    return Trace(recording.trace())


def _inputs():
    import paddle

    return paddle.ones([2, 3]), paddle.ones([4, 3])


def _events(source) -> str:
    """Records an operator and the events inside it; what is wrong, or ""."""
    import paddle

    ones = paddle.ones([1])
    trace = _recorded(source, [], lambda: paddle.add(ones, ones))
    rows = [(row["name"], row["category"], row["parent"]) for row in trace.spans]
    kinds = [row[:2] for row in rows]
    if len(rows) < 4 or any(event not in kinds for event in _OPERATOR):
        return f"it recorded {kinds}"
    outer = kinds.index(_OPERATOR[0])
    if any(rows[kinds.index(event)][2] != outer for event in _OPERATOR[1:]):
        return f"what it recorded does not nest: {rows}"
    return ""


def _operators(trace) -> list[dict]:
    return [row for row in trace.spans if row["category"] == "Operator"]


def _matmul(source) -> tuple[list, dict]:
    """Shapes and attributes of `matmul(x, y, transpose_y=True)`."""
    import paddle

    x, y = _inputs()
    trace = _recorded(source, ["shapes"], lambda: paddle.matmul(x, y, transpose_y=True))
    [row] = _operators(trace)
    sizes = [argument["sizes"] for argument in trace.arguments(row["args"])] if row["args"] is not None else []
    return sizes, json.loads("{" + (row["extra"] or "") + "}")


def _shapes(source) -> str:
    sizes, members = _matmul(source)
    if sizes[:2] != [[2, 3], [4, 3]] or members.get("input_shapes") != {"x": [[2, 3]], "y": [[4, 3]]}:
        return f"it recorded the shapes {sizes} and {members}"
    return ""


def _attributes(source) -> str:
    _, members = _matmul(source)
    recorded = members.get("attributes", {})
    wanted = {"transpose_x": False, "transpose_y": True}
    return "" if recorded == wanted else f"it recorded the attributes {recorded}"


def _memory(source) -> str:
    import paddle

    trace = _recorded(source, ["memory"], lambda: paddle.empty([100000], "float32"))
    sizes = sorted(map(int, trace.allocations["bytes"]))
    return "" if sizes[:1] + sizes[-1:] == [-400000, 400000] else f"it recorded blocks of {sizes} bytes"


def _drain(source) -> str:
    os.environ["OPSCOPE_PADDLE_ROUTE"] = "drain"
    return _events(source)


def _native(source) -> str:
    os.environ["OPSCOPE_PADDLE_ROUTE"] = "native"
    return _events(source)


def _wrappers(source) -> str:
    """The operator alone, with its shapes; what is wrong, or ""."""
    os.environ["OPSCOPE_PADDLE_ROUTE"] = "wrappers"
    sizes, members = _matmul(source)
    return "" if sizes == [[2, 3], [4, 3]] else f"it recorded the shapes {sizes} and {members}"


def _tried(part: str, attempt: Callable[[object], str]) -> Callable[[object], str]:
    """An attempt whose result is passed to the source, so that later attempts use only working parts."""

    def act(source) -> str:
        try:
            why = source.try_part(part) or attempt(source)
        except Exception as error:  # of any kind: this part does not fit
            why = f"{type(error).__name__}: {error}"
        source.set_probe_result(part, why)
        return why

    return act


def _any_mode(source) -> str:
    os.environ.pop("OPSCOPE_PADDLE_ROUTE", None)
    mode, _, why = source.capture_mode.partition(": ")
    return why if mode == "none" else ""


_EVENTS = {"hooks": _events, "shapes": _shapes, "attributes": _attributes, "memory": _memory, "drain": _drain}
_EVENTS |= {"native": _native, "wrappers": _wrappers}
_PARTS = {part: _tried(part, attempt) for part, attempt in _EVENTS.items()} | {OPERATORS: _any_mode}


def _load(path: str):
    from .. import _core

    source = _core.paddle.load_source(path)
    set_fallback_recorders(source)
    return source


def _prepare() -> None:
    os.environ.pop("OPSCOPE_PADDLE_ROUTE", None)
    import paddle

    paddle.set_device("cpu")
    paddle.set_grad_enabled(False)


if __name__ == "__main__":
    sys.exit(self_test.main(_PARTS, _load, _prepare))

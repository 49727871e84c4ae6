# SPDX-License-Identifier: Apache-2.0
"""Loads an adapter beside the installed torch and tries each of its parts (self_test.py).

python -m opscope.adapters.torch_self_test [LIBRARY]
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable

from . import self_test
from .parts import OPERATORS

_SHAPE = (2, 3)


def _recorded(source, flags: list[str], program: Callable[[], object]):
    from .. import _core

    recording = _core.Recording(sources=[(source, flags)], native_threads="attached")
    recording.start()
    program()
    recording.stop()
    return recording.trace()


def _events(trace) -> list:
    from .. import _core

    events = _core.torch.FunctionEvents(trace, use_device="")
    return [events.event(i) for i in range(len(events))]


def _wrong_names(events: list, names: list[str]) -> str:
    recorded = [event.name for event in events]
    return "" if recorded == names else f"it recorded {recorded} instead of {names}"


def _operators(source) -> str:
    import torch

    if source.torch_version.partition("+")[0] != torch.__version__.partition("+")[0]:
        return f"it is for torch {source.torch_version}, not {torch.__version__}"
    ones = torch.ones(*_SHAPE)
    events = _events(_recorded(source, ["inputs"], lambda: torch.add(ones, ones)))
    if wrong := _wrong_names(events, ["aten::add"]):
        return wrong
    shapes = [tuple(shape) for shape in events[0].input_shapes[:2]]
    return "" if shapes == [_SHAPE, _SHAPE] else f"it recorded the shapes {shapes}"


def _memory(source) -> str:
    import torch

    from ..trace import Trace

    allocations = Trace(_recorded(source, ["memory"], lambda: torch.empty(100000))).allocations
    sizes = sorted(map(int, allocations["bytes"]))
    return "" if sizes == [-400000, 400000] else f"it recorded blocks of {sizes} bytes instead of one of 400000"


def _profiler_state(source) -> str:
    from torch._C._profiler import _RecordFunctionFast

    def program():
        with _RecordFunctionFast("fast"):
            pass

    return _wrong_names(_events(_recorded(source, [], program)), ["fast"])


def _stacks(source) -> str:
    import torch

    ones = torch.ones(*_SHAPE)
    return _wrong_names(_events(_recorded(source, ["inputs", "stacks"], lambda: torch.neg(ones))), ["aten::neg"])


def _hooks(source) -> str:
    return source.probe_capture_mode() or _operators(source)  # which now go through them


_PARTS = {
    OPERATORS: _operators,
    "memory": _memory,
    "profiler_state": _profiler_state,
    "stacks": _stacks,
    "hooks": _hooks,  # last: the others are tried by callbacks
}


def _load(path: str):
    from .. import _core

    return _core.torch.load_source(path)


def _prepare() -> None:
    os.environ.setdefault("KINETO_LOG_LEVEL", "6")
    import torch  # noqa: F401  the library needs it in the process; perhaps it is still being compiled


if __name__ == "__main__":
    sys.exit(self_test.main(_PARTS, _load, _prepare))

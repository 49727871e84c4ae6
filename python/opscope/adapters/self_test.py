# SPDX-License-Identifier: Apache-2.0
"""Loads an adapter beside the installed torch and tries each of its parts.

    python -m opscope.adapters.self_test [LIBRARY]

Without LIBRARY it imports torch and then reads a line, {"library": ..., "without": [part, ...]}. Before and after each
part it prints a line of JSON: {"part": ..., "why": null}, then "why" is "" when the part holds, or what is wrong. Exit
status 0 when operators are recorded. A process of its own, because an adapter that does not fit may crash.
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable

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


def _presence(source) -> str:
    from torch._C._profiler import _RecordFunctionFast

    def program():
        with _RecordFunctionFast("fast"):
            pass

    return _wrong_names(_events(_recorded(source, [], program)), ["fast"])


def _stacks(source) -> str:
    import torch

    ones = torch.ones(*_SHAPE)
    return _wrong_names(_events(_recorded(source, ["inputs", "stacks"], lambda: torch.neg(ones))), ["aten::neg"])


def _drop_ins(source) -> str:
    return source.try_route() or _operators(source)  # which now go through them


_PARTS = {
    OPERATORS: _operators,
    "memory": _memory,
    "presence": _presence,
    "stacks": _stacks,
    "drop_ins": _drop_ins,  # last: the others are tried by callbacks
}


def _tell(part: str, why: str | None) -> None:
    print(json.dumps({"part": part, "why": why}), flush=True)


def try_parts(path: str, without: list[str]) -> dict[str, str]:
    """What is wrong with each part; "" where it holds."""
    from .. import _core

    found = {}
    try:
        source = _core.torch.load_source(path)
    except _core.Error as error:
        source, found[OPERATORS] = None, str(error)
        _tell(OPERATORS, found[OPERATORS])
    for part, attempt in _PARTS.items():
        if source is None or part in without:
            continue
        _tell(part, None)
        try:
            found[part] = attempt(source)
        except Exception as error:  # of any kind: this part does not fit
            found[part] = f"{type(error).__name__}: {error}"
        _tell(part, found[part])
        if part == OPERATORS and found[part]:
            break
    return found


def main() -> int:
    os.environ.setdefault("KINETO_LOG_LEVEL", "6")
    import torch  # noqa: F401  the library needs it in the process; perhaps it is still being compiled

    if len(sys.argv) > 1:
        asked = {"library": sys.argv[1], "without": []}
    else:
        line = sys.stdin.readline()
        if not line.strip():
            return 0  # nobody asks any more
        asked = json.loads(line)
    found = try_parts(asked["library"], asked["without"])
    if found[OPERATORS]:
        print(f"Error: the adapter does not work: {found[OPERATORS]}")
    return 1 if found[OPERATORS] else 0


if __name__ == "__main__":
    sys.exit(main())

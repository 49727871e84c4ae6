# SPDX-License-Identifier: Apache-2.0
"""Loads an adapter beside the installed torch and records one operator with its shapes.

    python -m opscope.adapters.self_test LIBRARY

Exit status 0 when the recording holds exactly that operator. A process of its own, because an adapter
that does not fit may crash.
"""

from __future__ import annotations

import sys

_SHAPE = (2, 3)
_WITH_INPUTS = 1  # torch_source_flags::kInputs


def record_one_operator(path: str) -> str:
    """What is wrong with the adapter; empty when it works."""
    import torch

    from .. import _core

    source = _core.load_torch_source(path)
    if source.torch_version != torch.__version__:
        return f"it is for torch {source.torch_version}, not {torch.__version__}"
    ones = torch.ones(*_SHAPE)
    session = _core.Session(adapter=source, source_flags=_WITH_INPUTS, native_threads="attached")
    session.start()
    torch.add(ones, ones)
    session.stop()
    events = _core.FunctionEvents(session.trace(), use_device="")
    recorded = [events.event(i) for i in range(len(events))]
    names = [event.name for event in recorded]
    if names != ["aten::add"]:
        return f"it recorded {names} instead of ['aten::add']"
    shapes = recorded[0].input_shapes[:2]
    if [tuple(shape) for shape in shapes] != [_SHAPE, _SHAPE]:
        return f"it recorded the shapes {shapes}"
    return ""


def main() -> int:
    wrong = record_one_operator(sys.argv[1])
    if wrong:
        print(f"Error: the adapter does not work: {wrong}")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())

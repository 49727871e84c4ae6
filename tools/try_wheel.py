# SPDX-License-Identifier: Apache-2.0
"""Tries the opscope that this Python has installed; prints what held; ends with a traceback where it did not.

python -I tools/try_wheel.py         records calls of Python natively, saves them, reads them by the command
python -I tools/try_wheel.py torch   records a model with opscope.torch, with the adapter that the package carries
"""

import importlib.metadata
import importlib.util
import json
import subprocess
import sys
import tempfile
from pathlib import Path

import opscope

OPSCOPE = Path(sys.executable).with_name("opscope")


def command(*arguments):
    """What the command `opscope` of this environment prints."""
    return subprocess.run([OPSCOPE, *arguments], capture_output=True, text=True, check=True).stdout


def counted(value):
    return len(value)


def try_native(folder):
    from opscope import _core
    from opscope.adapters import python_calls
    from opscope.trace import Trace

    library = python_calls.carried()
    assert library is not None, f"it carries no library for the calls of Python {python_calls.VERSION}"
    source = _core.source_of(python_calls.load(library).source())
    recording = _core.Recording(native_threads="none", sources=[(source, ["calls"])])
    recording.start()
    counted("abc")
    recording.stop()
    path = folder / "native.opscope"
    trace = Trace(recording.trace())
    trace.save(path)
    rows = json.loads(command("summary", path, "--json"))
    names = [row["name"] for row in rows["rows"]]
    assert any(name.endswith("): counted") for name in names), names
    assert "<built-in function len>" in names, names
    (plugin,) = (each for each in importlib.metadata.entry_points(group="pytest11") if each.name == "opscope")
    assert importlib.util.find_spec(plugin.value) is not None, f"pytest cannot load {plugin.value}"
    assert "prebuilt" in command("doctor") or python_calls.was_tried(library)
    return f"recorded {len(trace.spans)} calls natively"


def try_torch(folder):
    import torch

    from opscope.adapters import torch_adapter, torch_build
    from opscope.torch import ProfilerActivity, profile

    build = torch_build.read_torch(Path(torch.__file__).parent)
    library = torch_adapter.carried(build)
    assert library is not None, f"it carries no adapter for torch {torch.__version__}"
    model = torch.nn.Sequential(torch.nn.Linear(8, 8), torch.nn.ReLU())
    inputs = torch.ones(4, 8)
    with profile(activities=[ProfilerActivity.CPU], record_shapes=True, with_stack=True) as prof:
        model(inputs)
    calls = {event.key: event.count for event in prof.key_averages()}
    assert (calls.get("aten::linear"), calls.get("aten::relu")) == (1, 1), calls
    shapes = [event.input_shapes for event in prof.events() if event.name == "aten::linear"]
    assert shapes == [[[4, 8], [8, 8], [8]]], shapes
    path = folder / "torch.opscope"
    prof.save(path)
    assert "aten::addmm" in command("summary", path)
    return f"recorded {sum(calls.values())} operators and calls of torch {torch.__version__}"


def main():
    assert sys.prefix in opscope.__file__, f"{opscope.__file__} is not of {sys.prefix}"
    with tempfile.TemporaryDirectory() as folder:
        print((try_torch if "torch" in sys.argv[1:] else try_native)(Path(folder)))


if __name__ == "__main__":
    main()

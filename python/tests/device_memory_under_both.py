# SPDX-License-Identifier: Apache-2.0
"""A program whose device allocator reports, under both profilers; prints as JSON what each of them saw, torch's first.

    python device_memory_under_both.py LIBRARY FOLDER

LIBRARY is tests/fakes/device_allocator.cc, built: it calls torch's reporter as an allocator of CUDA does. torch's
profiler takes its reports without a device, too.
"""

import ctypes
import json
import pathlib
import sys
import warnings

import torch
import torch.profiler

import opscope.torch

BYTES = ("cpu_memory_usage", "self_cpu_memory_usage", "device_memory_usage", "self_device_memory_usage")
CUDA = 1  # c10::DeviceType


class Allocator:
    """The caching allocator of a device: blocks within one segment."""

    def __init__(self, library, device):
        self._report = ctypes.CDLL(library).ReportIfEnabled
        self._report.argtypes = [ctypes.c_void_p, ctypes.c_int64, ctypes.c_size_t, ctypes.c_size_t, ctypes.c_int]
        self._report.restype = ctypes.c_bool
        self._report_none = ctypes.CDLL(library).ReportOutOfMemory
        self._report_none.argtypes = [ctypes.c_int64, ctypes.c_size_t, ctypes.c_size_t, ctypes.c_int]
        self._report_none.restype = None
        self._device, self._allocated, self._blocks = device, 0, {}

    def allocate(self, address, size):
        self._blocks[address] = size
        self._tell(address, size)

    def free(self, address):
        self._tell(address, -self._blocks.pop(address))

    def refuse(self, size):
        self._report_none(size, self._allocated, 1 << 21, self._device)

    def _tell(self, address, change):
        self._allocated += change
        self._report(address, change, self._allocated, 1 << 21, self._device)


def operators(first, second):
    """Operators that allocate on two devices, one inside the other."""
    library = torch.library.Library("simulated", "DEF")
    library.define("inner(Tensor a) -> Tensor")
    library.define("outer(Tensor a) -> Tensor")

    def inner(a):
        first.allocate(0x7F0000000000, 1 << 20)
        second.allocate(0x7F0000000000, 3000)
        second.refuse(1 << 40)
        return a.clone()

    def outer(a):
        first.allocate(0x7F0000100000, 512)
        made = torch.ops.simulated.inner(a)
        first.free(0x7F0000100000)
        return made

    library.impl("inner", inner, "CPU")
    library.impl("outer", outer, "CPU")
    return library


def run_under_both(first, **wanted):
    """torch's profile around ours."""
    first.allocate(0x7F0000300000, 64)
    wanted.update(activities=[torch.profiler.ProfilerActivity.CPU], record_shapes=True, profile_memory=True)
    with torch.profiler.profile(**wanted) as theirs, opscope.torch.profile(**wanted) as ours:
        with torch.profiler.record_function("a range"):
            torch.ops.simulated.outer(torch.ones(4))
        first.free(0x7F0000300000)  # of before
        first.free(0x7F0000000000)  # outside of operators
    return theirs, ours


def seen(prof, path):
    prof.export_chrome_trace(str(path))
    events = sorted(json.loads(path.read_text())["traceEvents"], key=lambda e: e.get("ts", 0))
    return {
        "memory": [e["args"] for e in events if e.get("name") == "[memory]"],
        "out of memory": [e["args"] for e in events if e.get("name") == "[OutOfMemory]"],
        "events": [[e.name, *(getattr(e, name) for name in BYTES)] for e in prof.events()],
        "averages": sorted(
            [row.key, row.count, *(getattr(row, name) for name in BYTES)] for row in prof.key_averages()
        ),
    }


def main():
    warnings.simplefilter("ignore")
    library, folder = sys.argv[1], pathlib.Path(sys.argv[2])
    first, second = Allocator(library, 0), Allocator(library, 1)
    kept = operators(first, second)
    print(json.dumps([seen(prof, folder / "trace.json") for prof in run_under_both(first)]))
    # The timeline takes stacks. With them torch's events would tell of our Python, too.
    for name, prof in zip(("theirs", "ours"), run_under_both(first, with_stack=True), strict=True):
        prof.export_memory_timeline(str(folder / f"{name}.raw.json.gz"), device="cuda:0")
        prof.export_memory_timeline(str(folder / f"{name}.timeline.json"), device="cuda:0")
    del kept


if __name__ == "__main__":
    main()

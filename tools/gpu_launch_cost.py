#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What recording adds to a launch on a real GPU, beside CUPTI itself with a program that throws all records away.

    python tools/gpu_launch_cost.py

Launches with and without recording take turns in one process, so that a change of the processor's speed cancels out;
shown are medians and quartiles. Takes half a minute; needs torch with CUDA and opscope. torch.profiler is not compared:
once it has recorded, CUPTI costs time between its windows too (tools/gpu_check.py compares it, a process for each).
"""

from __future__ import annotations

import ctypes
import os
import statistics
import sys
import time

import torch

import opscope.torch
from opscope.torch import ProfilerActivity

LAUNCHES, WARM_UP, ROUNDS = 8000, 500, 14
BUFFER_BYTES, BUFFERS = 8 << 20, 12
KINDS = {  # CUpti_ActivityKind
    "memcpy": 1,
    "memset": 2,
    "driver": 4,
    "runtime": 5,
    "device": 8,
    "context": 9,
    "kernel": 10,
    "overhead": 17,
    "memcpy2": 22,
    "stream": 45,
}
REQUEST = ctypes.CFUNCTYPE(
    None, ctypes.POINTER(ctypes.c_void_p), ctypes.POINTER(ctypes.c_size_t), ctypes.POINTER(ctypes.c_size_t)
)
COMPLETE = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_uint32, ctypes.c_void_p, ctypes.c_size_t, ctypes.c_size_t)


def launch_us(count: int = LAUNCHES) -> float:
    """Of a kernel that does nothing, until the device has run all of them."""
    begin = time.perf_counter()
    for _ in range(count):
        torch.cuda._sleep(0)
    torch.cuda.synchronize()
    return (time.perf_counter() - begin) / count * 1e6


class Opscope:
    """A window with some activities."""

    def __init__(self, *activities: ProfilerActivity) -> None:
        self.activities = activities

    def __enter__(self) -> None:
        self.profile = opscope.torch.profile(activities=self.activities)
        self.profile.__enter__()

    def __exit__(self, *error: object) -> None:
        self.profile.__exit__(*error)


class Cupti:
    """CUPTI with some kinds enabled; buffers are touched before, and given out again as soon as they are full."""

    library: ctypes.CDLL

    def __init__(self, *kinds: str) -> None:
        self.kinds = kinds

    @classmethod
    def take(cls) -> None:
        """The library that opscope has recorded with."""
        with open("/proc/self/maps") as maps:
            mapped = next((line.split()[-1] for line in maps if "libcupti" in line), "")
        path = os.environ.get("OPSCOPE_CUPTI_LIB", mapped)
        if not path:
            sys.exit("gpu_launch_cost: no libcupti is loaded; opscope doctor says why")
        cls.library = ctypes.CDLL(path)
        memory = [ctypes.create_string_buffer(BUFFER_BYTES + 8) for _ in range(BUFFERS)]
        free = [(ctypes.addressof(each) + 7) & ~7 for each in memory]

        def request(buffer, size, most_records):  # an IndexError leaves *buffer NULL: CUPTI drops records
            buffer[0], size[0], most_records[0] = free.pop(), BUFFER_BYTES, 0

        def complete(_context, _stream, buffer, _size, _valid):
            free.append(buffer)

        cls.kept = memory, REQUEST(request), COMPLETE(complete)
        cls.library.cuptiActivityRegisterCallbacks(*cls.kept[1:])

    def __enter__(self) -> None:
        for kind in self.kinds:
            self.library.cuptiActivityEnable(KINDS[kind])

    def __exit__(self, *_error: object) -> None:
        for kind in self.kinds:
            self.library.cuptiActivityDisable(KINDS[kind])
        self.library.cuptiActivityFlushAll(1)


def measure(title: str, recorders: dict[str, Opscope | Cupti]) -> None:
    added: dict[str, list[float]] = {name: [] for name in recorders}
    without = []
    for _ in range(ROUNDS):
        for name, recorder in recorders.items():
            before = launch_us()
            with recorder:
                launch_us(WARM_UP)
                recorded = launch_us()
            without.append((before + launch_us()) / 2)
            added[name].append(recorded - without[-1])
    print(f"{title}: a launch without recording takes {statistics.median(without):.2f} us")
    for name, values in added.items():
        low, middle, high = statistics.quantiles(values, n=4)
        print(f"  {name:24} adds {middle:5.2f} us ({low:.2f} to {high:.2f})", flush=True)


def main() -> None:
    if not torch.cuda.is_available():
        sys.exit(f"gpu_launch_cost: torch {torch.__version__} sees no GPU")
    launch_us(WARM_UP)
    cpu, cuda = ProfilerActivity.CPU, ProfilerActivity.CUDA
    measure("opscope", {"both activities": Opscope(cpu, cuda), "CUDA": Opscope(cuda), "CPU": Opscope(cpu)})
    Cupti.take()
    single = {kind: Cupti(kind) for kind in ("kernel", "runtime", "driver")}
    measure("CUPTI itself", {**single, "all kinds of opscope's": Cupti(*KINDS)})


if __name__ == "__main__":
    main()

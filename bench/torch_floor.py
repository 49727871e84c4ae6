# SPDX-License-Identifier: Apache-2.0
"""Added time per operator: nothing, empty callbacks, opscope, torch.profiler; all in turns in one process.

    OPSCOPE_BUILD=build/dev python bench/torch_floor.py [add|add_|addgrad|mlp] [rounds]

A row is the fastest of all rounds minus the fastest without an observer; beside it the median of the
differences to the round just before. "own" is what is added on top of the empty callbacks of the same kind.
"""

import ctypes
import gc
import os
import pathlib
import statistics
import sys
import time

import torch
from torch.profiler import ProfilerActivity, profile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "python" / "tests"))
import raw_window  # noqa: E402
import torch_programs  # noqa: E402

floor = ctypes.CDLL(raw_window._library(pathlib.Path(os.environ["OPSCOPE_BUILD"]), "libopscope_torch_floor.so"))
floor.opscope_torch_floor_install.restype = ctypes.c_uint64
floor.opscope_torch_floor_remove.argtypes = [ctypes.c_uint64]


class Empty:
    def __init__(self, inputs):
        self.inputs = inputs

    def __enter__(self):
        self.handle = floor.opscope_torch_floor_install(self.inputs, 0)

    def __exit__(self, *_):
        floor.opscope_torch_floor_remove(self.handle)


class Ours:
    def __init__(self, flags):
        self.window = raw_window.Window(flags)

    def __enter__(self):
        self.window.start()

    def __exit__(self, *_):
        self.window.stop()
        counts = self.window.counts()
        assert counts.dropped == 0 and counts.recorded > 0
        self.window.free()


class Torch:
    def __init__(self, **options):
        self.options = options

    def __enter__(self):
        self.profiler = profile(activities=[ProfilerActivity.CPU], **self.options)
        self.profiler.start()

    def __exit__(self, *_):
        self.profiler.stop()
        self.profiler = None


ROWS = {
    "empty callbacks": lambda: Empty(0),
    "empty callbacks, inputs": lambda: Empty(1),
    "opscope": lambda: Ours(0),
    "opscope, overload names": lambda: Ours(raw_window.OVERLOAD_NAMES),
    "opscope, inputs": lambda: Ours(raw_window.INPUTS),
    "torch.profiler": lambda: Torch(),
    "torch.profiler, record_shapes": lambda: Torch(record_shapes=True),
}
GOALS = (
    ("opscope", "torch.profiler", "empty callbacks"),
    ("opscope, inputs", "torch.profiler, record_shapes", "empty callbacks, inputs"),
)


def loop_of(which):
    """(run(n), n): the operators of one round."""
    a, b = torch.ones(2), torch.ones(2)
    if which == "mlp":
        step = torch_programs.mlp()

        def run(n):
            for _ in range(n):
                step()

        return run, 60
    operator, left = {
        "add": (torch.add, a),
        "add_": (torch.Tensor.add_, a),
        "addgrad": (torch.add, torch.ones(2, requires_grad=True)),
    }[which]

    def run(n):
        for _ in range(n):
            operator(left, b)

    return run, 20000


def nanoseconds(run, n):
    begin = time.perf_counter_ns()
    run(n)
    return (time.perf_counter_ns() - begin) / n


def main(which="add", rounds="9"):
    torch.set_num_threads(1)
    run, n = loop_of(which)
    plain, rows = [], {name: [] for name in ROWS}
    with torch.set_grad_enabled(which in ("addgrad", "mlp")):
        nanoseconds(run, n // 2)
        for _ in range(int(rounds)):
            for name, make in ROWS.items():
                before = nanoseconds(run, n)
                plain.append(before)
                with make():
                    nanoseconds(run, n // 40)
                    after = nanoseconds(run, n)
                rows[name].append((after, after - before))
            gc.collect()
    fastest = min(plain)
    added = {name: min(t for t, _ in values) - fastest for name, values in rows.items()}
    print(f"{which}: without observer {fastest:.0f} ns (median {statistics.median(plain):.0f})")
    for name, values in rows.items():
        median = statistics.median(d for _, d in values)
        print(f"  {name:32s} added {added[name]:8.0f}   median of pairs {median:8.0f}")
    for ours, theirs, empty in GOALS:
        own = added[ours] - added[empty]
        print(
            f"  {ours:18s} / {theirs:30s} {added[ours] / added[theirs]:.2f}   own {own:.0f}, "
            f"above empty {own / (added[theirs] - added[empty]):.2f}"
        )


if __name__ == "__main__":
    main(*sys.argv[1:])

# SPDX-License-Identifier: Apache-2.0
"""Added time per call with stacks: a Python function, a C function, an nn.Module, a tiny operator."""

import sys

import torch
from added_time import added, sides_of

import measure
from workloads import TinyOps


def python_calls(count):
    def called():
        pass

    for _ in range(count):
        called()


def c_calls(count):
    called = "".islower
    for _ in range(count):
        called()


class Same(torch.nn.Module):
    def forward(self, x):
        return x


class ModuleCalls:
    """The cheapest module there is: what torch itself calls for it is most of its cost."""

    def __init__(self):
        self._module = Same()

    def run(self, count):
        module = self._module
        for _ in range(count):
            module(None)


def main():
    options = measure.parse_options(__doc__, ops=4000, quick_ops=200, rounds=60)
    rounds = 1 if options.quick else max(options.rounds, 5)
    version = "{}.{}".format(*sys.version_info)
    workloads = (
        ("call_python", "Python call", python_calls, options.ops, 0.6),
        ("call_c", "C call", c_calls, options.ops, 0.5),
        ("call_module", "nn.Module call", ModuleCalls().run, options.ops // 4, 0.5),
        ("op_stack", "tiny op", TinyOps().run, options.ops, 0.35),
    )
    for row, what, run, count, goal in workloads:
        times = added(run, count, 100, sides_of(["stack"]), rounds)
        ours, theirs = times["opscope", "stack"], times["torch", "stack"]
        cpu = {"ours": ours["cpu"], "theirs": theirs["cpu"]}
        title = f"added per {what}, with_stack"
        note = f"Python {version}, {count} calls"
        measure.print_row(row, title, "ns/op", ours, theirs, goal, cpu=cpu, note=note, repetitions=rounds)


if __name__ == "__main__":
    main()

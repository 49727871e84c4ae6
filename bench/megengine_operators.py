# SPDX-License-Identifier: Apache-2.0
"""What recording adds to an operator of MegEngine's worker, in instructions. The recorder is MegEngine's on both sides,
so the goal is a ratio of one.
"""

import importlib
import json
import os
import tempfile
import threading

import callgrind
from megengine_python import PYTHON, SIDES, in_megengines_python

import measure

COUNTED = "instructions added to an operator of the worker while it is recorded"
# Where the thread of a computing node is, which spins while it waits.
SPINNING = "mgb::AsyncQueueSC<mgb::TaskElem, mgb::CpuCompNode::WorkerQueue>::worker_thread_impl"


def worker_operators():
    """A function that has the worker run so many operators, and waits for them."""
    os.environ["MEGENGINE_HOST_COMPUTE"] = "0"
    import megengine
    from megengine import functional
    from megengine.core._imperative_rt import core2

    x = megengine.tensor([1.0, 2.0, 3.0, 4.0])

    def run(operators):
        for _ in range(operators):
            functional.add(x, x)
        core2.full_sync()

    return run


def while_counted(arguments):
    """Operators in a window of one side, or in none, under callgrind."""
    run, side = worker_operators(), arguments["side"]
    count_instructions = callgrind.switch(arguments["switch"])
    if side == "opscope":
        from opscope.megengine import parts

        parts._FIRST = threading.TIMEOUT_MAX  # nothing is as long there as it is elsewhere
    if side in SIDES:
        importlib.import_module(SIDES[side]).Profiler().start()
    run(200)
    count_instructions(1)
    run(arguments["operators"])
    count_instructions(0)
    print("{}", flush=True)
    os._exit(0)  # no window is closed, nothing is written


def instructions(operators, repetitions):
    """{side: [instructions that recording adds to an operator, ...]} above the least without a window: a thread that
    waits spins, which only ever adds.
    """
    counts = {side: [] for side in ("off", *SIDES)}
    for repetition in range(repetitions):
        measure.say(f"callgrind: operators of MegEngine, {repetition + 1} of {repetitions}")
        for side, taken in counts.items():
            with tempfile.TemporaryDirectory() as folder:
                arguments = {"side": side, "operators": operators}
                arguments["switch"] = str(callgrind.switch_path())
                under = callgrind.valgrind(f"{folder}/counted", by_thread=True)
                in_megengines_python(__file__, arguments, under, callgrind.environment())
                threads = callgrind.by_thread(folder).values()
            taken.append(sum(total for total, ran in threads if not any(SPINNING in name for name in ran)))
    off = min(counts.pop("off"))
    return {side: [(total - off) / operators for total in taken] for side, taken in counts.items()}


def main():
    options = measure.parse_options(__doc__, ops=2000, quick_ops=100)
    if options.one is not None:
        while_counted(json.loads(options.one))
        return
    row = "megengine_operator_instructions"
    why = callgrind.missing() if PYTHON.exists() else "MegEngine is not installed"
    if why:
        measure.print_absent(row, COUNTED, "instructions", why)
        return
    note = "the program's thread and MegEngine's worker, without the computing node's, which spins while it waits"
    repetitions = 1 if options.quick else 3
    counts = instructions(options.ops, repetitions)
    sides = (measure.figures(counts[side]) for side in SIDES)
    measure.print_row(row, COUNTED, "instructions", *sides, 1.05, repetitions=repetitions, note=note)


if __name__ == "__main__":
    main()

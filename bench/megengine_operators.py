# SPDX-License-Identifier: Apache-2.0
"""What recording adds to an operator of MegEngine's worker, in time and in instructions. The recorder is MegEngine's
on both sides, so that a ratio of one is what is asked for. Windows are too short for parts.
"""

import importlib
import json
import os
import random
import statistics
import tempfile
import threading

import callgrind
from megengine_python import PYTHON, SIDES, in_megengines_python

import measure

ADDED = "added to an operator of the worker while it is recorded"
COUNTED = "instructions added to an operator of the worker while it is recorded"
OPERATORS = 500  # of a window whose time is taken
# Where the thread of a computing node is, which spins while it waits.
SPINNING = "mgb::AsyncQueueSC<mgb::TaskElem, mgb::CpuCompNode::WorkerQueue>::worker_thread_impl"


def seconds_recording(profiler, program):
    """Of some operators, in a window or in none: without its start and its stop, and without a file."""
    from megengine.core._imperative_rt import core2

    core2.full_sync()
    if profiler is not None:
        profiler.start()
    clock = measure.Clock()
    program()
    run = clock.read()["wall"]
    if profiler is not None:
        profiler.stop()
        if hasattr(profiler, "_dump_callback"):
            profiler._dump_callback = None
        else:
            profiler._forget_results()
    return run


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
                arguments = {"what": "counted", "side": side, "operators": operators}
                arguments["switch"] = str(callgrind.switch_path())
                under = callgrind.valgrind(f"{folder}/counted", by_thread=True)
                in_megengines_python(__file__, arguments, under, callgrind.environment())
                threads = callgrind.by_thread(folder).values()
            taken.append(sum(total for total, ran in threads if not any(SPINNING in name for name in ran)))
    off = min(counts.pop("off"))
    return {side: [(total - off) / operators for total in taken] for side, taken in counts.items()}


def while_recording(arguments):
    """{side: what recording adds to an operator of the worker, in us}: the median of rounds in which all take turns.

    Of each round the window without a profiler is taken off. What else the machine does comes to all three of a round,
    and to one of them alone as often as to another; the least of all rounds is that of one lucky window.
    """
    run = worker_operators()
    profilers = {side: importlib.import_module(name).Profiler() for side, name in SIDES.items()} | {"off": None}
    seconds = {side: [] for side in profilers}
    order = list(profilers)
    for _ in range(arguments["rounds"] + 1):
        random.shuffle(order)  # a window may find memory that the one before it has warmed
        for side in order:
            seconds[side].append(seconds_recording(profilers[side], lambda: run(OPERATORS)))
    added = {side: zip(seconds[side][1:], seconds["off"][1:], strict=True) for side in SIDES}
    return {
        side: statistics.median(recorded - off for recorded, off in pairs) * 1e6 / OPERATORS
        for side, pairs in added.items()
    }


def main():
    options = measure.parse_options(__doc__, ops=2000, quick_ops=100, rounds=200)
    if options.one is not None:
        arguments = json.loads(options.one)
        print(json.dumps({"pairs": while_recording, "counted": while_counted}[arguments["what"]](arguments)))
        return
    rounds = 2 if options.quick else options.rounds
    why = "" if PYTHON.exists() else "MegEngine is not installed"
    if why:
        measure.print_absent("megengine_operator_time", ADDED, "us", why)
    else:
        added = in_megengines_python(__file__, {"what": "pairs", "rounds": rounds})
        note = f"medians of windows of {OPERATORS} operators less those without; MegEngine's recorder on both sides"
        sides = (measure.figures([added[side]]) for side in SIDES)
        measure.print_row("megengine_operator_time", ADDED, "us", *sides, repetitions=rounds, note=note)
    why = why or callgrind.missing()
    if why:
        measure.print_absent("megengine_operator_instructions", COUNTED, "instructions", why)
    else:
        note = "the program's thread and MegEngine's worker, without the computing node's, which spins while it waits"
        repetitions = 1 if options.quick else 3
        counts = instructions(options.ops, repetitions)
        sides = (measure.figures(counts[side]) for side in SIDES)
        row = "megengine_operator_instructions"
        measure.print_row(row, COUNTED, "instructions", *sides, 1.05, repetitions=repetitions, note=note)


if __name__ == "__main__":
    main()

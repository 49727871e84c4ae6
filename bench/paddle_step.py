# SPDX-License-Identifier: Apache-2.0
"""Added time of a training step of Paddle, phases of its Python included, under opscope.paddle and paddle.profiler.

CPU time, on one thread: a step is long enough for other programs of the machine to come between.
"""

import gc
import importlib.util
import json
import os
import statistics

from added_time import timed

import measure

SIDES = ("opscope", "paddle")
STEPS = 5  # per sample


class Training:
    """A step of a small model."""

    def __init__(self):
        import paddle

        self._net, self._inputs = paddle.vision.models.LeNet(), paddle.rand([16, 1, 28, 28])
        self._adam = paddle.optimizer.Adam(parameters=self._net.parameters())

    def run(self, steps):
        for _ in range(steps):
            self._net(self._inputs).sum().backward()
            self._adam.step()
            self._adam.clear_grad()


def new_profiler(side):
    import paddle.profiler as original

    import opscope.paddle as ours

    module = {"opscope": ours, "paddle": original}[side]
    cpu = [module.ProfilerTarget.CPU]
    return module.Profiler(targets=cpu, on_trace_ready=lambda _: None, record_shapes=True, profile_memory=True)


def measured(arguments):
    """{side: [added microseconds per step, ...], "off": [...]}"""
    run = Training().run
    found = {side: [] for side in (*SIDES, "off")}
    run(10)
    gc.collect()
    gc.freeze()
    for _ in range(arguments["rounds"]):
        for side in SIDES:
            run(2)
            off = timed(run, STEPS)[1]
            profiler = new_profiler(side)
            profiler.start()
            run(2)
            found[side].append((timed(run, STEPS)[1] - off) / 1000)
            profiler.stop()
            found["off"].append(off / 1000)
            del profiler
            gc.collect()
    return found


def main():
    options = measure.parse_options(__doc__, ops=STEPS, quick_ops=STEPS, rounds=100)
    if options.one is not None:
        print(json.dumps(measured(json.loads(options.one))))
        return
    row, title = "paddle_step_lenet_all", "added CPU time per LeNet training step of Paddle, all flags"
    if importlib.util.find_spec("paddle") is None:
        measure.print_absent(row, title, "us/step", "Paddle is not installed")
        return
    rounds = 1 if options.quick else max(options.rounds, 5)
    os.environ.setdefault("OMP_NUM_THREADS", "1")
    found = measure.in_fresh_process(__file__, {"rounds": rounds})
    # By medians: a difference of two short samples has no meaningful minimum.
    off, *sides = (statistics.median(found[side]) for side in ("off", *SIDES))
    note = f"of {off:.0f} us without a profiler; medians"
    ours, theirs = ({"min": side, "median": side} for side in sides)
    measure.print_row(row, title, "us/step", ours, theirs, 0.5, note=note, repetitions=rounds)


if __name__ == "__main__":
    main()

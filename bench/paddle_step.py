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

FLAGS = {"none": {}, "all": {"record_shapes": True, "profile_memory": True}}
WORDS = {"none": "no flags", "all": "all flags"}
MODELS = {"mlp": "MLP", "lenet": "LeNet"}
GOALS = {"none": None, "all": 0.5}
STEPS = 5  # per sample


class Training:
    """A step of a small model."""

    def __init__(self, name):
        import paddle

        if name == "lenet":
            self._net, self._inputs = paddle.vision.models.LeNet(), paddle.rand([16, 1, 28, 28])
        else:
            layers = paddle.nn.Linear(64, 128), paddle.nn.ReLU(), paddle.nn.Linear(128, 10)
            self._net, self._inputs = paddle.nn.Sequential(*layers), paddle.rand([32, 64])
        self._adam = paddle.optimizer.Adam(parameters=self._net.parameters())

    def run(self, steps):
        for _ in range(steps):
            self._net(self._inputs).sum().backward()
            self._adam.step()
            self._adam.clear_grad()


def new_profiler(side, flags):
    import paddle.profiler as original

    import opscope.paddle as ours

    module = {"opscope": ours, "paddle": original}[side]
    return module.Profiler(targets=[module.ProfilerTarget.CPU], on_trace_ready=lambda _: None, **FLAGS[flags])


def measured(arguments):
    """{"SIDE FLAGS": [added microseconds per step, ...], "off": [...]}"""
    run = Training(arguments["model"]).run
    sides = [(side, flags) for flags in FLAGS for side in ("opscope", "paddle")]
    found = {f"{side} {flags}": [] for side, flags in sides} | {"off": []}
    run(10)
    gc.collect()
    gc.freeze()
    for _ in range(arguments["rounds"]):
        for side, flags in sides:
            run(2)
            off = timed(run, STEPS)[1]
            profiler = new_profiler(side, flags)
            profiler.start()
            run(2)
            found[f"{side} {flags}"].append((timed(run, STEPS)[1] - off) / 1000)
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
    rounds = 1 if options.quick else max(options.rounds, 5)
    os.environ.setdefault("OMP_NUM_THREADS", "1")
    is_there = importlib.util.find_spec("paddle") is not None
    for model, title in MODELS.items():
        if not is_there:
            row = f"added CPU time per {title} step of Paddle"
            measure.print_absent(f"paddle_step_{model}", row, "us/step", "Paddle is not installed")
            continue
        found = measure.in_fresh_process(__file__, {"rounds": rounds, "model": model})
        off = statistics.median(found["off"])
        for flags, words in WORDS.items():
            # By medians: a difference of two short samples has no meaningful minimum.
            ours, theirs = (statistics.median(found[f"{side} {flags}"]) for side in ("opscope", "paddle"))
            measure.print_row(
                f"paddle_step_{model}_{flags}",
                f"added CPU time per {title} training step of Paddle, {words}",
                "us/step",
                {"min": ours, "median": ours},
                {"min": theirs, "median": theirs},
                GOALS[flags],
                note=f"of {off:.0f} us without a profiler; medians",
                repetitions=rounds,
            )


if __name__ == "__main__":
    main()

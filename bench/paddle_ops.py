# SPDX-License-Identifier: Apache-2.0
"""Added time per tiny operator of Paddle for several sets of flags, against paddle.profiler: both sides in one
process, interleaved.

Always in a fresh process, because Paddle and torch are not imported into one. Many short samples, each beside one
without a profiler: a difference of two minima needs both to have met a quiet moment.
"""

import gc
import importlib.util
import json
import os
import random
import statistics

from added_time import timed

import measure

GOALS = {"none": 0.40, "shapes": 0.30}
WORDS = {"none": "no flags", "shapes": "record_shapes"}
FLAGS = {"none": [], "shapes": ["shapes"]}
SIDES = ("opscope", "paddle")
SAMPLES = 3  # per round


class OurRecording:
    """A recording by the Paddle source."""

    def __init__(self, flags):
        from opscope import _core
        from opscope.paddle.source import source

        self._recording = _core.Recording(sources=[(source(), FLAGS[flags])], native_threads="attached")
        self.start, self.stop = self._recording.start, self._recording.stop


class TheirProfiler:
    """paddle.profiler; what its `stop` does is not measured here."""

    def __init__(self, flags):
        import paddle.profiler as original

        self._profiler = original.Profiler(
            targets=[original.ProfilerTarget.CPU],
            on_trace_ready=lambda _: None,
            record_shapes=flags == "shapes",
        )
        self.start = self._profiler.start

    def stop(self):
        self._profiler.stop()
        self._profiler.profiler_result = None


class TinyOps:
    """`paddle.add` of two elements: four events, one allocation and one free."""

    def __init__(self):
        import paddle

        self._a, self._b, self._add, self._no_grad = paddle.ones([2]), paddle.ones([2]), paddle.add, paddle.no_grad

    def run(self, ops):
        a, b, add = self._a, self._b, self._add
        with self._no_grad():
            for _ in range(ops):
                add(a, b)


def added(run, ops, sides, rounds):
    """{side: {"min", "median", "cpu"}}: nanoseconds added per operator"""
    off, on = {side: [] for side in sides}, {side: [] for side in sides}
    run(10 * ops)
    gc.collect()
    gc.freeze()  # what is imported is not looked through after every sample
    for round_number in range(rounds):
        # Who comes after whom changes: a profiler that ends leaves the caches to its successor as they are.
        order = random.sample(list(sides.items()), len(sides))
        for side, make in order:
            run(ops // 4)
            off[side] += [timed(run, ops) for _ in range(SAMPLES)]
            recorder = make()
            recorder.start()
            run(ops // 4)
            on[side] += [timed(run, ops) for _ in range(SAMPLES)]
            recorder.stop()
            del recorder
            gc.collect()
        if (round_number + 1) % 10 == 0:
            measure.say(f"paddle_ops: round {round_number + 1} of {rounds}")
    result = {}
    for side in sides:
        result[side] = {
            "min": min(wall for wall, _ in on[side]) - min(wall for wall, _ in off[side]),
            "median": statistics.median(
                during[0] - before[0] for during, before in zip(on[side], off[side], strict=True)
            ),
            "cpu": statistics.median(during[1] - before[1] for during, before in zip(on[side], off[side], strict=True)),
        }
    return result


def measured(arguments):
    """What `added` gives, by "SIDE FLAGS"."""
    makers = {"opscope": OurRecording, "paddle": TheirProfiler}
    sides = {f"{side} {flags}": lambda side=side, flags=flags: makers[side](flags) for flags in GOALS for side in SIDES}
    return added(TinyOps().run, arguments["ops"], sides, arguments["rounds"])


def print_rows(times, rounds):
    for flags, goal in GOALS.items():
        ours, theirs = times[f"opscope {flags}"], times[f"paddle {flags}"]
        cpu = {"ours": ours["cpu"], "theirs": theirs["cpu"]}
        title = f"added per tiny op of Paddle, {WORDS[flags]}"
        measure.print_row(
            f"paddle_op_{flags}",
            title,
            "ns/op",
            ours,
            theirs,
            goal,
            cpu=cpu,
            repetitions=rounds,
            is_difference=True,
        )


def main():
    options = measure.parse_options(__doc__, ops=300, quick_ops=100, rounds=150)
    if options.one is not None:
        print(json.dumps(measured(json.loads(options.one))))
        return
    if importlib.util.find_spec("paddle") is None:
        for flags in GOALS:
            title = f"added per tiny op of Paddle, {WORDS[flags]}"
            measure.print_absent(f"paddle_op_{flags}", title, "ns/op", "Paddle is not installed")
        return
    rounds = 1 if options.quick else max(options.rounds, 5)
    os.environ.setdefault("OMP_NUM_THREADS", "1")
    print_rows(measure.in_fresh_process(__file__, {"rounds": rounds, "ops": options.ops}), rounds)


if __name__ == "__main__":
    main()

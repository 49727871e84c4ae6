# SPDX-License-Identifier: Apache-2.0
"""Added time per tiny operator of Paddle for several sets of flags, and what an active range takes, against
paddle.profiler: both sides in one process, interleaved.

Always in a fresh process, because Paddle and torch are not imported into one.
"""

import gc
import importlib.util
import json
import statistics
import time

from added_time import added

import measure

GOALS = {"none": 0.40, "shapes": 0.30, "memory": 0.30}
RANGE_GOAL = 0.20
WORDS = {"none": "no flags", "shapes": "record_shapes", "memory": "profile_memory"}
FLAGS = {"none": [], "shapes": ["shapes"], "memory": ["memory"]}
SIDES = ("opscope", "paddle")


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
            profile_memory=flags == "memory",
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


def ranges():
    """{side: (a function that enters a range so often, what records)}"""
    import paddle.profiler as original

    from opscope import _core

    def loop(entered):
        def run(count):
            for _ in range(count):
                with entered:
                    pass

        return run

    ours, theirs = _core.paddle.Range("x"), original.RecordEvent("x")
    return {"opscope": (loop(ours), OurRecording), "paddle": (loop(theirs), TheirProfiler)}


def timed(run, count):
    wall = time.perf_counter_ns()
    run(count)
    return (time.perf_counter_ns() - wall) / count


def measured(arguments):
    """{"ops": what `added` gives, by "SIDE FLAGS"; "ranges": {side: {"on", "off"}: [ns, ...]}}"""
    rounds, ops = arguments["rounds"], arguments["ops"]
    makers = {"opscope": OurRecording, "paddle": TheirProfiler}
    sides = {f"{side} {flags}": lambda side=side, flags=flags: makers[side](flags) for flags in GOALS for side in SIDES}
    times = added(TinyOps().run, ops, 200, sides, rounds)
    samples = {side: {"off": [], "on": []} for side in SIDES}
    for _ in range(rounds):
        for side, (run, make) in ranges().items():
            run(50)
            samples[side]["off"].append(timed(run, ops))
            recorder = make("none")
            recorder.start()
            run(50)
            samples[side]["on"].append(timed(run, ops))
            recorder.stop()
            del recorder
            gc.collect()
    return {"ops": times, "ranges": samples}


def print_rows(found, rounds):
    times = found["ops"]
    measure.print_row("paddle_op_off", "one tiny op of Paddle, no profiler", "ns/op", times["off"], repetitions=rounds)
    for flags, goal in GOALS.items():
        ours, theirs = times[f"opscope {flags}"], times[f"paddle {flags}"]
        cpu = {"ours": ours["cpu"], "theirs": theirs["cpu"]}
        title = f"added per tiny op of Paddle, {WORDS[flags]}"
        measure.print_row(f"paddle_op_{flags}", title, "ns/op", ours, theirs, goal, cpu=cpu, repetitions=rounds)
    for state, goal, words in ("off", None, "no profiler"), ("on", RANGE_GOAL, "recording"):
        ours, theirs = ({"min": min(s[state]), "median": statistics.median(s[state])} for s in found["ranges"].values())
        title = f"a range of Paddle's Python, {words}"
        measure.print_row(f"paddle_range_{state}", title, "ns", ours, theirs, goal, repetitions=rounds)


def main():
    options = measure.parse_options(__doc__, ops=3000, quick_ops=200, rounds=60)
    if options.one is not None:
        print(json.dumps(measured(json.loads(options.one))))
        return
    if importlib.util.find_spec("paddle") is None:
        for flags in GOALS:
            title = f"added per tiny op of Paddle, {WORDS[flags]}"
            measure.print_absent(f"paddle_op_{flags}", title, "ns/op", "Paddle is not installed")
        return
    rounds = 1 if options.quick else max(options.rounds, 5)
    print_rows(measure.in_fresh_process(__file__, {"rounds": rounds, "ops": options.ops}), rounds)


if __name__ == "__main__":
    main()

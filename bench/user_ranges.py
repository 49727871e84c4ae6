# SPDX-License-Identifier: Apache-2.0
"""A user's range (`with record_function`) with no profiler and with one, and `prof.step()` between cycles.

Both sides in one process, round by round; a sample is the time of one range or step, the loop around it included.
"""

import gc
import statistics
import time

import measure

ROWS = (
    ("range_off", '`with record_function("x")`, no profiler', 300),
    ("range_on", '`with record_function("x")`, recording', 800),
    ("step_idle", "`prof.step()` between two cycles", 1000),
)


def ranges(side):
    record_function = measure.profiler_module(side).record_function

    def run(count):
        for _ in range(count):
            with record_function("x"):
                pass

    return run


def idle_steps(side):
    """(a function that takes steps, the profile): the schedule waits for longer than the benchmark runs."""
    module = measure.profiler_module(side)
    profile = measure.new_profile(side, schedule=module.schedule(wait=1 << 40, warmup=1, active=1))

    def run(count):
        for _ in range(count):
            profile.step()

    return run, profile


def timed(run, count):
    wall = time.perf_counter_ns()
    run(count)
    return (time.perf_counter_ns() - wall) / count


def measured(count, rounds):
    """{row: {side: [ns, ...]}}"""
    samples = {row: {side: [] for side in measure.SIDES} for row, _, _ in ROWS}
    range_loops = {side: ranges(side) for side in measure.SIDES}
    steps = {side: idle_steps(side) for side in measure.SIDES}
    for _, profile in steps.values():
        profile.start()
    gc.disable()
    for _ in range(rounds):
        for side in measure.SIDES:
            steps[side][0](count // 10)  # warm
            samples["step_idle"][side].append(timed(steps[side][0], count))
    for _, profile in steps.values():
        profile.stop()
    for _ in range(rounds):
        for side, run in range_loops.items():
            run(count // 10)
            samples["range_off"][side].append(timed(run, count))
            profile = measure.new_profile(side)
            profile.start()
            run(count // 10)
            samples["range_on"][side].append(timed(run, count))
            profile.stop()
            profile = None
            gc.collect()
    return samples


def main():
    options = measure.parse_options(__doc__, ops=2000, quick_ops=100, rounds=40)
    rounds = 1 if options.quick else max(options.rounds, 5)
    samples = measured(options.ops, rounds)
    for row, title, goal in ROWS:
        ours, theirs = ({"min": min(each), "median": statistics.median(each)} for each in samples[row].values())
        measure.print_row(
            f"user_{row}", title, "ns", ours, theirs, absolute_goal=goal, repetitions=rounds, note=f"{options.ops} each"
        )


if __name__ == "__main__":
    main()

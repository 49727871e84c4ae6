# SPDX-License-Identifier: Apache-2.0
"""What a running profiler adds to a program: one process, all sides interleaved in every round.

Many short samples rather than few long ones: a difference of two minima needs both sides to have met a quiet moment.
"""

import gc
import statistics
import time

import measure


def sides_of(names):
    """{(side, name of a set of flags): function that makes an object with start() and stop()}"""
    from workloads import FLAGS  # here, because it imports torch, which Paddle's process must not

    return {
        (side, name): lambda side=side, name=name: measure.new_profile(side, **FLAGS[name])
        for name in names
        for side in measure.SIDES
    }


def timed(run, count):
    cpu = time.process_time_ns()
    wall = time.perf_counter_ns()
    run(count)
    wall = time.perf_counter_ns() - wall
    return wall / count, (time.process_time_ns() - cpu) / count


def added(run, count, warm, sides, rounds):
    """{side: {"min", "median", "cpu", "cpu_min"}}: nanoseconds added per unit of `count`; "off": all of them."""
    off, samples = [], {side: [] for side in sides}
    run(count // 2 + 1)
    gc.collect()
    gc.freeze()  # what is imported is not looked through after every sample
    for round_number in range(rounds):
        for side, make in sides.items():
            run(warm)  # stopping and freeing the last profiler has cooled the caches
            before = timed(run, count)
            profile = make()
            profile.start()
            run(warm)
            during = timed(run, count)
            profile.stop()
            del profile
            gc.collect()
            off.append(before)
            samples[side].append((before, during))
        if (round_number + 1) % 10 == 0 or round_number + 1 == rounds:
            measure.say(f"added time: round {round_number + 1} of {rounds}")
    result = {
        "off": {
            "min": min(wall for wall, _ in off),
            "median": statistics.median(wall for wall, _ in off),
            "cpu": statistics.median(cpu for _, cpu in off),
            "cpu_min": min(cpu for _, cpu in off),
        }
    }
    for side, rows in samples.items():
        # A side's own samples without it: as many as with it, and next to them, so neither has more luck.
        result[side] = {
            "min": min(during[0] for _, during in rows) - min(before[0] for before, _ in rows),
            "median": statistics.median(during[0] - before[0] for before, during in rows),
            "cpu": statistics.median(during[1] - before[1] for before, during in rows),
            "cpu_min": min(during[1] for _, during in rows) - min(before[1] for before, _ in rows),
        }
    return result

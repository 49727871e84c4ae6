# SPDX-License-Identifier: Apache-2.0
"""Rows of the flight recorder (bench/flight.cc): resident memory of a job that records at full speed for long, and
a dump of a full ring.

--seconds: how long the job records (20; 600 under OPSCOPE_SOAK=1).
"""

import os

import native

import measure

SOAK = os.environ.get("OPSCOPE_SOAK") == "1"


def soak_rows(options):
    seconds, cap, threads = (0.4, 16, 2) if options.quick else (options.seconds, 256, 4)
    base, *samples = native.results_of("flight", "soak", seconds, cap, threads)
    most = max(sample["bytes"] for sample in samples)
    events = samples[-1]["events"]
    note = f"{threads} threads, cap {cap} MiB, {seconds:g} s, {events / 1e6:.0f} million scopes"
    exactly = {"min": (most - base["bytes"]) / 2**20 - cap, "median": (most - base["bytes"]) / 2**20 - cap}
    title = "keep_newest at full speed: resident memory, more than the cap"
    measure.print_row("flight_memory", title, "MiB", exactly, absolute_goal=8, repetitions=1, note=note)
    measure.require_when_quick(events > 10000, "the job has hardly recorded", options)


def dump_rows(options):
    dumps, cap, threads = (1, 16, 2) if options.quick else (options.dumps, 256, 2)
    results = native.results_of("flight", "dump", dumps, cap, threads)
    spans = min(result["spans"] for result in results)
    # Two threads, 32 bytes per span; a dump loses what goes round meanwhile.
    measure.require_when_quick(spans > cap * 2**20 / 32 / 2, f"a dump has {spans} spans only", options)
    note = f"{threads} threads that record on, at least {spans / 1e6:.1f} million spans in each dump"
    seconds = measure.figures_of(results, "seconds")
    stalls = measure.figures_of(results, "stall_ms")
    calm = measure.figures_of(results, "calm_ms")
    title = f"dump of a {cap} MiB ring"
    measure.print_row("flight_dump", title, "s", seconds, absolute_goal=1, repetitions=dumps, note=note)
    measure.print_row(
        "flight_stall",
        f"{title}: the longest wait of a recording thread",
        "ms",
        stalls,
        absolute_goal=5,
        repetitions=dumps,
        note=f"the longest without a dump {calm['min']:.3f} ({calm['median']:.3f}) ms; a thread that the scheduler "
        "puts aside counts as waiting",
    )


def main():
    options = measure.parse_options(__doc__, ops=0, quick_ops=0, seconds=600.0 if SOAK else 20.0, dumps=10)
    soak_rows(options)
    dump_rows(options)


if __name__ == "__main__":
    main()

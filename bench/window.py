# SPDX-License-Identifier: Apache-2.0
"""Start and stop of a window, each in a fresh process: the first start of the process and the memory that it makes
resident, and stop alone after a window full of operators."""

import json

import measure


def one(side, ops):
    from workloads import TinyOps

    program = TinyOps()
    program.run(1000)
    profile = measure.new_profile(side)
    resident = measure.resident_bytes()
    clock = measure.Clock()
    profile.start()
    start = clock.read()
    resident = measure.resident_bytes() - resident
    program.run(ops)
    clock = measure.Clock()
    profile.stop()
    return {"start": start, "start_bytes": resident, "stop": clock.read()}


def main():
    options = measure.parse_options(__doc__, ops=200000, quick_ops=2000)
    if options.one:
        print(json.dumps(one(**json.loads(options.one))))
        return
    variants = {side: {"side": side, "ops": options.ops} for side in measure.SIDES}
    sides = measure.interleaved(__file__, options.repetitions, variants)
    per_million = 1e9 / options.ops
    measure.sampled_row(
        "stop_none",
        "stop alone, no flags",
        "ms per million ops",
        sides,
        lambda result: result["stop"]["wall"],
        per_million,
        goal=1 / 150,
        cpu=measure.median_cpu(sides, lambda result: result["stop"]["cpu"], per_million),
        note=f"{options.ops} ops",
    )
    measure.sampled_row(
        "start",
        "first start of a process",
        "ms",
        sides,
        lambda result: result["start"]["wall"],
        1e3,
        absolute_goal=5,
        cpu=measure.median_cpu(sides, lambda result: result["start"]["cpu"], 1e3),
    )
    measure.sampled_row(
        "start_memory",
        "memory that the first start makes resident",
        "MiB",
        sides,
        lambda result: result["start_bytes"],
        2**-20,
        absolute_goal=16,
    )


if __name__ == "__main__":
    main()

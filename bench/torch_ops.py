# SPDX-License-Identifier: Apache-2.0
"""Added time per tiny operator, for several sets of flags."""

from added_time import added, contenders

import measure
from workloads import FLAGS, TinyOps

GOALS = {"none": 0.35, "shapes": 0.45, "memory": 0.35, "flops": 0.20, "all": 0.25}
WORDS = {
    "none": "no flags",
    "shapes": "record_shapes",
    "memory": "profile_memory",
    "flops": "with_flops",
    "all": "all flags",
}


def main():
    options = measure.parse_options(__doc__, ops=4000, quick_ops=500, rounds=150)
    rounds = 1 if options.quick else max(options.rounds, 5)
    times = added(TinyOps().run, options.ops, 500, contenders(FLAGS), rounds)
    off = times["off"]
    measure.print_row("op_off", "one tiny op, no profiler", "ns/op", off, note=f"{options.ops} ops", repetitions=rounds)
    for flags, goal in GOALS.items():
        if ("empty", flags) in times:
            title = f"added per tiny op, empty callbacks, {WORDS[flags]}"
            measure.print_row(
                f"op_empty_{flags}",
                title,
                "ns/op",
                times["empty", flags],
                times["torch", flags],
                note="the floor: torch's own cost of being observed",
                repetitions=rounds,
            )
        ours, theirs = times["opscope", flags], times["torch", flags]
        cpu = {"ours": ours["cpu"], "theirs": theirs["cpu"]}
        title = f"added per tiny op, {WORDS[flags]}"
        measure.print_row(f"op_{flags}", title, "ns/op", ours, theirs, goal, cpu=cpu, repetitions=rounds)


if __name__ == "__main__":
    main()

# SPDX-License-Identifier: Apache-2.0
"""Added time per tiny operator, for several sets of flags; of one that finds the recording at its cap."""

from added_time import added, sides_of

import measure
from workloads import InPlaceOps, TinyOps

GOALS = {"none": 0.24, "shapes": 0.40, "memory": 0.25, "all": 0.25}
IN_PLACE_GOAL = 0.24
WORDS = {"none": "no flags", "shapes": "record_shapes", "memory": "profile_memory", "all": "all flags"}
SMALL_CAP = 1 << 16
OPS_PAST_SMALL_CAP = 10000  # 32 bytes each and more


def print_added(row, title, ours, theirs, goal, rounds):
    cpu = {"ours": ours["cpu"], "theirs": theirs["cpu"]}
    more = {"cpu": cpu, "repetitions": rounds, "is_difference": True}
    measure.print_row(row, title, "ns/op", ours, theirs, goal, **more)


def print_past_the_cap(workload, ops, rounds):
    """Both sides as warm as each other: what fills the one recording is run before every sample."""
    sides = {
        "past": lambda: measure.new_profile("opscope", max_bytes=SMALL_CAP),
        "recorded": lambda: measure.new_profile("opscope"),
    }
    times = added(workload.run, ops, OPS_PAST_SMALL_CAP, sides, rounds)
    title = "added per tiny op past the cap, against a recorded one, no flags"
    print_added("op_past_cap_none", title, times["past"], times["recorded"], 0.7, rounds)


def main():
    options = measure.parse_options(__doc__, ops=4000, quick_ops=500, rounds=100)
    rounds = 1 if options.quick else max(options.rounds, 5)
    workload = TinyOps()
    times = added(workload.run, options.ops, 500, sides_of(GOALS), rounds)
    for flags, goal in GOALS.items():
        ours, theirs = times["opscope", flags], times["torch", flags]
        print_added(f"op_{flags}", f"added per tiny op, {WORDS[flags]}", ours, theirs, goal, rounds)
    print_past_the_cap(workload, options.ops, rounds)
    times = added(InPlaceOps().run, options.ops, 500, sides_of(["none"]), rounds)
    ours, theirs = times["opscope", "none"], times["torch", "none"]
    print_added("op_in_place_none", "added per `a.add_(b)`, no flags", ours, theirs, IN_PLACE_GOAL, rounds)


if __name__ == "__main__":
    main()

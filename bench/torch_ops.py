# SPDX-License-Identifier: Apache-2.0
"""Added time per tiny operator, for several sets of flags."""

from added_time import added, sides_of

import measure
from workloads import InPlaceOps, TinyOps

GOALS = {"none": 0.24, "shapes": 0.40, "all": 0.25}
IN_PLACE_GOAL = 0.24
WORDS = {"none": "no flags", "shapes": "record_shapes", "all": "all flags"}


def print_added(row, title, ours, theirs, goal, rounds):
    cpu = {"ours": ours["cpu"], "theirs": theirs["cpu"]}
    more = {"cpu": cpu, "repetitions": rounds, "is_difference": True}
    measure.print_row(row, title, "ns/op", ours, theirs, goal, **more)


def main():
    options = measure.parse_options(__doc__, ops=4000, quick_ops=500, rounds=100)
    rounds = 1 if options.quick else max(options.rounds, 5)
    times = added(TinyOps().run, options.ops, 500, sides_of(GOALS), rounds)
    for flags, goal in GOALS.items():
        ours, theirs = times["opscope", flags], times["torch", flags]
        print_added(f"op_{flags}", f"added per tiny op, {WORDS[flags]}", ours, theirs, goal, rounds)
    times = added(InPlaceOps().run, options.ops, 500, sides_of(["none"]), rounds)
    ours, theirs = times["opscope", "none"], times["torch", "none"]
    print_added("op_in_place_none", "added per `a.add_(b)`, no flags", ours, theirs, IN_PLACE_GOAL, rounds)


if __name__ == "__main__":
    main()

# SPDX-License-Identifier: Apache-2.0
"""Added time per tiny operator, for several sets of flags; of one that finds the recording at its cap; the floor."""

from added_time import added, contenders, floors, print_floors

import measure
from workloads import FLAGS, InPlaceOps, TinyOps

GOALS = {"none": 0.24, "shapes": 0.40, "memory": 0.25, "flops": 0.20, "all": 0.25}
IN_PLACE_GOALS = {
    "none": 0.24,
    "shapes": 0.40,
    "memory": 0.25,
    "stack": 0.25,
    "modules": 0.30,
    "flops": 0.35,
    "all": 0.35,
}
WORDS = {
    "none": "no flags",
    "shapes": "record_shapes",
    "memory": "profile_memory",
    "stack": "with_stack",
    "modules": "with_modules",
    "flops": "with_flops",
    "all": "all flags",
}


PAST_THE_CAP = ("none", "shapes")
SMALL_CAP = 1 << 16
OPS_PAST_SMALL_CAP = 10000  # 32 bytes each and more


def print_past_the_cap(workload, ops, rounds):
    """Both sides as warm as each other: what fills the one recording is run before every sample."""
    sides = {}
    for flags in PAST_THE_CAP:
        for side, cap in ("past", SMALL_CAP), ("recorded", None):
            arguments = {**FLAGS[flags], **({"max_bytes": cap} if cap else {})}
            sides[side, flags] = lambda arguments=arguments: measure.new_profile("opscope", **arguments)
    times = added(workload.run, ops, OPS_PAST_SMALL_CAP, sides, rounds)
    for flags in PAST_THE_CAP:
        past, recorded = times["past", flags], times["recorded", flags]
        cpu = {"ours": past["cpu"], "theirs": recorded["cpu"]}
        title = f"added per tiny op past the cap, against a recorded one, {WORDS[flags]}"
        measure.print_row(
            f"op_past_cap_{flags}",
            title,
            "ns/op",
            past,
            recorded,
            0.7,
            cpu=cpu,
            repetitions=rounds,
            is_difference=True,
        )


def print_in_place(options, rounds):
    """`a.add_(b)` with every flag, and the floor."""
    sides = {
        (side, flags): lambda side=side, flags=flags: measure.new_profile(side, **FLAGS[flags])
        for flags in IN_PLACE_GOALS
        for side in measure.SIDES
    }
    times = added(InPlaceOps().run, options.ops, 500, {**sides, **floors("none", "shapes", "all")}, rounds)
    for flags, goal in IN_PLACE_GOALS.items():
        ours, theirs = times["opscope", flags], times["torch", flags]
        cpu = {"ours": ours["cpu"], "theirs": theirs["cpu"]}
        title = f"added per `a.add_(b)`, {WORDS[flags]}"
        measure.print_row(
            f"op_in_place_{flags}",
            title,
            "ns/op",
            ours,
            theirs,
            goal,
            cpu=cpu,
            repetitions=rounds,
            is_difference=True,
        )
    print_floors(times, "op_in_place", "added per `a.add_(b)`", "ns/op", rounds)


def main():
    options = measure.parse_options(__doc__, ops=4000, quick_ops=500, rounds=150)
    rounds = 1 if options.quick else max(options.rounds, 5)
    workload = TinyOps()
    sides = contenders({flags: FLAGS[flags] for flags in GOALS})
    times = added(workload.run, options.ops, 500, sides, rounds)
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
        title = f"added per tiny op, callbacks alone, {WORDS[flags]}"
        note = "without drop-in functions (OPSCOPE_TORCH_ROUTE=callbacks)"
        row = times["callbacks", flags]
        measure.print_row(f"op_callbacks_{flags}", title, "ns/op", row, theirs, note=note, repetitions=rounds)
        cpu = {"ours": ours["cpu"], "theirs": theirs["cpu"]}
        title = f"added per tiny op, {WORDS[flags]}"
        measure.print_row(
            f"op_{flags}", title, "ns/op", ours, theirs, goal, cpu=cpu, repetitions=rounds, is_difference=True
        )
    print_past_the_cap(workload, options.ops, rounds)
    print_in_place(options, rounds)


if __name__ == "__main__":
    main()

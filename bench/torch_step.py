# SPDX-License-Identifier: Apache-2.0
"""Added time of a small training step, and the same without what torch itself costs."""

from added_time import added, contenders, floors, less, print_floors

import measure
from workloads import FLAGS, MlpTraining


def main():
    options = measure.parse_options(__doc__, ops=20, quick_ops=3, rounds=200)  # ops: steps
    rounds = 1 if options.quick else max(options.rounds, 5)
    flags = {name: FLAGS[name] for name in ("none", "shapes", "all")}
    times = added(MlpTraining().run, options.ops, 3, {**contenders(flags), **floors("none", "shapes", "all")}, rounds)
    for row in times.values():
        row.update({key: value / 1000 for key, value in row.items()})
    off, ours, theirs = times["off"], times["opscope", "none"], times["torch", "none"]
    measure.print_row("step_off", "MLP training step, no profiler", "us/step", off, repetitions=rounds)
    cpu = {"ours": ours["cpu"], "theirs": theirs["cpu"]}
    measure.print_row(
        "step",
        "added per MLP training step",
        "us/step",
        ours,
        theirs,
        0.27,
        cpu=cpu,
        repetitions=rounds,
        is_difference=True,
    )
    for name, words, goal in (("shapes", "record_shapes", 0.34), ("all", "all flags", 0.35)):
        ours_with, theirs_with = times["opscope", name], times["torch", name]
        cpu = {"ours": ours_with["cpu"], "theirs": theirs_with["cpu"]}
        title = f"added per MLP training step, {words}"
        measure.print_row(
            f"step_{name}",
            title,
            "us/step",
            ours_with,
            theirs_with,
            goal,
            cpu=cpu,
            repetitions=rounds,
            is_difference=True,
        )
    print_floors(times, "step", "added per MLP training step", "us/step", rounds)
    title = "added per MLP training step, callbacks alone"
    measure.print_row("step_callbacks", title, "us/step", times["callbacks", "none"], theirs, repetitions=rounds)
    empty = times.get(("empty", "none"))
    if empty is None:
        return
    measure.print_row(
        "step_empty", "added per MLP training step, empty callbacks", "us/step", empty, theirs, repetitions=rounds
    )
    title = "added per MLP training step, above empty callbacks"
    over, over_theirs = less(ours, empty), less(theirs, empty)
    cpu = {"ours": over["cpu"], "theirs": over_theirs["cpu"]}
    measure.print_row(
        "step_above_empty", title, "us/step", over, over_theirs, 0.25, cpu=cpu, repetitions=rounds, is_difference=True
    )


if __name__ == "__main__":
    main()

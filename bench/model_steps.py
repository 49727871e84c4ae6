# SPDX-License-Identifier: Apache-2.0
"""Added processor time of a training step of a real model: its wall time is noise beside what a profiler adds."""

from added_time import added, sides_of

import measure
from workloads import TransformerTraining


def main():
    options = measure.parse_options(__doc__, ops=2, quick_ops=1, rounds=150)  # ops: steps
    rounds = 1 if options.quick else options.rounds
    times = added(TransformerTraining().run, options.ops, 1, sides_of(["all"]), rounds)
    times = {key: {"min": row["cpu_min"] / 1000, "median": row["cpu"] / 1000} for key, row in times.items()}
    measure.print_row(
        "step_transformer_all",
        "added CPU time per transformer training step, all flags",
        "us/step",
        times["opscope", "all"],
        times["torch", "all"],
        0.40,
        note=f"of {times['off']['min']:.0f} us without a profiler",
        repetitions=rounds,
        is_difference=True,
    )


if __name__ == "__main__":
    main()

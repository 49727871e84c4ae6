# SPDX-License-Identifier: Apache-2.0
"""Added time of a small training step."""

from added_time import added, sides_of

import measure
from workloads import MlpTraining

GOALS = {"none": 0.27, "shapes": 0.34, "all": 0.35}
ROWS = {"none": "step", "shapes": "step_shapes", "all": "step_all"}
WORDS = {"none": "", "shapes": ", record_shapes", "all": ", all flags"}


def print_added(row, title, ours, theirs, goal, rounds):
    cpu = {"ours": ours["cpu"], "theirs": theirs["cpu"]}
    more = {"cpu": cpu, "repetitions": rounds, "is_difference": True}
    measure.print_row(row, title, "us/step", ours, theirs, goal, **more)


def main():
    options = measure.parse_options(__doc__, ops=20, quick_ops=3, rounds=150)  # ops: steps
    rounds = 1 if options.quick else max(options.rounds, 5)
    times = added(MlpTraining().run, options.ops, 3, sides_of(GOALS), rounds)
    times = {side: {key: value / 1000 for key, value in row.items()} for side, row in times.items()}
    for flags, goal in GOALS.items():
        title = f"added per MLP training step{WORDS[flags]}"
        print_added(ROWS[flags], title, times["opscope", flags], times["torch", flags], goal, rounds)


if __name__ == "__main__":
    main()

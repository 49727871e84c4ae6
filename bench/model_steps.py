# SPDX-License-Identifier: Apache-2.0
"""Added processor time of a training step of two real models: their wall time is noise beside what a profiler adds."""

from added_time import added, contenders

import measure
from workloads import FLAGS, ResNetTraining, TransformerTraining

MODELS = {  # goals by WORDS; what is added to ResNet-18 is a hundredth of its step
    "resnet": ("ResNet-18", ResNetTraining, (1.0, 1.0, 1.0)),
    "transformer": ("transformer", TransformerTraining, (0.33, 0.42, 0.40)),
}
WORDS = {"none": "no flags", "shapes": "record_shapes", "all": "all flags"}


def main():
    options = measure.parse_options(__doc__, ops=2, quick_ops=1, rounds=30)  # ops: steps
    rounds = 1 if options.quick else max(options.rounds, 5)
    found = contenders({name: FLAGS[name] for name in WORDS})
    sides = {key: make for key, make in found.items() if key[0] in measure.SIDES}
    for model, (words, program, goals) in MODELS.items():
        times = added(program().run, options.ops, 1, sides, rounds)
        off = times["off"]["cpu_min"] / 1000
        for (flags, flag_words), goal in zip(WORDS.items(), goals, strict=True):
            ours, theirs = (
                {"min": row["cpu_min"] / 1000, "median": row["cpu"] / 1000}
                for row in (times["opscope", flags], times["torch", flags])
            )
            measure.print_row(
                f"step_{model}_{flags}",
                f"added CPU time per {words} training step, {flag_words}",
                "us/step",
                ours,
                theirs,
                goal,
                note=f"of {off:.0f} us without a profiler",
                repetitions=rounds,
                is_difference=True,
            )


if __name__ == "__main__":
    main()

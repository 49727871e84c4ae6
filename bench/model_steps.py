# SPDX-License-Identifier: Apache-2.0
"""Added processor time of a training step of two real models: their wall time is noise beside what a profiler adds."""

from added_time import added, contenders

import measure
from workloads import FLAGS, ResNetTraining, TransformerTraining

MODELS = {"resnet": ("ResNet-18", ResNetTraining), "transformer": ("transformer", TransformerTraining)}
WORDS = {"none": "no flags", "all": "all flags"}


def main():
    options = measure.parse_options(__doc__, ops=2, quick_ops=1, rounds=30)  # ops: steps
    rounds = 1 if options.quick else max(options.rounds, 5)
    found = contenders({name: FLAGS[name] for name in WORDS})
    sides = {key: make for key, make in found.items() if key[0] in measure.SIDES}
    for model, (words, program) in MODELS.items():
        times = added(program().run, options.ops, 1, sides, rounds)
        off = times["off"]["cpu_min"] / 1000
        for flags, flag_words in WORDS.items():
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
                1.0,
                note=f"of {off:.0f} us without a profiler",
                repetitions=rounds,
            )


if __name__ == "__main__":
    main()

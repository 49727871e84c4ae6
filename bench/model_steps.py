# SPDX-License-Identifier: Apache-2.0
"""Added processor time of a training step of two real models: their wall time is noise beside what a profiler adds."""

from added_time import added, contenders, floors, print_floors

import measure
from workloads import FLAGS, ResNetTraining, TransformerTraining

# Goals by WORDS, and how many rounds. What is added to a step of ResNet-18 is a hundredth of it, less than what two
# steps differ by: shown, not judged.
MODELS = {
    "resnet": ("ResNet-18", ResNetTraining, (None, None, None), 30),
    "transformer": ("transformer", TransformerTraining, (0.33, 0.42, 0.40), 150),
}
WORDS = {"none": "no flags", "shapes": "record_shapes", "all": "all flags"}


def main():
    options = measure.parse_options(__doc__, ops=2, quick_ops=1)  # ops: steps
    found = contenders({name: FLAGS[name] for name in WORDS})
    sides = {key: make for key, make in found.items() if key[0] in measure.SIDES}
    for model, (words, program, goals, rounds) in MODELS.items():
        rounds = 1 if options.quick else rounds
        beside = floors(*WORDS) if model == "transformer" else {}
        times = added(program().run, options.ops, 1, {**sides, **beside}, rounds)
        times = {key: {"min": row["cpu_min"] / 1000, "median": row["cpu"] / 1000} for key, row in times.items()}
        for (flags, flag_words), goal in zip(WORDS.items(), goals, strict=True):
            measure.print_row(
                f"step_{model}_{flags}",
                f"added CPU time per {words} training step, {flag_words}",
                "us/step",
                times["opscope", flags],
                times["torch", flags],
                goal,
                note=f"of {times['off']['min']:.0f} us without a profiler",
                repetitions=rounds,
                is_difference=True,
            )
        print_floors(times, f"step_{model}", f"added CPU time per {words} training step", "us/step", rounds)


if __name__ == "__main__":
    main()

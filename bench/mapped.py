# SPDX-License-Identifier: Apache-2.0
"""Added time per tiny operator with record_to= (the recording lies in a file), against the same in memory.

The file is in the working directory, for what a disk costs depends on the disk; nothing waits for it.
"""

import tempfile
from pathlib import Path

from added_time import added

import measure
from workloads import TinyOps

FLAGS = {"none": {}, "shapes": {"record_shapes": True}}
WORDS = {"none": "no flags", "shapes": "record_shapes"}
GOAL = 1.3


def main():
    options = measure.parse_options(__doc__, ops=20000, quick_ops=500, rounds=40)
    rounds = 1 if options.quick else max(options.rounds, 5)
    with tempfile.TemporaryDirectory(dir=".") as folder:
        path = Path(folder) / "x.opscope"
        sides = {}
        for name, flags in FLAGS.items():
            sides["memory", name] = lambda flags=flags: measure.new_profile("opscope", **flags)
            sides["mapped", name] = lambda flags=flags: measure.new_profile("opscope", record_to=path, **flags)
        times = added(TinyOps().run, options.ops, 500, sides, rounds)
        measure.require_when_quick(path.exists(), "there is no file", options)
    for name in FLAGS:
        ours, theirs = times["mapped", name], times["memory", name]
        cpu = {"ours": ours["cpu"], "theirs": theirs["cpu"]}
        title = f"added per tiny op in a mapped file, {WORDS[name]}, against memory"
        measure.print_row(f"mapped_{name}", title, "ns/op", ours, theirs, GOAL, cpu=cpu, repetitions=rounds)


if __name__ == "__main__":
    main()

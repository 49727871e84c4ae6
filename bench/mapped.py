# SPDX-License-Identifier: Apache-2.0
"""Added time per tiny operator with record_to= (the recording lies in a file), against the same in memory.

The file is in the working directory, for what a disk costs depends on the disk; nothing waits for it.
"""

import tempfile
from pathlib import Path

from added_time import added

import measure
from workloads import TinyOps

GOAL = 1.3


def main():
    options = measure.parse_options(__doc__, ops=20000, quick_ops=500, rounds=40)
    rounds = 1 if options.quick else max(options.rounds, 5)
    with tempfile.TemporaryDirectory(dir=".") as folder:
        path = Path(folder) / "x.opscope"
        sides = {
            "memory": lambda: measure.new_profile("opscope"),
            "mapped": lambda: measure.new_profile("opscope", record_to=path),
        }
        times = added(TinyOps().run, options.ops, 500, sides, rounds)
        measure.require_when_quick(path.exists(), "there is no file", options)
    ours, theirs = times["mapped"], times["memory"]
    cpu = {"ours": ours["cpu"], "theirs": theirs["cpu"]}
    title = "added per tiny op in a mapped file, no flags, against memory"
    measure.print_row("mapped_none", title, "ns/op", ours, theirs, GOAL, cpu=cpu, repetitions=rounds)


if __name__ == "__main__":
    main()

# SPDX-License-Identifier: Apache-2.0
"""Processor time that `opscope run` adds to a Python program without a framework: what the program itself pays for the
watcher, and all of it."""

import os
import resource
import subprocess
import sys
import tempfile
from pathlib import Path

import measure
import opscope

PACKAGES = str(Path(opscope.__file__).parent.parent)
PROGRAM = [sys.executable, "-c", "pass"]


def processor_ms(command, variables):
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run(command, env={**os.environ, "PYTHONPATH": PACKAGES, **variables}, check=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return (after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime) * 1000


def main():
    options = measure.parse_options(__doc__, ops=1, quick_ops=1, repetitions=30)
    with tempfile.TemporaryDirectory() as folder:
        variants = {
            "plain": (PROGRAM, {}),
            "watched": (
                PROGRAM,
                {
                    "PYTHONPATH": f"{PACKAGES}/opscope/launch/site:{PACKAGES}",
                    "OPSCOPE_RUN": f'{{"dir":"{folder}","backend":""}}',
                },
            ),
            "whole": ([sys.executable, "-m", "opscope", "run", "-o", folder, "--", *PROGRAM], {}),
        }
        results = {name: [] for name in variants}
        for _ in range(options.repetitions):  # one after the other, so that all see the same machine
            for name, (command, more) in variants.items():
                results[name].append(processor_ms(command, more))
    plain = measure.figures(results["plain"])
    for name, title in (
        ("watched", "a program without a framework under `opscope run`: what it pays itself"),
        ("whole", "the same, with the start of `opscope run`"),
    ):
        added = measure.figures([value - plain["min"] for value in results[name]])
        measure.print_row(
            f"run_{name}",
            title,
            "ms",
            added,
            absolute_goal=30,
            note=f"processor time; without opscope {plain['min']:.1f} ms",
            repetitions=options.repetitions,
        )


if __name__ == "__main__":
    main()

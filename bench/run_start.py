# SPDX-License-Identifier: Apache-2.0
"""Processor time that `opscope run` adds to a Python program without a framework: its own, and the program's for the
watcher."""

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


def processor_ms(command):
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run(command, env={**os.environ, "PYTHONPATH": PACKAGES}, check=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return (after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime) * 1000


def main():
    options = measure.parse_options(__doc__, ops=1, quick_ops=1, repetitions=30)
    with tempfile.TemporaryDirectory() as folder:
        under_run = [sys.executable, "-m", "opscope", "run", "-o", folder, "--", *PROGRAM]
        # One after the other, so that both see the same machine.
        pairs = [(processor_ms(PROGRAM), processor_ms(under_run)) for _ in range(options.repetitions)]
    plain = min(alone for alone, _ in pairs)
    measure.print_row(
        "run_whole",
        "a program without a framework under `opscope run`",
        "ms",
        measure.figures([whole - plain for _, whole in pairs]),
        absolute_goal=30,
        note=f"processor time; without opscope {plain:.1f} ms",
        repetitions=options.repetitions,
    )


if __name__ == "__main__":
    main()

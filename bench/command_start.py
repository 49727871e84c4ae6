# SPDX-License-Identifier: Apache-2.0
"""`opscope summary` of a file of 20 kB, from the start of the process to its end: the program without Python, and the
command of the package beside a Python that does nothing.

Milliseconds of processes on a busy machine vary, so the sides take turns and the minima are judged.
"""

import subprocess
import sys
import time
from pathlib import Path

import native

import measure

BYTES = 20_000


def write_trace(path):
    """An .opscope file of about BYTES; the count of spans that gives it."""
    import opscope

    text = path.with_suffix(".json")
    spans = 400
    while True:
        native.write_kineto_json(text, spans, "usual")
        opscope.open(str(text)).save(str(path))
        if path.stat().st_size >= BYTES:
            text.unlink()
            return spans
        spans = spans * 5 // 4


def milliseconds(command):
    start = time.perf_counter()
    subprocess.run(command, stdout=subprocess.DEVNULL, check=True)
    return (time.perf_counter() - start) * 1000


def main():
    options = measure.parse_options(__doc__, ops=0, quick_ops=0, repetitions=60)
    path = Path("command_start.opscope").resolve()
    command = Path(sys.executable).with_name("opscope")
    try:
        spans = write_trace(path)
        runs = {
            "native": [str(native.COMMAND), "summary", str(path)],
            "command": [str(command), "summary", str(path)],
            "python": [sys.executable, "-c", "pass"],
        }
        times = {name: [] for name in runs}
        for _ in range(options.repetitions):
            for name, run in runs.items():
                times[name].append(milliseconds(run))
        size = path.stat().st_size
    finally:
        path.unlink(missing_ok=True)
    note = f"{size} bytes, {spans} spans"
    more = {"repetitions": options.repetitions, "note": note}
    ours = {name: measure.figures(samples) for name, samples in times.items()}
    title = "`opscope-native summary` of a file of 20 kB, start of the process included"
    measure.print_row("command_native", title, "ms", ours["native"], absolute_goal=15, **more)
    added = {kind: ours["command"][kind] - ours["python"][kind] for kind in ("min", "median")}
    title = "`opscope summary` of it, more than `python -c pass`"
    more["note"] += f"; python -c pass takes {ours['python']['min']:.1f} ms"
    measure.print_row("command_python", title, "ms", added, absolute_goal=25, **more)


if __name__ == "__main__":
    main()

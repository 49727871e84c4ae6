# SPDX-License-Identifier: Apache-2.0
"""Rows of CUPTI's records from device_records (bench/device_records.cc): stored buffers to a Trace and to a file.

--ops: launches, each of which is two records.
"""

import json
import os
import subprocess

from native import program

import measure

LENGTHS = (  # row, title, figure of the program, bytes a record at most
    ("device_trace", "records of CUPTI as a Trace, with arrows and launches", "trace_bytes", 64),
    ("device_file", "the same in the `.opscope` file", "file_bytes", 16),
)


def main():
    options = measure.parse_options(__doc__, ops=2_000_000, quick_ops=2000)
    command = [program("device_records"), str(options.ops), str(options.repetitions), os.getcwd()]
    done = subprocess.run(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, check=True, text=True)
    results = [json.loads(line) for line in done.stdout.splitlines()]
    launches = f"{options.ops} launches: a call and a kernel each, {results[0]['buffer_bytes']:.0f} bytes a record"
    copied = measure.figures([result["copy_ns"] for result in results])
    parts = {part: measure.figures([result[f"{part}_ns"] for result in results]) for part in ("decode", "import")}
    measure.print_row(
        "device_import",
        "stored buffers of CUPTI, decoded and imported by one thread, per record",
        "ns",
        measure.figures([result["decode_ns"] + result["import_ns"] for result in results]),
        absolute_goal=100,
        repetitions=len(results),
        note=f"{launches}; CPU time; of it decoding {parts['decode']['min']:.0f}, importing "
        f"{parts['import']['min']:.0f}; a copy of the buffers takes {copied['min']:.0f}",
    )
    for row, title, figure, most in LENGTHS:
        lengths = measure.figures([result[figure] for result in results])
        measure.print_row(
            row, title, "bytes", lengths, absolute_goal=most, repetitions=len(results), note=f"{launches}; per record"
        )
        measure.require_when_quick(lengths["min"] > 0, f"{row} is empty", options)


if __name__ == "__main__":
    main()

# SPDX-License-Identifier: Apache-2.0
"""Rows of CUPTI's records from device_records (bench/device_records.cc): stored buffers to a Trace and to a file.

--ops: launches, each of which is two records.
"""

import os

import native

import measure

LENGTHS = (  # row, title, figure of the program, bytes a record at most
    ("device_trace", "records of CUPTI as a Trace, with arrows and launches", "trace_bytes", 64),
    ("device_file", "the same in the `.opscope` file", "file_bytes", 16),
)


def main():
    options = measure.parse_options(__doc__, ops=2_000_000, quick_ops=2000)
    results = native.results_of("device_records", options.ops, options.repetitions, os.getcwd())
    launches = f"{options.ops} launches: a call and a kernel each, {results[0]['buffer_bytes']:.0f} bytes a record"
    copied = measure.figures_of(results, "copy_ns")
    parts = {part: measure.figures_of(results, f"{part}_ns") for part in ("decode", "import")}
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
        lengths = measure.figures_of(results, figure)
        measure.print_row(
            row, title, "bytes", lengths, absolute_goal=most, repetitions=len(results), note=f"{launches}; per record"
        )
        measure.require_when_quick(lengths["min"] > 0, f"{row} is empty", options)


if __name__ == "__main__":
    main()

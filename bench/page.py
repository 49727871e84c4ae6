# SPDX-License-Identifier: Apache-2.0
"""The page of `report` of a million spans, beside importing them from JSON, and its memory beyond the Trace.

The trace is a generated one with a GPU and 50 steps (kineto_json.cc); each repetition is a process of its own.
"""

import json
import resource
import shutil
import sys
import tempfile
from pathlib import Path

import native

import measure

KIB = 1024


def one(path):
    """Wall times of the import and of the page, and by how many bytes the page raised the peak of memory."""
    import opscope

    clock = measure.Clock()
    trace = opscope.open(path)
    imported = clock.read()["wall"]
    before = measure.resident_bytes()
    clock = measure.Clock()
    trace.report(Path(path).with_suffix(".html"))
    written = clock.read()["wall"]
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * KIB
    return {"import": imported, "page": written, "bytes": max(0, peak - before), "spans": len(trace.spans)}


def main():
    options = measure.parse_options(__doc__, ops=1_000_000, quick_ops=20_000, repetitions=3)
    if options.one:
        print(json.dumps(one(**json.loads(options.one))))
        return
    folder = Path(tempfile.mkdtemp(dir="."))
    try:
        path = folder / "trace.json"
        native.write_kineto_json(path, options.ops, "plain", 50)
        results = [measure.in_fresh_process(__file__, {"path": str(path)}) for _ in range(options.repetitions)]
    finally:
        shutil.rmtree(folder)
    samples = {key: measure.figures_of(results, key) for key in ("import", "page", "bytes")}
    note = f"{results[0]['spans']:,} spans"
    title = "Page of `report`, beside importing the trace from JSON"
    measure.print_row(
        "page_time",
        title,
        "s",
        samples["page"],
        samples["import"],
        goal=1.0,
        note=note,
        repetitions=options.repetitions,
    )
    mib = {key: value / 2**20 for key, value in samples["bytes"].items()}
    title = "Memory of writing the page, beyond the Trace"
    measure.print_row("page_memory", title, "MiB", mib, absolute_goal=300, note=note, repetitions=options.repetitions)


if __name__ == "__main__":
    sys.exit(main())

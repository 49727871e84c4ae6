# SPDX-License-Identifier: Apache-2.0
"""What opscope reads of every Kineto sample in SAMPLES: writes PLACE/samples.json, and the plain JSON beside it.

Of each file: how often every name occurs and the sum of its times, its instants, and for how long a device was busy.
"""

import gzip
import json
import shutil
import sys
from collections import defaultdict
from pathlib import Path

import numpy

import opscope

ON_DEVICE = ("kernel", "gpu_memcpy", "gpu_memset")


def union_ns(starts, durations):
    """The length of the union of intervals."""
    order = numpy.argsort(starts, kind="stable")
    total, covered = 0, None
    for start, duration in zip(starts[order].tolist(), durations[order].tolist(), strict=True):
        end = start + duration
        if covered is None or start > covered:
            total, covered = total + duration, end
        elif end > covered:
            total, covered = total + end - covered, end
    return total


def read(path):
    trace = opscope.open(str(path))
    spans, instants = trace.spans, defaultdict(int)
    for name in trace.instants.text("name"):
        instants[name] += 1
    names = defaultdict(lambda: [0, 0])
    durations = numpy.asarray(spans.duration)
    for name, duration in zip(spans.text("name"), durations.tolist(), strict=True):
        names[name][0] += 1
        names[name][1] += duration
    on_device = numpy.isin(numpy.asarray(spans.text("category")), ON_DEVICE)
    busy_ns = union_ns(numpy.asarray(spans.start)[on_device], durations[on_device])
    return {"names": names, "instants": instants, "busy_ns": busy_ns}


def main(samples, place):
    folder = place / "samples"
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    found = {}
    for path in sorted(samples.glob("*.json.gz")):
        with gzip.open(path) as packed:
            content = packed.read()
        if b'"traceEvents"' not in content:  # execution traces and memory timelines are other formats
            continue
        found[path.name] = read(path)
        (folder / path.name.removesuffix(".gz")).write_bytes(content)
    (place / "samples.json").write_text(json.dumps(found), encoding="utf-8")


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]))

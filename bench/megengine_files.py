# SPDX-License-Identifier: Apache-2.0
"""Bytes of MegEngine's files per operator: both sides write those of the same records."""

import json
import os
import pathlib
import tempfile

from megengine_python import PYTHON, in_megengines_python

import measure

TITLE = "bytes per operator: .opscope against chrome_timeline.json, of the worker"
ROW = "megengine_worker_bytes"


def measured(arguments):
    """{side: bytes of its file per operator}"""
    import megengine
    import numpy
    from megengine import functional
    from megengine.core._imperative_rt import core2

    from opscope import _core
    from opscope.trace import Trace

    library = pathlib.Path(_core.__file__).parent / "lib/libopscope_megengine.so"
    source, ops = _core.megengine.load_source(library), arguments["ops"]
    ones = megengine.tensor(numpy.ones(65536, "float32"))  # too large to be computed on the host
    recording = _core.Recording(sources=[(source, [])], native_threads="none")
    recording.start()
    core2.start_profile({"profile_device": 1})
    for _ in range(ops):
        functional.add(ones, ones)
    core2.full_sync()
    dump = core2.stop_profile()
    if source.take(dump) != "":
        raise SystemExit("bench: MegEngine's records are not known")
    recording.stop()
    with tempfile.TemporaryDirectory(dir="/dev/shm") as folder:
        Trace(recording.trace()).save(f"{folder}/ours")
        dump(f"{folder}/theirs", "chrome_timeline.json")
        return {
            "opscope": os.path.getsize(f"{folder}/ours") / ops,
            "torch": os.path.getsize(f"{folder}/theirs") / ops,
        }


def main():
    options = measure.parse_options(__doc__, ops=10000, quick_ops=200, repetitions=3)
    if options.one is not None:
        print(json.dumps(measured(json.loads(options.one))))
        return
    if not PYTHON.exists():
        measure.print_absent(ROW, TITLE, "bytes", "MegEngine is not installed")
        return
    found = [in_megengines_python(__file__, {"ops": options.ops}) for _ in range(options.repetitions)]
    results = {side: [result[side] for result in found] for side in measure.SIDES}
    note = f"{options.ops} operators"
    measure.sampled_row(ROW, TITLE, "bytes", results, float, goal=1 / 60, note=note)


if __name__ == "__main__":
    main()

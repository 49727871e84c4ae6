# SPDX-License-Identifier: Apache-2.0
"""What MegEngine's files cost per operator: both sides write those of the same records."""

import json
import operator
import os
import pathlib
import tempfile

from megengine_python import PYTHON, in_megengines_python

import measure

PROGRAMS = {"host": ("host-computed", 4, 1 / 25), "worker": ("of the worker", 65536, 1 / 40)}
ROWS = {  # key: title, unit
    "json": ("stop and chrome_timeline.json, per operator", "us"),
    "svg": ("memory_flow.svg of records that were taken, per operator", "us"),
    "bytes": ("bytes per operator: .opscope against chrome_timeline.json", "bytes"),
}
GOALS = {"svg": 1 / 10, "bytes": 1 / 60}


def window(source, program, ops, folder, format):
    """Seconds for the stop, for taking its records, for our file and for theirs; and the trace."""
    from megengine.core._imperative_rt import core2

    from opscope import _core
    from opscope.trace import Trace

    recording = _core.Recording(sources=[(source, [])], native_threads="none")
    recording.start()
    core2.start_profile({"profile_device": 1})
    for _ in range(ops):
        program()
    core2.full_sync()
    clock = measure.Clock()
    dump = core2.stop_profile()
    stop = clock.read()["cpu"]
    clock = measure.Clock()
    if source.take(dump) != "":
        raise SystemExit("bench: MegEngine's records are not known")
    recording.stop()
    trace = Trace(recording.trace())
    taking = clock.read()["cpu"]
    clock = measure.Clock()
    trace.export(f"{folder}/ours", to=format[1])
    ours = clock.read()["cpu"]
    clock = measure.Clock()
    dump(f"{folder}/theirs", format[0])
    return stop, taking, ours, clock.read()["cpu"], trace


def measured(arguments):
    """{side: {row: figure}}"""
    import megengine
    import numpy
    from megengine import functional

    from opscope import _core

    library = pathlib.Path(_core.__file__).parent / "lib/libopscope_megengine.so"
    source, ops = _core.megengine.load_source(library), arguments["ops"]
    found = {"opscope": {}, "torch": {}}
    with tempfile.TemporaryDirectory(dir="/dev/shm") as folder:
        for key, (_, elements, _) in PROGRAMS.items():
            ones = megengine.tensor(numpy.ones(elements, "float32"))

            def program(ones=ones):
                functional.add(ones, ones)

            window(source, program, 50, folder, ("chrome_timeline.json", "megengine-chrome"))
            stop, taking, ours, theirs, trace = window(
                source, program, ops, folder, ("chrome_timeline.json", "megengine-chrome")
            )
            found["opscope"][f"{key}_json"] = (stop + taking + ours) * 1e6 / ops
            found["torch"][f"{key}_json"] = (stop + theirs) * 1e6 / ops
            trace.save(f"{folder}/x.opscope")
            found["opscope"][f"{key}_bytes"] = os.path.getsize(f"{folder}/x.opscope") / ops
            found["torch"][f"{key}_bytes"] = os.path.getsize(f"{folder}/theirs") / ops
            _, _, ours, theirs, _ = window(source, program, ops, folder, ("memory_flow.svg", "megengine-svg"))
            found["opscope"][f"{key}_svg"], found["torch"][f"{key}_svg"] = ours * 1e6 / ops, theirs * 1e6 / ops
    return found


def main():
    options = measure.parse_options(__doc__, ops=10000, quick_ops=200)
    if options.one is not None:
        print(json.dumps(measured(json.loads(options.one))))
        return
    titles = {
        f"{key}_{row}": (f"{title}, {what}", unit, GOALS.get(row, goal))
        for key, (what, _, goal) in PROGRAMS.items()
        for row, (title, unit) in ROWS.items()
    }
    if not PYTHON.exists():
        for row, (title, unit, _) in titles.items():
            measure.print_absent(f"megengine_{row}", title, unit, "MegEngine is not installed")
        return
    results = {"opscope": [], "torch": []}
    for _ in range(options.repetitions):
        found = in_megengines_python(__file__, {"ops": options.ops})
        for side, figures in found.items():
            results[side].append(figures)
    for row, (title, unit, goal) in titles.items():
        note = f"{options.ops} operators" + (", CPU time" if unit == "us" else "")
        measure.sampled_row(f"megengine_{row}", title, unit, results, operator.itemgetter(row), goal=goal, note=note)


if __name__ == "__main__":
    main()

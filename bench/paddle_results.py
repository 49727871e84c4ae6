# SPDX-License-Identifier: Apache-2.0
"""What Paddle's results cost after a recording, per million events: stop and summary, a file, bytes.

Times are what the program waits; opscope makes and writes files on all processors. CPU time stands beside.
"""

import contextlib
import importlib.util
import io
import json
import operator
import os
import tempfile

import measure

STEPS = 50
ROWS = {  # key: title, unit, goal
    "stop_summary": ("stop and summary() of Paddle, per million events", "s", 1 / 200),
    "json": ("export of Paddle's JSON, per million events", "s", 1 / 20),
    "pb_bytes": ("bytes per event: .opscope against Paddle's protobuf", "bytes", 1 / 12),
}


def measured(arguments):
    """{row: figure} of one side."""
    import paddle

    if arguments["side"] == "opscope":
        import opscope.paddle as profiler
    else:
        import paddle.profiler as profiler
    ones = paddle.ones([2])

    def record(ops):
        prof = profiler.Profiler(on_trace_ready=lambda _: None, targets=[profiler.ProfilerTarget.CPU])
        prof.start()
        with paddle.no_grad():
            for _ in range(STEPS):
                for _ in range(ops // STEPS):
                    paddle.add(ones, ones)
                prof.step()
        clock = measure.Clock()
        prof.stop()
        return prof, clock.read()

    record(STEPS)
    prof, stop = record(arguments["ops"])
    events = 4 * (arguments["ops"] // STEPS) * STEPS + STEPS + 1
    found = {}

    def seconds(act):
        clock = measure.Clock()
        act()
        return {kind: time * 1e6 / events for kind, time in clock.read().items()}

    with contextlib.redirect_stdout(io.StringIO()), tempfile.TemporaryDirectory() as folder:
        summary = seconds(prof.summary)
        found["stop_summary"] = {kind: time * 1e6 / events + summary[kind] for kind, time in stop.items()}
        found["json"] = seconds(lambda: prof.export(f"{folder}/x.json", "json"))
        if arguments["side"] == "opscope":
            prof.save(f"{folder}/file")
        else:
            prof.export(f"{folder}/file", "pb")
        found["pb_bytes"] = os.path.getsize(f"{folder}/file") / events
    return found


def main():
    options = measure.parse_options(__doc__, ops=50000, quick_ops=500, repetitions=3)
    if options.one is not None:
        print(json.dumps(measured(json.loads(options.one))))
        return
    if importlib.util.find_spec("paddle") is None:
        for row, (title, unit, _) in ROWS.items():
            measure.print_absent(f"paddle_{row}", title, unit, "Paddle is not installed")
        return
    results = {"opscope": [], "torch": []}
    for _ in range(options.repetitions):
        for key, side in (("opscope", "opscope"), ("torch", "paddle")):
            found = measure.in_fresh_process(__file__, {"side": side, "ops": options.ops})
            results[key].append(found)
    note = f"{4 * options.ops} events"
    for row, (title, unit, goal) in ROWS.items():
        read, cpu = operator.itemgetter(row), None
        if unit == "s":
            read = lambda found, row=row: found[row]["wall"]  # noqa: E731
            cpu = measure.median_cpu(results, lambda found, row=row: found[row]["cpu"])
        measure.sampled_row(f"paddle_{row}", title, unit, results, read, goal=goal, cpu=cpu, note=note)


if __name__ == "__main__":
    main()

# SPDX-License-Identifier: Apache-2.0
"""HTA's breakdowns of a generated trace with a GPU and 10 steps, beside opscope's: temporal, idle and overlap (one
answer here, `Trace.devices`), kernels, and the critical path.

Both sides have read the trace before. HTA runs once, in a process of its own (hta_peer.py); its numbers
must be those of opscope, up to its rounding of every work to whole microseconds.
"""

import json
import os
from pathlib import Path

import hta_peer
import native

import measure

STEPS = 10
ROUNDING_US = 2


def ask_hta(path):
    """{question: seconds}, and the numbers (us)."""
    import logging

    from hta.trace_analysis import TraceAnalysis

    logging.disable(logging.INFO)
    analysis = TraceAnalysis(trace_files={0: path}, trace_dir=os.path.dirname(path), include_last_profiler_step=True)

    def seconds(question):
        clock = measure.Clock()
        answer = question()
        return clock.read()["wall"], answer

    times = {}
    times["temporal"], temporal = seconds(lambda: analysis.get_temporal_breakdown(visualize=False))
    times["idle"], _ = seconds(lambda: analysis.get_idle_time_breakdown(ranks=[0], visualize=False))
    times["overlap"], _ = seconds(lambda: analysis.get_comm_comp_overlap(visualize=False))
    times["kernels"], kernels = seconds(
        lambda: analysis.get_gpu_kernel_breakdown(visualize=False, duration_ratio=1.0, num_kernels=1_000_000)
    )
    times["critical_path"], _ = seconds(
        lambda: analysis.critical_path_analysis(rank=0, annotation="ProfilerStep", instance_id=(0, STEPS - 1))
    )
    row = temporal.iloc[0]
    numbers = {
        "idle_ns": float(row["idle_time(us)"]),
        "compute_ns": float(row["compute_time(us)"]),
        "window_ns": float(row["kernel_time(us)"]),
        "kernels": float(kernels[1]["sum (us)"].sum()),
    }
    return {"seconds": times, "numbers": numbers}


def one(path):
    with hta_peer.silence():
        return ask_hta(path)


def require_equal_numbers(theirs, device, kernels):
    """Ends the benchmark where the sides disagree: a ratio of different questions says nothing."""
    ours = {key: device[key] / 1000 for key in ("idle_ns", "compute_ns", "window_ns")}
    ours["kernels"] = sum(row["total_ns"] for row in kernels) / 1000
    for key, value in ours.items():
        if abs(value - theirs[key]) > device["spans"] * ROUNDING_US:
            raise SystemExit(f"bench: {key}: opscope {value} us, HTA {theirs[key]} us")


def timed(question, repetitions):
    samples = []
    for _ in range(repetitions):
        clock = measure.Clock()
        answer = question()
        samples.append(clock.read()["wall"])
    return measure.figures(samples), answer


def print_rows(path, options):
    import opscope

    trace = opscope.open(str(path))
    devices, rows = timed(trace.devices, options.repetitions)
    kernels, kernel_rows = timed(trace.device_kernels, options.repetitions)
    paths, _ = timed(trace.critical_paths, options.repetitions)
    python = hta_peer.python_of(options)
    theirs = hta_peer.ask(python, __file__, {"path": str(path)}) if python else None
    titles = {
        "devices": ("Temporal, idle and overlap breakdowns, beside HTA's", devices, ("temporal", "idle", "overlap")),
        "kernels": ("Kernels of a device, beside HTA's kernel breakdown", kernels, ("kernels",)),
        "critical_path": ("Critical path, beside HTA's", paths, ("critical_path",)),
    }
    if theirs is not None:
        require_equal_numbers(theirs["numbers"], rows[0], kernel_rows)
    for name, (title, ours, questions) in titles.items():
        if theirs is None:
            measure.print_absent(f"analysis_HTA_{name}", title, "s", "HTA is not installed")
            continue
        seconds = sum(theirs["seconds"][question] for question in questions)
        sides = ours, {"min": seconds, "median": seconds}
        note = f"{len(trace.spans):,} spans"
        more = {"goal": 1 / 50, "repetitions": options.repetitions, "note": note}
        measure.print_row(f"analysis_HTA_{name}", title, "s", *sides, **more)


def main():
    options = measure.parse_options(__doc__, ops=200_000, quick_ops=20_000, peers="")
    if options.one:
        print(json.dumps(one(**json.loads(options.one))))
        return
    path = Path("hta_breakdowns.json").resolve()
    try:
        native.write_kineto_json(path, options.ops, "usual", STEPS)
        print_rows(path, options)
    finally:
        path.unlink(missing_ok=True)


if __name__ == "__main__":
    main()

# SPDX-License-Identifier: Apache-2.0
"""What HTA and opscope say of every Kineto sample that HTA can read: busy, idle and compute time of the device, time of
each kernel, causes of idle time, overlap of communication, and what changed from one trace to another.

What docs/explanation/checked_in_other_tools.md explains is taken out of the trace first, and counted by its cause; then
both must agree up to HTA's rounding. Usage: hta_compare.py OPSCOPE FOLDER. Exit code 1: they do not.
"""

import contextlib
import gzip
import io
import json
import logging
import subprocess
import sys
import tempfile
from pathlib import Path

import devices_compare

ROUNDING_NS = 2_000  # of each work: HTA rounds both ends of it to whole microseconds
UNREADABLE = {
    "cuda_cupti_counters": "no kernels: HTA's breakdowns raise IndexError",
    "execution_trace_simple_add": "an execution trace",
    "torch_memory_timeline.raw": "a memory timeline",
}


KNOWN_TO_HTA = ("cudaLaunchKernel", "cudaLaunchKernelExC", "cudaMemcpyAsync", "cudaMemsetAsync")
WORKS = ("kernel", "gpu_memcpy", "gpu_memset")


def without_known_causes(document):
    """The trace as far as HTA and opscope take it for the same, and {cause: events that were taken out or changed}."""
    events, causes, kept = document["traceEvents"], {}, []
    called = {
        event.get("args", {}).get("correlation")
        for event in events
        if event.get("ph") == "X" and event.get("cat") not in WORKS
    }

    def count(cause):
        causes[cause] = causes.get(cause, 0) + 1

    for event in events:
        category, args = event.get("cat"), event.get("args", {})
        if category in WORKS and args.get("correlation") not in called:
            count("HTA drops works whose call is not in the file")
        elif category == "cuda_sync":
            count("HTA takes synchronization on a stream for a part of the device's window")
        elif category not in WORKS and event.get("ph") == "X" and "stream" in args:
            count("HTA takes a call with an argument `stream` for work of a device")
            kept.append(event | {"args": {key: value for key, value in args.items() if key != "stream"}})
        else:
            kept.append(event)
    return document | {"traceEvents": kept}, causes


@contextlib.contextmanager
def silent():
    with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()):
        yield


def analysis_of(document, folder):
    from hta.trace_analysis import TraceAnalysis

    logging.disable(logging.CRITICAL)
    path = Path(folder) / "rank0.json"
    path.write_text(json.dumps(document | {"distributedInfo": {"rank": 0}}))
    return TraceAnalysis(trace_files={0: str(path)}, trace_dir=str(folder), include_last_profiler_step=True)


def answer(opscope, *arguments):
    return json.loads(subprocess.run([opscope, *arguments, "--json"], capture_output=True, check=False).stdout)


def breakdown_differences(analysis, opscope, path):
    """Busy, idle and compute time; HTA takes all devices of a rank for one."""
    rows = [row for row in answer(opscope, "devices", str(path))["rows"] if row["stream"] == "all"]
    if len(rows) != 1:
        yield f"{len(rows)} devices"
        return
    row, theirs = rows[0], analysis.get_temporal_breakdown(visualize=False).iloc[0]
    for name, ours in (
        ("idle_time(us)", row["idle_ns"]),
        ("compute_time(us)", row["compute_ns"]),
        ("kernel_time(us)", row["window_ns"]),
    ):
        if abs(float(theirs[name]) * 1000 - ours) > row["spans"] * ROUNDING_NS:
            yield f"{name} {float(theirs[name]):.0f}, here {ours / 1000:.3f}"


def kernel_differences(analysis, opscope, path):
    """The time of each kernel by name: HTA leaves copies and sets to a table of their own kind."""
    rows = answer(opscope, "devices", "--kernels", str(path))["kernels"]
    ours = {}
    for row in rows:
        total, count = ours.get(row["name"], (0, 0))
        ours[row["name"]] = (total + row["total_ns"], count + row["count"])
    found = analysis.get_gpu_kernel_breakdown(
        visualize=False, duration_ratio=1.0, num_kernels=1_000_000, include_memory_kernels=False
    )[1]
    theirs = {row["name"]: row["sum (us)"] * 1000 for _, row in found.iterrows()}
    for name in sorted({*ours, *theirs}):
        total, count = ours.get(name, (0, 1))
        if abs(theirs.get(name, 0) - total) > count * ROUNDING_NS:
            yield f"{name[:60]}: {theirs.get(name, 0) / 1000:.0f} us, here {total / 1000:.3f}"


def works_of_unknown_calls(document):
    """How many works a call launched that HTA does not know: cudaGraphLaunch, cuLaunchKernel, those of HIP."""
    events = [event for event in document["traceEvents"] if event.get("ph") == "X"]
    calls = {
        event["args"]["correlation"]: event["name"]
        for event in events
        if event.get("cat") not in WORKS and "correlation" in event.get("args", {})
    }
    names = [calls.get(event["args"].get("correlation")) for event in events if event.get("cat") in WORKS]
    return sum(name is not None and name not in KNOWN_TO_HTA for name in names)


def cause_differences(document, opscope, path, causes):
    with tempfile.TemporaryDirectory() as folder, silent():
        theirs = devices_compare.in_hta(document, folder)
    ours = devices_compare.in_opscope(opscope, path)
    unknown = works_of_unknown_calls(document)
    if unknown:
        causes["HTA does not know the calls that launched them (cudaGraphLaunch, cuLaunchKernel, hip*)"] = unknown
    for each in devices_compare.differences(theirs, ours):
        of_launches = "with a launch" in each or "mean delay" in each
        if not (unknown and of_launches and theirs[1] == ours[1] - unknown):
            yield each


def change_differences(opscope, control, test):
    """({cause: events}, differences) of HTA's TraceDiff and `opscope diff`: how often each name occurs on either side.

    HTA's durations are not compared: they leave out names that occur on one side alone.
    """
    from hta.trace_diff import DeviceType, LabeledTrace, TraceDiff

    causes, paths = {}, []
    with tempfile.TemporaryDirectory() as folder, silent():
        sides = []
        for label, path in (("control", control), ("test", test)):
            document, found = without_known_causes(json.loads(gzip.open(path).read()))
            causes |= {cause: causes.get(cause, 0) + count for cause, count in found.items()}
            place = Path(folder) / label
            place.mkdir()
            sides.append(LabeledTrace(label=label, t=analysis_of(document, place).t))
            paths.append(place / "rank0.json")
        # Without a list of steps HTA compares one. It counts works in the step that launched them, opscope in the one
        # that they run in, so spans of the host are compared.
        control, test = (side.iterations() for side in sides)
        theirs = TraceDiff.compare_traces(
            *sides, control_iteration=control, test_iteration=test, device_type=DeviceType.CPU
        )
        rows = answer(opscope, "diff", "--where", "step >= 0", *map(str, paths))["rows"]
        ours = {row["name"]: row for row in rows}
    different = []
    for name, row in theirs.iterrows():
        if name.startswith("ProfilerStep#"):  # `diff` compares steps apart
            continue
        mine = ours.get(name, {"a_count": 0, "b_count": 0})
        for side, label in (("a", "control"), ("b", "test")):
            count = int(row[f"{label}_counts"])
            if count != mine[f"{side}_count"]:
                different.append(f"{name[:60]}, {label}: {count}, here {mine[f'{side}_count']}")
    return causes, different


def compare_one(opscope, path):
    """({cause: events}, differences without one)"""
    document, causes = without_known_causes(json.loads(gzip.open(path).read()))
    with tempfile.TemporaryDirectory() as folder:
        with silent():
            analysis = analysis_of(document, folder)
            rank = Path(folder) / "rank0.json"
            found = list(breakdown_differences(analysis, opscope, rank))
            found += kernel_differences(analysis, opscope, rank)
            found += cause_differences(document, opscope, rank, causes)
    return causes, found


def report(title, causes, found):
    said = "; ".join(f"{count}: {cause}" for cause, count in causes.items()) or "nothing taken out"
    print(f"HTA {title}: {said}; {len(found)} without a cause")
    for each in found[:12]:
        print(f"    {each}")
    return bool(found)


def main(opscope, folder):
    failed = False
    for path in sorted(Path(folder).glob("*.json.gz")):
        name = path.name.removesuffix(".json.gz")
        if name in UNREADABLE:
            print(f"HTA {name}: {UNREADABLE[name]}")
            continue
        failed = report(name, *compare_one(opscope, path)) or failed
    sides = [Path(folder) / f"diff_{side}.json.gz" for side in ("control", "test")]
    return report("diff_control against diff_test", *change_differences(opscope, *sides)) or failed


if __name__ == "__main__":
    sys.exit(main(sys.argv[1], sys.argv[2]))

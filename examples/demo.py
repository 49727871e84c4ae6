# SPDX-License-Identifier: Apache-2.0
"""Profiles a real ResNet-18 with opscope, then runs the same program under torch.profiler and compares.

    examples/demo.py [-o FOLDER] [--quick]

Prints the operator table, writes FOLDER/trace.json (open it in Perfetto or chrome://tracing) and
FOLDER/recording.opscope, and ends with what each profiler cost.
"""

import argparse
import os
import statistics
import subprocess
import sys
import time
from pathlib import Path

os.environ.setdefault("KINETO_LOG_LEVEL", "6")  # torch.profiler prints two lines per start and stop otherwise

import torch  # noqa: E402  (reads the variable above when it is loaded)
import torch.profiler  # noqa: E402

import opscope.torch  # noqa: E402
from resnet18 import ResNet18  # noqa: E402


def measure(profiler, model, inputs):
    """Runs the program under opscope.torch or torch.profiler: the object, its table, seconds inside, seconds after."""
    prof = profiler.profile(activities=[profiler.ProfilerActivity.CPU], record_shapes=True)
    prof.start()
    began = time.perf_counter()
    with profiler.record_function("model_inference"):
        model(inputs)
    ended = time.perf_counter()
    prof.stop()
    table = prof.key_averages().table(sort_by="cpu_time_total", row_limit=10)
    return prof, table, ended - began, time.perf_counter() - ended


def measure_off(model, inputs):
    began = time.perf_counter()
    model(inputs)
    return time.perf_counter() - began


def compare(model, inputs, repetitions, enough_s=20):
    """Medians of interleaved repetitions: without, with opscope, with torch.profiler.

    Before each stands a pass that is not measured, because what the last profiler left behind cools the caches. A slow
    machine may stop before all `repetitions`, but not before the fifth.
    """
    inside = {"off": [], "opscope": [], "torch.profiler": []}
    after = {"opscope": [], "torch.profiler": []}
    began = time.perf_counter()
    for done in range(repetitions):
        if done >= 5 and time.perf_counter() - began > enough_s:
            break
        model(inputs)
        inside["off"].append(measure_off(model, inputs))
        for name, profiler in (("opscope", opscope.torch), ("torch.profiler", torch.profiler)):
            model(inputs)
            _, _, seconds, to_table = measure(profiler, model, inputs)
            inside[name].append(seconds)
            after[name].append(to_table)
    off = statistics.median(inside["off"])
    print(f"The same program, median of {len(inside['off'])} interleaved repetitions")
    print(f"  {'':16} {'forward pass':>14} {'slow-down':>10} {'stop to table':>15}")
    print(f"  {'no profiler':16} {off * 1e3:11.2f} ms {'':10} {'':15}")
    for name, seconds in after.items():
        median = statistics.median(inside[name])
        slow_down = (median / off - 1) * 100
        print(f"  {name:16} {median * 1e3:11.2f} ms {slow_down:+8.2f} % {statistics.median(seconds) * 1e3:12.2f} ms")
    if len(inside["off"]) > 1:
        low, _, high = statistics.quantiles(inside["off"], n=4)
        spread = (high - low) / off * 100
        print(f"  (half of the runs without a profiler lie within {spread:.2f} %: slow-downs below that are noise)")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("-o", "--output", type=Path, default=Path("demo-out"), metavar="FOLDER")
    parser.add_argument("--quick", action="store_true", help="a smaller picture and one repetition, for the tests")
    options = parser.parse_args()
    options.output.mkdir(parents=True, exist_ok=True)

    if options.quick:
        torch.set_num_threads(1)
    torch.manual_seed(0)
    model = ResNet18().eval()
    inputs = torch.randn(1, 3, 64, 64) if options.quick else torch.randn(5, 3, 224, 224)
    print(f"ResNet-18 forward pass, batch {'x'.join(map(str, inputs.shape))}, torch {torch.__version__}")
    for _ in range(3):  # the first passes load kernels and fill caches
        model(inputs)

    prof, table, _, _ = measure(opscope.torch, model, inputs)
    print(table)

    trace = options.output / "trace.json"
    recording = options.output / "recording.opscope"
    trace.unlink(missing_ok=True)
    prof.export_chrome_trace(str(trace))
    prof.save(str(recording))
    print(f"Chrome trace: {trace} ({trace.stat().st_size:,} bytes)")
    print(f"Recording:    {recording} ({recording.stat().st_size:,} bytes)")
    report = options.output / "report.html"
    prof.report(str(report))
    print(f"Report:       {report} ({report.stat().st_size:,} bytes), for any browser\n")

    compare(model, inputs, 1 if options.quick else 50)

    print(f"\n$ opscope summary {recording} --limit 5", flush=True)
    subprocess.run([sys.executable, "-m", "opscope", "summary", str(recording), "--limit", "5"], check=True)


if __name__ == "__main__":
    main()

# SPDX-License-Identifier: Apache-2.0
"""Rows of native scopes from record_bench (bench/record_bench.cc, Google Benchmark), repetitions interleaved at random.

--quick says nothing about speed.
"""

import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

import measure

HERE = Path(__file__).resolve().parent
BUILD = HERE.parent / "build" / "dev" / "bench"


def program(name="record_bench"):
    """The program of the build that is installed, too."""
    path = BUILD / name
    if not path.exists():
        sys.exit(f"bench: {path} is missing; cmake --build --preset dev --target {name}")
    return path


def write_kineto_json(path, ops, *form_and_steps):
    """A trace of so many operators in Kineto's JSON; bench/kineto_json.cc says which forms there are."""
    with open(path, "wb") as file:
        subprocess.run([program("kineto_json"), str(ops), *map(str, form_and_steps)], stdout=file, check=True)


def run(options):
    """{name: {"min", "median", "cpu", "own"}} nanoseconds per iteration and thread; "own": CPU time as figures."""
    command = [
        program(),
        "--benchmark_format=json",
        f"--benchmark_repetitions={options.repetitions}",
        "--benchmark_enable_random_interleaving=true",
        f"--benchmark_min_time={0.001 if options.quick else 0.2}",
    ]
    done = subprocess.run(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, check=True, text=True)
    times, cpu = {}, {}
    for line in json.loads(done.stdout)["benchmarks"]:
        if line["run_type"] == "iteration":
            # With N threads Google Benchmark divides the wall time by N; the row is a thread's own time.
            times.setdefault(line["run_name"], []).append(line["real_time"] * line["threads"])
            cpu.setdefault(line["run_name"], []).append(line["cpu_time"])
    own = {name: measure.figures(cpu[name]) for name in times}
    return {name: {**measure.figures(times[name]), "cpu": own[name]["median"], "own": own[name]} for name in times}


def print_stranger(options):
    """A program that is compiled as its author would, in rounds of either side."""
    rounds, events = (3, 1000) if options.quick else (400, 20000)
    library = BUILD.parent / "src" / "recorder"
    with tempfile.TemporaryDirectory() as folder:
        built = os.path.join(folder, "stranger_scope")
        flags = ["-std=c++20", "-O2", f"-I{HERE.parent / 'include'}", f"-L{library}", f"-Wl,-rpath,{library}"]
        source = str(HERE / "stranger_scope.cc")
        subprocess.run(["c++", *flags, source, "-o", built, "-lopscope_recorder"], check=True)
        done = subprocess.run([built, str(rounds), str(events)], stdout=subprocess.PIPE, check=True, text=True)
    times = [[float(word) for word in line.split()] for line in done.stdout.splitlines()]
    scopes, clocks = (measure.figures([row[side] for row in times]) for side in (0, 1))
    title = "native scope in a program built with `c++ -O2`, against two clock reads"
    measure.print_row("native_stranger", title, "ns", scopes, clocks, 1.15, repetitions=rounds)


def main():
    options = measure.parse_options(__doc__, ops=0, quick_ops=0)
    times = run(options)
    more = {"repetitions": options.repetitions}
    ours, theirs = times["Scope"], times["TwoClockReads"]
    cpu = {"ours": ours["cpu"], "theirs": theirs["cpu"]}
    title = "native scope, against two clock reads"
    measure.print_row("native_scope", title, "ns", ours, theirs, 1.15, cpu=cpu, **more)
    # CPU time: threads wait for each other's cores.
    own = {name: figures["own"] for name, figures in times.items()}
    title = "native scope on 4 threads, per thread, against one"
    sides = own["Scope/threads:4"], own["Scope"]
    measure.print_row("native_scope_4_threads", title, "ns of CPU", *sides, 1.15, **more)
    title = "native scope past the cap, against a recorded one, 64 threads"
    sides = own["ScopePastTheCap/threads:64"], own["ScopeOfManyThreads/threads:64"]
    measure.print_row("native_past_cap_64", title, "ns of CPU", *sides, 0.7, **more)
    print_stranger(options)
    disabled = measure_more(times["DisabledScope"], times["EmptyLoop"])
    measure.print_row(
        "native_disabled",
        "disabled scope, more than an empty loop",
        "ns",
        disabled,
        absolute_goal=0.6,
        repetitions=options.repetitions,
    )


def measure_more(ours, theirs):
    return {kind: ours[kind] - theirs[kind] for kind in ("min", "median")}


if __name__ == "__main__":
    main()

# SPDX-License-Identifier: Apache-2.0
"""Rows of native scopes from record_bench (bench/record_bench.cc, Google Benchmark), repetitions interleaved at random.

--quick says nothing about speed.
"""

import json
import subprocess
import sys
from pathlib import Path

import measure

HERE = Path(__file__).resolve().parent
BUILD = HERE.parent / "build" / "dev" / "bench"
COMMAND = BUILD.parent / "src" / "cli" / "opscope-native"


def program(name="record_bench"):
    """The program of this name that the build has made."""
    path = BUILD / name
    if not path.exists():
        sys.exit(f"bench: {path} is missing; cmake --build --preset dev --target {name}")
    return path


def results_of(name, *arguments):
    """Runs the program and returns the JSON objects that it prints, one a line."""
    command = [program(name), *map(str, arguments)]
    done = subprocess.run(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, check=True, text=True)
    return [json.loads(line) for line in done.stdout.splitlines()]


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
    title = "native scope past the cap, against a recorded one, 64 threads"
    sides = own["ScopePastTheCap/threads:64"], own["ScopeOfManyThreads/threads:64"]
    measure.print_row("native_past_cap_64", title, "ns of CPU", *sides, 0.7, **more)


if __name__ == "__main__":
    main()

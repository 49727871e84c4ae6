# SPDX-License-Identifier: Apache-2.0
"""What the files of this folder share: their options, clocks, fresh processes, and the rows they print.

A row is one JSON object per line on standard output; progress goes to standard error. `report.py` collects them.
The ratio that is judged is that of the minima, because the machine's other work only ever adds; the ratio of the
medians stands beside it.
"""

import argparse
import json
import multiprocessing
import os
import runpy
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

os.environ.setdefault("KINETO_LOG_LEVEL", "6")  # torch.profiler prints two lines per start and stop otherwise

SIDES = ("opscope", "torch")
FORKING = multiprocessing.get_context("fork")
forks_are_enough = False  # in place of fresh processes: set where nothing is judged (quick.py)


def newest_built(pattern):
    """The newest file of build/*/ that fits the pattern, of builds without a sanitizer: a Python that was not started
    with its library cannot load theirs. None: there is none.
    """
    folders = (Path(__file__).resolve().parent.parent / "build").glob("*/CMakeCache.txt")
    plain = [cache.parent for cache in folders if "\nOPSCOPE_SANITIZE:STRING=\n" in cache.read_text()]
    found = [path for folder in plain for path in folder.glob(pattern)]
    return max(found, key=lambda path: path.stat().st_mtime, default=None)


def parse_options(doc, ops, quick_ops, repetitions=5, **more):
    """--quick, --ops N, --repetitions N, and `more` as --name with a default."""
    parser = argparse.ArgumentParser(description=doc, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="once and small: shows that the benchmark runs")
    parser.add_argument("--ops", type=int, default=ops, help=f"operators per measurement (default {ops})")
    parser.add_argument("--repetitions", type=int, default=repetitions, help=f"interleaved (default {repetitions})")
    parser.add_argument("--one", metavar="JSON", help=argparse.SUPPRESS)  # one measurement, in this process
    for name, default in more.items():
        parser.add_argument("--" + name.replace("_", "-"), type=type(default), default=default)
    options = parser.parse_args()
    if options.quick:
        options.ops = quick_ops
        options.repetitions = 1
    return options


def profiler_module(side):
    """opscope.torch or torch.profiler: the same names."""
    if side == "opscope":
        import opscope.torch as module
    else:
        import torch.profiler as module
    return module


def new_profile(side, **flags):
    module = profiler_module(side)
    return module.profile(activities=[module.ProfilerActivity.CPU], **flags)


class Clock:
    """Wall and CPU time since it was made, in seconds."""

    def __init__(self):
        self._cpu = time.process_time()
        self._wall = time.perf_counter()

    def read(self):
        wall = time.perf_counter() - self._wall
        return {"wall": wall, "cpu": time.process_time() - self._cpu}


def resident_bytes():
    with open("/proc/self/statm") as statm:
        return int(statm.read().split()[1]) * os.sysconf("SC_PAGESIZE")


def say(text):
    print(f"bench: {text}", file=sys.stderr, flush=True)


def in_fresh_process(script, arguments):
    """Runs `script --one ARGUMENTS` in a new process and returns the object that it prints last."""
    command = [sys.executable, script, "--one", json.dumps(arguments)]
    done = subprocess.run(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, check=False, text=True)
    if done.returncode != 0:
        raise SystemExit(f"bench: {script} {arguments}: exit status {done.returncode}")
    return json.loads(done.stdout.splitlines()[-1])


def start_script(script, arguments, output, errors=None):
    """Starts `script ARGUMENTS` in a child of this process, with all that is imported here."""

    def run():
        os.dup2(output.fileno(), 1)
        if errors is not None:
            os.dup2(errors.fileno(), 2)
        sys.argv = [script, *arguments]
        runpy.run_path(script, run_name="__main__")

    child = FORKING.Process(target=run)
    child.start()
    return child


def in_forked_process(script, arguments):
    """The same in a child of this process."""
    with tempfile.TemporaryFile("w+") as output:
        child = start_script(script, ["--one", json.dumps(arguments)], output)
        child.join()
        if child.exitcode != 0:
            raise SystemExit(f"bench: {script} {arguments}: exit status {child.exitcode}")
        output.seek(0)
        return json.loads(output.read().splitlines()[-1])


def interleaved(script, repetitions, variants):
    """{key: arguments} -> {key: [result, ...]}: every variant once per repetition, each in a fresh process."""
    results = {key: [] for key in variants}
    measured = in_forked_process if forks_are_enough else in_fresh_process
    for repetition in range(repetitions):
        for key, arguments in variants.items():
            results[key].append(measured(script, arguments))
        say(f"{os.path.basename(script)}: repetition {repetition + 1} of {repetitions}")
    return results


def require_when_quick(holds, sentence, options):
    """What the tests demand of --quick: right results. Times are never judged there, and a real run shows all rows."""
    if options.quick and not holds:
        raise SystemExit(f"bench: {sentence}")


def figures(samples):
    return {"min": min(samples), "median": statistics.median(samples)}


def figures_of(results, key, scale=1.0):
    return figures([result[key] * scale for result in results])


def print_row(
    row,
    title,
    unit,
    ours,
    theirs=None,
    goal=None,
    absolute_goal=None,
    cpu=None,
    note="",
    repetitions=0,
    is_difference=False,
):
    """Prints a row. `ours`, `theirs`: {"min", "median"}; `cpu`: the same two as CPU time, medians.

    goal: ours / theirs at most. absolute_goal: ours at most, in the row's unit. Neither: shown, not judged.
    is_difference: of two times, which other work can make less as well as more: judged by the medians.
    """
    line = {"row": row, "title": title, "unit": unit, "ours": ours["min"], "repetitions": repetitions, "note": note}
    line["min"] = {"ours": ours["min"]}
    line["median"] = {"ours": ours["median"]}
    if theirs is not None:
        line["theirs"] = theirs["min"]
        line["min"]["theirs"] = theirs["min"]
        line["median"]["theirs"] = theirs["median"]
        # A side that costs less than the noise can measure at or below zero; a ratio of that says nothing.
        line["ratio"] = ours["min"] / theirs["min"] if theirs["min"] > 0 else None
        line["ratio_of_medians"] = ours["median"] / theirs["median"] if theirs["median"] > 0 else None
    if cpu is not None:
        line["cpu"] = cpu
    judged = "ratio_of_medians" if is_difference else "ratio"
    if is_difference:
        line["judged"] = judged
    if goal is not None:
        line["goal"] = f"<= {fraction(goal)}"
        line["met"] = line[judged] is not None and line[judged] <= goal
    if absolute_goal is not None:
        line["goal"] = f"<= {absolute_goal:g} {unit}"
        line["met"] = ours["min"] <= absolute_goal
    print(json.dumps(line), flush=True)


def print_absent(row, title, unit, why):
    """A row that cannot be measured here, and why."""
    say(f"{title}: not measured: {why}")
    none = {"ours": None}
    line = {"row": row, "title": title, "unit": unit, "ours": None, "repetitions": 0, "min": none, "median": none}
    print(json.dumps({**line, "note": f"not measured: {why}"}), flush=True)


def fraction(goal):
    if goal < 0.3 and abs(1 / goal - round(1 / goal)) < 1e-6:
        return f"1/{1 / goal:.0f}"
    return f"{goal:.2f}" if abs(goal - round(goal, 2)) < 1e-6 else f"{goal:g}"


def sampled_row(row, title, unit, results, read, scale=1.0, **more):
    """A row from results {"opscope": [...], "torch": [...]} of `interleaved`; `read` takes one to a figure."""
    ours = figures([read(result) * scale for result in results["opscope"]])
    theirs = figures([read(result) * scale for result in results["torch"]]) if results.get("torch") else None
    print_row(row, title, unit, ours, theirs, repetitions=len(results["opscope"]), **more)


def median_cpu(results, read, scale=1.0):
    """{"ours", "theirs"}: medians of CPU time."""
    sides = (("ours", "opscope"), ("theirs", "torch"))
    return {word: statistics.median(read(result) * scale for result in results[side]) for word, side in sides}

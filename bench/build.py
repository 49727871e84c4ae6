# SPDX-License-Identifier: Apache-2.0
"""What compiling costs, from an empty folder and without a compiler cache: what `make demo` installs, and what follows
when one source file was touched."""

import os
import re
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import measure

ROOT = Path(__file__).resolve().parent.parent
SLOWEST_SOURCES = 3
# Compiled as one unit with torch's headers, the files with CLI11, and what lies outside src/ (fakes of tests, whose
# ".." CMake writes as "__"): not among those that are touched.
APART = ("sources/torch", "src/cli/", "/__/")


def run(*command):
    """Runs to the end and gives the CPU seconds and the seconds that it took."""
    before, began = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
    done = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, text=True, cwd=ROOT, check=False)
    if done.returncode != 0:
        raise SystemExit(f"bench: {' '.join(map(str, command))}\n{done.stdout[-3000:]}{done.stderr[-1000:]}")
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return cpu, time.perf_counter() - began


def configure(folder):
    import torch

    define = {
        "OPSCOPE_CCACHE": "",
        "OPSCOPE_PYTHON": "ON",
        "OPSCOPE_TORCH_DIR": os.path.dirname(torch.__file__),
        "Python_EXECUTABLE": sys.executable,
    }
    run("cmake", "--preset", "dev", "-B", folder, *(f"-D{name}={value}" for name, value in define.items()))


def build(folder, target):
    return run("cmake", "--build", folder, "--target", target, "-j", str(os.cpu_count()))


def slowest_sources(folder):
    """Sources of the libraries, by what Ninja noted of their objects; of those compiled together the first."""
    took = {}
    for line in (folder / ".ninja_log").read_text().splitlines()[1:]:
        began, ended, _, output, _ = line.split("\t")
        joined = folder / output.removesuffix(".o")
        if output.startswith("src/") and joined.suffix == ".cxx" and not any(part in output for part in APART):
            first = re.search(r'^#include "(.*)"$', joined.read_text(), re.MULTILINE)
            took[Path(first.group(1))] = int(ended) - int(began)
    return sorted(took, key=took.get, reverse=True)[:SLOWEST_SOURCES]


def minutes_row(row, title, cpu_s, seconds, goal):
    minutes = {"min": cpu_s / 60, "median": cpu_s / 60}
    note = f"{seconds:.0f} s of wall on {os.cpu_count()} cores"
    measure.print_row(row, title, "CPU min", minutes, absolute_goal=goal, repetitions=1, note=note)


def main():
    options = measure.parse_options(__doc__, ops=0, quick_ops=0)
    with tempfile.TemporaryDirectory(dir=ROOT / "build") as name:
        folder = Path(name)
        configure(folder)
        if options.quick:
            cpu_s, _ = build(folder, "opscope_schedule")
            measure.require_when_quick(cpu_s > 0, "compiling took no time", options)
            minutes_row("build_one_module", "compile one module", cpu_s, 0, None)
            return
        measure.say("build: what make demo installs")
        minutes_row("build_demo", "compile what make demo installs", *build(folder, "opscope_python"), 6)
        touched = []
        for source in slowest_sources(folder):
            source.touch()
            touched.append(build(folder, "opscope_python")[1])
            measure.say(f"build: {source.name} touched: {touched[-1]:.1f} s")
        measure.print_row(
            "build_touched",
            f"package after one of the {SLOWEST_SOURCES} slowest sources was touched, the slowest",
            "s",
            {"min": max(touched), "median": max(touched)},
            absolute_goal=10,
            repetitions=1,
            note="with those compiled together with it, archived and linked; not torch's adapter, nor the command line",
        )


if __name__ == "__main__":
    main()

# SPDX-License-Identifier: Apache-2.0
"""Programs whose ranges and steps cross calls of Python, by each profiler: PLACE/crossing/{opscope,torch}/*.json.

One for each way to enter a range (python/tests/range_programs.py), one with all of them, one with steps.
"""

import sys
import warnings
from pathlib import Path

import torch.profiler

import opscope.torch

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "python" / "tests"))
import range_programs

RUNS = 6
DEPTH = 4


def record_way(profiler, ways, path):
    program = range_programs.Program(0, profiler, ways)
    with profiler.profile(with_stack=True) as prof:
        for _ in range(RUNS):
            program.run(DEPTH)
    prof.export_chrome_trace(path)


def record_steps(profiler, path):
    program = range_programs.Program(0, profiler, ("with",))
    schedule = profiler.schedule(wait=1, warmup=1, active=RUNS)
    options = {"with_stack": True, "on_trace_ready": lambda prof: prof.export_chrome_trace(path)}
    with profiler.profile(schedule=schedule, **options) as prof:
        for _ in range(RUNS + 2):
            program.run(DEPTH)
            prof.step()


def main(place):
    for kind, profiler in (("opscope", opscope.torch), ("torch", torch.profiler)):
        folder = place / "crossing" / kind
        folder.mkdir(parents=True, exist_ok=True)
        for way in range_programs.WAYS:
            record_way(profiler, (way,), str(folder / f"{way}.json"))
        record_way(profiler, range_programs.WAYS, str(folder / "all ways.json"))
        record_steps(profiler, str(folder / "steps.json"))


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    main(Path(sys.argv[1]))

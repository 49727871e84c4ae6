# SPDX-License-Identifier: Apache-2.0
"""What the tests of the trainers read from the files of a training, and how they start the ranks of a job."""

import json
import os
import re
import socket
import subprocess
import sys
from pathlib import Path


def only_trace(folder):
    """The one recording of a folder, which has its report beside it and nothing else."""
    import opscope

    (path,) = folder.glob("*.opscope")
    assert re.fullmatch(rf"rank_unknown-a0-[\w.]+-{os.getpid()}-\d+", path.stem)
    report = path.with_suffix(".html")
    assert sorted(folder.iterdir()) == [report, path]
    assert report.read_text().startswith("<!doctype html>") and report.stat().st_size > 100_000
    return opscope.open(path)


def is_step(name):
    return re.match(r"Profile(r)?Step#", name) is not None  # of torch or of Paddle


def steps_of(trace):
    return [int(name.partition("#")[2]) for name in trace.spans["name"] if is_step(name)]


def within_steps(trace, wanted):
    """How often a span lies within each step."""
    spans = trace.spans
    rows = list(zip(spans["name"], spans["start"], spans["duration"], strict=True))
    steps = [(start, start + length) for name, start, length in rows if is_step(name)]
    return [sum(name == wanted and begin <= start < end for name, start, _ in rows) for begin, end in steps]


def free_ports(count):
    taken = [socket.socket() for _ in range(count)]
    for each in taken:
        each.bind(("127.0.0.1", 0))
    ports = [each.getsockname()[1] for each in taken]
    for each in taken:
        each.close()
    return ports


def run_ranks(folder, ranks, modules, programs):
    """Runs programs of examples/ in each rank (`ranks`: its variables), after one import of these modules."""
    script = Path(__file__).with_name("rank_trainings.py")
    command = [sys.executable, script, json.dumps(ranks), ",".join(modules), *programs]
    output = {"stdout": subprocess.PIPE, "stderr": subprocess.STDOUT, "text": True}
    done = subprocess.run(command, cwd=folder, timeout=300, check=False, **output)
    assert done.returncode == 0, done.stdout

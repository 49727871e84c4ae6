# SPDX-License-Identifier: Apache-2.0
"""Runs ``opscope run`` for the tests, and reads what it has left."""

import json
import os
import subprocess
import sys
from collections import Counter
from pathlib import Path
from typing import NamedTuple

import opscope

PACKAGES = str(Path(opscope.__file__).parent.parent)
LIMIT_S = 600
# Of a launcher around the tests.
FAMILIES = ("RANK", "LOCAL_RANK", "WORLD_SIZE", "PADDLE_", "OMPI_", "PMI_", "PMIX_", "SLURM_", "TORCHELASTIC_")


class Run(NamedTuple):
    done: subprocess.CompletedProcess
    folder: Path

    def lines(self):
        """run.jsonl: the lines by process."""
        path = self.folder / "run.jsonl"
        lines = [json.loads(line) for line in path.read_text().splitlines()] if path.exists() else []
        assert len({line["pid"] for line in lines}) == len(lines), lines
        return lines

    def recorded(self):
        return [line for line in self.lines() if line["files"]]

    def files(self):
        return sorted(self.folder.glob("*.opscope"))

    def trace(self):
        (file,) = self.files()
        return opscope.open(file)


def environment(**more):
    kept = {name: value for name, value in os.environ.items() if not name.startswith((*FAMILIES, "OPSCOPE_RUN"))}
    return {**kept, "PYTHONPATH": PACKAGES, **more}


def run(command, folder, *options, stdin="", variables=None, cwd=None):
    """``opscope run OPTIONS -- COMMAND``, with the files in `folder`."""
    arguments = [sys.executable, "-m", "opscope", "run", "-o", str(folder), *options, "--", *map(str, command)]
    done = subprocess.run(
        arguments,
        input=stdin.encode(),
        capture_output=True,
        env=environment(**(variables or {})),
        cwd=cwd or Path(folder).parent,
        timeout=LIMIT_S,
    )
    return Run(done, Path(folder))


def names(trace):
    return Counter(map(str, trace.spans.name))


def steps(trace, prefix="ProfilerStep#"):
    """The numbers of the recorded steps."""
    return sorted(int(name.removeprefix(prefix)) for name in names(trace) if name.startswith(prefix))

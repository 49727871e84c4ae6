# SPDX-License-Identifier: Apache-2.0
"""Starts programs that run until a test ends them, and runs ``opscope ps`` and ``opscope record`` beside them."""

import json
import subprocess
import sys
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

from control_client import sockets, status
from run_command import LIMIT_S, environment
from waiting import wait_for

PYTHON = sys.executable
# The model's steps take about 5 ms.
TORCH = """
import os, sys, time
import torch

def train(is_over, after_step=lambda: None):
    torch.manual_seed(0)
    model = torch.nn.Linear(8, 4)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    while not is_over():
        model(torch.randn(3, 8)).sum().backward()
        optimizer.step()
        optimizer.zero_grad()
        after_step()
        time.sleep(0.005)

if __name__ == "__main__":
    train(lambda: os.path.exists(sys.argv[1]))
"""


class Running(NamedTuple):
    process: subprocess.Popen
    folder: Path  # of requests

    def sockets(self, count=1):
        """Of so many processes that have made steps."""

        def stepping():
            found = [each for each in sockets(self.folder) if status(each)["last_step"] > 2]
            return found if len(found) == count else None

        return wait_for(stepping)

    def end(self):
        """Lets the program end by itself; its output."""
        (self.folder / "stop").touch()
        output, errors = self.process.communicate(timeout=LIMIT_S)
        assert self.process.returncode == 0, errors
        return output

    def lines(self):
        return [json.loads(line) for line in (self.folder / "run.jsonl").read_text().splitlines()]


@contextmanager
def started(command, folder, variables, **options):
    """A program with an end however the test ends. It finds the file DIR/stop in its arguments as STOP."""
    words = [str(folder / "stop") if word == "STOP" else str(word) for word in command]
    pipes = {"stdin": subprocess.DEVNULL, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}
    process = subprocess.Popen(words, env=environment(**variables), **pipes, **options)
    try:
        yield Running(process, folder)
    finally:
        if folder.exists():
            (folder / "stop").touch()
        try:
            process.communicate(timeout=10)
        except (subprocess.TimeoutExpired, ValueError):
            process.kill()
            process.wait()  # not for the ends of its pipes, which a forked child may keep


def under_run(command, folder, *options, variables=None):
    """The program under ``opscope run --on-demand``."""
    words = [PYTHON, "-m", "opscope", "run", "-o", folder, "--on-demand", *options, "--", *command]
    return started(words, folder, variables or {})


def with_variable(command, folder, variables=None, **options):
    """The program alone, with OPSCOPE_CONTROL."""
    return started(command, folder, {"OPSCOPE_CONTROL": str(folder), **(variables or {})}, **options)


def rank_of(rank):
    return {"RANK": str(rank), "LOCAL_RANK": str(rank), "WORLD_SIZE": "2"}


def opscope(*arguments, cwd=None, prefix=(), **variables):
    words = [*prefix, PYTHON, "-m", "opscope", *map(str, arguments)]
    return subprocess.run(words, env=environment(**variables), cwd=cwd, capture_output=True, text=True, timeout=LIMIT_S)


def ps(folder):
    done = opscope("ps", folder, "--json")
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)["rows"]


def record(*arguments, code=0):
    done = opscope("record", *arguments, "--json")
    assert done.returncode == code, (done.stdout, done.stderr)
    return json.loads(done.stdout)

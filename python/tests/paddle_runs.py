# SPDX-License-Identifier: Apache-2.0
"""Programs of Paddle in processes of their own: paddle_under_both.py, or a few lines that a test has."""

import collections
import contextlib
import functools
import json
import os
import pathlib
import subprocess
import sys

UNDER_BOTH = pathlib.Path(__file__).with_name("paddle_under_both.py")
BEGIN = """
import json, os, sys
import paddle
from opscope import _core
from opscope.paddle.source import source
from opscope.trace import Trace
paddle.set_grad_enabled(False)
ones = paddle.ones([2, 3])
def prepared(*flags, **options):
    return _core.Recording(sources=[(source(), list(flags))], native_threads="attached", **options)
def names(recording):
    return [row["name"] for row in Trace(recording.trace()).spans]
paddle.add(ones, ones)
"""


def run_python(arguments, **environment):
    """What the program prints last, from JSON."""
    done = subprocess.run(
        [sys.executable, *arguments],
        env={**os.environ, **environment},
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert done.returncode == 0, done.stderr[-3000:]
    return json.loads(done.stdout.splitlines()[-1])


def run_code(code, **environment):
    return run_python(["-c", BEGIN + code], **environment)


ORIGINAL_SECONDS = 200
ORIGINAL_TRIES = 3


def run_original(command, **options):
    """What a program prints that only Paddle's own profiler records. The races of its recorder corrupt the heap
    (paddle_recorder_races.py): a program that a signal ends, or that hangs, is run again.
    """
    for _ in range(ORIGINAL_TRIES):
        with contextlib.suppress(subprocess.TimeoutExpired):
            done = subprocess.run(
                command, capture_output=True, text=True, timeout=ORIGINAL_SECONDS, check=False, **options
            )
            if done.returncode >= 0:
                assert done.returncode == 0, done.stderr[-3000:]
                return done.stdout
    raise AssertionError(f"Paddle's own profiler ended {ORIGINAL_TRIES} times by a signal or not at all: {command}")


@functools.cache
def told(program, sides, *flags):
    """What both sides have seen of a program, run once for all tests."""
    return run_python([str(UNDER_BOTH), program, sides, *flags])


def without_step(rows):
    """Name, type and parent's name of each event, but for the step that paddle.profiler puts around everything."""
    parents = {-1: ""} | {i: "" if row[2] == "ProfileStep" else row[1] for i, row in enumerate(rows)}
    return collections.Counter((row[1], row[2], parents[row[3]]) for row in rows if row[2] != "ProfileStep")


def per_thread(rows):
    return collections.Counter(row[0] for row in rows if row[2] != "ProfileStep")

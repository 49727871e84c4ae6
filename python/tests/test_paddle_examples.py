# SPDX-License-Identifier: Apache-2.0
"""The program of paddle.profiler's documentation runs under both and prints the same tables."""

import json
import os
import pathlib
import re
import subprocess
import sys

import pytest
from examples_path import EXAMPLES

pytestmark = pytest.mark.framework("paddle")

OURS = "import opscope.paddle as profiler  # the line to change"


def run(source, folder):
    import opscope

    folder.mkdir()
    program = folder / "program.py"
    program.write_text(source)
    package = pathlib.Path(opscope.__file__).parent.parent
    environment = os.environ | {"PYTHONPATH": str(package)}
    command = [sys.executable, str(program), str(folder)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300, env=environment)
    assert done.returncode == 0, done.stderr
    return done.stdout.splitlines(), done.stderr


def lines(printed):
    """Without what is a number of this run; in alphabetical order, for rows go by time."""
    return sorted(re.sub(r"[ -]+", " ", re.sub(r"-?\d+\.\d+", "#", line)) for line in printed)


def test_the_programs_of_the_documentation_print_what_the_original_prints(tmp_path):
    source = (EXAMPLES / "paddle_demo.py").read_text()
    assert source.count(OURS) == 1
    ours, warned = run(source, tmp_path / "ours")
    theirs, _ = run(source.replace(OURS, "import paddle.profiler as profiler"), tmp_path / "theirs")
    assert ours[:2] == theirs[:2]
    assert ours[0].count("RECORD_AND_RETURN") == 1 and ours[1] == "[6, 13, 20]"
    # Paddle cannot read its own files of dynamic mode.
    assert (ours[-1], theirs[-1]) == ("read again: True", "read again: False")
    assert lines(ours[:-1]) == lines(theirs[:-1])
    assert "Profiling ProfilerTarget.GPU is not supported in current context." in warned
    [ours], [theirs] = (list((tmp_path / name / "with_a_scheduler").iterdir()) for name in ("ours", "theirs"))
    names = [
        sorted(re.sub(r"\[.*", "", event["name"]) for event in json.loads(path.read_text())["traceEvents"] if event)
        for path in (ours, theirs)
    ]
    assert names[0] == names[1] and len(names[0]) > 100

# SPDX-License-Identifier: Apache-2.0
"""The programs of examples/ run, print what the original prints, and leave the files they promise."""

import json
import os
import pathlib
import re
import subprocess
import sys

import pytest
from examples_path import EXAMPLES

pytestmark = pytest.mark.framework("torch")


def run_program(source: str, folder):
    """Standard output and error of a program, run as a file beside the examples' modules."""
    import opscope

    package = pathlib.Path(opscope.__file__).parent.parent
    environment = os.environ | {
        "PYTHONPATH": os.pathsep.join([str(EXAMPLES), str(package)]),
        "KINETO_LOG_LEVEL": "6",
        "OMP_NUM_THREADS": "1",
    }
    path = folder / "program.py"
    path.write_text(source)
    done = subprocess.run(
        [sys.executable, str(path), str(folder)], capture_output=True, text=True, env=environment, timeout=300
    )
    assert done.returncode == 0, done.stderr
    return done.stdout, done.stderr


def table_rows(text):
    """(name, calls) of all table rows, and the column titles."""
    rows = re.findall(r"^ *(\S.*?)  +[\d.]+%  .*?  +(\d+)  *$", text, re.MULTILINE)
    titles = sorted(set(re.findall(r"^ +Name  .*$", text, re.MULTILINE)))
    return sorted(rows), [title.split() for title in titles]


def both_ways(name, ours, theirs, tmp_path):
    source = (EXAMPLES / name).read_text()
    assert source.count(ours) == 1, "the line that stands for the import"
    results = []
    for which, program in (("ours", source), ("theirs", source.replace(ours, theirs))):
        folder = tmp_path / which
        folder.mkdir()
        out, err = run_program(program, folder)
        with open(folder / "trace.json") as file:
            trace = json.load(file)
        events = sorted(e["name"] for e in trace["traceEvents"] if e.get("cat") == "cpu_op")
        results.append((out, err, events))
    return results


def test_the_demo_prints_what_the_original_prints(tmp_path):
    ours, theirs = both_ways("torch_demo.py", "from opscope.torch import", "from torch.profiler import", tmp_path)
    assert ours[2] == theirs[2]
    # Ten rows by time: their order may differ, so the columns and the top of the list are compared.
    assert table_rows(ours[0])[1] == table_rows(theirs[0])[1]
    assert "model_inference" in ours[0] and "Self CPU time total: " in ours[0]


def test_the_program_in_full_names_prints_what_the_original_prints(tmp_path):
    ours, theirs = both_ways(
        "torch_simple_model.py",
        "import opscope.torch; torch.profiler = opscope.torch  # was: import torch.profiler",
        "import torch.profiler",
        tmp_path,
    )
    assert ours[2] == theirs[2]
    assert table_rows(ours[0]) == table_rows(theirs[0])
    for _, err, _ in (ours, theirs):
        assert "CUDA is not available, disabling CUDA profiling" in err


def test_the_interval_schedule_records_some_steps(tmp_path):
    out, _ = run_program((EXAMPLES / "torch_interval_schedule.py").read_text(), tmp_path)
    recorded = int(re.match(r"(\d+) of 200 steps were recorded", out).group(1))
    assert 1 <= recorded < 200


def test_the_documentation_quotes_the_example():
    page = (EXAMPLES.parent / "docs" / "torch.md").read_text()
    quoted = (EXAMPLES / "torch_interval_schedule.py").read_text().split("# [interval]\n")[1]
    assert quoted.strip() in page

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


def run_program(source: str, folder, *arguments: str):
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
        [sys.executable, str(path), str(folder), *arguments],
        capture_output=True,
        text=True,
        env=environment,
        timeout=300,
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


TUTORIAL_FILES = ["profiler_stacks.txt", "trace.json", "trace_4.json", "trace_8.json"]


def sections(text):
    """{heading: text below it} of what the tutorial prints."""
    parts = re.split(r"^== (.*) ==$", text, flags=re.MULTILINE)[1:]
    return dict(zip(parts[::2], parts[1::2], strict=True))


def memory_rows(text):
    """(name, memory, own memory, calls) of all rows."""
    return re.findall(
        r"^ *(\S.*?)  +[\d.]+%  .*?  (-?[\d.]+ [KMG]?B) +(-?[\d.]+ [KMG]?B) +(\d+)  *$", text, re.MULTILINE
    )


@pytest.fixture(scope="module")
def tutorial(tmp_path_factory):
    """What the tutorial prints and leaves, with both import lines: {side: (sections, {file: text}, names of ops)}."""
    source = (EXAMPLES / "torch_tutorial.py").read_text()
    ours = "from opscope.torch import"
    assert source.count(ours) == 1, "the line that stands for the import"
    made = {}
    for side, program in (("ours", source), ("theirs", source.replace(ours, "from torch.profiler import"))):
        folder = tmp_path_factory.mktemp(side)
        out, _ = run_program(program, folder, "32")
        files = {name: (folder / name).read_text() for name in sorted(os.listdir(folder)) if name != "program.py"}
        made[side] = sections(out), files
    return made


def operators(trace):
    return sorted(row["name"] for row in json.loads(trace)["traceEvents"] if row.get("cat") == "cpu_op")


def test_the_tutorial_has_every_step_and_leaves_the_originals_files(tutorial):
    for side in ("ours", "theirs"):
        parts, files = tutorial[side]
        assert [title.partition(".")[0] for title in parts] == ["3", "4", "5", "6", "7", "8"]
        assert sorted(files) == TUTORIAL_FILES
    ours, theirs = tutorial["ours"][0], tutorial["theirs"][0]
    assert ours["5. trace"] == theirs["5. trace"]


def test_the_tutorials_tables_are_the_originals(tutorial):
    ours, theirs = tutorial["ours"][0], tutorial["theirs"][0]
    for title in ("3. time", "8. a long job"):
        # Ten rows by time: which come last may differ, so the columns and the number of rows are compared.
        mine, other = table_rows(ours[title]), table_rows(theirs[title])
        assert mine[1] == other[1] and len(mine[0]) == len(other[0]) > 0, title
        assert any("convolution" in name for name in dict(mine[0]).keys() & dict(other[0]).keys()), title
    assert memory_rows(ours["4. memory"])[:6] == memory_rows(theirs["4. memory"])[:6] != []


def test_the_tutorial_records_the_steps_that_the_schedule_names(tutorial):
    for side in ("ours", "theirs"):
        parts, files = tutorial[side]
        assert "[16, 17, 18, 25, 26, 27]" in parts["8. a long job"]
        assert parts["8. a long job"].count("Self CPU time total") == 2  # on_trace_ready, in each cycle
        for name, steps in (("trace_4.json", (2, 3)), ("trace_8.json", (6, 7))):
            found = {
                row["name"] for row in json.loads(files[name])["traceEvents"] if row.get("cat") == "user_annotation"
            }
            assert found == {f"ProfilerStep#{step}" for step in steps}, (side, name)


def test_the_tutorials_traces_have_the_originals_operators(tutorial):
    for name in ("trace.json", "trace_4.json", "trace_8.json"):
        assert operators(tutorial["ours"][1][name]) == operators(tutorial["theirs"][1][name])


def test_the_tutorials_stacks_reach_the_convolutions(tutorial):
    for side in ("ours", "theirs"):
        stacks = tutorial[side][1]["profiler_stacks.txt"].splitlines()
        assert all(re.fullmatch(r"\S+ [1-9]\d*", line) for line in stacks)
        assert any("resnet18.py" in line and "conv2d" in line for line in stacks), side
        assert "Source Location" in tutorial[side][0]["6. stacks"]


def test_the_interval_schedule_records_some_steps(tmp_path):
    out, _ = run_program((EXAMPLES / "torch_interval_schedule.py").read_text(), tmp_path)
    recorded = int(re.match(r"(\d+) of 200 steps were recorded", out).group(1))
    assert 1 <= recorded < 200


def test_the_documentation_quotes_the_example():
    page = (EXAMPLES.parent / "docs" / "how-to" / "schedule_recording.md").read_text()
    quoted = (EXAMPLES / "torch_interval_schedule.py").read_text().split("# [interval]\n")[1]
    assert quoted.strip() in page

# SPDX-License-Identifier: Apache-2.0
"""The script runner, under both names, and what is said about the viewer."""

import subprocess
import sys

import pytest
from conftest import Timeline

SCRIPT = """
import os, sys
import megengine as mge, megengine.functional as F
from helper import add
print(os.getpid(), __name__, *sys.argv[1:])
add(mge.tensor([1.0]))
if "fail" in sys.argv: sys.exit(7)
"""
RUNNERS = ["opscope.megengine.profiler", "opscope.megengine.tools.profiler"]


@pytest.fixture
def script(tmp_path):
    """A program with a module beside it, in a folder of its own."""
    folder = tmp_path / "program"
    folder.mkdir()
    (folder / "helper.py").write_text("import megengine.functional as F\ndef add(x): return F.add(x, x).numpy()\n")
    (folder / "train.py").write_text(SCRIPT)
    return folder / "train.py"


def timeline(folder, ran):
    return f"{folder}/{ran.printed.split()[0]}.chrome_timeline.json"


@pytest.mark.parametrize("runner", RUNNERS)
def test_a_script_is_recorded_with_its_own_arguments(run, script, runner):
    ran = run(arguments=["-m", runner, str(script), "-o", "mine", "--clean", "-f", "x"])
    assert ran.printed.split()[1:] == ["__main__", "-o", "mine", "--clean", "-f", "x"]
    assert ran.files == [timeline("profile", ran)]
    assert Timeline(ran.folder / ran.files[0]).begins()["OpDispatch"] == 1


def test_a_module_is_recorded(run, script):
    ran = run(arguments=["-m", RUNNERS[0], "-o", "out", "-m", "train", "x"], PYTHONPATH=path_with(script.parent))
    assert ran.printed.split()[1:] == ["__main__", "x"]
    assert ran.files == [timeline("out", ran)]


def path_with(folder):
    import os

    return f"{folder}{os.pathsep}{os.environ.get('PYTHONPATH', '')}"


def test_the_status_of_the_script_is_that_of_the_runner_and_its_files_are_merged(run, script):
    ran = run(arguments=["-m", RUNNERS[0], "-o", "out", "--merge_trace_events", str(script), "fail"], status=7)
    assert ran.files == sorted([timeline("out", ran), "out/merge.chrome_timeline.json"])


def test_merging_alone_needs_no_script(run, script):
    run(arguments=["-m", RUNNERS[0], str(script)])
    ran = run(arguments=["-m", RUNNERS[0], "--merge_trace_events"])
    assert "profile/merge.chrome_timeline.json" in ran.files


def test_clean_removes_files_and_leaves_folders(run, script, tmp_path):
    old = tmp_path / "run" / "out"
    (old / "folder").mkdir(parents=True)
    (old / "1.chrome_timeline.json").write_text("{}")
    ran = run(arguments=["-m", RUNNERS[0], "-o", "out", "--clean", str(script)])
    assert ran.files == [timeline("out", ran)] and (old / "folder").is_dir()
    ran = run(arguments=["-m", RUNNERS[0], "-o", "missing", "--clean", str(script)])
    assert timeline("missing", ran) in ran.files


def test_options_reach_the_profiler(run, script):
    ran = run(
        arguments=["-m", RUNNERS[0], "--sample_rate", "1", "--profile_device", "0", "--with_backtrace", str(script)]
    )
    made = Timeline(ran.folder / ran.files[0])
    assert not any(event.get("cat") == "Kernel" for event in made.events)
    assert any(name.endswith("_alloc_mem") for name in made.counters)
    assert "helper.py" in (ran.folder / ran.files[0]).read_text()


def test_without_a_script_the_usage_is_told(run):
    assert "usage:" in run(arguments=["-m", RUNNERS[0]], status=1).printed
    assert "cannot find file nowhere.py" in run(arguments=["-m", RUNNERS[0], "nowhere.py"], status=1).told
    assert "invalid choice" in run(arguments=["-m", RUNNERS[0], "-f", "x", "s.py"], status=2).told


def test_the_help_of_the_runner_names_the_options_of_the_original():
    def options(runner):
        done = subprocess.run([sys.executable, "-m", runner, "-h"], capture_output=True, text=True, timeout=60)
        return {word.strip(",[]") for word in done.stdout.split() if word.strip("[").startswith("-")}

    assert options("megengine.tools.profiler") <= options(RUNNERS[1])


def test_the_viewer_says_that_the_picture_needs_none(run):
    ran = run(arguments=["-m", "opscope.megengine.tools.svg_viewer", "-p", "8001", "-a", "localhost"])
    assert "its own viewer" in ran.printed and ran.told == ""

# SPDX-License-Identifier: Apache-2.0
"""tools/gpu_check.py without a GPU: how it runs its programs, what it keeps when something fails, its report."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

TOOLS = Path(__file__).resolve().parents[2] / "tools"
if not TOOLS.exists():
    pytest.skip("the tools are not here", allow_module_level=True)
sys.path.insert(0, str(TOOLS))
import gpu_check  # noqa: E402  (the folder of tools is no package)
import gpu_runs  # noqa: E402  (the folder of tools is no package)
from gpu_traces import Check  # noqa: E402  (the folder of tools is no package)


def test_where_there_is_no_gpu_one_line_and_an_exit_status_say_so(tmp_path):
    pytest.importorskip("torch")
    done = subprocess.run(
        [sys.executable, TOOLS / "gpu_check.py", "-o", tmp_path / "report.md", "--keep", tmp_path / "kept"],
        env={**os.environ, "CUDA_VISIBLE_DEVICES": ""},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == gpu_check.CANNOT_CHECK == 3
    assert done.stdout.startswith("gpu_check: cannot check: torch ")
    assert len(done.stdout.splitlines()) == 1
    assert list(tmp_path.iterdir()) == []


# ---- one program -------------------------------------------------------------------------------


@pytest.fixture
def program(tmp_path, monkeypatch):
    """Makes the program that runs in place of gpu_programs.py; gives a Runner."""

    def make(script, seconds=1000.0):
        path = tmp_path / "program.py"
        path.write_text(script)
        monkeypatch.setattr(gpu_runs, "PROGRAMS", path)
        folder = tmp_path / "kept"
        folder.mkdir()
        return gpu_runs.Runner(folder, seconds)

    return make


def test_what_a_program_measures_is_read_of_its_lines(program):
    runner = program("""
import json
print("a library that prints")
for line in ({"device": "GPU, 1 of them"}, {"base": 1.5}, {"step": 3.0}, {"stop": 0.5}, {"step": 1.0}, {"stop": 0.25},
             {"step": 2.0}):
    print(json.dumps(line))
print(7)
""")
    run = runner.run_program("launches", "torch")
    assert (run.step, run.stop, run.why_not) == ([3.0, 1.0, 2.0], [0.5, 0.25], "")
    assert run.added_to_step == 0.5
    assert runner.device == "GPU, 1 of them"
    assert runner.notes == []


def test_first_and_last_lines_of_standard_error_are_kept_when_a_program_fails(program):
    lines = ["CUDA is not recorded: CUPTI not found", *map(str, range(20)), "RuntimeError: no memory"]
    runner = program(f"import sys\nsys.stderr.write({chr(10).join(lines)!r})\nsys.exit(7)\n")
    with pytest.raises(RuntimeError, match="graphs under opscope ended with 7: CUDA is not recorded") as raised:
        runner.run_program("graphs", "opscope")
    assert str(raised.value).endswith("RuntimeError: no memory")
    assert runner.notes == []  # it is said once
    assert (runner.folder / "graphs.opscope.stderr").read_text() == "\n".join(lines)


def test_what_a_program_says_on_standard_error_is_noted_though_it_ends_well(program):
    runner = program("import sys\nsys.stderr.write('CUDA is not recorded: in use')\n")
    runner.run_program("graphs", "opscope")
    assert runner.notes == ["graphs.opscope: CUDA is not recorded: in use"]


def test_a_program_that_does_not_end_counts_for_what_it_had_measured(program, tmp_path, monkeypatch):
    fifo = tmp_path / "has measured"
    os.mkfifo(fifo)

    class Impatient(subprocess.Popen):
        """Its limit is over when the program has measured."""

        def wait(self, timeout=None):
            if timeout == gpu_runs.LIMIT_S:
                fifo.read_text()
                raise subprocess.TimeoutExpired(self.args, timeout)
            return super().wait(timeout)

    monkeypatch.setattr(gpu_runs.subprocess, "Popen", Impatient)
    runner = program(f"""
import json, signal, subprocess, sys, time
print(json.dumps({{"step": 2.0, "at": time.monotonic()}}), flush=True)
child = subprocess.Popen([sys.executable, "-c", "import signal; signal.pause()"])  # holds the outputs open
open({str(fifo)!r}, "w").close()
signal.pause()
""")
    run = runner.run_program("many_launches", "torch")
    assert run.step == [2.0] and run.stop == []
    seconds, took_more = run.stop_or_more
    assert seconds > 0 and took_more
    assert run.why_not


@pytest.mark.parametrize(
    ("lines", "stopping_for"),
    [
        (['{"step": 1.0, "at": 10.0}'], 4.0),
        (['{"step": 1.0, "at": 10.0}', '{"stop": 1.0, "at": 12.0}'], 0.0),
        (['{"step": 1.0, "at": 5.0}', '{"stop": 1.0, "at": 6.0}', '{"step": 1.0, "at": 11.0}', '{"st'], 3.0),
        ([], 0.0),
    ],
    ids=["stopping", "stopped", "stopping again", "nothing"],
)
def test_how_long_a_stop_had_taken_at_the_limit_is_known(lines, stopping_for):
    assert gpu_runs.read_run("\n".join(lines), 14.0, "over").stopping_for == stopping_for
    assert gpu_runs.read_run("\n".join(lines), 14.0).stopping_for == 0.0


def test_no_program_is_begun_when_the_time_is_over(program):
    runner = program("open('begun', 'w')", seconds=gpu_runs.LEAST_S / 2)
    with pytest.raises(gpu_runs.OutOfTime, match="left out: the time is over"):
        runner.run_program("graphs", "torch")
    assert list(runner.folder.iterdir()) == []


@pytest.mark.framework("torch")
def test_the_launch_loop_is_measured_nine_times_with_and_without_a_profiler_in_one_process(tmp_path):
    pytest.importorskip("torch")
    from cuda_program import run_program

    said = tmp_path / "said"
    run_program(
        f"""
import contextlib, types
sys.path.insert(0, {str(TOOLS)!r})
torch.cuda.synchronize = lambda: fake.fake_cuda_device_synchronize(0)
torch.cuda._sleep = lambda _: fake.fake_cuda_launch(7, b"spin", 100, 1, 1)
torch.cuda.get_device_properties = lambda _: types.SimpleNamespace(name="Simulated GPU", total_memory=1 << 31)
torch.cuda.device_count = lambda: 1
import gpu_programs
gpu_programs.launches.__defaults__ = (50,)
with open({str(said)!r}, "w") as file, contextlib.redirect_stdout(file):
    gpu_programs.run("launches", "opscope", {str(tmp_path / "trace.json")!r})
print(0)
"""
    )
    run = gpu_runs.read_run(said.read_text(), 0.0)
    assert (len(run.base), len(run.step), len(run.stop)) == (9, 9, 9)
    assert run.device == "Simulated GPU, 1 of them, 2 GiB each"
    events = json.loads((tmp_path / "trace.json").read_text())["traceEvents"]
    assert sum(event.get("cat") == "kernel" for event in events) == 50


# ---- two sides ---------------------------------------------------------------------------------


class Sides:
    """A Runner whose programs have these Runs; an exception is raised."""

    def __init__(self, folder=None, **runs):
        self.folder, self.runs, self.asked = folder, runs, []

    def run_program(self, program, side, path=""):
        self.asked.append((program, side))
        run = self.runs[side]
        if isinstance(run, Exception):
            raise run
        return run


def test_each_side_of_the_launch_loop_is_compared_with_its_own_process():
    opscope, torch = gpu_runs.Run(base=[1.0], step=[1.04] * 3), gpu_runs.Run(base=[2.0], step=[2.2] * 3)
    sides = Sides(opscope=opscope, torch=torch)
    (check,) = gpu_check.added_time(sides)
    assert sorted(sides.asked) == [("launches", side) for side in ("opscope", "torch")]
    assert check.holds and "opscope 2 us, torch 10 us: ratio 0.200" in check.words


@pytest.mark.parametrize("failed", ["torch", "opscope"])
def test_a_side_that_fails_leaves_the_numbers_of_the_others(failed):
    runs = {side: gpu_runs.Run(base=[1.0], step=[1.5], stop=[0.75]) for side in ("torch", "opscope")}
    sides = Sides(**{**runs, failed: RuntimeError("no memory")})
    (check,) = gpu_check.added_time(sides)
    assert not check.holds
    assert f"{failed} no memory" in check.words and check.words.count("25 us") == 1
    (check,) = gpu_check.stop_time(sides)
    assert not check.holds
    assert f"{failed} did not come to its stop (no memory)" in check.words and "0.75 s" in check.words


@pytest.mark.parametrize(("ours", "holds"), [(2.0, True), (8.0, False)])
def test_a_time_out_of_torchs_stop_leaves_our_number_and_a_ratio(ours, holds):
    sides = Sides(opscope=gpu_runs.Run(step=[1.0], stop=[ours]), torch=gpu_runs.Run(step=[9.0], stopping_for=80.0))
    (check,) = gpu_check.stop_time(sides)
    assert check.holds is holds
    assert f"opscope {ours:.3g} s, torch more than 80 s: ratio less than" in check.words


def test_our_stop_that_does_not_end_does_not_hold():
    sides = Sides(opscope=gpu_runs.Run(step=[1.0], stopping_for=0.1), torch=gpu_runs.Run(step=[9.0], stop=[80.0]))
    (check,) = gpu_check.stop_time(sides)
    assert not check.holds and "opscope more than 0.1 s, torch 80 s" in check.words


def test_what_we_recorded_is_told_though_torchs_side_fails(tmp_path):
    kernel = {"ph": "X", "cat": "kernel", "name": "k", "pid": 0, "tid": 7, "ts": 1, "dur": 1}
    (tmp_path / "graphs.opscope.json").write_text(json.dumps({"traceEvents": [kernel]}))
    sides = Sides(tmp_path, opscope=gpu_runs.Run(), torch=gpu_runs.Run(why_not="stopped after 90 s"))
    ran, torchs = gpu_check.compare_program("graphs", sides)
    assert ran.holds and ran.words.startswith("1 kernels")
    assert not torchs.holds and "stopped after 90 s" in torchs.words


@pytest.mark.parametrize(
    ("ours", "theirs", "holds"), [(5.0, 10.0, True), (7.0, 10.0, False), (-0.1, 10.0, True), (1.0, 0.0, False)]
)
def test_a_ratio_is_judged_against_its_goal(ours, theirs, holds):
    assert gpu_check.ratio_check("added time", ours, theirs, 0.6, "us").holds is holds


# ---- the whole ---------------------------------------------------------------------------------


def checked(tmp_path, monkeypatch, parts, *arguments):
    """Exit status of a check with these parts, and its report."""
    report = tmp_path / "report.md"
    monkeypatch.setattr(gpu_check, "why_not", lambda: "")
    monkeypatch.setattr(gpu_check, "versions", lambda: "- versions: of a test")
    monkeypatch.setattr(gpu_check, "parts", lambda: parts)
    monkeypatch.setattr(sys, "argv", ["gpu_check.py", "-o", str(report), *arguments])
    return gpu_check.main(), report


def held(_):
    return [Check("streams", True, "1")]


def test_the_report_says_what_did_not_hold(tmp_path, monkeypatch):
    status, report = checked(tmp_path, monkeypatch, {"graphs": lambda _: [*held(_), Check("names", False, "2 x a|b")]})
    assert status == 1
    assert "- held: 1 of 2" in report.read_text()
    assert "| names | **no** | 2 x a\\|b |" in report.read_text()
    assert checked(tmp_path, monkeypatch, {"graphs": held})[0] == 0


@pytest.mark.parametrize("raised", [RuntimeError, KeyError, AssertionError, MemoryError, json.JSONDecodeError, OSError])
def test_whatever_a_part_raises_costs_that_part_alone(raised, tmp_path, monkeypatch):
    def fails(_):
        raise raised("why", "text", 0) if raised is json.JSONDecodeError else raised("why")

    status, report = checked(tmp_path, monkeypatch, {"first": held, "second": fails, "third": held})
    assert status == 1
    assert "- held: 2 of 3" in report.read_text()
    assert "| it ran | **no** |" in report.read_text() and "why" in report.read_text()


def test_the_report_and_the_outputs_are_there_after_each_part(tmp_path, monkeypatch):
    kept = tmp_path / "kept"

    def first(runner):
        runner.notes.append("graphs.torch: a | warning")
        (runner.folder / "trace.json").write_text("{}")
        return held(runner)

    def killed(_):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        checked(tmp_path, monkeypatch, {"first": first, "second": killed}, "--keep", str(kept))
    report = (tmp_path / "report.md").read_text()
    assert "## first" in report and "- on standard error, graphs.torch: a \\| warning" in report
    assert (kept / "trace.json").exists()
    assert sorted(path.name for path in tmp_path.iterdir()) == ["kept", "report.md"]


def test_what_there_is_no_time_for_is_left_out_and_said_so(tmp_path, monkeypatch):
    parts = {"graphs": lambda runner: runner.run_program("graphs", "opscope") and []}
    status, report = checked(tmp_path, monkeypatch, parts, "--seconds", "5")
    assert status == 1
    assert "| it ran | **no** | left out: the time is over |" in report.read_text()


def test_the_examples_come_first():
    pytest.importorskip("torch")
    first, *others = gpu_check.parts()
    assert first == "examples"
    assert others[:2] == ["resnet18", "transformer"] and others[-1] == "stop"


def test_an_example_that_fails_leaves_the_others(tmp_path, monkeypatch):
    examples = tmp_path / "examples"
    examples.mkdir()
    trace = {"traceEvents": [{"ph": "X", "cat": "kernel", "name": "k", "pid": 0, "tid": 7, "ts": 1, "dur": 1}]}
    writes = f"import sys\nopen(sys.argv[1] + '/trace.json', 'w').write({json.dumps(trace)!r})\n# .cuda()\n"
    (examples / "torch_a.py").write_text("raise SystemExit('no memory')  # .cuda()")
    (examples / "torch_b.py").write_text(writes)
    (examples / "torch_c.py").write_text("raise SystemExit('it runs on the CPU alone')")
    monkeypatch.setattr(gpu_check, "EXAMPLES", examples)
    runner = gpu_runs.Runner(tmp_path, 1000)
    failed, wrote = gpu_check.run_examples(runner)
    assert (failed.what, failed.holds, failed.words) == ("torch_a.py", False, "no memory")
    assert (wrote.what, wrote.holds, wrote.words[:9]) == ("torch_b.py", True, "1 kernels")
    (examples / "torch_b.py").write_text("# .cuda()")
    assert not gpu_check.run_examples(runner)[1].holds  # the trace of the check before does not count


# ---- what a launch costs -----------------------------------------------------------------------


@pytest.mark.framework("torch")
def test_launches_take_turns_with_windows_and_with_cupti_alone(tmp_path):
    pytest.importorskip("torch")
    from cuda_program import run_program

    said = tmp_path / "said.txt"
    run_program(
        f"""
import contextlib
sys.path.insert(0, {str(TOOLS)!r})
torch.cuda.is_available = lambda: True
torch.cuda.synchronize = lambda: fake.fake_cuda_device_synchronize(0)
torch.cuda._sleep = lambda _: fake.fake_cuda_launch(7, b"spin", 100, 1, 1)
import gpu_launch_cost
gpu_launch_cost.ROUNDS, gpu_launch_cost.WARM_UP = 2, 1
gpu_launch_cost.launch_us.__defaults__ = (20,)
with open({str(said)!r}, "w") as file, contextlib.redirect_stdout(file):
    gpu_launch_cost.main()
print(0)
"""
    )
    lines = said.read_text().splitlines()
    assert [line.partition(":")[0] for line in lines if not line.startswith(" ")] == ["opscope", "CUPTI itself"]
    names = ["both activities", "CUDA", "CPU", "kernel", "runtime", "driver", "all kinds of opscope's"]
    assert [line.partition("adds")[0].strip() for line in lines if line.startswith(" ")] == names

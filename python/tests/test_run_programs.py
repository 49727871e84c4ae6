# SPDX-License-Identifier: Apache-2.0
"""`opscope run` and programs: their streams, exits and environment are their own, whatever they are."""

import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from run_command import PACKAGES, environment, run

from opscope.launch.optimizer_steps import OptimizerSteps

PYTHON = sys.executable
ECHO = """
import os, sys
print(sys.stdin.read(), end="")
print("to stderr", file=sys.stderr)
print(sys.argv[1:], sys.path, "OPSCOPE" in str(sys.path), "sitecustomize" in sys.modules)
os.write(1, bytes(range(256)))
sys.exit(int(sys.argv[1]))
"""


def test_streams_and_exit_status_are_the_commands_own(tmp_path):
    program = tmp_path / "echo it.py"
    program.write_text(ECHO)
    command = [PYTHON, str(program), "3", "--", "-o", "", "ä ö", "[64,128]", "\x01[", "summary", "--help"]
    plain = subprocess.run(command, input=b"in\n\0out", capture_output=True, env=environment())
    under = run(command, tmp_path / "a b" / "c", stdin="in\n\0out", cwd=tmp_path)
    assert (under.done.returncode, under.done.stdout, under.done.stderr) == (3, plain.stdout, plain.stderr)
    assert under.done.stdout.startswith(b"in\n\0out")
    (line,) = under.lines()
    assert line == {
        "pid": line["pid"],
        "rank": -1,
        "attempt": 0,
        "host": os.uname().nodename,
        "framework": None,
        "files": [],
        "why_not": "it imported none of torch, paddle, megengine",
    }
    assert under.files() == []


@pytest.mark.parametrize(
    ("command", "status"),
    [
        (["true"], 0),
        (["sh", "-c", "exit 7"], 7),
        (["sh", "-c", "kill -9 $$"], -signal.SIGKILL),
        ([PYTHON, "-c", "import os, signal; os.kill(os.getpid(), signal.SIGTERM)"], -signal.SIGTERM),
        ([PYTHON, "-c", "raise SystemExit('sentence')"], 1),
        (["no-such-program-anywhere"], 127),
        (["/no/such/program"], 127),
        (["/etc/passwd"], 126),
    ],
)
def test_the_exit_status_is_that_of_the_command(tmp_path, command, status):
    done = run(command, tmp_path / "out").done
    assert done.returncode == status
    assert len(done.stderr.splitlines()) == (1 if status in (1, 126, 127) else 0), done.stderr
    assert done.stdout == b""


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--steps", "5..2"], "--steps: '5..2' is not a range; 3, 3..7, 3.. or ..7, from 0 on"),
        (["--steps", "x"], "--steps: 'x' is not a range; 3, 3..7, 3.. or ..7, from 0 on"),
        (["--every", "5"], "--every needs --for, and --for needs --every"),
        (["--every", "5", "--for", "6"], "--for takes at most as many steps as --every"),
        (["--steps", "1..2", "--seconds", "3"], "--steps, --every with --for, and --seconds exclude each other"),
    ],
)
def test_wrong_options_are_one_line(tmp_path, options, message):
    ran = run(["true"], tmp_path / "out", *options)
    assert (ran.done.returncode, ran.done.stderr.decode()) == (2, f"opscope: run: {message}\n")
    assert not ran.folder.exists()


def test_a_folder_that_cannot_be_used_is_one_line(tmp_path):
    (tmp_path / "file").write_text("")
    for name in ("file", "file/below"):
        done = run(["touch", tmp_path / "ran"], tmp_path / name, cwd=tmp_path).done
        assert done.returncode == 1
        assert done.stderr.decode() == f"opscope: run: {tmp_path / name}: Not a directory\n"
    assert not (tmp_path / "ran").exists()


def test_the_folder_is_that_of_the_working_directory_at_the_start(tmp_path):
    command = [PYTHON, "-m", "opscope", "run", "-o", "out", "--", PYTHON, "-c", "import os; os.chdir('/')"]
    for _ in range(2):  # a folder that exists is used
        subprocess.run(command, cwd=tmp_path, env=environment(), check=True)
    assert len((tmp_path / "out" / "run.jsonl").read_text().splitlines()) == 2
    assert (tmp_path / "out").stat().st_mode & 0o777 == 0o700
    assert (tmp_path / "out" / "run.jsonl").stat().st_mode & 0o777 == 0o600


@pytest.mark.parametrize("option", ["-I", "-E", "-S"])
def test_a_python_that_ignores_sitecustomize_is_named(tmp_path, option):
    ran = run([PYTHON, option, "-c", "print(1)"], tmp_path / "out")
    assert (ran.done.returncode, ran.done.stdout) == (0, b"1\n")
    (line,) = ran.lines()
    assert line["why_not"] == f"python {option} loads no sitecustomize, through which opscope records"


def test_an_existing_sitecustomize_runs(tmp_path):
    (tmp_path / "site").mkdir()
    site = tmp_path / "site" / "sitecustomize.py"
    site.write_text("import sys\nsys.was_run = __file__, __name__\n")
    show = "import sys, sitecustomize as s; print(sys.was_run, s.__file__, [p for p in sys.path if 'launch' in p])"
    paths = {"PYTHONPATH": f"{PACKAGES}:{tmp_path / 'site'}"}
    done = run([PYTHON, "-c", show], tmp_path / "out", variables=paths).done
    assert done.stdout.decode() == f"({str(site)!r}, 'sitecustomize') {site} []\n"

    site.write_text("raise ValueError('broken')\n")
    plain = subprocess.run([PYTHON, "-c", "pass"], env=environment(**paths), capture_output=True)
    done = run([PYTHON, "-c", "pass"], tmp_path / "out", variables=paths).done
    assert (done.returncode, done.stderr) == (0, plain.stderr * 2)  # the Python of opscope has it, too
    assert b"ValueError: broken" in done.stderr


def test_without_another_sitecustomize_there_is_none(tmp_path):
    ask = (
        "import sys; print('sitecustomize' in sys.modules)\ntry: import sitecustomize\nexcept ImportError: print('no')"
    )
    plain = subprocess.run([PYTHON, "-c", ask], env=environment(), capture_output=True)
    assert run([PYTHON, "-c", ask], tmp_path / "out").done.stdout == plain.stdout


def test_children_are_watched_and_lines_are_whole(tmp_path):
    program = (
        "import subprocess, sys\nfor p in [subprocess.Popen([sys.executable, '-c', '']) for _ in range(8)]: p.wait()"
    )
    assert len(run([PYTHON, "-c", program], tmp_path / "out").lines()) == 9


@pytest.mark.parametrize(
    ("variables", "rank"),
    [
        ({"RANK": "3", "LOCAL_RANK": "1", "WORLD_SIZE": "8", "TORCHELASTIC_RESTART_COUNT": "2"}, (3, 2)),
        ({"PADDLE_TRAINER_ID": "2", "PADDLE_TRAINERS_NUM": "4"}, (2, 0)),
        ({"OMPI_COMM_WORLD_RANK": "1", "OMPI_COMM_WORLD_SIZE": "2"}, (1, 0)),
        ({"PMI_RANK": "5", "PMI_SIZE": "6"}, (5, 0)),
        ({"PMIX_RANK": "7"}, (7, 0)),
        ({"SLURM_PROCID": "9", "SLURM_NTASKS": "16"}, (9, 0)),
        ({"SLURM_PROCID": "9", "SLURM_NTASKS": "16", "TORCHELASTIC_RUN_ID": "x"}, (-1, 0)),
        ({"RANK": "3", "WORLD_SIZE": "8"}, (-1, 0)),
    ],
)
def test_the_launchers_variables_tell_rank_and_attempt(tmp_path, variables, rank):
    (line,) = run([PYTHON, "-c", "pass"], tmp_path / "out", variables=variables).lines()
    assert (line["rank"], line["attempt"]) == rank


def old_python():
    candidates = sorted(Path.home().glob(".pyenv/versions/3.[6-9].*/bin/python3"))
    return str(candidates[-1]) if candidates else None


@pytest.mark.skipif(old_python() is None, reason="no Python older than 3.10 is installed")
def test_a_python_that_is_too_old_is_named(tmp_path):
    (tmp_path / "torch.py").write_text("")
    ran = run([old_python(), "-c", "import torch"], tmp_path / "out", cwd=tmp_path)
    assert (ran.done.returncode, ran.done.stderr) == (0, b"")
    (line,) = ran.lines()
    assert line["why_not"].endswith("opscope records Python 3.10 or newer")


def test_a_framework_that_opscope_cannot_record_is_named(tmp_path):
    (tmp_path / "torch.py").write_text("print('a module of this name')\n")
    program = "import importlib.util as u; u.find_spec('torch'); import torch; print(torch.__spec__.name)"
    ran = run([PYTHON, "-c", program], tmp_path / "out", cwd=tmp_path)
    assert (ran.done.returncode, ran.done.stderr) == (0, b"")
    assert ran.done.stdout == b"a module of this name\ntorch\n"
    (line,) = ran.lines()
    assert (line["framework"], line["files"]) == ("torch", [])
    assert line["why_not"]


def test_a_forked_child_that_cannot_be_recorded_has_a_line_of_its_own(tmp_path):
    (tmp_path / "torch.py").write_text("")
    program = "import os, torch\nif os.fork() == 0:\n    os._exit(0)\nos.wait()"
    ran = run([PYTHON, "-c", program], tmp_path / "out", cwd=tmp_path)
    assert len({line["pid"] for line in ran.lines()}) == 2
    assert all(line["why_not"] for line in ran.lines())


@pytest.mark.parametrize("clone", [False, True], ids=["alone", "beside_a_clone"])
def test_an_environment_without_opscope_gets_it_from_run(tmp_path, clone):
    (tmp_path / "torch.py").write_text("")
    if clone:
        (tmp_path / "opscope" / "docs").mkdir(parents=True)  # to Python a package of this name, without a file
    program = "import torch, sys; print(sys.modules['opscope'].__file__)"
    bare = shutil.which("python3", path="/usr/bin:/bin")
    if bare is None or subprocess.run([bare, "-I", "-c", "import opscope"], capture_output=True).returncode == 0:
        pytest.skip("there is no Python without opscope")
    asked = subprocess.run([bare, "-c", "import sys; print(*sys.version_info[:2])"], capture_output=True, text=True)
    if asked.stdout.split() != [str(part) for part in sys.version_info[:2]]:
        pytest.skip("that Python is of another version than the one that opscope was built for")
    # Only the folder that `run` has put first is left on PYTHONPATH.
    command = ["sh", "-c", f'PYTHONPATH="${{PYTHONPATH%%:*}}" exec {bare} -c "{program}"']
    ran = run(command, tmp_path / "out", cwd=tmp_path)
    assert ran.done.returncode == 0, ran.lines()
    assert ran.done.stdout.decode().strip() == f"{PACKAGES}/opscope/__init__.py"


def test_the_leading_optimizer_ends_steps():
    class Optimizer:
        pass

    first, second, third = Optimizer(), Optimizer(), Optimizer()
    steps = OptimizerSteps()
    assert [steps.ends_step(one) for one in (first, second, first, second, third)] == [True, False, True, False, False]
    assert steps.ends_step(third)  # twice, while the first one did nothing
    assert [steps.ends_step(one) for one in (first, third, first)] == [False, True, False]
    del third
    assert steps.ends_step(second)


def test_a_signal_reaches_the_command(tmp_path):
    program = "import signal, sys, time\nsignal.signal(signal.SIGTERM, lambda *_: sys.exit(5))\nprint(1, flush=True)\n"
    process = subprocess.Popen(
        [PYTHON, "-m", "opscope", "run", "-o", tmp_path / "out", "--", PYTHON, "-c", program + "time.sleep(600)"],
        env=environment(),
        stdout=subprocess.PIPE,
    )
    assert process.stdout.readline() == b"1\n"
    process.send_signal(signal.SIGTERM)
    assert process.wait(60) == 5
    assert time.monotonic() > 0 and len((tmp_path / "out" / "run.jsonl").read_text().splitlines()) == 1


@pytest.mark.skipif(os.getuid() != 0, reason="only root can give a program more rights than its user's")
def test_a_program_with_more_rights_than_its_user_is_not_watched(tmp_path):
    program = "import os, sys\nos.setreuid(65534, 0)\nos.execv(sys.executable, [sys.executable, '-c', 'print(1)'])"
    ran = run([PYTHON, "-c", program], tmp_path / "out")
    assert (ran.done.returncode, ran.done.stdout, ran.lines()) == (0, b"1\n", [])

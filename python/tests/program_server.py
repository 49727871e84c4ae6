# SPDX-License-Identifier: Apache-2.0
"""Runs small programs, each in a process of its own in which torch is imported already.

Importing torch takes seconds, and so does its compiler, which torch.profiler and every optimizer import; so one process
imports them and forks for every program. The child is an ordinary main program: it ends through the interpreter's own
end, with its exit handlers and its status.
Programs that need a file of their own (spawned children import it) use `run_file`.
"""

import json
import os
import pathlib
import re
import signal
import subprocess
import sys
import tempfile
from dataclasses import dataclass

# What programs start with: opscope, torch's own profiler, or neither.
OPSCOPE = "from opscope.torch import profile, record_function, schedule\n"
TORCH = "from torch.profiler import profile, record_function, schedule\n"
PLAIN = """
import contextlib
class profile(contextlib.nullcontext):
    def __init__(self, **arguments): super().__init__(self)
    def start(self): pass
    stop = step = start
    def export_chrome_trace(self, path): open(path, "w").close()
    save = export_chrome_trace
def record_function(name, args=None): return contextlib.nullcontext()
def schedule(**steps): pass
"""

SERVER = """
import gc, json, os, select, signal, sys, time
import torch, torch._dynamo
torch.set_num_threads(1)
gc.collect(); gc.freeze()  # else each program walks, and so copies, all objects of torch when it ends
# A shell that runs the tests in the background lets them ignore these; programs are to start as at a terminal.
signal.signal(signal.SIGINT, signal.default_int_handler)
signal.signal(signal.SIGQUIT, signal.SIG_DFL)
signal.signal(signal.SIGHUP, signal.SIG_DFL)
def wait(child, limit_s):
    poll, handle = select.poll(), os.pidfd_open(child)
    poll.register(handle, select.POLLIN)
    in_time = bool(poll.poll(limit_s * 1000))
    os.close(handle)
    if not in_time: os.killpg(child, signal.SIGKILL)
    _, status, usage = os.wait4(child, 0)
    return {"status": os.waitstatus_to_exitcode(status) if in_time else "hang",
            "wall_s": time.monotonic() - began.pop(child), "cpu_s": usage.ru_utime + usage.ru_stime}
began = {}
for request in iter(sys.stdin.buffer.readline, b""):
    request, now = json.loads(request), time.monotonic()
    if "wait" in request: answer = wait(request["wait"], request["limit_s"])
    else:
        answer = os.fork()
        if answer == 0: break
        began[answer] = now
    sys.stdout.write(json.dumps(answer) + "\\n"); sys.stdout.flush()
else: os._exit(0)
if request["environment"] is not None:
    os.environ.clear(); os.environ.update(request["environment"])
    sys.path[1:1] = os.environ.get("PYTHONPATH", "").split(os.pathsep)
os.setsid()
os.chdir(request["folder"])
for number, name in enumerate((os.devnull, "stdout", "stderr")):
    file = os.open(name, os.O_RDONLY if number == 0 else os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
    os.dup2(file, number); os.close(file)
with open("program.py") as program: program = compile(program.read(), "program.py", "exec")
del gc, json, wait, request, began, now, answer, number, name, file
exec(program)
"""


@dataclass(frozen=True)
class Outcome:
    """How a program ended; times are those of the process, without the import of torch."""

    status: int | str  # negative: of a signal; "hang": the time limit ended it
    stdout: str
    stderr: str
    wall_s: float
    cpu_s: float

    @property
    def seen(self):
        """What a user sees; lines differ with what a program starts with, addresses from run to run."""
        told = re.sub(r"line \d+", "line N", self.stderr)
        told = re.sub(r"0x[0-9a-f]{6,}", "0xN", told)
        # Several threads may abort at once; each tells it, at a different point.
        told = re.sub(r"(terminate called .*\n)+", "terminate called\n", told)
        return self.status, self.stdout, told


def environment(**more):
    """Of a program: it finds the package that the tests use, and torch's profiler is quiet."""
    import opscope

    package = str(pathlib.Path(opscope.__file__).parent.parent)
    fixed = {
        "PYTHONPATH": package,
        # Of fork beside threads, from Python 3.12 on; of TorchScript, from torch 2.14 on.
        "PYTHONWARNINGS": "ignore:This process:DeprecationWarning,ignore:`torch.jit:FutureWarning",
        "KINETO_LOG_LEVEL": "6",
        "OPENBLAS_NUM_THREADS": "1",
    }
    return os.environ | fixed | more


class Program:
    """One that was started; `wait` for it."""

    def __init__(self, server, pid, folder):
        self._server, self.pid, self._folder = server, pid, folder

    def wait(self, limit_s=60):
        """Its Outcome; the wall time ends here where the program ended before."""
        answer = self._server.ask({"wait": self.pid, "limit_s": limit_s})
        stdout, stderr = ((self._folder / name).read_text(errors="replace") for name in ("stdout", "stderr"))
        # Triton's own, which torch's compiler imports, at the end of each process; ours would name opscope.
        stderr = re.sub(r"nanobind: leaked \d+ (?:(?!opscope)[\s\S])*?refleaks\.html\n?", "", stderr)
        return Outcome(answer["status"], stdout, stderr, answer["wall_s"], answer["cpu_s"])

    @property
    def told(self):
        """What it has written to its standard error so far."""
        path = self._folder / "stderr"
        return path.read_text(errors="replace") if path.exists() else ""

    def kill(self):
        os.kill(self.pid, signal.SIGKILL)


class ProgramServer:
    """`close` when done; of one thread."""

    def __init__(self):
        self._folder = tempfile.TemporaryDirectory(prefix="opscope-programs-")
        self._process = subprocess.Popen(
            [sys.executable, "-c", SERVER], stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=environment()
        )

    def ask(self, request):
        self._process.stdin.write(json.dumps(request).encode() + b"\n")
        self._process.stdin.flush()
        return json.loads(self._process.stdout.readline())

    def start(self, program, folder, environment=None):
        """A Program in this folder, which gets its output as files; environment: the whole of it, PYTHONPATH too."""
        (folder / "program.py").write_text(program)
        return Program(self, self.ask({"folder": str(folder), "environment": environment}), folder)

    def run(self, program, limit_s=60):
        """Its Outcome. The program runs alone in an empty folder, which is `folder` of the server."""
        for left in self.folder.iterdir():
            left.unlink()
        return self.start(program, self.folder).wait(limit_s)

    def run_script(self, path, *arguments, limit_s=120):
        """The same with a file of the tests, which may import those beside it."""
        return self.run(
            f"import runpy, sys\nsys.path.insert(0, {str(path.parent)!r})\nsys.argv = {[str(path), *arguments]!r}\n"
            f"runpy.run_path({str(path)!r}, run_name='__main__')\n",
            limit_s,
        )

    @property
    def folder(self):
        return pathlib.Path(self._folder.name)

    def close(self):
        self._process.stdin.close()
        self._process.stdout.close()
        self._process.wait(60)
        self._folder.cleanup()


def run_file(folder, program, limit_s=120, **variables):
    """Runs the text as a file of its own, from a new interpreter; returns status, stdout and stderr."""
    path = folder / "program.py"
    path.write_text(program)
    process = subprocess.Popen(
        [sys.executable, str(path)],
        cwd=folder,
        env=environment(**variables),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    try:
        out, err = process.communicate(timeout=limit_s)
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
        out, err = process.communicate()
        return "hang", out, err
    return process.returncode, out, err

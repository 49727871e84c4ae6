# SPDX-License-Identifier: Apache-2.0
"""Python's own profilers, tracers and debuggers beside a recording: each sees what it sees without the other."""

import ast
import collections
import importlib.util
import os
import sys

import pytest
from program_server import OPSCOPE, PLAIN

pytestmark = pytest.mark.framework("torch")

SOAK = os.environ.get("OPSCOPE_SOAK") == "1"

# Python functions below C++ too: a hook of a tensor and a function with its own backward, which autograd calls.
# What tools report is kept to the functions of this part, which is the same with and without opscope.
START = """
import collections, io, os, re, signal, sys, threading, warnings
import torch
__file__ = "program.py"  # module trace asks for it
FIRST_LINE = sys._getframe().f_lineno
inputs = torch.ones(4, 4, requires_grad=True)
weights = [torch.ones(4, 4) for _ in range(3)]
class Doubled(torch.autograd.Function):
    @staticmethod
    def forward(context, x): return x * 2
    @staticmethod
    def backward(context, gradient): return gradient * 2
def hook(gradient): return gradient + 1
inputs.register_hook(hook)
def layer(x, weight):
    y = x @ weight
    return torch.tanh(y)
def forward(x):
    for weight in weights: x = layer(x, weight)
    return Doubled.apply(x).sum()
def train(steps):
    for number in range(steps):
        with record_function("step"):
            loss = forward(inputs)
            loss.backward()
        if number % 2:
            loss = None
    return number
def in_a_thread():
    thread = threading.Thread(target=train, args=(3,)); thread.start(); thread.join()
def work():
    train(5)
    in_a_thread()
LAST_LINE = sys._getframe().f_lineno
OURS = {"forward", "backward", "hook", "layer", "train", "in_a_thread", "work"}
def is_ours(code):
    return code.co_filename.endswith("program.py") and FIRST_LINE < code.co_firstlineno < LAST_LINE
"""

# begin, end; `end` sets `result`.
TOOLS = {
    "no tool": ("", "result = None"),
    "cProfile": (
        "import cProfile, pstats; tool = cProfile.Profile(); tool.enable()",
        """
tool.disable()
result = sorted((name, calls[1]) for (file, line, name), calls in pstats.Stats(tool, stream=io.StringIO()).stats.items()
                if file.endswith("program.py") and name in OURS and FIRST_LINE < line < LAST_LINE)""",
    ),
    "profile": (
        "import profile as python_profile; tool = python_profile.Profile(bias=0); WRAP = tool",
        """
import pstats
result = sorted((name, calls[1]) for (file, line, name), calls in pstats.Stats(tool, stream=io.StringIO()).stats.items()
                if file.endswith("program.py") and name in OURS and FIRST_LINE < line < LAST_LINE)""",
    ),
    "sys.setprofile": (
        """
calls = collections.Counter()
def tool(frame, event, argument):
    if is_ours(frame.f_code) and event in ("call", "return"): calls[frame.f_code.co_name, event] += 1
threading.setprofile(tool); sys.setprofile(tool)""",
        """
assert sys.getprofile() is tool
sys.setprofile(None); threading.setprofile(None)
result = sorted(calls.items())""",
    ),
    "sys.settrace": (
        """
lines = collections.Counter()
def tool(frame, event, argument):
    if not is_ours(frame.f_code): return None
    lines[frame.f_lineno - FIRST_LINE, event] += 1
    return tool
threading.settrace(tool); sys.settrace(tool)""",
        """
assert sys.gettrace() is tool
sys.settrace(None); threading.settrace(None)
result = sorted(lines.items())""",
    ),
    "sys.monitoring": (
        """
calls = collections.Counter()
sys.monitoring.use_tool_id(sys.monitoring.PROFILER_ID, "a tool")
def tool(code, offset):
    if is_ours(code): calls[code.co_name] += 1
sys.monitoring.register_callback(sys.monitoring.PROFILER_ID, sys.monitoring.events.PY_START, tool)
sys.monitoring.set_events(sys.monitoring.PROFILER_ID, sys.monitoring.events.PY_START)""",
        """
sys.monitoring.set_events(sys.monitoring.PROFILER_ID, 0); sys.monitoring.free_tool_id(sys.monitoring.PROFILER_ID)
result = sorted(calls.items())""",
    ),
    "coverage": (
        "import coverage; tool = coverage.Coverage(data_file=None, include=['*program.py'], concurrency='thread')\n"
        "tool.start()",
        """
tool.stop(); data = tool.get_data()
result = [line - FIRST_LINE for file in data.measured_files() for line in sorted(data.lines(file))
          if FIRST_LINE < line < LAST_LINE]""",
    ),
    "coverage in Python": (
        """
import coverage; tool = coverage.Coverage(data_file=None, include=['*program.py'], branch=True)
tool.set_option("run:core", "pytrace")
warnings.simplefilter("ignore"); tool.start()""",
        """
tool.stop(); data = tool.get_data()
result = [(a - FIRST_LINE, b - FIRST_LINE) for file in data.measured_files() for a, b in sorted(data.arcs(file))
          if FIRST_LINE < a < LAST_LINE and FIRST_LINE < b < LAST_LINE]""",
    ),
    "trace": (
        "import trace; tool = trace.Trace(count=1, trace=0); WRAP = tool",
        """
result = sorted((line - FIRST_LINE, count) for (file, line), count in tool.results().counts.items()
                if file.endswith("program.py") and FIRST_LINE < line < LAST_LINE)""",
    ),
    "pdb": (
        """
import pdb
said = io.StringIO()
commands = ["break layer", "continue", "where", "p x.shape", "next", "p tuple(y.shape)", "step", "return", "up",
            "p number", "clear 1", "tbreak hook", "continue", "p gradient.shape", "next", "until", "continue"]
tool = pdb.Pdb(stdin=io.StringIO("\\n".join(commands) + "\\n"), stdout=said, nosigint=True, readrc=False)
tool.use_rawinput = False
WRAP = tool""",
        """
kept = [line for line in said.getvalue().splitlines() if "opscope" not in line]
result = re.sub(r"\\(\\d+\\)|:\\d+|0x\\w+", "N", "\\n".join(kept))""",
    ),
    "tracemalloc": (
        "import tracemalloc; tracemalloc.start(5)",
        "assert tracemalloc.get_traced_memory()[0] > 0; tracemalloc.stop(); result = 'ran'",
    ),
    # Not dump_traceback_later: its thread reads frames that change meanwhile, and crashes now and then by itself.
    "faulthandler": (
        """
import faulthandler
file = open("stacks", "w")
faulthandler.enable(file); faulthandler.register(signal.SIGUSR1, file=file, all_threads=False)
handle = inputs.register_hook(lambda gradient: signal.pthread_kill(threading.get_ident(), signal.SIGUSR1))""",
        """
handle.remove(); faulthandler.unregister(signal.SIGUSR1); faulthandler.disable(); file.close()
result = [name for name in re.findall(r"in (\\w+)$", open("stacks").read(), re.MULTILINE) if name in OURS]""",
    ),
    "a sampler of SIGPROF": (
        """
samples = 0
def sample(number, frame):
    global samples
    samples += 1
    while frame is not None: frame = frame.f_back
signal.signal(signal.SIGPROF, sample); signal.setitimer(signal.ITIMER_PROF, 0.0005, 0.0005)""",
        """
until_there_are_samples()
signal.setitimer(signal.ITIMER_PROF, 0); signal.signal(signal.SIGPROF, signal.SIG_DFL)
result = samples > 0""",
    ),
}
NEEDS = {
    "coverage": importlib.util.find_spec("coverage") is not None,
    "coverage in Python": importlib.util.find_spec("coverage") is not None,
    "sys.monitoring": sys.version_info >= (3, 12),
}
# These run operators of their own: pdb prints the tensors that functions return, the sampler waits for its samples.
RUNS_MORE = {"pdb", "a sampler of SIGPROF"}


def program(variant, tool, place):
    begin, end = TOOLS[tool]
    run = "tool.runcall(work)" if "WRAP" in begin and tool != "trace" else "work()"
    if tool == "trace":
        run = "tool.runfunc(work)"
    begin, tail = begin.replace("WRAP = tool", ""), 'print("tool", result)\n'
    if place == "inside":
        measured = f"with prof:\n    exec(BEGIN)\n    {run}\n    exec(END)\n"
    else:
        measured = f"exec(BEGIN)\nwith prof:\n    {run}\nexec(END)\n"
    counts = "print('operators', sorted(collections.Counter(e.name for e in prof.events()).items()))\n"
    # The end is compiled apart, so that both places run the very same lines.
    return (
        variant
        + START
        + f"""
BEGIN, END = {begin!r}, {end!r}
def until_there_are_samples():
    while samples == 0: train(1)
prof = profile(record_shapes=True)
train(1)
{measured}{tail}"""
        + (counts if variant == OPSCOPE else "")
    )


def said_and_counted(outcome):
    """What the tool said, and what opscope counted (None: it was not there)."""
    said, _, counted = outcome.stdout.partition("\noperators ")
    return said.strip(), collections.Counter(dict(ast.literal_eval(counted))) if counted else None


@pytest.fixture(scope="module")
def operators_without_a_tool(programs):
    outcome = programs.run(program(OPSCOPE, "no tool", "inside"))
    assert (outcome.status, outcome.stderr) == (0, "")
    _, counted = said_and_counted(outcome)
    assert counted["aten::mm"] == 30
    return counted


@pytest.mark.parametrize("tool", [tool for tool in TOOLS if tool != "no tool"])
def test_a_tool_and_opscope_do_not_disturb_each_other(programs, operators_without_a_tool, tool):
    if not NEEDS.get(tool, True):
        pytest.skip(f"{tool} is not there")
    alone = programs.run(program(PLAIN, tool, "inside"))
    assert (alone.status, alone.stderr) == (0, "")
    for place in ("inside", "around"):
        both = programs.run(program(OPSCOPE, tool, place))
        assert (both.status, both.stderr) == (0, ""), place
        said, counted = said_and_counted(both)
        assert said == said_and_counted(alone)[0], place
        assert said.split()[1] not in ("None", "[]", "False")
        if tool in RUNS_MORE:
            assert not operators_without_a_tool - counted, place
        else:
            assert counted == operators_without_a_tool, place


STORM = """
import collections, os, random, signal, sys, time
import torch
windows, wrong, is_busy = 0, [], False
def handler(number, frame):
    global windows, is_busy
    if is_busy: return  # else its operator counts in the window that it interrupts, which is right
    windows += 1
    is_busy = True
    with profile() as prof: torch.neg(torch.ones(2))
    if sum(e.name == "aten::neg" for e in prof.events()) != 1: wrong.append("in the handler")
    is_busy = False
signal.signal(signal.SIGALRM, handler)
end = time.monotonic() + SECONDS
signal.setitimer(signal.ITIMER_REAL, 0.0005, 0.0005)
turns = 0
while time.monotonic() < end or windows < 50:
    before = windows
    with profile(record_shapes=True) as prof: torch.exp(torch.ones(2))
    names = collections.Counter(e.name for e in prof.events())
    if names["aten::exp"] != 1 or names["aten::neg"] > windows - before: wrong.append(names)
    turns += 1
signal.setitimer(signal.ITIMER_REAL, 0)
print(wrong, turns > 0, torch.autograd.profiler._is_profiler_enabled)
"""


def test_handlers_of_signals_have_windows_of_their_own(programs):
    """Wherever start, stop and results of the main program are interrupted."""
    done = programs.run(OPSCOPE + STORM.replace("SECONDS", "60" if SOAK else "1"), 120)
    assert (done.status, done.stdout) == (0, "[] True False\n"), done.stderr

# SPDX-License-Identifier: Apache-2.0
"""The ways that a Python program ends, with a window open, stepping, stopped, or being exported.

Each program runs without a profiler, with opscope, and, for the table of docs/explanation/reliability.md, with
torch.profiler (`python test_torch_ends.py` prints that). What a user sees must be equal to the first:
status, output, errors; and the end must come at most a second later. OPSCOPE_SOAK=1 runs every end in
every state; otherwise each end meets the open window and, in turn, one other state.
"""

import os
import pathlib
import time

import pytest
from program_server import OPSCOPE, PLAIN, TORCH, ProgramServer

pytestmark = pytest.mark.framework("torch")

SOAK = os.environ.get("OPSCOPE_SOAK") == "1"
LATER_S = 1.0  # an end may come so much later

START = """
import atexit, ctypes, gc, os, signal, sys, threading, time
import torch
def operators(count=3):
    for _ in range(count): torch.ones(2, 3) + 1
prof = profile(record_shapes=True)
"""

STATES = {
    "open": """
prof.start()
operators()
still_open = record_function("open"); still_open.__enter__()
""",
    "stepping": """
import warnings; warnings.simplefilter("ignore")
prof = profile(schedule=schedule(wait=1, warmup=1, active=2, repeat=3), on_trace_ready=lambda prof: None)
prof.start()
for _ in range(6): operators(); prof.step()
""",
    "stopped": """
prof.start()
operators()
prof.stop()
""",
    "mapped": """
prof = profile(record_to="mapped.opscope", record_shapes=True)
prof.start()
operators()
still_open = record_function("open"); still_open.__enter__()
""",
    # A flight recorder with all its doors: handler, hooks, thread. It writes dumps that no test reads.
    "flying": """
prof = profile(at_cap="keep_newest", dump_to="flight.opscope", dump_on_signal=signal.SIGTERM,
               dump_on_exception=True, dump_if_no_step_for=0.01)
prof.start()
operators()
still_open = record_function("open"); still_open.__enter__()
""",
    # A thread exports again and again; the end of the program meets it at any place.
    "exporting": """
prof.start()
operators(3000)
prof.stop()
exported = threading.Event()
def export(prof=prof):
    while True:
        prof.export_chrome_trace("trace.json")
        exported.set()
threading.Thread(target=export, daemon=True).start()
exported.wait()
""",
}

ENDS = {
    "return": "print(float(torch.ones(3).sum()))",
    "sys.exit": "print('out'); sys.exit(7)",
    "sys.exit with a message": "sys.exit('a message')",
    "sys.exit in a function under three blocks": """
def leave():
    with record_function("a"), record_function("b"):
        try: operators(); sys.exit(3)
        finally: operators(); print("finally")
leave()
""",
    "sys.exit in a thread ends the thread alone": """
thread = threading.Thread(target=lambda: (operators(), sys.exit(5))); thread.start(); thread.join()
print("goes on")
""",
    "os._exit": "print('flushed', flush=True); os._exit(9)",
    "os._exit in a thread": """
print("flushed", flush=True)
threading.Thread(target=lambda: (operators(), os._exit(8))).start()
while True: operators()
""",
    "os.abort": "print('flushed', flush=True); os.abort()",
    "C's exit": "print('flushed', flush=True); ctypes.CDLL(None).exit(4)",
    "C's exit in a thread": """
print("flushed", flush=True)
threading.Thread(target=lambda: (operators(), ctypes.CDLL(None).exit(4))).start()
threading.Event().wait()
""",
    "C's quick_exit": "print('flushed', flush=True); ctypes.CDLL(None).quick_exit(4)",
    "an uncaught exception": "raise ValueError('uncaught')",
    "an uncaught exception of torch": "with record_function('inner'): torch.ones(3) @ torch.ones(4)",
    "an uncaught exception in a thread": """
threading.excepthook = lambda args: print("thread:", args.exc_value)
def fail():
    with record_function("in the thread"): raise KeyError("in the thread")
thread = threading.Thread(target=fail); thread.start(); thread.join()
""",
    "a recursion too deep": """
def deeper():
    with record_function("deeper"): deeper()
try: deeper()
except RecursionError: print("recursion")
""",
    "an uncaught interrupt": """
os.kill(os.getpid(), signal.SIGINT)
while True: operators()
""",
    "a caught interrupt": """
try:
    os.kill(os.getpid(), signal.SIGINT)
    while True: operators()
except KeyboardInterrupt: print("interrupted"); sys.exit(130)
""",
    "SIGTERM by default": "print('flushed', flush=True); os.kill(os.getpid(), signal.SIGTERM); signal.pause()",
    "SIGTERM with a handler": """
def leave(number, frame): operators(); print("leaving"); sys.exit(143)
signal.signal(signal.SIGTERM, leave)
os.kill(os.getpid(), signal.SIGTERM)
while True: operators()
""",
    "SIGKILL": "print('flushed', flush=True); os.kill(os.getpid(), signal.SIGKILL); signal.pause()",
    "exit functions start, stop and save": """
def record():
    own = profile(); own.start(); operators(); own.stop(); own.export_chrome_trace("own.json"); print("saved")
atexit.register(record)
atexit.register(lambda: (operators(), prof.stop(), print("stopped")))
""",
    "an exit function leaves a window open": "atexit.register(lambda: (profile().start(), operators(), print('ran')))",
    "an exit function raises SystemExit": "atexit.register(lambda: sys.exit(6))",
    "a destructor stops at the end": """
class Holder:
    def __init__(self, prof): self.prof = prof
    def __del__(self): self.prof.stop(); del self.prof; print("gone")
holder = Holder(prof); del prof
""",
    "a destructor fails at the end": """
class Holder:
    def __init__(self, prof): self.prof = prof
    def __del__(self): raise ValueError("in the destructor")
holder = Holder(prof)
""",
    "a cycle holds the profile to the end": "prof.me = prof; cycle = [prof]; cycle.append(cycle); del prof, cycle",
    "daemon threads run operators at the end": """
began = threading.Barrier(4)
def work():
    began.wait()
    while True:
        with record_function("busy"): operators()
for _ in range(3): threading.Thread(target=work, daemon=True).start()
began.wait(); time.sleep(0.01)
""",
    "daemon threads have windows of their own at the end": """
began = threading.Barrier(4)
def work():
    began.wait()
    while True:
        with profile(record_shapes=True): operators()
for _ in range(3): threading.Thread(target=work, daemon=True).start()
began.wait(); time.sleep(0.01)
""",
    # As above, but with nothing of torch's own that lets other threads have the interpreter.
    "daemon threads have empty windows at the end": """
began = threading.Barrier(4)
def work():
    began.wait()
    while True:
        with profile(record_shapes=True), record_function("busy"): pass
for _ in range(3): threading.Thread(target=work, daemon=True).start()
began.wait(); time.sleep(0.01)
""",
    "a thread outlives the main thread": """
main = threading.current_thread()
def work():
    main.join()
    with record_function("after the main thread"): operators(100)
    print("after")
threading.Thread(target=work).start()
""",
    "autograd runs at the end": """
x = torch.ones(100, requires_grad=True)
def work():
    while True: (x * 2).sum().backward()
threading.Thread(target=work, daemon=True).start()
for _ in range(20): (x * 3).sum().backward()
""",
    "os.execv": """
print("flushed", flush=True)
os.execv(sys.executable, [sys.executable, "-SEc", "print('another program'); raise SystemExit(11)"])
""",
}

# These must raise where a handler raises; so they bring their own profile.
HANDLERS = {
    "a handler raises in stop": """
prof = profile(on_trace_ready=fail); prof.start(); operators(); prof.stop()
""",
    "a handler raises in the exit of with": """
with profile(on_trace_ready=fail): operators()
""",
    "a handler raises while another exception passes": """
with profile(on_trace_ready=fail): raise KeyError("the first")
""",
    "a handler raises in a step": """
prof = profile(schedule=schedule(wait=0, warmup=1, active=1), on_trace_ready=fail)
with prof:
    for _ in range(4): operators(); prof.step()
""",
    "a handler leaves by sys.exit": """
with profile(on_trace_ready=lambda prof: sys.exit(12)): operators()
""",
}


# Operators run on other threads while the interpreter ends.
MAY_ABORT = {end for end in ENDS if "daemon" in end or "autograd" in end}


class PlainRuns:
    """What the programs do without a profiler. Some have several outcomes: up to Python 3.13 an operator of a
    daemon thread that runs while the interpreter ends aborts the process, or does not."""

    def __init__(self, server):
        self.server, self.kept = server, {}

    def outcomes(self, state, end):
        program = PLAIN + START + (STATES[state] if state == "exporting" else "") + ENDS[end]
        kept = self.kept.setdefault(program, [])
        yield from list(kept)
        while len(kept) < 10:
            kept.append(self.server.run(program))
            yield kept[-1]

    def know(self, outcome, state, end):
        if any(plain.seen == outcome.seen for plain in self.outcomes(state, end)):
            return True
        # On a busy machine the abort may come every time: an end without it is one of the outcomes still.
        is_aborted = {plain.status for plain in self.outcomes(state, end)} == {-6}
        return is_aborted and end in MAY_ABORT and outcome.seen == (0, "", "")


def states_of(number):
    others = [state for state in STATES if state != "open"]
    return STATES if SOAK else ("open", others[number % len(others)])


CASES = [
    pytest.param(state, end, id=f"{state}: {end}") for number, end in enumerate(ENDS) for state in states_of(number)
]


@pytest.fixture(scope="module")
def plain_runs(programs):
    return PlainRuns(programs)


@pytest.mark.parametrize(("state", "end"), CASES)
def test_the_program_ends_as_without_opscope(programs, plain_runs, state, end):
    plain = next(plain_runs.outcomes(state, end))
    assert plain.status != "hang"
    for _ in range(20 if SOAK else 1):
        program = OPSCOPE + START + STATES[state] + ENDS[end]
        recorded = programs.run(program)
        if not plain_runs.know(recorded, state, end):
            assert recorded.seen == plain.seen
        # The import of opscope and what the state itself does are no part of the end: twice the time is fair. Other
        # work on the machine may have come between: that does not come twice.
        limit_s = 2 * plain.wall_s + LATER_S + 1
        assert recorded.wall_s < limit_s or programs.run(program).wall_s < limit_s


@pytest.mark.parametrize("end", HANDLERS)
def test_what_a_handler_raises_ends_the_program_as_with_torch(programs, end):
    """The exception itself and the status; not the frames between, which are ours or torch's.

    Where torch.profiler crashes (a handler that raises in a step, then the next cycle), the program must end
    with the exception.
    """
    start = START + "def fail(prof): raise ValueError('in the handler')\n"
    theirs, ours = (programs.run(variant + start + HANDLERS[end]) for variant in (TORCH, OPSCOPE))
    if theirs.status == -11:
        assert (ours.status, ours.stderr.splitlines()[-1]) == (1, "ValueError: in the handler")
        return
    assert (ours.status, ours.stdout) == (theirs.status, theirs.stdout)
    assert ours.stderr.splitlines()[-1:] == theirs.stderr.splitlines()[-1:]


def test_killed_while_saving_the_file_is_whole_or_absent(programs):
    """A save never leaves half a file under the final name."""
    import opscope

    program = """
    prof.start(); operators(20000); prof.stop()
    prof.trace
    print("ready", flush=True)
    threading.Timer(DELAY, lambda: os.kill(os.getpid(), signal.SIGKILL)).start()
    while True: prof.save("saved.opscope"); prof.export_chrome_trace("saved.json")
    """.replace("\n    ", "\n")
    seen = set()
    for delay in (0.0, 0.003, 0.01, 0.03, 0.1) if not SOAK else [0.0005 * i for i in range(200)]:
        outcome = programs.run(OPSCOPE + START + program.replace("DELAY", str(delay)))
        assert outcome.status == -9
        assert outcome.stdout == "ready\n"
        for name in ("saved.opscope", "saved.json"):
            path = programs.folder / name
            seen.add(path.exists())
            if path.exists():
                assert list(opscope.open(path).spans.text("name")).count("aten::add") == 20000
    assert True in seen


@pytest.mark.measures
def test_an_end_is_not_delayed_by_what_was_recorded(programs):
    program = START + "prof.start()\nfor _ in range(100_000): torch.ones(1)\nprint(time.monotonic(), flush=True)\n"
    ended = {}
    for variant in (PLAIN, OPSCOPE):
        outcome = programs.run(variant + program)
        assert outcome.status == 0
        ended[variant] = time.monotonic() - float(outcome.stdout)
    assert ended[OPSCOPE] < ended[PLAIN] + LATER_S


def main():
    """The table: how many of the ends change nothing, for opscope and for torch.profiler."""
    server = ProgramServer()
    plain_runs = PlainRuns(server)
    for name, variant in (("opscope", OPSCOPE), ("torch.profiler", TORCH)):
        for state in STATES:
            if variant == TORCH and state in ("mapped", "flying"):  # it has none
                continue
            equal, changed = 0, []
            for end in ENDS:
                outcome = server.run(variant + START + STATES[state] + ENDS[end])
                if plain_runs.know(outcome, state, end):
                    equal += 1
                else:
                    changed.append((end, outcome.status, outcome.stderr.strip()[-60:]))
            print(f"{name}, {state}: {equal} of {len(ENDS)} ends as without it", *changed, sep="\n    ", flush=True)
    server.close()


if __name__ == "__main__":
    os.chdir(pathlib.Path(__file__).parent)
    main()

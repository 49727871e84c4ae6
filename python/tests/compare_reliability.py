# SPDX-License-Identifier: Apache-2.0
"""The table of docs/explanation/reliability.md: the same programs with opscope.torch and with torch.profiler.

    python compare_reliability.py [NAME...]     each program with both; prints one line for each

A program prints what a user would see of it; the line shows that, and the status when it is not 0. How
programs end is compared by `python test_torch_ends.py`.
"""

import json
import os
import pathlib
import platform
import sys

from program_server import OPSCOPE, TORCH, ProgramServer

PRELUDE = """
import atexit, gc, os, signal, sys, threading, time, warnings
import torch
warnings.simplefilter("ignore")
def operators(count=3):
    for _ in range(count): torch.ones(2, 3) + 1
def resident():
    with open("/proc/self/statm") as file: return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")
def said(call):
    try: call(); return "ok"
    except BaseException as raised: return type(raised).__name__ + ": " + str(raised).splitlines()[0][:60]
def additions(prof): return sum(event.name == "aten::add" for event in prof.events())
"""

CYCLES = """
def cycle():
    with profile(): operators(50)
for _ in range(100): cycle()
gc.collect(); before = resident()
for _ in range(1000): cycle()
gc.collect(); print(f"RSS {(resident() - before) / 2**20:+.1f} MiB")
"""

CALLS = {
    "stop without start": "prof = profile(); print(said(lambda: prof.stop()))",
    "stop twice": "prof = profile(); prof.start(); operators(); prof.stop(); print(said(lambda: prof.stop()))\n"
    "print(additions(prof), 'of 3 events')",
    "start twice": "prof = profile(); prof.start(); operators(); print(said(lambda: prof.start())); operators()\n"
    "prof.stop(); print(additions(prof), 'of 6 events')",
    "start, stop, start, stop": "prof = profile()\n"
    "for _ in range(2): prof.start(); operators(); prof.stop()\nprint(additions(prof), 'of 3 events')",
    "step before start": "prof = profile(schedule=schedule(wait=0, warmup=0, active=1))\n"
    "print(said(lambda: prof.step()))",
    "export before anything": "print(said(lambda: profile().export_chrome_trace('x.json')), os.path.exists('x.json'))",
    "export twice": "with profile() as prof: operators()\n"
    "for name in 'ab': print(said(lambda: prof.export_chrome_trace(name)), os.path.exists(name))",
    "schedule that never records": "prof = profile(schedule=schedule(wait=9, warmup=9, active=1)); prof.start()\n"
    "for _ in range(5): operators(); prof.step()\nprof.stop()\n"
    "print(said(lambda: prof.export_chrome_trace('x.json')), os.path.exists('x.json'))",
    "stop on another thread": "prof = profile(); prof.start(); operators()\n"
    "thread = threading.Thread(target=lambda: print(said(lambda: prof.stop()))); thread.start(); thread.join()\n"
    "print(additions(prof), 'of 3 events')",
    "one within another": "with profile() as outer:\n    operators()\n    try:\n"
    "        with profile() as inner: operators()\n        print(additions(inner), 'of 3 events within')\n"
    "    except RuntimeError as raised: print(str(raised)[:70])\n"
    "    operators()\nprint(additions(outer), 'of 9 events')",
    "two threads at once": """
barrier = threading.Barrier(2); out = []
def run():
    barrier.wait()
    try:
        with profile() as prof:
            barrier.wait(10); operators(100); barrier.wait(10)
        out.append(f"{additions(prof)} of 100 events")
    except BaseException as raised:
        out.append(type(raised).__name__ + ": " + str(raised).splitlines()[0][:60] if str(raised) else "broken barrier")
        barrier.abort()
threads = [threading.Thread(target=run) for _ in range(2)]
for thread in threads: thread.start()
for thread in threads: thread.join()
print("; ".join(sorted(out)))
""",
}

THREADS = """
out = []
def run():
    for _ in range(20):
        try:
            with profile() as prof: operators(20)
            out.append("whole" if additions(prof) == 20 else "not whole")
        except BaseException as raised: out.append(type(raised).__name__)
threads = [threading.Thread(target=run) for _ in range(16)]
for thread in threads: thread.start()
for thread in threads: thread.join()
print(", ".join(f"{out.count(kind)} {kind}" for kind in sorted(set(out))))
"""

FORK = """
import select
def child(way):
    if way == 0: operators(100); os._exit(0)
    if way == 1: operators(100); sys.exit(0)
    if way == 2:
        with profile() as own: operators(100)
        os._exit(0 if additions(own) == 100 else 3)
    prof.stop(); os._exit(0)
counts = {}
with profile() as prof:
    operators(10)
    for number in range(40):
        way = number % 4
        pid = os.fork()
        if pid == 0: child(way)
        poll = select.poll(); poll.register(os.pidfd_open(pid), select.POLLIN)
        if not poll.poll(5000): os.kill(pid, signal.SIGKILL); os.waitpid(pid, 0); result = "hung"
        else:
            status = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
            result = "lived" if status == 0 else "recorded nothing or too much" if status == 3 else f"status {status}"
        key = ("works, _exit", "works, exits", "records for itself", "stops the parent's")[way]
        counts.setdefault(key, []).append(result)
    operators(10)
for key, results in counts.items(): print(key + ":", ", ".join(f"{results.count(r)} {r}" for r in sorted(set(results))))
print(additions(prof), "of 20 events in the parent")
"""

MEMORY = """
before = resident(); prof = profile(); prof.start()
torch_ones = torch.ones; add = torch.add; one = torch.ones(1)
for _ in range(300_000): add(one, 1)
print(f"300,000 operators: RSS {(resident() - before) / 2**20:+.0f} MiB; ", end="")
began = time.monotonic(); prof.stop(); print(f"stop {time.monotonic() - began:.2f} s, RSS "
    f"{(resident() - before) / 2**20:+.0f} MiB")
os._exit(0)
"""

EXPORTS = {
    "folder that is not there": "with profile() as prof: operators()\n"
    "print(said(lambda: prof.export_chrome_trace('no/such/folder/x.json')))",
    "file size limit": """
import resource
with profile() as prof: operators(20000)
resource.setrlimit(resource.RLIMIT_FSIZE, (1 << 20, 1 << 20)); signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
print(said(lambda: prof.export_chrome_trace('x.json')), "left:", sorted(os.listdir('.'))[0:4])
""",
}

KILLED_WHILE_EXPORTING = """
prof = profile(); prof.start(); operators(20000); prof.stop()
threading.Timer(DELAY, lambda: os.kill(os.getpid(), signal.SIGKILL)).start()
prof.export_chrome_trace("x.json"); time.sleep(60)
"""


def text_of(outcome):
    lines = [line for line in outcome.stdout.splitlines() if line.strip()]
    return " | ".join(lines) + ("" if outcome.status == 0 else f" [status {outcome.status}]")


def show(name, server, program):
    for side, start in (("opscope", OPSCOPE), ("torch  ", TORCH)):
        print(f"{name}: {side}: {text_of(server.run(start + PRELUDE + program, limit_s=300))}", flush=True)


KILLED_WHILE_RECORDING = """
prof = profile(TO); prof.start()
inside = record_function("inside"); inside.__enter__(); operators(10000)
os.kill(os.getpid(), signal.SIGKILL)
"""


def show_killed_while_recording(name, server):
    """What is left of 10,000 operators and of the range that was open."""
    import opscope

    for side, start, to in (("opscope", OPSCOPE, "record_to='x.opscope'"), ("torch  ", TORCH, "")):
        server.run(start + PRELUDE + KILLED_WHILE_RECORDING.replace("TO", to))
        files = [path for path in server.folder.iterdir() if path.name not in ("program.py", "stdout", "stderr")]
        told = "no file"
        for path in files:
            spans = opscope.open(path).spans
            names = list(spans.text("name"))
            still_open = [text for text, flags in zip(names, spans["flags"], strict=True) if flags & 1]
            told = f"{names.count('aten::add')} of 10000 events, open: {', '.join(still_open)}"
        print(f"{name}: {side}: {told}", flush=True)


def state_of(path):
    if not path.exists():
        return "absent"
    try:
        return "whole" if json.loads(path.read_text())["traceEvents"] else "empty"
    except ValueError:
        return "cut"


def show_killed(name, server):
    """Killed at moments from the beginning of an export to long after it: what lies under the final name."""
    for side, start in (("opscope", OPSCOPE), ("torch  ", TORCH)):
        states, others = [], 0
        for number in range(30):
            server.run(start + PRELUDE + KILLED_WHILE_EXPORTING.replace("DELAY", str(0.02 * number)))
            states.append(state_of(server.folder / "x.json"))
            others += len([path for path in server.folder.iterdir() if path.name.startswith("x.json.")])
        told = ", ".join(f"{states.count(state)} {state}" for state in sorted(set(states)))
        print(f"{name}: {side}: {told}; {others} temporary files left", flush=True)


def main(names):
    import torch

    print(f"torch {torch.__version__}, Python {platform.python_version()}, {os.cpu_count()} processors")
    programs = {
        "1,000 cycles": CYCLES,
        **CALLS,
        "16 threads, 20 profiles each": THREADS,
        "fork": FORK,
        "memory": MEMORY,
        **EXPORTS,
    }
    server = ProgramServer()
    for name, program in programs.items():
        if not names or name in names:
            show(name, server, program)
    if not names or "killed while recording" in names:
        show_killed_while_recording("killed while recording", server)
    if not names or "killed while exporting" in names:
        show_killed("killed while exporting", server)
    server.close()


if __name__ == "__main__":
    os.chdir(pathlib.Path(__file__).parent)
    main(sys.argv[1:])

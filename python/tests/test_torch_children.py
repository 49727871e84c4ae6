# SPDX-License-Identifier: Apache-2.0
"""Other programs started by one that records: subprocess, exec, posix_spawn, pools.

What they say and how they end is as without opscope; the parent's recording is what torch.profiler counts in the
same program, and its file is whole. (test_torch_processes.py has os.fork and what a forked child may do.)
"""

import os
import re

import pytest
from program_server import OPSCOPE, PLAIN, TORCH

pytestmark = pytest.mark.framework("torch")

SOAK = os.environ.get("OPSCOPE_SOAK") == "1"

START = """
import collections, ctypes, multiprocessing, os, signal, subprocess, sys, threading
import torch
CHILD = [sys.executable, "-SEc", "import os, sys; print('child', *sys.argv[1:]); sys.stdout.flush(); os._exit(7)"]
def operators(count=3):
    for _ in range(count): torch.neg(torch.ones(2))
def wait(child): return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
def flush(): sys.stdout.flush(); sys.stderr.flush()
"""

# Each prints what the program sees of its children.
WAYS = {
    "subprocess.run": "print(subprocess.run([*CHILD, 'a'], stdout=subprocess.PIPE))",
    "subprocess with a group of its own": """
done = subprocess.Popen([*CHILD, "a"], stdout=subprocess.PIPE, start_new_session=True, close_fds=False)
print(done.communicate(), done.returncode)""",
    "subprocess with preexec_fn": """
print(subprocess.run([*CHILD, "a"], stdout=subprocess.PIPE, preexec_fn=lambda: operators(1)))""",
    "a shell with a pipe": "print(subprocess.getstatusoutput('echo a | cat; exit 3'))",
    "os.system": "flush(); print(os.system('exit 5'))",
    "os.popen": "print(os.popen('echo a').read())",
    "os.posix_spawn": "flush(); print(wait(os.posix_spawn(CHILD[0], [*CHILD, 'a'], os.environ)))",
    "os.spawnv": "flush(); print(os.spawnv(os.P_WAIT, CHILD[0], [*CHILD, 'a']))",
    "fork and exec": """
flush(); child = os.fork()
if child == 0: operators(2); os.execv(CHILD[0], [*CHILD, "a"])
print(wait(child))""",
    "fork and an exec that fails": """
flush(); child = os.fork()
if child == 0:
    try: os.execv("/no/such/program", ["x"])
    except OSError: operators(1); os._exit(9)
print(wait(child))""",
    "a double fork": """
flush(); reader, writer = os.pipe(); child = os.fork()
if child == 0:
    os.setsid()
    if os.fork() == 0: operators(1); os.write(writer, b"grandchild"); os._exit(0)
    os._exit(4)
os.close(writer); print(wait(child), os.read(reader, 100), os.read(reader, 100))""",
    "fork in a thread": """
flush(); statuses = []
def work():
    child = os.fork()
    if child == 0: operators(2); os._exit(6)
    statuses.append(wait(child))
thread = threading.Thread(target=work); thread.start(); thread.join(); print(statuses)""",
    "a child that is killed": """
child = subprocess.Popen([sys.executable, "-SEc", "import signal; print(flush=True); signal.pause()"],
                         stdout=subprocess.PIPE)
child.stdout.read(1); child.kill(); print(child.wait())""",
    "a child that aborts": """
flush(); child = os.fork()
if child == 0: operators(1); os.abort()
print(wait(child))""",
    "a child that leaves by sys.exit": """
flush(); child = os.fork()
if child == 0: operators(1); sys.exit(3)
print(wait(child))""",
    "a pool": """
with multiprocessing.get_context("fork").Pool(2) as pool: print(pool.map(abs, range(-20, 0)))""",
    "a pool that is terminated at work": """
pool = multiprocessing.get_context("fork").Pool(2); endless = pool.map_async(torch_forever, range(2))
pool.terminate(); pool.join(); print("terminated")""",
    "a pool whose workers are replaced": """
with multiprocessing.get_context("fork").Pool(2, maxtasksperchild=1) as pool: print(pool.map(abs, range(-6, 0), 1))""",
}
HELPERS = """
def torch_forever(number):
    while True: operators(1)
"""

# One window for each way.
LOOP = """
for way, body in WAYS:
    print("way:", way)
    with profile(record_shapes=True) as prof:
        operators(5)
        exec(body)
        operators(5)
    flush()
"""
COUNT = """    counts = sorted(collections.Counter(event.name for event in prof.events()).items())
    with open(f"{way}.counts", "w") as file: file.write(repr(counts))
    if hasattr(prof, "save"): prof.save(f"{way}.opscope")
"""


@pytest.fixture(scope="module")
def counted_by_torch(programs):
    """Of the same window without children: torch.profiler and children do not always go together."""
    done = programs.run(TORCH + START + "WAYS = [('none', '')]" + LOOP + COUNT)
    assert done.status == 0, done.stderr
    counts = (programs.folder / "none.counts").read_text()
    assert "('aten::neg', 10)" in counts
    return counts


@pytest.mark.parametrize("ways", [[way] for way in WAYS] if SOAK else [list(WAYS)], ids=" ".join if SOAK else len)
def test_children_and_parent_are_as_without_opscope(programs, counted_by_torch, ways):
    import opscope

    body = START + HELPERS + f"WAYS = {[(way, WAYS[way]) for way in ways]!r}" + LOOP
    plain = programs.run(PLAIN + body, 120)
    assert (plain.status, plain.stderr) == (0, "")
    ours = programs.run(OPSCOPE + body + COUNT, 120)
    assert (ours.status, ours.stderr, ours.stdout) == (0, "", plain.stdout)
    for way in ways:
        assert (programs.folder / f"{way}.counts").read_text() == counted_by_torch, way
        trace = opscope.open(programs.folder / f"{way}.opscope")
        assert len(trace.problems) == 0, way
        assert list(trace.spans.text("name")).count("aten::neg") == 10, way


LINKED = """
def record(name):
    with profile(record_shapes=True) as own: operators(4)
    own.save(f"{name}-{os.getpid()}.opscope")
def in_child(work):
    flush(); child = os.fork()
    if child == 0: work(); os._exit(0)
    return wait(child)
prof = profile(); prof.start()
operators(3)
record("parent")
assert in_child(lambda: (record("child"), in_child(lambda: record("grandchild")))) == 0
multiprocessing.get_context("fork").Pool(2).map(record, ["worker"] * 4, 1)
prof.stop(); prof.save(f"outer-{os.getpid()}.opscope")
print(os.getpid())
"""


def test_files_name_their_process_and_its_parent(programs):
    import opscope

    done = programs.run(OPSCOPE + START + LINKED)
    assert (done.status, done.stderr) == (0, "")
    main, found = int(done.stdout), {}
    for path in programs.folder.glob("*.opscope"):
        name, process = re.fullmatch(r"(\w+)-(\d+)\.opscope", path.name).groups()
        trace = opscope.open(path)
        assert list(trace.processes["pid"]) == [int(process)]
        assert list(trace.spans.text("name")).count("aten::neg") == (7 if name == "outer" else 4)
        found.setdefault(name, []).append((int(process), trace.info.get("parent_pid")))
    # The server that started the program forked it, after torch was imported but before opscope was.
    assert found["parent"] == found["outer"] == [(main, None)]
    [(child, of_child)], [(_, of_grandchild)] = found["child"], found["grandchild"]
    assert (of_child, of_grandchild) == (main, child)
    assert {parent for _, parent in found["worker"]} == {main}
    assert found.keys() == {"parent", "outer", "child", "grandchild", "worker"}


def test_dumps_of_a_child_are_its_own(programs):
    """dump_to= names the process, and the parent's flight recorder goes on while the child's comes and goes."""
    import opscope

    program = """
def recorder(): return profile(at_cap="keep_newest", dump_to="flight.opscope", dump_on_signal=signal.SIGUSR1)
def await_dumps(prof, count):
    while len(prof.dumps) < count: threading.Event().wait(0.001)
with recorder() as prof:
    operators(5)
    os.kill(os.getpid(), signal.SIGUSR1); await_dumps(prof, 1)
    flush(); child = os.fork()
    if child == 0:
        assert prof.dumps == []
        with recorder() as own:
            operators(2)
            os.kill(os.getpid(), signal.SIGUSR1); await_dumps(own, 1)
        os._exit(0)
    assert wait(child) == 0
    operators(1)
    os.kill(os.getpid(), signal.SIGUSR1); await_dumps(prof, 2)
print(os.getpid(), child, *map(os.path.basename, prof.dumps))
"""
    done = programs.run(OPSCOPE + START + program)
    assert (done.status, done.stderr) == (0, "")
    parent, child, *dumps = done.stdout.split()
    assert dumps == [f"flight-{parent}-1.opscope", f"flight-{parent}-2.opscope"]
    counts = {
        path.name: list(opscope.open(path).spans.text("name")).count("aten::neg")
        for path in programs.folder.glob("*.opscope")
    }
    assert counts == {dumps[0]: 5, dumps[1]: 6, f"flight-{child}-1.opscope": 2}
    assert opscope.open(programs.folder / f"flight-{child}-1.opscope").info["parent_pid"] == int(parent)


def test_mapped_files_of_children_are_their_own(programs):
    """record_to=: children that are killed at work leave what they had recorded; the parent's file is whole."""
    import opscope

    program = """
def child():
    own = profile(record_to="run.opscope"); own.start()
    operators(4)
    with record_function("open in the child"): os.kill(os.getpid(), signal.SIGKILL)
def idle(): operators(3); os._exit(0)  # with the parent's window, in which it has no part
children = []
with profile(record_to="run.opscope", record_shapes=True) as prof:
    operators(5)
    for work in (child, idle, child):
        flush(); number = os.fork()
        if number == 0: work()
        print(work.__name__, number, wait(number))
        operators(1)
    with multiprocessing.get_context("fork").Pool(2) as pool: pool.map(abs, range(8))
print("parent", os.getpid(), sum(event.name == "aten::neg" for event in prof.events()))
"""
    done = programs.run(OPSCOPE + START + program)
    assert (done.status, done.stderr) == (0, "")
    rows = [line.split() for line in done.stdout.splitlines()]
    assert [(row[0], row[2]) for row in rows] == [("child", "-9"), ("idle", "0"), ("child", "-9"), ("parent", "8")]
    parent = rows[-1][1]
    killed = [row[1] for row in rows if row[0] == "child"]
    files = {path.name for path in programs.folder.glob("*.opscope")}
    assert files == {"run.opscope"} | {f"run.{number}.opscope" for number in killed}
    whole = opscope.open(programs.folder / "run.opscope")
    assert (len(whole.problems), list(whole.processes["pid"])) == (0, [int(parent)])
    assert list(whole.spans.text("name")).count("aten::neg") == 8
    for number in killed:
        trace = opscope.open(programs.folder / f"run.{number}.opscope")
        assert list(trace.processes["pid"]) == [int(number)]
        assert trace.info["parent_pid"] == int(parent)
        names = list(trace.spans.text("name"))
        assert (names.count("aten::neg"), names.count("open in the child")) == (4, 1)
        assert "recording_not_ended" in trace.problems.text("kind")


def test_forks_in_a_row_neither_lose_nor_double(programs):
    """Children that leave in every way, while the parent records on: its numbered ranges are all there, once."""
    program = f"""
ways = [lambda: os._exit(0), lambda: os.execv(CHILD[0], [CHILD[0], "-SEc", ""]), lambda: os.abort(),
        lambda: os.kill(os.getpid(), signal.SIGKILL), lambda: (record(), os._exit(0)), lambda: os.closerange(3, 99)]
def record():
    with profile() as own: operators(2)
    assert sum(event.name == "aten::neg" for event in own.events()) == 2
import resource; resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
statuses = collections.Counter()
with profile() as prof:
    for number in range({1000 if SOAK else 60}):
        with record_function(f"range {{number}}"):
            child = os.fork()
            if child == 0:
                ways[number % len(ways)]()
                os._exit(0)
            statuses[wait(child)] += 1
ranges = collections.Counter(event.name for event in prof.events() if event.name.startswith("range"))
print(sorted(statuses), len(ranges), set(ranges.values()), prof.profiler.counts()["dropped"])
"""
    done = programs.run(OPSCOPE + START + program, 600)
    assert (done.status, done.stderr, done.stdout) == (0, "", f"[-9, -6, 0] {1000 if SOAK else 60} {{1}} 0\n")

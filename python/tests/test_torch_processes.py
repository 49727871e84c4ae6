# SPDX-License-Identifier: Apache-2.0
"""Children of a program that records: os.fork, multiprocessing, pools, DataLoader.

The parent's recording is complete, the children live and see nothing of it, and each may record for itself.
"""

import os
import re
import textwrap

import pytest
from program_server import OPSCOPE, PLAIN, run_file

pytestmark = pytest.mark.framework("torch")

SOAK = os.environ.get("OPSCOPE_SOAK") == "1"

START = """
import gc, json, os, signal, sys, threading, time
import torch
def operators(count=3):
    for _ in range(count): torch.neg(torch.ones(2))
def counted(prof, name="aten::neg"): return sum(event.name == name for event in prof.events())
def wait(child): return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
def in_child(work):
    sys.stdout.flush()
    child = os.fork()
    if child != 0: return wait(child)
    try: work()
    except BaseException as error: print(repr(error), flush=True); os._exit(1)
    sys.stdout.flush(); os._exit(0)
"""

# What a child does with what it got from its recording parent; each must leave it alive and silent.
IN_CHILD = {
    "runs operators": "operators()",
    "stops": "prof.stop(); prof.stop()",
    "leaves the block": "prof.__exit__(None, None, None)",
    "steps": "prof.step(); prof.step(); prof.stop()",
    "ends the open range": "still_open.__exit__(None, None, None)",
    "drops the open range": "del globals()['still_open']; gc.collect()",
    "drops the profile": "del globals()['prof']; gc.collect()",
    "adds metadata": "prof.add_metadata('key', 'value')",
    "starts the inherited profile anew": """
        prof.start(); operators(5); prof.stop(); assert counted(prof) == 5""",
    "records for itself": """
        with profile(record_shapes=True) as own: operators(5)
        assert counted(own) == 5; own.save("own.opscope"); own.export_chrome_trace("own.json")""",
    "records on a thread": """
        def work():
            with profile() as own: operators(5)
            done.append(counted(own))
        done = []
        thread = threading.Thread(target=work); thread.start(); thread.join(); assert done == [5]""",
    "records seventy times": """
        for _ in range(70):
            with profile() as own: operators(1)
            assert counted(own) == 1, counted(own)""",
    "has a child that records": """
        assert in_child(grandchild) == 0
        with profile() as own: operators(5)
        assert counted(own) == 5""",
    "asks for the parent's results": """
        for ask in (prof.events, prof.key_averages, lambda: prof.trace, lambda: prof.save("x.opscope")):
            try: ask()
            except RuntimeError as error: assert "parent process" in str(error)
            else: raise AssertionError(ask)
        assert "recorded before this process was forked" in repr(prof)""",
    "closes all files": "os.closerange(3, 200); operators()",
    "is not flagged as profiled": "assert not torch.autograd.profiler._is_profiler_enabled",
    # torch calls no observer of an operator: the range has no handle, because nothing observes its entry.
    "has no callback left": "assert not observed()",
    "has no callback left after a recording of its own": """
        with profile() as own: assert observed()
        assert not observed()""",
}


@pytest.mark.torch_has("_ExperimentalConfig(profile_all_threads)")
@pytest.mark.parametrize("all_threads", [False, True], ids=["own thread", "all threads"])
@pytest.mark.parametrize("what", IN_CHILD)
def test_a_child(programs, what, all_threads):
    if all_threads and not SOAK and what not in ("runs operators", "records seventy times"):
        pytest.skip("in full with OPSCOPE_SOAK=1")
    if all_threads and what.startswith("has no callback"):
        pytest.skip("a global callback stays registered in the child, disarmed")
    body = textwrap.indent(textwrap.dedent(IN_CHILD[what]).strip(), "    ")
    program = (
        OPSCOPE
        + START
        + f"""
from torch.profiler import _ExperimentalConfig
def observed():
    entered = record_function("observed?").__enter__()
    handle = entered._detach()
    if handle != 0: entered._end_detached(handle)
    return handle != 0
def grandchild():
    with profile() as own: operators(7)
    assert counted(own) == 7
def child():
    global prof, still_open
{body}
prof = profile(record_shapes=True, experimental_config=_ExperimentalConfig(profile_all_threads={all_threads}))
prof.start()
operators(10)
still_open = record_function("open"); still_open.__enter__()
print(in_child(child))
operators(10)
prof.stop()
print(counted(prof), list(prof.trace.spans.text("name")).count("open"))
"""
    )
    done = programs.run(program)
    assert (done.status, done.stderr, done.stdout) == (0, "", "0\n20 1\n")


def test_a_finished_profile_is_whole_in_the_child(programs):
    program = (
        OPSCOPE
        + START
        + """
with profile() as prof: operators(10)
table = prof.key_averages().table()
def child():
    assert counted(prof) == 10 and prof.key_averages().table() == table
    prof.save("child.opscope")
    with profile() as own: operators(5)
    assert counted(own) == 5
print(in_child(child))
"""
    )
    done = programs.run(program)
    assert (done.status, done.stderr, done.stdout) == (0, "", "0\n")


def test_forks_while_threads_start_and_stop_lose_nothing(programs):
    """Every lock of recorder, source and front end is free in the child, wherever the threads were."""
    program = (
        OPSCOPE
        + START
        + f"""
go, failed = True, []
def work():
    while go:
        with profile(record_shapes=True) as own: operators(5)
        if counted(own) != 5: failed.append(counted(own))
def child():
    with profile() as own: operators(5)
    assert counted(own) == 5
threads = [threading.Thread(target=work) for _ in range(8)]
for thread in threads: thread.start()
with profile() as prof:
    codes = []
    for _ in range({1000 if SOAK else 60}):
        operators(1)
        codes.append(in_child(child))
go = False
for thread in threads: thread.join()
print(set(codes), counted(prof) == len(codes), failed)
"""
    )
    done = programs.run(program, limit_s=600)
    assert (done.status, done.stderr, done.stdout) == (0, "", "{0} True []\n")


WORKERS = """
import concurrent.futures, multiprocessing, os, sys
import torch
import torch.multiprocessing
def work(number):
    torch.neg(torch.ones(2))
    return number * 2
def record(number):
    with profile() as own:
        for _ in range(number): torch.neg(torch.ones(2))
    own.save(f"worker-{number}-{os.getpid()}.opscope")
    return sum(event.name == "aten::neg" for event in own.events())
def fail(): raise ValueError("in the worker")
def leave(): sys.exit(9)
def die(): os._exit(10)
def put(queue, event): torch.neg(torch.ones(2)); queue.put(torch.full((2,), 3.0)); event.wait()
class Numbers(torch.utils.data.Dataset):
    def __len__(self): return 16
    def __getitem__(self, index): return torch.full((2,), float(index)) + 0
def run(kind, whole):
    context = multiprocessing.get_context(kind)
    if kind == "forkserver": context.set_forkserver_preload(["torch"])
    processes = [context.Process(target=target) for target in ((fail, leave, die) if whole else (leave,))]
    for process in processes: process.start()
    for process in processes: process.join()
    print("statuses", [process.exitcode for process in processes])
    if whole: run_pools(context)
    pool = context.Pool(1, maxtasksperchild=1)
    print("pool, recorded", pool.map(RECORD, [3, 4], chunksize=1))
    pool.close(); pool.join()
    loader = torch.utils.data.DataLoader(Numbers(), batch_size=4, num_workers=1, multiprocessing_context=kind)
    print("loader", [batch.sum().item() for batch in loader])
def run_pools(context):
    with context.Pool(2) as pool:
        print("pool, terminated", pool.map(work, range(4)))
    with concurrent.futures.ProcessPoolExecutor(2, mp_context=context) as executor:
        print("executor", list(executor.map(work, range(4))))
    tensors = torch.multiprocessing.get_context(context.get_start_method())
    queue, event = tensors.Queue(), tensors.Event()
    process = tensors.Process(target=put, args=(queue, event)); process.start()
    print("tensor", queue.get().tolist()); event.set(); process.join()
def main():
    with profile(record_shapes=True) as prof:
        for _ in range(5): torch.neg(torch.ones(2))
        run(KIND, WHOLE)
        for _ in range(5): torch.neg(torch.ones(2))
    return prof
"""


@pytest.mark.parametrize("kind", ["fork", "forkserver", "spawn"])
def test_workers_are_as_without_opscope(tmp_path, kind):
    """Spawned children import torch anew: without OPSCOPE_SOAK they are few."""
    whole = kind == "fork" or SOAK
    tail = 'if __name__ == "__main__":\n    torch.set_num_threads(1)\n    prof = main()\n'
    count = '    print("parent", sum(event.name == "aten::neg" for event in prof.events()))\n'
    outcomes = []
    # What the workers say does not depend on how they were started: the plain run forks, which is quick.
    for folder, start, variant in ((tmp_path / "plain", "fork", PLAIN), (tmp_path / "opscope", kind, OPSCOPE)):
        folder.mkdir()
        record = "RECORD = abs\n" if variant == PLAIN else "RECORD = record\n"
        header = f"KIND, WHOLE = {start!r}, {whole}\n"
        program = header + variant + WORKERS + record + tail + (count if variant == OPSCOPE else "")
        status, out, err = run_file(folder, program)
        # multiprocessing's own tracker of semaphores may end before a pool has put away the last one, and tells it.
        err = re.sub(r"(?m:^.*resource_tracker.*\n)", "", err)
        outcomes.append((status, out, re.sub(r"line \d+|0x\w+|\w*Process-\d+|(?m:^ +.*\n)", "", err)))
    status, out, err = outcomes[1]
    assert out.endswith("parent 10\n")
    assert (status, out.removesuffix("parent 10\n"), err) == outcomes[0]
    check_the_files_of_workers(tmp_path / "opscope")


def check_the_files_of_workers(folder):
    import opscope

    saved = sorted(folder.glob("worker-*.opscope"))
    assert [path.name.split("-")[1] for path in saved] == ["3", "4"]
    for path in saved:
        number, process = re.fullmatch(r"worker-(\d+)-(\d+)\.opscope", path.name).groups()
        trace = opscope.open(path)
        assert list(trace.spans.text("name")).count("aten::neg") == int(number)
        assert list(trace.processes["pid"]) == [int(process)]

# SPDX-License-Identifier: Apache-2.0
"""Threads of a Python program: when they come and go, what they are called, greenlets among them."""

import importlib.util
import os

import pytest
from program_server import OPSCOPE

pytestmark = pytest.mark.framework("torch")

SOAK = os.environ.get("OPSCOPE_SOAK") == "1"

START = """
import collections, concurrent.futures, ctypes, gc, os, random, sys, threading, time
import torch
from torch.profiler import _ExperimentalConfig
def everywhere(**options):
    return profile(experimental_config=_ExperimentalConfig(profile_all_threads=True), **options)
def operators(count):
    for _ in range(count): torch.neg(one)
one = torch.ones(2)
def per_thread(prof, name="aten::neg"):
    return sorted(collections.Counter(e.thread for e in prof.events() if e.name == name).values())
def tracks(prof, name="aten::neg"):
    spans = prof.trace.spans
    return collections.Counter(track for track, it in zip(spans["track"], spans.text("name")) if it == name)
"""


def check(programs, program, expected, limit_s=120):
    done = programs.run(OPSCOPE + START + program, limit_s)
    assert (done.status, done.stderr, done.stdout) == (0, "", expected)


@pytest.mark.torch_has("_ExperimentalConfig(profile_all_threads)")
def test_threads_that_begin_before_within_and_after_the_window(programs):
    """Each counts exactly for what it ran while the window was open."""
    program = """
opened, closed = threading.Event(), threading.Event()
def before():
    operators(100)
    ready.wait(); opened.wait()
    operators(3)
    inside.wait(); closed.wait()
    operators(100)
ready, inside = threading.Barrier(2), threading.Barrier(3)
first = threading.Thread(target=before); first.start()
ready.wait()
prof = everywhere(); prof.start(); opened.set()
def within():
    operators(5)
    inside.wait(); closed.wait()
    operators(100)
second = threading.Thread(target=within); second.start()
short = threading.Thread(target=operators, args=(7,)); short.start(); short.join()
inside.wait()
operators(11)
prof.stop(); closed.set()
late = threading.Thread(target=operators, args=(100,)); late.start()
for thread in (first, second, late): thread.join()
print(per_thread(prof), sorted(tracks(prof).values()), prof.profiler.counts()["dropped"])
"""
    check(programs, program, "[3, 5, 7, 11] [3, 5, 7, 11] 0\n")


@pytest.mark.torch_has("_ExperimentalConfig(profile_all_threads)")
def test_pools_autograd_and_the_inter_op_pool(programs):
    """What torch carries to other threads is recorded without profile_all_threads; a plain pool is not."""
    program = """
torch.set_num_interop_threads(2)
@torch.jit.script
def scripted(x: torch.Tensor):
    return torch.neg(x)
weight = torch.ones(3, requires_grad=True)
pool = concurrent.futures.ThreadPoolExecutor(4)
list(pool.map(operators, [1] * 8))
with profile(record_shapes=True) as prof:
    futures = [torch.jit.fork(scripted, one) for _ in range(50)]
    for future in futures: torch.jit.wait(future)
    for _ in range(20): (weight * 2).sum().backward()
    list(pool.map(operators, [10] * 8))
list(pool.map(operators, [10] * 8))
for _ in range(20): torch.jit.wait(torch.jit.fork(scripted, one)); (weight * 2).sum().backward()
with everywhere() as all: list(pool.map(operators, [10] * 8))
pool.shutdown()
print(len([e for e in prof.events() if e.name == "aten::neg"]))
print(len([e for e in prof.events() if e.name == "MulBackward0"]))
print(sum(per_thread(all)))
"""
    check(programs, program, "50\n20\n80\n")


@pytest.mark.torch_has("_ExperimentalConfig(profile_all_threads)")
def test_names_and_reused_numbers_are_kept_apart(programs):
    """Many short threads, some under the number that the kernel gave to an earlier one: a track for each."""
    program = f"""
COUNT = {4000 if SOAK else 400}
def last_pid(number):
    try:
        with open("/proc/sys/kernel/ns_last_pid", "w") as file: file.write(str(number))
    except OSError: pass  # not permitted: then the numbers just differ
def name(text): ctypes.CDLL(None).prctl(15, ctypes.c_char_p(text.encode()), 0, 0, 0)
numbers = []
def work(number):
    name(f"worker {{number}}")
    numbers.append(threading.get_native_id())
    with record_function(f"range {{number}}"): operators(number % 3 + 1)
with everywhere() as prof:
    for number in range(COUNT):
        if number % 2: last_pid(numbers[-1] - 1)
        thread = threading.Thread(target=work, args=(number,)); thread.start(); thread.join()
spans, trace = prof.trace.spans, prof.trace
ranges = {{}}
for track, it in zip(spans["track"], spans.text("name")):
    if it.startswith("range"): ranges.setdefault(track, []).append(int(it.split()[1]))
mixed = [numbers for numbers in ranges.values() if len(numbers) != 1]
operators_of = tracks(prof)
wrong = [track for track, [number] in ranges.items() if operators_of[track] != number % 3 + 1]
names = list(trace.tracks.text("name"))
misnamed = [track for track, [number] in ranges.items() if names[track] != f"worker {{number}}"]
print(len(ranges), mixed, wrong, misnamed, file=sys.stdout)
"""
    check(programs, program, f"{4000 if SOAK else 400} [] [] []\n")


def test_sixteen_threads_start_and_stop_windows_under_load(programs):
    """Each window has exactly its own thread's operators, whatever the others open and close meanwhile."""
    program = f"""
seed = int.from_bytes(os.urandom(4), "little"); print("seed", seed, file=sys.stderr)
failed, rounds = [], {2000 if SOAK else 60}
def work(number):
    choose = random.Random(seed + number)
    for _ in range(rounds):
        count, shapes = choose.randrange(1, 30), choose.random() < 0.5
        with profile(record_shapes=shapes) as prof:
            operators(count)
            if choose.random() < 0.2:
                with profile() as inner: operators(2)
                count += 2
                if per_thread(inner) != [2]: failed.append(("inner", per_thread(inner)))
        if choose.random() < 0.1: gc.collect()
        if choose.random() < 0.3: continue  # dropped without a look
        if per_thread(prof) != [count]: failed.append((per_thread(prof), count))
load = threading.Event()
def burn():
    while not load.is_set(): operators(10)
burner = threading.Thread(target=burn); burner.start()
threads = [threading.Thread(target=work, args=(number,)) for number in range(16)]
for thread in threads: thread.start()
for thread in threads: thread.join()
load.set(); burner.join()
print(failed, torch.autograd.profiler._is_profiler_enabled)
"""
    done = programs.run(OPSCOPE + START + program, 600)
    assert (done.status, done.stdout) == (0, "[] False\n"), done.stderr


def test_one_profile_driven_by_many_threads_refuses_or_obeys(programs):
    """start, step and stop of one object from 8 threads at once: RuntimeError or done, and it works afterwards."""
    program = """
import warnings; warnings.simplefilter("ignore")
refused = collections.Counter()
prof = profile(schedule=schedule(wait=0, warmup=0, active=2, repeat=0), on_trace_ready=lambda prof: None)
def work():
    for _ in range(200):
        for act in (prof.start, prof.step, prof.step, prof.stop):
            try: act()
            except (RuntimeError, AssertionError) as error: refused[type(error).__name__] += 1
            operators(1)
threads = [threading.Thread(target=work) for _ in range(8)]
for thread in threads: thread.start()
for thread in threads: thread.join()
prof.stop()
with profile() as after: operators(4)
print(per_thread(after), torch.autograd.profiler._is_profiler_enabled)
"""
    check(programs, program, "[4] False\n")


GREENLETS = """
seed = int.from_bytes(os.urandom(4), "little") if SEED is None else SEED
print("seed", seed, file=sys.stderr)
choose = random.Random(seed)
entered = collections.Counter()
def work(number):
    for turn in range(20):
        label = f"task {number} {turn}"
        entered[label] += 1
        with record_function(label):
            operators(1)
            give_way()
            if choose.random() < 0.5:
                with record_function(label + " inner"):
                    entered[label + " inner"] += 1
                    give_way()
with profile(record_shapes=True) as prof:
    run(work, 30)
    with record_function("after"): operators(1)
seen = collections.Counter(e.name for e in prof.events() if not e.name.startswith("aten::"))
seen.pop("after")
operators_seen = per_thread(prof)
[after] = [e for e in prof.events() if e.name == "after"]
print(seen == entered, operators_seen == [30 * 20 + 1], prof.profiler.counts()["dropped"])
print([child.name for child in after.cpu_children], after.cpu_parent, after.is_async)
print(all(e.time_range.start <= e.time_range.end for e in prof.events()))
"""


@pytest.mark.parametrize("library", ["greenlet", "gevent", "generators"])
def test_ranges_across_switches_of_greenlets(programs, library):
    """Ends out of order: every range is there once, what follows nests right, nothing is dropped."""
    if importlib.util.find_spec(library) is None and library != "generators":
        pytest.skip(f"{library} is not installed")
    switching = {
        "greenlet": """
import greenlet
def give_way(): hub.switch()
def run(work, count):
    global hub
    hub = greenlet.getcurrent()
    alive = [greenlet.greenlet(work) for _ in range(count)]
    numbers = {id(it): number for number, it in enumerate(alive)}
    while alive:
        it = choose.choice(alive)
        it.switch(numbers[id(it)]) if not it.gr_frame and not it.dead else it.switch()
        if it.dead: alive.remove(it)
""",
        "gevent": """
import gevent, gevent.monkey
gevent.monkey.patch_all()
def give_way(): gevent.sleep(choose.random() / 1000)
def run(work, count): gevent.joinall([gevent.spawn(work, number) for number in range(count)], raise_error=True)
""",
        # The same without a library: generators whose blocks are left in another order.
        "generators": """
import asyncio
def give_way(): pass
async def one_task(number):
    for turn in range(20):
        label = f"task {number} {turn}"
        entered[label] += 1
        with record_function(label):
            operators(1)
            await asyncio.sleep(choose.random() / 1000)
def run(work, count):
    async def all(): await asyncio.gather(*(one_task(number) for number in range(count)))
    asyncio.run(all())
""",
    }[library]
    done = programs.run(OPSCOPE + START + "SEED = None\n" + switching + GREENLETS)
    assert (done.status, done.stdout) == (0, "True True 0\n['aten::neg'] None False\nTrue\n"), done.stderr

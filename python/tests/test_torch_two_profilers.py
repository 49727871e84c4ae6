# SPDX-License-Identifier: Apache-2.0
"""Several profilers at once: opscope in opscope, torch.profiler inside, outside and across it.

Each window must count exactly what ran while it was open, as torch.profiler alone counts it.
"""

import os

import pytest
from program_server import OPSCOPE

pytestmark = [pytest.mark.framework("torch"), pytest.mark.torch_has("_ExperimentalConfig(profile_all_threads)")]

SOAK = os.environ.get("OPSCOPE_SOAK") == "1"

# A segment is a piece of program; `alone` is what torch.profiler alone sees of it, without and with all threads.
START = """
import collections, json, os, random, sys, threading
import torch, torch.profiler
import opscope.torch
from torch.profiler import _ExperimentalConfig
torch.set_num_interop_threads(1)
one = torch.ones(2)
weights = [torch.randn(4, 4, requires_grad=True) for _ in range(3)]
@torch.jit.script
def scripted(x: torch.Tensor):
    return torch.neg(x)
def operators():
    for _ in range(3): torch.neg(one)
def train():
    with record_function("ours"), torch.profiler.record_function("theirs"):
        x = torch.ones(4, 4)
        for w in weights: x = torch.tanh(x @ w)
        x.sum().backward()
def in_the_pool(): torch.jit.wait(torch.jit.fork(scripted, one))
def in_a_thread():
    thread = threading.Thread(target=operators); thread.start(); thread.join()
def nothing(): pass
SEGMENTS = [operators, train, in_the_pool, in_a_thread, nothing]
def theirs(all_threads, **options):
    config = _ExperimentalConfig(profile_all_threads=True) if all_threads else None
    return torch.profiler.profile(experimental_config=config, record_shapes=True, **options)
def ours(all_threads, **options):
    config = _ExperimentalConfig(profile_all_threads=True) if all_threads else None
    return profile(experimental_config=config, record_shapes=True, **options)
def seen_by(prof): return collections.Counter(event.name for event in prof.events())
for segment in SEGMENTS: segment()
alone = {}
for segment in SEGMENTS:
    for all_threads in (False, True):
        with theirs(all_threads) as prof: segment()
        alone[segment, all_threads] = seen_by(prof)
def expected(segments, all_threads):
    return sum((alone[segment, all_threads] for segment in segments), collections.Counter())
def is_told(): return torch.autograd.profiler._is_profiler_enabled
"""


def run(programs, program, limit_s=120):
    done = programs.run(OPSCOPE + START + program, limit_s)
    assert done.status == 0, done.stderr
    return done


def test_the_segments_are_not_empty(programs):
    """What the other tests compare with: otherwise they would compare nothing."""
    done = run(
        programs,
        """
print([sum(alone[segment, False].values()) > 0 for segment in SEGMENTS])
print(alone[train, False]["ours"], alone[train, False]["theirs"], alone[in_the_pool, False]["aten::neg"])
print(alone[in_a_thread, False]["aten::neg"], alone[in_a_thread, True]["aten::neg"])
""",
    )
    assert done.stdout == "[True, True, True, False, False]\n1 1 1\n0 3\n"


def test_two_windows_on_one_thread(programs):
    """Opscope's in each other, and torch's in and around it: nested, crossing, one after the other."""
    alone = run(programs, "")  # some releases of torch warn once in a process without a cause
    done = run(
        programs,
        """
for order in ("A+ s B+ s B- s A-", "A+ s B+ s A- s B-", "A+ s A- s B+ s B-", "A+ B+ s B- A-"):
    for first, second in ((ours, ours), (ours, theirs), (theirs, ours)):
        windows, opened, seen = {"A": first(False), "B": second(False)}, set(), {"A": [], "B": []}
        for word in order.split():
            if word == "s":
                for segment in SEGMENTS:
                    segment()
                    for name in opened: seen[name].append(segment)
            elif word[1] == "+": windows[word[0]].start(); opened.add(word[0])
            else: windows[word[0]].stop(); opened.remove(word[0])
            assert is_told() == bool(opened), word
        right = [seen_by(windows[name]) == expected(seen[name], False) for name in "AB"]
        with ours(False) as after: train()
        if right != [True, True] or seen_by(after) != alone[train, False] or is_told():
            print(order, first.__name__, second.__name__, right, seen_by(after), is_told())
""",
    )
    assert (done.stdout, done.stderr) == ("", alone.stderr)


def test_random_windows_count_what_ran_within_them(programs):
    """Up to four windows of opscope and one of torch, opened, stopped and dropped in any order, on any threads."""
    done = run(
        programs,
        f"""
seed = int.from_bytes(os.urandom(4), "little"); print("seed", seed, file=sys.stderr)
choose = random.Random(seed)
class Window:
    def __init__(self, number):
        self.is_theirs = number == 0
        self.all_threads = choose.random() < 0.3
        options = dict(record_to="mapped.opscope") if not self.is_theirs and choose.random() < 0.3 else dict()
        self.prof = (theirs if self.is_theirs else ours)(self.all_threads, **options)
        self.segments = []
        self.prof.start()
    def check(self):
        self.prof.stop()
        if seen_by(self.prof) != expected(self.segments, self.all_threads):
            print("wrong:", self.is_theirs, self.all_threads, [s.__name__ for s in self.segments],
                  dict(seen_by(self.prof) - expected(self.segments, self.all_threads)),
                  dict(expected(self.segments, self.all_threads) - seen_by(self.prof)))
        return sum(seen_by(self.prof).values())
windows, checked, counted = {{}}, 0, 0
for _ in range({20000 if SOAK else 500}):
    number = choose.randrange(5)
    if choose.random() < 0.5:
        segment = choose.choice(SEGMENTS); segment()
        for seen in [window.segments for window in windows.values()]: seen.append(segment)
    elif number not in windows: windows[number] = Window(number)
    elif number != 0 and choose.random() < 0.2: del windows[number]  # dropped while it runs
    else: counted += windows.pop(number).check(); checked += 1
    if is_told() != bool(windows): print("the flag is", is_told(), "with", len(windows))
for window in windows.values(): counted += window.check(); checked += 1
print(checked > 50, counted > 500)
""",
        600,
    )
    assert done.stdout == "True True\n", done.stderr


def test_threads_with_either_profiler(programs):
    """Six threads with windows of opscope, one after the other, while a seventh has torch's; each counts its own."""
    done = run(
        programs,
        f"""
failed, go = [], True
def record():
    while go:
        with ours(False) as prof: train()
        if seen_by(prof) != alone[train, False]: failed.append(seen_by(prof))
threads = [threading.Thread(target=record) for _ in range(6)]
for thread in threads: thread.start()
for _ in range({300 if SOAK else 20}):
    with theirs(False) as prof: train(); operators()
    if seen_by(prof) != expected([train, operators], False): failed.append(("theirs", seen_by(prof)))
go = False
for thread in threads: thread.join()
print(failed, is_told())
""",
        600,
    )
    assert done.stdout == "[] False\n", done.stderr


def test_schedules_of_both_in_one_loop(programs):
    """Each steps through its own cycles; the handlers get the counts that torch alone hands over."""
    done = run(
        programs,
        """
import warnings; warnings.simplefilter("ignore")
def cycles(of, wait, warmup, active):
    got = []
    def ready(prof):
        counts = seen_by(prof)
        got.append({name: counts[name] for name in ("aten::neg", "aten::mm", "ours", "theirs")})
    steps = schedule(wait=wait, warmup=warmup, active=active) if of is ours else torch.profiler.schedule(
        wait=wait, warmup=warmup, active=active)
    return of(False, schedule=steps, on_trace_ready=ready), got
def loop(*profs):
    for prof in profs: prof.start()
    for _ in range(13):
        train(); operators()
        for prof in profs: prof.step()
    for prof in profs: prof.stop()
plans = [(1, 1, 2), (0, 1, 3), (2, 0, 1)]
reference = []
for plan in plans:
    prof, got = cycles(theirs, *plan); loop(prof); reference.append(got)
for theirs_at in range(3):
    for first in (0, 1):
        made = [cycles(theirs if at == theirs_at else ours, *plan) for at, plan in enumerate(plans)]
        loop(*[prof for prof, _ in made][:: 1 if first == 0 else -1])
        print([got == wanted for (_, got), wanted in zip(made, reference)], [len(got) for _, got in made])
""",
    )
    assert done.stdout == "[True, True, True] [3, 4, 4]\n" * 6, done.stdout + done.stderr


def test_files_of_both_hold_the_same_operators(programs):
    done = run(
        programs,
        """
def names(path):
    with open(path) as file: events = json.load(file)["traceEvents"]
    return collections.Counter(e["name"] for e in events if e.get("cat") in ("cpu_op", "user_annotation"))
for outer, inner in ((ours, theirs), (theirs, ours)):
    with outer(False) as first:
        with inner(False) as second:
            for segment in SEGMENTS: segment()
    first.export_chrome_trace("first.json"); second.export_chrome_trace("second.json")
    print(names("first.json") == names("second.json"), dict(expected(SEGMENTS, False) - names("first.json")))
""",
    )
    assert done.stdout == "True {}\nTrue {}\n", done.stderr


# What else of torch observes operators: each must see as much with opscope beside it, and opscope all.
OBSERVERS = {
    "autograd.profiler.profile": """
with torch.autograd.profiler.profile() as observer: WORK
result = sorted(collections.Counter(event.name for event in observer.function_events).items())
""",
    "autograd.profiler.profile with stacks and memory": """
with torch.profiler.profile(with_stack=True, profile_memory=True, with_modules=True, with_flops=True) as observer: WORK
rows = observer.key_averages()
result = sorted((row.key, row.count, row.flops) for row in rows if row.key in wanted)
""",
    "emit_itt": """
with torch.autograd.profiler.emit_itt() if torch.profiler.itt.is_available() else torch.no_grad(): WORK
result = torch.profiler.itt.is_available()
""",
    # As emit_nvtx, which first waits for a device. A build for the CPU has no such emitter.
    "NVTX emitter": """
from torch._C._profiler import ProfilerConfig, _ExperimentalConfig
config = ProfilerConfig(torch.autograd.ProfilerState.NVTX, True, False, False, False, False, _ExperimentalConfig())
try:
    torch.autograd._enable_profiler(config, set())
except RuntimeError as error:
    result = str(error).splitlines()[0]
else:
    result = "emitted"
WORK
if result == "emitted": torch.autograd._disable_profiler()
""",
    "ExecutionTraceObserver": """
observer = torch.profiler.ExecutionTraceObserver().register_callback("nodes.json")
observer.start()
WORK
observer.stop(); observer.unregister_callback()
with open("nodes.json") as file: nodes = json.load(file)["nodes"]
result = sorted(collections.Counter(node["name"] for node in nodes).items())
""",
    "TorchDispatchMode": """
from torch.utils._python_dispatch import TorchDispatchMode
result = collections.Counter()
class Mode(TorchDispatchMode):
    def __torch_dispatch__(self, function, types, args=(), kwargs=None):
        result[str(function)] += 1
        return function(*args, **(kwargs or {}))
with Mode(): WORK
result = sorted(result.items())
""",
    "anomaly mode": """
with torch.autograd.detect_anomaly(check_nan=True): WORK
result = torch.is_anomaly_enabled()
""",
}


@pytest.mark.parametrize("what", OBSERVERS)
def test_other_observers_of_torch(programs, what):
    """Alone, within a window of opscope, and around one."""
    work, body = "operators(); train(); in_the_pool()", OBSERVERS[what]
    inside = body.replace("WORK", work)
    outside = body.replace("WORK", f"prof.start(); {work}; prof.stop()")
    done = run(
        programs,
        f"""
import warnings; warnings.simplefilter("ignore")
wanted = expected([operators, train, in_the_pool], False)
{inside}
alone_result = result
prof = ours(False); prof.start()
{inside}
prof.stop()
print(result == alone_result, dict(wanted - seen_by(prof)))
prof = ours(False)
{outside}
print(result == alone_result, dict(wanted - seen_by(prof)))
""",
    )
    assert done.stdout == "True {}\nTrue {}\n", done.stdout[:2000]

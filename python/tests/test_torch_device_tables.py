# SPDX-License-Identifier: Apache-2.0
"""Tables of recordings with CUDA, cell for cell those that torch's own code makes of the same events of Kineto.

The GPU is simulated and the programs are random: operators, ranges, steps, launches, copies, waits and allocations in
each other, on two streams and two threads.
"""

import collections
import gzip
import json
import re
import subprocess
import sys
from decimal import Decimal
from pathlib import Path

import pytest

pytest.importorskip("torch")

from cuda_program import run_program
from kineto_oracle import CALLS, DEVICE_RANGE, OPERATOR, RANGE, WORK, kineto_events, torchs_events
from opscope_command import answer

SORT_KEYS = [None, "count", "cpu_memory_usage", "self_cpu_memory_usage"] + [
    f"{which}{device}_time{total}"
    for which, total in (("", ""), ("", "_total"), ("self_", "_total"))
    for device in ("cpu", "cuda", "device")
]

GENERATOR = """
import random, threading
from opscope.torch import schedule
from torch._C._profiler import _ExperimentalConfig

BODIES = []
NAMES = [b"_Z4gemmPf", b"_Z3addPfS_", b"_Z7softmaxPf", b"relu"]

def body(a, key):
    for action in BODIES[key]:
        action()
    return a.clone()

for name in ("inner", "outer", "other"):
    library.define(name + "(Tensor a, int key) -> Tensor")
    library.impl(name, body, "CPU")

def elsewhere(action):
    thread = threading.Thread(target=action)
    thread.start()
    thread.join()

class Program:
    def __init__(self, seed):
        self.random = random.Random(seed)
        self.streams = [7, fake.fake_cuda_stream_create(0, 0)]
        self.graph = fake.fake_cuda_graph_create()
        fake.fake_cuda_graph_add_kernel(self.graph, b"in_a_graph", ctypes.c_uint64(3000))
        fake.fake_cuda_graph_add_memset(self.graph, ctypes.c_uint64(4096))
        self.graph = fake.fake_cuda_graph_instantiate(self.graph)
        self.event = fake.fake_cuda_event_create()

    def actions(self, depth):
        return [self.action(depth) for _ in range(self.random.randint(1, 4))]

    def leaf(self):
        r = self.random
        stream, name, ns = r.choice(self.streams), r.choice(NAMES), r.randint(1, 60) * 500
        launch = lambda: fake.fake_cuda_launch(stream, name, ns, 8, 32)
        return r.choice([
            launch,
            launch,
            lambda: elsewhere(launch),
            lambda: fake.fake_cuda_memcpy(stream, 1, 1, 3, ctypes.c_uint64(ns), 1),
            lambda: fake.fake_cuda_memset(stream, 0, ctypes.c_uint64(ns)),
            lambda: fake.fake_cuda_graph_launch(self.graph, stream),
            lambda: fake.fake_cuda_event_record(self.event, stream),
            lambda: fake.fake_cuda_stream_wait_event(self.streams[0], self.event),
            lambda: fake.fake_cuda_stream_synchronize(stream),
            lambda: fake.fake_cuda_overhead(1 << 16, ctypes.c_uint64(700)),
            lambda: x.neg(),
            lambda: (x + x).relu(),
        ])

    def action(self, depth):
        r = self.random
        if depth == 0 or r.random() < 0.4:
            return self.leaf()
        children = self.actions(depth - 1)
        if r.random() < 0.4:
            label = r.choice(("forward", "backward", "loss"))
            def labelled():
                with record_function(label):
                    for child in children:
                        child()
            return labelled
        key = len(BODIES)
        BODIES.append(children)
        operator = getattr(torch.ops.simulated, r.choice(("inner", "outer", "other")))
        return lambda: operator(x, key)

def record(program, steps, **options):
    with profile(activities=[ProfilerActivity.CPU, ProfilerActivity.CUDA], **options) as prof:
        for step in steps:
            for action in step:
                action()
            if "schedule" in options:
                prof.step()
        fake.fake_cuda_device_synchronize(0)
    return prof

def facts(prof, path):
    prof.export_chrome_trace(path + ".json")
    prof.save(path + ".opscope")
    averages = prof.key_averages()
    return {
        "file": path + ".json",
        "start_ns": prof.profiler.kineto_results.trace_start_ns(),
        "thread": threading.get_native_id(),
        "memory": prof.profile_memory,
        "tables": {str(key): averages.table(sort_by=key, row_limit=-1) for key in KEYS},
        "top": prof.events().table(sort_by="device_time_total", row_limit=-1, top_level_events_only=True),
        "raw": [[e.name(), e.start_ns(), e.end_ns(), e.correlation_id(), e.linked_correlation_id(),
                 int(e.device_type()), e.is_user_annotation()] for e in prof.profiler.kineto_results.events()],
    }
"""

OPTIONS = [
    "{}",
    "dict(schedule=schedule(wait=0, warmup=0, active=4, repeat=1))",
    "dict(profile_memory=True)",
    "dict(experimental_config=_ExperimentalConfig(enable_cuda_sync_events=True))",
]


def recordings(folder, seeds, *, options="OPTIONS[seed % len(OPTIONS)]", on_thread=False):
    call = "elsewhere(one)" if on_thread else "one()"
    return run_program(
        GENERATOR
        + f"""
KEYS = {SORT_KEYS!r}
OPTIONS = [{", ".join(OPTIONS)}]
found = []
for seed in {list(seeds)!r}:
    def one():
        program = Program(seed)
        steps = [program.actions(4) for _ in range(4)]
        prof = record(program, steps, **{options})
        found.append(facts(prof, {str(folder)!r} + "/" + str(seed)))
    {call}
print(json.dumps(found))
"""
    )


def oracle_of(found):
    events = kineto_events(found["file"], stopping_thread=found["thread"])
    return events, torchs_events(events, found["start_ns"], profile_memory=found["memory"])


def same_tables(found):
    _, events = oracle_of(found)
    averages = events.key_averages()
    for key in SORT_KEYS:
        assert found["tables"][str(key)] == averages.table(sort_by=key, row_limit=-1), (found["file"], key)
    assert found["top"] == events.table(sort_by="device_time_total", row_limit=-1, top_level_events_only=True)


@pytest.fixture(scope="module")
def recorded(tmp_path_factory):
    return recordings(tmp_path_factory.mktemp("recorded"), range(12))


def test_every_cell_by_every_sort_key_is_torchs(recorded):
    assert sum("Memcpy" in found["tables"]["None"] for found in recorded) > 3
    assert sum("ProfilerStep*" in found["tables"]["None"] for found in recorded) == 3
    for found in recorded:
        same_tables(found)


def test_calls_of_nothing_belong_to_the_thread_that_stops_the_profiler(tmp_path):
    (found,) = recordings(tmp_path, [5], on_thread=True)
    document = json.loads(Path(found["file"]).read_text())
    assert document["opscope_stopping_thread"] == found["thread"]
    same_tables(found)


def test_raw_events_have_kinetos_times_ids_and_links(recorded):
    for found in recorded:
        events, _ = oracle_of(found)
        expected = [
            [e.name(), e.start, e.end, e.id, e.linked, int(e.device_type()), e.is_user_annotation()] for e in events
        ]
        assert sorted(found["raw"]) == sorted(expected)
        assert any(e.category == DEVICE_RANGE for e in events)


def summary_in_torchs_style(file, sort):
    command = [sys.executable, "-m", "opscope", "summary", str(file), "--style", "torch", "--sort", sort]
    done = subprocess.run([*command, "--limit", "1000000"], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_a_saved_recording_that_is_read_again_has_the_same_table(recorded):
    for found in recorded[:4]:
        _, events = oracle_of(found)
        theirs = events.key_averages().table(sort_by="cuda_time_total", row_limit=-1)
        ours = summary_in_torchs_style(Path(found["file"]).with_suffix(".opscope"), "cuda_time_total")
        assert ours.rstrip("\n") == theirs.rstrip("\n")


def union(intervals):
    total, last = 0, None
    for start, end in sorted(intervals):
        total += max(end - max(start, start if last is None else last), 0)
        last = end if last is None else max(last, end)
    return total


def launcher(call, host):
    """The innermost operator around a call, else the call."""
    around = [span for span in host if span.category == OPERATOR and span.encloses(call)]
    return max(around, key=lambda span: span.start, default=call)


def test_ranges_of_a_device_are_no_work_of_it(recorded):
    """What was launched beneath a host span, and how long a stream was busy, by comparing times."""
    for found in recorded[:4]:
        file = Path(found["file"]).with_suffix(".opscope")
        events, _ = oracle_of(found)
        work = [e for e in events if e.category in WORK]
        host = [e for e in events if e.category in (OPERATOR, RANGE)]
        launchers = {e.id: launcher(e, host) for e in events if e.category in CALLS}
        expected = collections.Counter(dict.fromkeys((span.name() for span in host), 0))
        for e in work:
            beneath = {s.name() for s in host if s is launchers[e.id] or s.has_inside(launchers[e.id])}
            expected.update(dict.fromkeys(beneath, e.end - e.start))
        rows = answer("summary", file, "--where", "device = -1")["rows"]
        assert {row["name"]: row["device_total_ns"] for row in rows if row["name"] in expected} == dict(expected)
        busy = {str(row["stream"]): row["busy_ns"] for row in answer("devices", file)["rows"]}
        for stream in {e.row["tid"] for e in work}:
            assert busy[str(stream)] == union((e.start, e.end) for e in work if e.row["tid"] == stream)


SAMPLES = Path(__file__).parents[2].parent / "shared" / "samples" / "kineto"


def start_of(file):
    document = json.loads(gzip.decompress(file.read_bytes()), parse_float=str)
    begin = next(Decimal(event["ts"]) for event in document["traceEvents"] if event.get("cat") == "Trace")
    return int(document.get("baseTimeNanoseconds", 0)) + int(begin * 1000)


@pytest.mark.parametrize("name", ["rocm_mi250_train", "cuda_triton", "cuda_event_sync_multi_stream", "cuda_nccl"])
def test_files_of_kineto_have_torchs_table(name):
    if not (file := SAMPLES / f"{name}.json.gz").exists():
        pytest.skip("no ../shared/samples here")
    events = torchs_events(kineto_events(file, is_kinetos=True), start_of(file))
    theirs = events.key_averages().table(sort_by="cuda_time_total", row_limit=-1)
    assert summary_in_torchs_style(file, "cuda_time_total").rstrip("\n") == theirs.rstrip("\n")


def test_a_call_that_kineto_linked_to_no_op_takes_from_the_main_thread():
    """cuda_nccl has a call of 2.394 ms within aten::cudnn_batch_norm_backward, on the thread of the backward pass,
    with its own correlation as its id. To torch it is a call of the thread that stopped the profiler, within the range
    there."""
    if not (file := SAMPLES / "cuda_nccl.json.gz").exists():
        pytest.skip("no ../shared/samples here")
    rows = collections.defaultdict(list)
    for line in summary_in_torchs_style(file, "cuda_time_total").splitlines():
        name, *cells = re.split(r"\s{2,}", line.strip())
        rows[name].append(cells)
    self_cpu = 1
    assert [cells[self_cpu] for cells in rows["aten::cudnn_batch_norm_backward"]] == ["25.104ms"]
    assert [cells[self_cpu] for cells in rows["## backward ##"]] == ["0.000us", "305.767ms"]  # of the device, the host

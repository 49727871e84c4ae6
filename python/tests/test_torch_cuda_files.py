# SPDX-License-Identifier: Apache-2.0
"""Recordings of random programs on the simulated GPU: exported as Chrome JSON and read again they say the same."""

import pytest

pytest.importorskip("torch")

from cuda_program import run_program

RANDOM_PROGRAMS = """
import random, tempfile, pathlib
import opscope

class Model(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.inner = torch.nn.Linear(4, 4)
    def forward(self, a):
        return torch.ops.simulated.scale(self.inner(a))

model = Model()
streams = [7] + [fake.fake_cuda_stream_create(device, 0) for device in (0, 0, 1)]
graph = fake.fake_cuda_graph_create()
fake.fake_cuda_graph_add_kernel(graph, b"node", ctypes.c_uint64(2000))
fake.fake_cuda_graph_add_memset(graph, ctypes.c_uint64(64))
fake.fake_cuda_graph_instantiate(graph)

def random_step(rng, opened):
    # Ranges are left in any order, so that what they cover on a stream crosses.
    stream = rng.choice(streams)
    for action in rng.choices(range(9), weights=[4, 4, 8, 3, 2, 2, 1, 2, 1], k=25):
        if action == 0:
            opened.append(record_function(f"range {rng.randrange(4)}"))
            opened[-1].__enter__()
        elif action == 1 and opened:
            opened.pop(rng.randrange(len(opened))).__exit__(None, None, None)
        elif action == 2:
            name = rng.choice([b"gemm", b"_Z4reluPf", b"ncclKernel"])
            fake.fake_cuda_launch(stream, name, rng.choice([1000, 30000]), 8, 128)
        elif action == 3:
            stream = rng.choice(streams)
        elif action == 4:
            fake.fake_cuda_memcpy(stream, 1, 1, 3, ctypes.c_uint64(4096), 0)
        elif action == 5:
            fake.fake_cuda_memset(stream, 0, ctypes.c_uint64(256))
        elif action == 6:
            fake.fake_cuda_graph_launch(graph, stream)
        elif action == 7:
            model(x).sum().backward()
        else:
            fake.fake_cuda_stream_synchronize(stream)

def record(rng):
    opened = []
    options = {"with_stack": rng.random() < 0.5, "with_modules": rng.random() < 0.5, "record_shapes": True}
    with profile(activities=[ProfilerActivity.CPU, ProfilerActivity.CUDA], **options) as prof:
        for _ in range(rng.randrange(1, 4)):
            random_step(rng, opened)
            prof.step()
        while opened:
            opened.pop().__exit__(None, None, None)
        for device in (0, 1):
            fake.fake_cuda_device_synchronize(device)
    return prof.profiler.trace

def sentences(trace):
    answers = {
        "summary": trace.summary(),
        "summary by category, device": trace.summary(group_by=["name", "category", "device"]),
        "devices": trace.devices(),
        "modules": trace.modules(),
    }
    # Kineto writes a span of the whole window beside what was recorded.
    rows = lambda answer: [row for row in answer if row.get("name") != "PyTorch Profiler (0)"]
    return {key: sorted(json.dumps(row, sort_keys=True) for row in rows(answer)) for key, answer in answers.items()}

differences, crossing, busy = [], 0, 0
path = pathlib.Path(tempfile.mkdtemp()) / "trace.json"
for seed in range(SEEDS):
    recorded = record(random.Random(seed))
    recorded.export(path, to="chrome")
    crossing += '"crossing": true' in path.read_text().split('"traceEvents"')[0]
    busy += sum(row["busy_ns"] for row in recorded.devices())
    expected, again = sentences(recorded), sentences(opscope.open(path))
    for key in expected:
        lost, new = set(expected[key]) - set(again[key]), set(again[key]) - set(expected[key])
        if lost or new:
            differences.append([seed, key, sorted(lost)[:2], sorted(new)[:2]])
print(json.dumps([differences, crossing, busy]))
"""


def test_a_recording_that_was_exported_and_read_again_has_the_same_answers():
    differences, crossing, busy = run_program(RANDOM_PROGRAMS.replace("SEEDS", "12"), scenario="devices=2")
    assert differences == []
    assert crossing >= 6, "ranges on the streams must cross"
    assert busy > 0

# SPDX-License-Identifier: Apache-2.0
"""The programs that tools/gpu_check.py records on a GPU: each prepares itself, then its step is called.

A run is one process under one profiler: CUPTI is one for a process, and Kineto keeps it once it has had it.
"""

from __future__ import annotations

import ctypes
import functools
import importlib
import json
import sys
import time
from pathlib import Path

import torch
from torch import nn

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "examples"))
from resnet18 import ResNet18  # noqa: E402  (the folder of examples is no package)

MODULES = {"opscope": "opscope.torch", "torch": "torch.profiler"}
ROUNDS = {"launches": 9}  # windows of one process, and as many steps before them without a profiler
WARM_UP_S = 0.5  # a device that was idle raises its clocks while it works
WATCHED = {"backend": "cupti_monitor", "enable_graph_dependencies": True, "enable_environment_counters": True}


def training_step(model, inputs, targets):
    model = model.cuda()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
    inputs, targets = inputs.cuda(), targets.cuda()

    def step():
        optimizer.zero_grad()
        nn.functional.cross_entropy(model(inputs), targets).backward()
        optimizer.step()

    return step


def resnet18():
    return training_step(ResNet18(), torch.randn(8, 3, 224, 224), torch.arange(8))


class Encoder(nn.Module):
    """A transformer over the words of a sentence, and what it says of the whole."""

    def __init__(self, width=256, words=1000, classes=10):
        super().__init__()
        self.words = nn.Embedding(words, width)
        layer = nn.TransformerEncoderLayer(width, 4, 4 * width, dropout=0.0, batch_first=True)
        self.layers = nn.TransformerEncoder(layer, 4, enable_nested_tensor=False)
        self.classify = nn.Linear(width, classes)

    def forward(self, sentence):
        return self.classify(self.layers(self.words(sentence)).mean(1))


def transformer():
    return training_step(Encoder(), torch.randint(1000, (8, 64)), torch.arange(8))


def graphs():
    model = nn.Sequential(nn.Linear(256, 256), nn.ReLU(), nn.Linear(256, 256)).cuda()
    inputs = torch.randn(64, 256, device="cuda")
    with torch.no_grad():
        side = torch.cuda.Stream()
        side.wait_stream(torch.cuda.current_stream())
        with torch.cuda.stream(side):
            model(inputs)
        torch.cuda.current_stream().wait_stream(side)
        graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(graph):
            model(inputs)

    def step():
        for _ in range(10):
            graph.replay()

    return step


def streams():
    sides = [torch.cuda.Stream(), torch.cuda.Stream()]
    matrix = torch.randn(512, 512, device="cuda")

    def step():
        for side in sides:
            side.wait_stream(torch.cuda.current_stream())
            with torch.cuda.stream(side):
                for _ in range(10):
                    torch.mm(matrix, matrix)
        torch.cuda.synchronize()

    return step


def allocator():
    host = torch.ones(1 << 20)

    def step():
        for size in (1000, 100_000, 10_000_000):
            block = torch.empty(size, device="cuda")
            block.zero_()
            del block
        host.cuda(non_blocking=False).cpu()

    return step


def launches(count=20_000):
    def step():
        for _ in range(count):
            torch.cuda._sleep(0)  # a kernel that does nothing

    return step


def many_launches():
    return launches(1_000_000)


def host_nodes(launches=10):
    """A graph that calls a function on the CPU between two products; each launch ends before the next one."""
    matrix = torch.randn(512, 512, device="cuda")
    driver = ctypes.CDLL("libcuda.so.1")
    does_nothing = ctypes.cast(ctypes.CDLL(None).free, ctypes.c_void_p)  # of a null pointer
    torch.mm(matrix, matrix)
    torch.cuda.synchronize()
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        product = torch.mm(matrix, matrix)
        stream = ctypes.c_void_p(torch.cuda.current_stream().cuda_stream)
        if code := driver.cuLaunchHostFunc(stream, does_nothing, None):
            raise RuntimeError(f"cuLaunchHostFunc: {code}")
        torch.mm(product, matrix)

    def step():
        for _ in range(launches):
            graph.replay()
            torch.cuda.synchronize()

    return step


def busy(seconds=2.0):
    """Long enough for sensors to be read some times; gpu_traces leaves the first half second out where it compares."""
    matrix = torch.randn(4096, 4096, device="cuda")

    def step():
        until = time.perf_counter() + seconds
        while time.perf_counter() < until:
            torch.mm(matrix, matrix)
            torch.cuda.synchronize()

    return step


COMPARED = (resnet18, transformer, graphs, streams, allocator)


def watching_profile():
    """A profile of opscope's that watches graphs, from its making on."""
    ours = importlib.import_module(MODULES["opscope"])
    config = ours._ExperimentalConfig(custom_profiler_config=json.dumps(WATCHED))
    return ours.profile(activities=[ours.ProfilerActivity.CPU], experimental_config=config)


def tell(**members) -> None:
    """A line for gpu_runs.read_run, there even if this process is stopped in the next moment."""
    print(json.dumps({**members, "at": time.monotonic()}), flush=True)


def timed(step) -> float:
    """Seconds until the device has done what the step asks of it."""
    begin = time.perf_counter()
    step()
    torch.cuda.synchronize()
    return time.perf_counter() - begin


def measure(step, prof) -> None:
    """One window: the seconds of the step, and then those of the profiler's stop."""
    if prof is not None:
        prof.start()
    tell(step=timed(step))
    stepped = time.perf_counter()
    if prof is not None:
        prof.stop()
        tell(stop=time.perf_counter() - stepped)


def warm_up(program: str, step) -> None:
    """What is done once is done, and clocks are up."""
    if program == "many_launches":
        torch.cuda._sleep(0)
    elif program == "busy":
        busy(WARM_UP_S)()
    else:
        step()
    torch.cuda.synchronize()


def run(program: str, side: str, path: str) -> None:
    """Runs the program's step under the profiler of a side or, as "none", under none; writes the trace.

    "watching": under opscope, whose profile is made before the program, and whose file is called PATH.gz.
    """
    torch.manual_seed(0)
    device = torch.cuda.get_device_properties(0)
    count = torch.cuda.device_count()
    tell(device=f"{device.name}, {count} of them, {device.total_memory >> 30} GiB each")
    prof = watching_profile() if side == "watching" else None
    step = globals()[program]()
    warm_up(program, step)
    for _ in range(ROUNDS.get(program, 0) if side in MODULES else 0):  # a profiler that was there once may cost on
        tell(base=timed(step))
    make = None
    if side in MODULES:
        module = importlib.import_module(MODULES[side])
        both = [module.ProfilerActivity.CPU, module.ProfilerActivity.CUDA]
        with module.profile(activities=both):  # the first window starts CUPTI
            torch.cuda._sleep(0)
        make = functools.partial(module.profile, activities=both, profile_memory=program == "allocator")
    for _ in range(ROUNDS.get(program, 1)):
        prof = make() if make is not None else prof
        measure(step, prof)
    if prof is not None and path:
        prof.export_chrome_trace(path)


if __name__ == "__main__":
    run(*sys.argv[1:4])

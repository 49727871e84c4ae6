# SPDX-License-Identifier: Apache-2.0
"""Runs a program of Paddle under opscope, under paddle.profiler, or under both at once, and prints what each has seen.

    python paddle_under_both.py PROGRAM {opscope,ranges,both} [FLAG...]

Prints one object: {"ours": [[thread, name, type, parent], ...], "theirs": likewise, ...}; -1: no parent. Under opscope
alone Paddle's Python tells its phases all the same, as it does under its own profiler: by its own ranges, or by ours in
their place ("ranges").
"""

import contextlib
import json
import os
import pathlib
import sys
import threading
import time

import paddle
import paddle.nn as nn
import paddle.profiler as original

from opscope import _core
from opscope.paddle.source import source
from opscope.trace import Trace


def mlp():
    paddle.seed(1)
    net = nn.Sequential(nn.Linear(64, 128), nn.ReLU(), nn.Linear(128, 10))
    adam = paddle.optimizer.Adam(parameters=net.parameters())
    inputs, labels = paddle.rand([32, 64]), paddle.randint(0, 10, [32])

    def run():
        for _ in range(3):
            loss = nn.functional.cross_entropy(net(inputs), labels)
            loss.backward()
            adam.step()
            adam.clear_grad()

    return run


def lenet():
    net = paddle.vision.models.LeNet()
    sgd = paddle.optimizer.SGD(parameters=net.parameters())
    inputs = paddle.rand([4, 1, 28, 28])

    def run():
        for _ in range(2):
            net(inputs).sum().backward()
            sgd.step()
            sgd.clear_grad()

    return run


def static():
    net = nn.Sequential(nn.Linear(8, 8), nn.Tanh(), nn.Linear(8, 2))
    compiled = paddle.jit.to_static(net, full_graph=True)
    inputs = paddle.rand([4, 8])

    def run():
        with paddle.no_grad():
            for _ in range(3):
                compiled(inputs)

    return run


def threads():
    ones = paddle.ones([4])
    # Without it Paddle's own profiler ends one program in some hundred (docs/explanation/paddle_recording.md).
    first = threading.Lock()

    def work(count):
        with paddle.no_grad():
            with first:
                paddle.add(ones, ones)
            for _ in range(count - 1):
                paddle.add(ones, ones)

    def run():
        started = [threading.Thread(target=work, args=(count,)) for count in (5, 7, 11)]
        for thread in started:
            thread.start()
        for thread in started:
            thread.join()

    return run


def held():
    return paddle.base.core.host_memory_stat_current_value("Allocated", 0)


def others_run():
    """Whether another thread of this process is at work."""
    states = []
    for thread in os.listdir("/proc/self/task"):
        with contextlib.suppress(OSError):  # it has ended
            stat = pathlib.Path(f"/proc/self/task/{thread}/stat").read_text()
            states.append((int(thread), stat.rpartition(")")[2].split()[0]))
    return any(state in "RD" for thread, state in states if thread != threading.get_native_id())


def wait_until_held(wanted):
    """The threads that run a compiled program free its tensors a moment after it has returned, and Paddle counts what
    is freed before it tells of it: the number alone may be right before the last of them is recorded.
    """
    for _ in range(200):
        if held() == wanted and not others_run():
            return
        time.sleep(0.01)


def rows_of_ours(trace):
    spans = list(trace.spans)
    tids = [track["tid"] for track in trace.tracks]
    rows = []
    for span in spans:
        parent = span["parent"]
        rows.append([tids[span["track"]], span["name"], span["category"], -1 if parent is None else parent])
    return rows


def rows_of_theirs(result):
    rows, memory = [], []

    def add(node, tid, parent):
        if node.name != "root node":
            rows.append([tid, node.name, str(node.type).rpartition(".")[2], parent])
            parent = len(rows) - 1
        for event in node.mem_node:
            memory.append([event.increase_bytes, event.place, event.current_allocated, event.addr, event.timestamp_ns])
        for child in node.children_node:
            add(child, tid, parent)

    for tid, root in result.get_data().items():
        add(root, tid, -1)
    return rows, sorted(memory, key=lambda row: row[4])


def main():
    program, sides, *flags = sys.argv[1:]
    run = globals()[program]()
    run()  # what is made at the first use
    before = held()
    run()
    wait_until_held(before)
    recording = _core.Recording(sources=[(source(), flags)], native_threads="attached")
    profiler = None
    if sides == "ranges":
        original.RecordEvent = original.utils.RecordEvent = _core.paddle.Range
    if sides != "both":
        original.utils.wrap_optimizers()
        original.utils._is_profiler_used = True
    else:
        profiler = original.Profiler(
            targets=[original.ProfilerTarget.CPU],
            on_trace_ready=lambda _: None,
            profile_memory="memory" in flags,
            record_shapes="shapes" in flags,
        )
        profiler.start()
    before = held()
    recording.start()
    run()
    wait_until_held(before)
    recording.stop()
    after = held()
    told = {"held": [before, after], "counts": recording.counts()}
    if profiler is not None:
        profiler.stop()
        told["theirs"], told["their_memory"] = rows_of_theirs(profiler.profiler_result)
    trace = Trace(recording.trace())
    told["ours"] = rows_of_ours(trace)
    told["problems"] = [problem["kind"] for problem in trace.problems]
    told["route"] = trace.info["options"]["paddle_route"]
    told["shapes"] = [
        [row["name"], json.loads("{" + row["extra"] + "}")["input_shapes"]] for row in trace.spans if row["extra"]
    ]
    instants = [row["extra"] for row in trace.instants]
    told["memory"] = [
        [row["bytes"], json.loads("{" + extra + "}")["place"], row["total_allocated"], row["address"]]
        for row, extra in zip(trace.allocations, instants, strict=True)
    ]
    print(json.dumps(told))


if __name__ == "__main__":
    main()

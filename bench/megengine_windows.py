# SPDX-License-Identifier: Apache-2.0
"""What a window of MegEngine costs beside the program: MegEngine's own profiler and ours record the same training."""

import importlib
import json
import operator
import os
import pathlib
import sys
import tempfile
import threading
import time

from megengine_python import PYTHON, SIDES, in_megengines_python

import measure

NAP = 0.0005  # seconds; of the thread that notices how long it did not run
ROWS = {  # key: title, unit, note, goal of the ratio, goal of ours alone
    "file": ("stop and chrome_timeline.json of training steps, per operator", "us", "CPU time", 1 / 40, None),
    "unstepped": (
        "longest wait of another Python thread, a window without a step and its file",
        "ms",
        "MegEngine's own stops with it",
        None,
        20,
    ),
    "memory": ("memory for a file above MegEngine's records, per operator", "bytes", "most at once", 1 / 40, None),
    "analyze": ("profile_analyze of a graph of 100,000 operators", "s", "CPU time, without imports", 1 / 30, None),
}
WINDOWS = ("file", "memory")


def training_step():
    """One step of a multi-layer perceptron, as a function."""
    import megengine
    import megengine.functional as F
    import megengine.module as M
    import numpy
    from megengine import optimizer
    from megengine.autodiff import GradManager

    class Net(M.Module):
        def __init__(self):
            super().__init__()
            self.fc1, self.fc2, self.fc3 = M.Linear(64, 64), M.Linear(64, 64), M.Linear(64, 10)

        def forward(self, x):
            return self.fc3(F.relu(self.fc2(F.relu(self.fc1(x)))))

    net = Net()
    manager = GradManager().attach(net.parameters())
    sgd = optimizer.SGD(net.parameters(), lr=0.01, momentum=0.9)
    data = megengine.tensor(numpy.ones((32, 64), "float32"))
    label = megengine.tensor(numpy.arange(32, dtype="int32") % 10)

    def step():
        with manager:
            manager.backward(F.nn.cross_entropy(net(data), label))
        sgd.step().clear_grad()

    return step


class Waiter(threading.Thread):
    """Notices how long it did not run while the thread that made it did, in seconds: else the machine was busy."""

    def __init__(self):
        super().__init__(daemon=True)
        self._clock = time.pthread_getcpuclockid(threading.get_ident())
        self.longest, self._ends = 0.0, False

    def run(self):
        last = time.perf_counter(), time.clock_gettime(self._clock)
        while not self._ends:
            time.sleep(NAP)
            now = time.perf_counter(), time.clock_gettime(self._clock)
            self.longest = max(self.longest, min(now[0] - last[0] - NAP, now[1] - last[1]))
            last = now

    def end(self):
        self._ends = True
        self.join()
        return self.longest


def bytes_of(key):
    for line in pathlib.Path("/proc/self/status").read_text().splitlines():
        if line.startswith(key):
            return int(line.split()[1]) * 1024
    raise SystemExit(f"bench: no {key} in /proc/self/status")


class NativeStop:
    """MegEngine's own stop, which both sides call, and what lies behind it: memory."""

    def __init__(self, module):
        self._stop = core_of(module).stop_profile
        core_of(module).stop_profile = self

    def __call__(self):
        dump = self._stop()
        self.held = bytes_of("VmRSS")
        pathlib.Path("/proc/self/clear_refs").write_text("5")  # VmHWM begins anew
        return dump


def core_of(module):
    """Where its Profiler finds stop_profile."""
    from megengine.core._imperative_rt import core2

    return module if hasattr(module, "stop_profile") else core2


def window(module, path, steps, step):
    """What a window of so many steps and its file took."""
    from megengine.core._imperative_rt import core2

    stop = NativeStop(module)
    profiler = module.Profiler(path)
    for _ in range(3):
        step()
    core2.full_sync()
    try:
        profiler.start()
        for _ in range(steps):
            step()
        core2.full_sync()
        dump = measure.Clock()
        profiler.stop()
        profiler.dump()
        taken = dump.read()
    finally:
        core_of(module).stop_profile = stop._stop
    return taken | {"memory": max(bytes_of("VmHWM") - stop.held, 0)}


def recorded(arguments):
    """Windows of steps on one side, in a process of its own: {key: figure}."""
    module = importlib.import_module(SIDES[arguments["side"]])
    step, steps = training_step(), arguments["steps"]
    with tempfile.TemporaryDirectory(dir="/dev/shm") as folder:
        window(module, f"{folder}/first", 2, step)  # what a process pays once
        taken = window(module, f"{folder}/x", steps, step)
        (file,) = pathlib.Path(f"{folder}/x").iterdir()
        events = json.loads(file.read_text())["traceEvents"]
        ops = sum(event["name"] == "OpDispatch" and event["ph"] == "E" for event in events)
    return {
        "file": taken["cpu"] * 1e6 / ops,
        "memory": taken["memory"] / ops,
    }


def without_steps(arguments):
    """{"unstepped": how long another Python thread waited at most while this one recorded operators and wrote them}"""
    import megengine
    from megengine import functional

    profiler_of = importlib.import_module(SIDES[arguments["side"]]).Profiler
    x = megengine.tensor([1.0, 2.0, 3.0, 4.0])
    with tempfile.TemporaryDirectory(dir="/dev/shm") as folder:
        profiler = profiler_of(folder)
        waiter = Waiter()
        waiter.start()
        with profiler:
            for _ in range(arguments["operators"]):
                functional.add(x, x)
        profiler.dump()
        return {"unstepped": waiter.end() * 1e3}


def large_graph(operators):
    """What get_profile() gives of a training step, over and over until it has so many operators."""
    import megengine

    step = megengine.jit.trace(training_step(), symbolic=True, profiling=True)
    for _ in range(3):
        step()
    small = step.get_profile()
    graph, profiler = small["graph_exec"], small["profiler"]
    large = {
        "graph_exec": {"operator": {}, "var": {}, "mem_chunk": graph["mem_chunk"], "comp_seq": []},
        "profiler": {"device": {}, "host": {}, "opr_footprint": {}, "opr_internal_pf": {}},
    }
    for copy in range(-(-operators // len(graph["operator"]))):

        def renumbered(number, copy=copy):
            return f"{copy}{int(number):05}"

        for number, told in graph["operator"].items():
            ends = {end: [renumbered(variable) for variable in told[end]] for end in ("input", "output")}
            large["graph_exec"]["operator"][renumbered(number)] = told | ends | {"id": renumbered(number)}
        for number, told in graph["var"].items():
            large["graph_exec"]["var"][renumbered(number)] = told
        for part in ("device", "host", "opr_footprint"):
            for number, told in profiler[part].items():
                large["profiler"][part][renumbered(number)] = told
    return large


def analyzed(arguments):
    """{side: CPU seconds of profile_analyze, its imports done}"""
    import megengine.tools.profile_analyze as theirs

    from opscope.megengine import profile_analyze as ours

    sides, printed = {"opscope": ours, "torch": theirs}, {}
    seconds = {}
    with tempfile.TemporaryDirectory(dir="/dev/shm") as folder:
        pathlib.Path(f"{folder}/graph.json").write_text(json.dumps(large_graph(arguments["operators"])))
        for side, module in sides.items():
            out = os.dup(1)
            file = os.open(f"{folder}/{side}", os.O_CREAT | os.O_WRONLY)
            os.dup2(file, 1)
            clock = measure.Clock()
            module.main([f"{folder}/graph.json", "-t", "5", "--aggregate-by", "type", "--aggregate", "sum"])
            sys.stdout.flush()
            seconds[side] = {"analyze": clock.read()["cpu"]}
            os.dup2(out, 1)
            printed[side] = pathlib.Path(f"{folder}/{side}").read_text()
    if printed["opscope"] != printed["torch"]:
        raise SystemExit("bench: profile_analyze prints otherwise than the original")
    return seconds


def main():
    options = measure.parse_options(__doc__, ops=100_000, quick_ops=500, repetitions=3, steps=40)
    if options.one is not None:
        arguments = json.loads(options.one)
        measured = {"window": recorded, "graph": analyzed, "unstepped": without_steps}
        print(json.dumps(measured[arguments["what"]](arguments)))
        return
    unstepped = 50_000
    if options.quick:
        options.steps, unstepped = 2, 500
    if not PYTHON.exists():
        for row, (title, unit, *_) in ROWS.items():
            measure.print_absent(f"megengine_window_{row}", title, unit, "MegEngine is not installed")
        return
    results = {side: [] for side in SIDES}
    for _ in range(options.repetitions):
        arguments = {"what": "graph", "operators": options.ops}
        found = in_megengines_python(__file__, arguments)
        for side in SIDES:
            arguments = {"what": "window", "side": side, "steps": options.steps}
            found[side] |= in_megengines_python(__file__, arguments)
            arguments = {"what": "unstepped", "side": side, "operators": unstepped}
            results[side].append(found[side] | in_megengines_python(__file__, arguments))
    for row, (title, unit, note, goal, absolute) in ROWS.items():
        if row == "unstepped":
            note = f"{unstepped} operators, {note}"
        note = ", ".join(text for text in (f"{options.steps} steps of an MLP" if row in WINDOWS else "", note) if text)
        measure.sampled_row(
            f"megengine_window_{row}",
            title,
            unit,
            results,
            operator.itemgetter(row),
            goal=goal,
            absolute_goal=absolute,
            note=note,
        )


if __name__ == "__main__":
    main()

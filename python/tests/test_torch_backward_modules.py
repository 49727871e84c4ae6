# SPDX-License-Identifier: Apache-2.0
"""The module of a backward function is that of the operator which torch's own arrow leaves, in many training loops.

torch.profiler watches the same run. Its exported file says which operator each arrow leaves; the test finds the module
around that operator by walking up the spans, and compares with what opscope's summary and table of modules say.
"""

import collections
import json
import threading
from concurrent.futures import ThreadPoolExecutor

import pytest

pytestmark = pytest.mark.framework("torch")


def training_programs():
    import torch
    from torch import nn
    from torch.utils.checkpoint import checkpoint

    class Scaled(nn.Module):
        """Normalises its input: operators without a node come before the first layer's."""

        def __init__(self, first, rest):
            super().__init__()
            self.first, self.rest = first, rest

        def forward(self, x):
            return self.rest(self.first((x - x.mean()) / (x.std() + 1)))

    class Words(nn.Module):
        def __init__(self):
            super().__init__()
            self.embedding, self.linear = nn.Embedding(10, 4), nn.Linear(4, 2)

        def forward(self, x):
            return self.linear(self.embedding(x.abs().mul(3).long().clamp(0, 9)))

    class Shared(nn.Module):
        def __init__(self):
            super().__init__()
            self.one = self.two = nn.Linear(4, 4)
            self.bilinear = nn.Bilinear(4, 4, 2)

        def forward(self, x):
            return self.bilinear(self.one(x), self.two(self.one(x)))

    class Checkpointed(nn.Module):
        def __init__(self, **options):
            super().__init__()
            self.before, self.block = nn.Linear(4, 4), nn.Sequential(nn.Linear(4, 4), nn.Tanh(), nn.Linear(4, 2))
            self.options = options

        def forward(self, x):
            return checkpoint(self.block, self.before(x), **self.options)

    class PartlyFrozen(nn.Module):
        def __init__(self):
            super().__init__()
            self.frozen, self.head = nn.Linear(4, 4), nn.Linear(4, 2)

        def forward(self, x):
            with torch.no_grad():
                x = self.frozen(x)
            return self.head(x)

    def loop(model, shape, item=True, penalty=False, retain=False):
        optimizer = torch.optim.SGD(model.parameters(), lr=0.1)

        def run():
            for _ in range(3):
                x = torch.randn(shape, requires_grad=penalty)
                loss = model(x).square().sum()
                if penalty:
                    (gradient,) = torch.autograd.grad(loss, x, create_graph=True)
                    loss = loss + gradient.square().sum()
                optimizer.zero_grad()
                if retain:
                    loss.backward(retain_graph=True)
                loss.backward()
                optimizer.step()
                if item:
                    loss.item()

        return run

    def threads():
        loops = [loop(nn.Sequential(nn.Linear(4, 4), nn.ReLU(), nn.Linear(4, 2)), (3, 4)) for _ in range(2)]
        pool, barrier = ThreadPoolExecutor(2), threading.Barrier(2)  # calls of threads that are there at the start

        def run(one):
            barrier.wait()  # on two threads, not one after the other on one
            one()

        def all_threads():
            list(pool.map(run, loops))

        return all_threads

    conv = nn.Sequential(nn.Conv2d(2, 3, 3), nn.BatchNorm2d(3), nn.ReLU(), nn.Flatten(), nn.Linear(48, 2))
    return {
        "plain": loop(conv, (2, 2, 6, 6), item=False),
        "item": loop(conv, (2, 2, 6, 6)),
        "normalised": loop(Scaled(nn.Conv2d(2, 3, 3), nn.Flatten()), (2, 2, 6, 6)),
        "embedding": loop(Words(), (3, 4)),
        "shared": loop(Shared(), (3, 4)),
        "retained": loop(Shared(), (3, 4), retain=True),
        "penalty": loop(nn.Sequential(nn.Linear(4, 4), nn.Tanh(), nn.Linear(4, 2)), (3, 4), penalty=True),
        "reentrant": loop(Checkpointed(use_reentrant=True), (3, 4)),
        "checkpointed": loop(Checkpointed(use_reentrant=False), (3, 4)),
        "frozen": loop(PartlyFrozen(), (3, 4)),
        "transformer": loop(nn.TransformerEncoderLayer(4, 2, 8, dropout=0.1, batch_first=True), (2, 3, 4)),
        "norms": loop(nn.Sequential(nn.Linear(4, 4), nn.LayerNorm(4), nn.PReLU(), nn.Linear(4, 1)), (3, 4)),
        "threads": threads(),
    }


PROGRAMS = (
    "plain", "item", "normalised", "embedding", "shared", "retained", "penalty", "reentrant", "checkpointed", "frozen",
    "transformer", "norms", "threads",
)  # fmt: skip


def numbered(events):
    """Events by name, sequence number and thread, in the order of their starts."""
    found = collections.defaultdict(list)
    for event in sorted(events, key=lambda e: (e["ts"], -e["dur"])):
        arguments = event.get("args", {})
        if arguments.get("Sequence number", -1) >= 0:
            found[event["name"], arguments["Sequence number"], event["tid"]].append(event)
    return found


def places(events):
    """(thread, start) of each numbered event: its name, number, thread and how many of that kind came before."""
    return {
        (event["tid"], event["ts"]): (*key, i) for key, same in numbered(events).items() for i, event in enumerate(same)
    }


def arrows_of(path):
    """The arrows of a Chrome trace: from and to, by names that hold in another recording of the same run."""
    rows = json.loads(path.read_text())["traceEvents"]
    known = places(row for row in rows if row["ph"] == "X" and row.get("cat") == "cpu_op")
    ends = collections.defaultdict(dict)
    for row in rows:
        if row.get("cat") == "fwdbwd":
            ends[row["id"]][row["ph"]] = known[row["tid"], row["ts"]]
    return sorted((both["s"], both["f"]) for both in ends.values())


class Oracle:
    """Modules of spans by walking up, with torch's arrows for backward functions."""

    def __init__(self, trace, path, arrows):
        spans = trace.spans
        self.parents, self.names = list(spans["parent"]), list(spans.text("name"))
        forward_threads, sequence = list(spans["forward_thread"]), list(spans["sequence"])
        events = [row for row in json.loads(path.read_text())["traceEvents"] if row["ph"] == "X"]
        events = [row for row in events if row.get("cat") == "cpu_op"]
        by_id = {row["args"]["External id"]: row for row in events}
        event_of = {i: by_id.get(number) for i, number in enumerate(spans["external_id"]) if number}
        known = places(events)
        self.row_at = {known.get((e["tid"], e["ts"])): i for i, e in event_of.items() if e is not None}
        source = {}
        for start, end in arrows:
            row = self.row_at[end]
            source[sequence[row], forward_threads[row]] = self.row_at[start]
        # Every backward function with the number, and the engine's frame around it, belongs to the arrow's start.
        self.source = {
            i: source.get((sequence[i], thread))
            for i, thread in enumerate(forward_threads)
            if thread and sequence[i] >= 0
        }

    def path(self, row):
        if self.source.get(row) is not None:
            return self.path(self.source[row])
        parent = self.parents[row]
        around = self.path(parent) if parent is not None and 0 <= parent < len(self.parents) else ()
        name = self.names[row]
        return (*around, name.removeprefix("nn.Module: ")) if name.startswith("nn.Module: ") else around


@pytest.fixture(scope="module")
def programs():
    return training_programs()


@pytest.mark.parametrize("name", PROGRAMS)
def test_backward_functions_are_of_the_module_that_torchs_arrow_leaves(name, programs, tmp_path):
    import torch

    import opscope.torch

    work = programs[name]
    work()
    options = {"experimental_config": torch._C._profiler._ExperimentalConfig(profile_all_threads=name == "threads")}
    with torch.profiler.profile(activities=[torch.profiler.ProfilerActivity.CPU], **options) as theirs:
        with opscope.torch.profile(with_modules=True, **options) as ours:
            work()
    theirs.export_chrome_trace(str(tmp_path / "theirs.json"))
    ours.export_chrome_trace(str(tmp_path / "ours.json"))
    arrows = arrows_of(tmp_path / "theirs.json")
    assert arrows and arrows_of(tmp_path / "ours.json") == arrows

    oracle = Oracle(ours.trace, tmp_path / "ours.json", arrows)
    expected = collections.Counter(
        (oracle.names[row], ".".join(oracle.path(row))) for row, source in oracle.source.items() if source is not None
    )
    backward = {name for name, _ in expected}
    rows = ours.trace.summary(group_by=["name", "module"])
    counted = {(row["name"], row["module"]): row["count"] for row in rows if row["name"] in backward and row["module"]}
    assert counted and counted == {key: count for key, count in expected.items() if key[1]}

    # In a training loop every module with a forward pass has its backward pass.
    modules = {row["module"]: row for row in ours.trace.modules()}
    learning = {path for path, row in modules.items() if row["forward_ns"] and row["calls"] and "." in path}
    without = {path for path in learning if not modules[path]["backward_ns"]}
    assert without == ({"PartlyFrozen_0.Linear_0"} if name == "frozen" else set())

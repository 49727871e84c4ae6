# SPDX-License-Identifier: Apache-2.0
"""Each program under both profilers at once; writes both memory timelines into a folder of its name.

python timeline_under_both.py FOLDER
"""

import sys
import warnings
from pathlib import Path

import torch
import torch.profiler
from torch import nn
from torch.utils.checkpoint import checkpoint

import opscope.torch

warnings.simplefilter("ignore")


def mlp():
    return nn.Sequential(nn.Linear(64, 128), nn.ReLU(), nn.Linear(128, 10))


def training(make_optimizer, steps=3, warm_up=0):
    model = mlp()
    optimizer = make_optimizer(model.parameters())
    inputs, targets = torch.randn(32, 64), torch.randint(0, 10, (32,))

    def run(count=steps):
        for _ in range(count):
            optimizer.zero_grad(set_to_none=not warm_up)
            nn.functional.cross_entropy(model(inputs), targets).backward()
            optimizer.step()

    run(warm_up)
    return run


def inference():
    model, inputs = mlp().eval(), torch.randn(8, 64)

    def run():
        with torch.no_grad():
            for _ in range(3):
                model(inputs)

    return run


def checkpointed():
    model, inputs = mlp(), torch.randn(32, 64, requires_grad=True)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)

    def run():
        for _ in range(2):
            optimizer.zero_grad()
            checkpoint(model, inputs, use_reentrant=False).sum().backward()
            optimizer.step()

    return run


def convolution():
    model = nn.Sequential(nn.Conv2d(3, 8, 3), nn.BatchNorm2d(8), nn.ReLU(), nn.Flatten(), nn.Linear(8 * 36, 4))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1, weight_decay=0.01)
    inputs = torch.randn(4, 3, 8, 8)

    def run():
        for _ in range(2):
            optimizer.zero_grad()
            model(inputs).sum().backward()
            optimizer.step()

    return run


def moved_storages():
    """Tensors that change their storage, have none, share one, or come in lists."""

    def run():
        moved = torch.ones(8)
        moved.data = torch.zeros(16)
        moved.add_(1)
        grown = torch.empty(0)
        grown.resize_(10).zero_()
        sparse = torch.sparse_coo_tensor([[0, 1]], [1.0, 2.0], (3,), check_invariants=True)
        sparse = sparse + sparse
        many = [torch.ones(3) for _ in range(40)]
        torch._foreach_add_(many, 1.0)
        torch.cat(many)[1:3].relu_()
        torch.ops.aten.index(many[0], [torch.tensor([0, 2])])

    return run


PROGRAMS = {
    "sgd": lambda: training(lambda p: torch.optim.SGD(p, lr=0.1)),
    "momentum": lambda: training(lambda p: torch.optim.SGD(p, lr=0.1, momentum=0.9)),
    "adam": lambda: training(torch.optim.Adam),
    "adam_warm": lambda: training(torch.optim.Adam, warm_up=2),
    "inference": inference,
    "checkpoint": checkpointed,
    "convolution": convolution,
    "moved_storages": moved_storages,
}


def record(program: str, folder: Path) -> None:
    folder.mkdir()
    run = PROGRAMS[program]()
    wanted = {
        "activities": [torch.profiler.ProfilerActivity.CPU],
        "record_shapes": True,
        "profile_memory": True,
        "with_stack": True,
    }
    # Ours inside: torch's tracer takes the place of any other.
    with torch.profiler.profile(**wanted) as theirs, opscope.torch.profile(**wanted) as ours:
        run()
    for name, prof in (("theirs", theirs), ("ours", ours)):
        for suffix in ("json", "json.gz", "raw.json.gz"):
            prof.export_memory_timeline(str(folder / f"{name}.{suffix}"), device="cpu")
    ours.export_memory_timeline(str(folder / "ours.html"), device="cpu")
    ours.save(folder / "ours.opscope")


if __name__ == "__main__":
    torch.manual_seed(0)
    for name in PROGRAMS:
        record(name, Path(sys.argv[1]) / name)

# SPDX-License-Identifier: Apache-2.0
"""The programs that are measured. Each is given its size and returns nothing."""

import sys
from pathlib import Path

import torch
from torch import nn

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "examples"))
from resnet18 import ResNet18  # noqa: E402

torch.set_num_threads(1)
FLAGS = {
    "none": {},
    "shapes": {"record_shapes": True},
    "memory": {"profile_memory": True},
    "stack": {"with_stack": True},
    "all": {
        "record_shapes": True,
        "profile_memory": True,
        "with_flops": True,
        "with_stack": True,
        "with_modules": True,
    },
}


class TinyOps:
    """`torch.add` of two elements: one operator, one event, no children."""

    def __init__(self):
        self._a = torch.ones(2)
        self._b = torch.ones(2)

    def run(self, ops):
        a, b, add = self._a, self._b, torch.add
        with torch.no_grad():
            for _ in range(ops):
                add(a, b)


class InPlaceOps:
    """`a.add_(b)`: the same without memory that comes and goes."""

    def __init__(self):
        self._a = torch.ones(2)
        self._b = torch.zeros(2)

    def run(self, ops):
        a, b = self._a, self._b
        with torch.no_grad():
            for _ in range(ops):
                a.add_(b)


class EmptyCalls:
    """A function of Python that does nothing, and one of C: two calls."""

    def run(self, calls):
        for _ in range(calls):
            self._nothing()
            abs(1)

    @staticmethod
    def _nothing():
        pass


class MlpTraining:
    """One step of a small network: five linear layers, backward, SGD; about 260 events."""

    def __init__(self, width=64, depth=4):
        torch.manual_seed(0)
        layers = [layer for _ in range(depth) for layer in (nn.Linear(width, width), nn.ReLU())]
        self._model = nn.Sequential(*layers, nn.Linear(width, 10))
        self._optimizer = torch.optim.SGD(self._model.parameters(), lr=0.01)
        self._inputs = torch.randn(16, width)
        self._labels = torch.randint(0, 10, (16,))

    def run(self, steps):
        for _ in range(steps):
            self._optimizer.zero_grad()
            nn.functional.cross_entropy(self._model(self._inputs), self._labels).backward()
            self._optimizer.step()


class ResNetTraining:
    """One training step of ResNet-18 on two small pictures; about 1,300 events."""

    def __init__(self):
        torch.manual_seed(0)
        self._model = ResNet18()
        self._optimizer = torch.optim.SGD(self._model.parameters(), lr=0.01)
        self._inputs = torch.randn(2, 3, 64, 64)
        self._labels = torch.randint(0, 1000, (2,))

    def run(self, steps):
        for _ in range(steps):
            self._optimizer.zero_grad()
            nn.functional.cross_entropy(self._model(self._inputs), self._labels).backward()
            self._optimizer.step()


class TransformerTraining:
    """One training step of a small TransformerEncoder; about 1,000 events."""

    def __init__(self):
        torch.manual_seed(0)
        layer = nn.TransformerEncoderLayer(64, 4, 128, batch_first=True)
        self._model = nn.TransformerEncoder(layer, 4, enable_nested_tensor=False)
        self._optimizer = torch.optim.Adam(self._model.parameters())
        self._inputs = torch.randn(4, 32, 64)

    def run(self, steps):
        for _ in range(steps):
            self._optimizer.zero_grad()
            self._model(self._inputs).square().mean().backward()
            self._optimizer.step()

# SPDX-License-Identifier: Apache-2.0
"""The examples of MegEngine's guide to its profiler, mended: in dynamic mode, and of a traced graph.

    python examples/megengine_demo.py [FOLDER]

The guide's functions lack the colon behind their heads, import neither F nor json, and ask a ``train_func`` for the
profile of what is called ``train_step``.
"""

import json
import os
import sys

import megengine as mge
import megengine.functional as F
import megengine.module as M
import numpy as np
from megengine.autodiff import GradManager
from megengine.optimizer import SGD

from opscope.megengine import Profiler, profile, trace  # the line to change

STEPS = 3


class LeNet(M.Module):
    def __init__(self):
        super().__init__()
        self.conv1, self.conv2 = M.Conv2d(1, 6, 5), M.Conv2d(6, 16, 5)
        self.fc1, self.fc2, self.fc3 = M.Linear(256, 120), M.Linear(120, 84), M.Linear(84, 10)
        self.pool = M.MaxPool2d(2, 2)

    def forward(self, images):
        images = self.pool(F.relu(self.conv1(images)))
        images = self.pool(F.relu(self.conv2(images)))
        hidden = F.relu(self.fc2(F.relu(self.fc1(F.flatten(images, 1)))))
        return self.fc3(hidden)


def decorated(folder):
    @profile(path=folder)
    def train_step(data, label, *, optimizer, gm, model):
        with gm:
            logits = model(data)
            loss = F.loss.cross_entropy(logits, label)
            gm.backward(loss)
            optimizer.step().clear_grad()
        return loss

    train(train_step)


def in_a_block(folder, **options):
    profiler = Profiler(path=folder, **options)

    def train_step(data, label, *, optimizer, gm, model):
        with profiler:
            with gm:
                logits = model(data)
                loss = F.loss.cross_entropy(logits, label)
                gm.backward(loss)
                optimizer.step().clear_grad()
        return loss

    train(train_step)


def traced(file):
    @trace(symbolic=True, profiling=True)
    def train_step(data, label, *, optimizer, gm, model):
        with gm:
            logits = model(data)
            loss = F.loss.cross_entropy(logits, label)
            gm.backward(loss)
            optimizer.step().clear_grad()
        return loss

    train(train_step)
    prof_result = train_step.get_profile()
    with open(file, "w") as fout:
        json.dump(prof_result, fout, indent=2)


def train(train_step):
    """Steps of a LeNet on invented data."""
    random = np.random.RandomState(0)
    data = mge.tensor(random.rand(8, 1, 28, 28).astype("float32"))
    label = mge.tensor(random.randint(0, 10, 8).astype("int32"))
    model = LeNet()
    gm = GradManager().attach(model.parameters())
    optimizer = SGD(model.parameters(), lr=0.01, momentum=0.9)
    for _ in range(STEPS):
        train_step(data, label, optimizer=optimizer, gm=gm, model=model).numpy()


def main():
    folder = sys.argv[1] if len(sys.argv) > 1 else "megengine-demo"
    decorated(os.path.join(folder, "decorated"))
    in_a_block(os.path.join(folder, "block"), sample_rate=10, profile_device=True)
    in_a_block(os.path.join(folder, "memory"), format="memory_flow.svg")
    traced(os.path.join(folder, "profiling.json"))


if __name__ == "__main__":
    main()

# SPDX-License-Identifier: Apache-2.0
"""Copies: features are a NumPy array of float64, and every step converts all of them to use a few.

On a GPU they also cross the bus in every step.
--mended: the features are a buffer of the model, converted once.
"""

import numpy
import torch
from torch.nn import functional

from gallery_run import Run

run = Run("copies", __doc__)


class Classifier(torch.nn.Module):
    """Tells kinds of users from their features."""

    def __init__(self, users=40_000, width=64):
        super().__init__()
        self.features = numpy.random.default_rng(0).random((users, width))
        if run.mended:
            self.register_buffer("converted", torch.from_numpy(self.features).float())
        self.layers = torch.nn.Sequential(torch.nn.Linear(width, 256), torch.nn.ReLU(), torch.nn.Linear(256, 10))

    def forward(self, users):
        features = self.converted if run.mended else torch.from_numpy(self.features).to(users.device, torch.float32)
        return self.layers(features[users])


users, kinds = torch.arange(256, device=run.device), torch.arange(256, device=run.device) % 10
model = Classifier().to(run.device)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)


def step():
    optimizer.zero_grad()
    functional.cross_entropy(model(users), kinds).backward()
    optimizer.step()


run.record(step)

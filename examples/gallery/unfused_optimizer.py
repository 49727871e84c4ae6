# SPDX-License-Identifier: Apache-2.0
"""Unfused optimizer: Adam updates each weight tensor by about ten operators, one tensor after the other.

--mended: fused=True updates all of them in one.
"""

import torch
from torch.nn import functional

from gallery_run import Run

run = Run("unfused_optimizer", __doc__)
inputs, labels = torch.rand(4, 256, device=run.device), torch.arange(4, device=run.device)
layers = [layer for _ in range(20) for layer in (torch.nn.Linear(256, 256), torch.nn.ReLU())]
model = torch.nn.Sequential(*layers, torch.nn.Linear(256, 10)).to(run.device)
optimizer = torch.optim.Adam(model.parameters(), **({"fused": True} if run.mended else {"foreach": False}))


def step():
    optimizer.zero_grad()
    functional.cross_entropy(model(inputs), labels).backward()
    optimizer.step()


run.record(step)

# SPDX-License-Identifier: Apache-2.0
"""Memory growth: the program keeps the loss of every step, and with it all that its backward pass would need.

--mended: it keeps the number.
"""

import torch
from torch.nn import functional

from gallery_run import Run

run = Run("memory_growth", __doc__)
inputs, labels = torch.rand(256, 64, device=run.device), torch.arange(256, device=run.device) % 10
model = torch.nn.Sequential(torch.nn.Linear(64, 512), torch.nn.Tanh(), torch.nn.Linear(512, 10)).to(run.device)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
history = []


def step():
    optimizer.zero_grad()
    loss = functional.cross_entropy(model(inputs), labels)
    penalty = sum(weight.square().sum() for weight in model.parameters())
    (loss + 1e-4 * penalty).backward(retain_graph=not run.mended)
    optimizer.step()
    history.append(loss.item() if run.mended else loss)


run.record(step, profile_memory=True)

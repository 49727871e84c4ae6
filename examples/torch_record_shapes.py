# SPDX-License-Identifier: Apache-2.0
"""Records operators with the shapes of their inputs: docs/how-to/reproduce_an_operator.md."""

import torch

from opscope.torch import profile

model = torch.nn.Sequential(torch.nn.Linear(64, 128), torch.nn.ReLU(), torch.nn.Linear(128, 10))
with profile(record_shapes=True) as prof:
    for _ in range(10):
        model(torch.randn(32, 64))
prof.save("run.opscope")

# SPDX-License-Identifier: Apache-2.0
# ruff: noqa: E702, I001, UP008
"""A program that spells the profiler's names in full: one line puts opscope in torch.profiler's place.

python torch_simple_model.py [FOLDER]
"""

import os
import sys

import torch

# fmt: off
import opscope.torch; torch.profiler = opscope.torch  # was: import torch.profiler
# fmt: on

folder = sys.argv[1] if len(sys.argv) > 1 else "."


class SimpleModel(torch.nn.Module):
    def __init__(self):
        super(SimpleModel, self).__init__()
        self.fc1 = torch.nn.Linear(10, 10)
        self.fc2 = torch.nn.Linear(10, 10)

    def forward(self, x):
        x = self.fc1(x)
        x = self.fc2(x)
        return x


model = SimpleModel()

input_tensor = torch.randn(64, 10)

# Without a GPU torch's own words say that CUDA is left out; on a machine with one, ask for the CPU alone.
with torch.profiler.profile(
    activities=[torch.profiler.ProfilerActivity.CPU, torch.profiler.ProfilerActivity.CUDA]
) as prof:
    model(input_tensor)

prof.export_chrome_trace(os.path.join(folder, "trace.json"))

print(prof.key_averages().table(sort_by="cpu_time_total"))

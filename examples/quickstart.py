# SPDX-License-Identifier: Apache-2.0
"""The shortest use of opscope.torch: a program for torch.profiler with the import line changed (README.md)."""

import torch

from opscope.torch import ProfilerActivity, profile, record_function

model = torch.nn.Sequential(torch.nn.Linear(512, 512), torch.nn.ReLU(), torch.nn.Linear(512, 10))
inputs = torch.randn(64, 512)

with profile(activities=[ProfilerActivity.CPU], record_shapes=True) as prof:
    with record_function("model_inference"):
        model(inputs)
print(prof.key_averages().table(sort_by="cpu_time_total", row_limit=10))
prof.save("run.opscope")

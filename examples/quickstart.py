# SPDX-License-Identifier: Apache-2.0
"""The shortest use of opscope.torch: the program of PyTorch's own tutorial, with the import line changed."""

import torch

from opscope.torch import ProfilerActivity, profile, record_function
from resnet18 import ResNet18

model = ResNet18().eval()
inputs = torch.randn(1, 3, 64, 64)

with profile(activities=[ProfilerActivity.CPU], record_shapes=True) as prof:
    with record_function("model_inference"):
        model(inputs)
print(prof.key_averages().table(sort_by="cpu_time_total", row_limit=10))
